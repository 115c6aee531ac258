"""Generated tiles of tissue on disk, in the layout of PathMMU (Sun 2024)."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png
from viewer.services.synthetic.phantom.tissue_picture import picture
from viewer.services.synthetic.phantom.tissue_questions import Tile, TissueQuestion
from viewer.services.synthetic.phantom.tissue_scene import Field, Nucleus
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

_READERS: Final = (("I", "Ann"), ("I", "Ben"), ("II", "Cem"), ("II", "Dia"))
"""Two groups of readers of the tiny test, none of them a person."""


def write_tile(root: Path, tile: Tile) -> None:
    """Write a tile's picture; a file that exists is replaced."""
    png = encode_png(Raster(picture(tile.field)))
    write_atomically(root / "images" / _name(tile), png)


def write_questions(root: Path, tiles: Sequence[Tile]) -> None:
    """Write data.json for all tiles, and the tables beside it.

    ``truth.json`` has the contents of each tile, ``captions.csv`` the captions that
    models may make questions from, ``experts.csv`` the choices of four readers in the
    tiny test.
    """
    table: dict[str, dict[str, list[object]]] = {}
    chosen: list[tuple[str, ...]] = []
    number = 0
    for tile in tiles:
        listed = table.setdefault(tile.subset, {}).setdefault(tile.split, [])
        for question in tile.questions:
            number += 1
            listed.append(_entry(number, tile, question))
            if tile.split == "test_tiny":
                key = f"{tile.subset}-{tile.split}-{number}"
                chosen += _chosen(key, number, question)
    truth = {_name(tile): _truth(tile) for tile in tiles}
    write_atomically(root / "data.json", _json(table))
    write_atomically(root / "truth.json", _json(truth))
    captions = [(_name(t), _caption(t.field), t.subset, t.split) for t in tiles]
    header = ("image", "caption", "subset", "split")
    write_atomically(root / "captions.csv", csv_bytes(header, captions))
    header = ("group", "reader", "item", "answer")
    write_atomically(root / "experts.csv", csv_bytes(header, chosen))


def _chosen(
    key: str, number: int, question: TissueQuestion
) -> Iterator[tuple[str, ...]]:
    """Yield each reader's answer; every fourth is the option after the right one."""
    for place, (group, reader) in enumerate(_READERS):
        off = int((number + place) % 4 == 0)
        option = (question.correct + off) % len(question.options)
        yield group, reader, key, letter_of(option)


def _entry(number: int, tile: Tile, question: TissueQuestion) -> dict[str, object]:
    options = [f"{letter_of(i)}) {text}" for i, text in enumerate(question.options)]
    return {
        "No": number,
        "img": _name(tile),
        "question": question.text,
        "options": options,
        "answer": options[question.correct],
        "explanation": question.explanation,
    }


def _truth(tile: Tile) -> dict[str, object]:
    return {
        "tissue": tile.field.tissue.value,
        "glands": len(tile.field.glands),
        "vacuoles": len(tile.field.vacuoles),
        "nuclei": {kind.name.lower(): n for kind, n in tile.field.counts.items()},
    }


def _name(tile: Tile) -> str:
    return f"tile_{tile.index + 1:05d}.png"


def _json(document: object) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def _caption(field: Field) -> str:
    """Return a true caption, as an atlas might print it below a field."""
    glands, mitoses = len(field.glands), field.counts[Nucleus.MITOSIS]
    return f"{field.tissue}. Glands: {glands}. Mitotic figures: {mitoses}."
