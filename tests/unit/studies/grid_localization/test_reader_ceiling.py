"""Readers against one another, and models against the same references."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from viewer.domain.answer import Status
from viewer.domain.case import Dataset, DatasetImage, ImageRef, ReferenceBox, View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.result import Score
from viewer.results.evaluate import evaluate
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.reader_ceiling import (
    CEILINGS,
    READER_CEILING,
    ceiling_frame,
)
from viewer.studies.tables import MICRO

SIDE, CELL = 256, 32
Corners = tuple[int, int, int, int]
Drawn = Mapping[str, Sequence[Corners]]
PARAMS = read_params("gosai2025", {})
FIRST: Corners = (0, 0, 32, 32)
FIFTH: Corners = (128, 128, 160, 160)


def image_of(key: str, drawn: Drawn) -> DatasetImage:
    boxes = tuple(
        ReferenceBox(BoxPx(*map(float, corners)), reader)
        for reader, of in drawn.items()
        for corners in of
    )
    return DatasetImage(
        *(key, key, key, View.FRONTAL, ImageRef(Path(f"{key}.png"), 0)),
        ImageGeometry(SizePx(SIDE, SIDE)),
        "0" * 64,
        boxes={"Nodule": boxes},
        readers=tuple(drawn),
    )


def trial(key: str, answer: str, model: str = "m") -> PlacedTrial:
    return PlacedTrial(
        item=f"{key}|Nodule",
        patient=key,
        image=key,
        view="frontal",
        finding="Nodule",
        condition="grid=8",
        repeat=0,
        model=model,
        score=Score(Status.SCORED_WRONG if answer else Status.UNPARSED, answer=answer),
    )


def rows_of(
    images: Mapping[str, Drawn], trials: Sequence[PlacedTrial]
) -> list[dict[str, object]]:
    """Return the table's rows of the finding; all of it pooled is the same."""
    made = tuple(image_of(key, drawn) for key, drawn in images.items())
    dataset = Dataset("d", "boxes", Path(), made, (), "0" * 64)
    frame = ceiling_frame(trials, PARAMS, dataset)
    table = evaluate(READER_CEILING, {CEILINGS: frame})
    own, pooled = (
        [row for row in table.records() if row["finding"] == name]
        for name in ("Nodule", MICRO)
    )
    assert [{**row, "finding": MICRO} for row in own] == pooled
    return own


def test_that_each_reader_is_left_out_in_turn() -> None:
    images: dict[str, Drawn] = {
        "one": {"A": [FIRST], "B": [FIRST], "C": [FIFTH]},
        "two": {"A": [FIFTH], "B": [FIFTH]},
        "alone": {"A": [FIRST]},
    }
    trials = [trial("one", "A1"), trial("two", "H8"), trial("alone", "A1")]
    (row,) = rows_of(images, trials)
    # A and B meet each other; C, in E5, does not meet what A and B marked
    assert (row["reader_k"], row["n"], row["items"]) == (4, 5, 2)
    assert row["readers"] == pytest.approx(4 / 5)
    assert row["model_rate"] == pytest.approx(3 / 5)
    assert row["share_of_readers"] == pytest.approx(3 / 4)


def test_that_an_answer_without_a_cell_is_a_miss_and_pending_ones_do_not_count() -> (
    None
):
    images: dict[str, Drawn] = {"two": {"A": [FIFTH], "B": [FIFTH]}}
    (row,) = rows_of(images, [trial("two", ""), trial("two", "E5", "other")][:1])
    assert (row["model_rate"], row["share_of_readers"]) == (0.0, 0.0)
    assert rows_of(images, []) == []


@pytest.mark.parametrize("seed", range(8))
def test_that_rates_equal_those_counted_pixel_by_pixel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = {f"p{n}": _random_readers(rng) for n in range(12)}
    cells = {
        key: f"{'ABCDEFGH'[rng.integers(8)]}{rng.integers(1, 9)}" for key in images
    }
    (row,) = rows_of(images, [trial(key, cell) for key, cell in cells.items()])
    readers, model = [], []
    for key, drawn in images.items():
        for name, own in drawn.items():
            others = [b for other, of in drawn.items() if other != name for b in of]
            hits = _hit_cells(others)
            readers.append(_centre_cell(own) in hits)
            model.append(
                ("ABCDEFGH".index(cells[key][0]), int(cells[key][1]) - 1) in hits
            )
    assert row["n"] == len(readers)
    assert row["readers"] == pytest.approx(np.mean(readers))
    assert row["model_rate"] == pytest.approx(np.mean(model))
    assert row["share_of_readers"] == pytest.approx(np.sum(model) / np.sum(readers))


def _random_readers(rng: np.random.Generator) -> Drawn:
    """Return two to four readers' boxes about one place, and sometimes elsewhere."""
    x, y = rng.integers(30, 150, 2)
    drawn: dict[str, list[Corners]] = {}
    for name in "ABCD"[: rng.integers(2, 5)]:
        left, top = int(x + rng.integers(-25, 25)), int(y + rng.integers(-25, 25))
        wide, high = (int(v) for v in rng.integers(20, 90, 2))
        boxes = [(left, top, left + wide, top + high)]
        if rng.random() < 0.3:
            boxes.append((200, 200, 200 + int(rng.integers(3, 15)), 210))
        drawn[name] = boxes
    return drawn


def _hit_cells(boxes: Sequence[Corners]) -> set[tuple[int, int]]:
    """Return the cells that count as hits (E000-16)."""
    mask = np.zeros((SIDE, SIDE), bool)
    for x0, y0, x1, y1 in boxes:
        mask[max(y0, 0) : y1, max(x0, 0) : x1] = True
    counts = mask.reshape(8, CELL, 8, CELL).sum(axis=(1, 3))
    half = np.argwhere(2 * counts >= CELL * CELL)
    found = half if len(half) else np.argwhere(counts > 0)
    return {(int(row), int(column)) for row, column in found}


def _centre_cell(boxes: Sequence[Corners]) -> tuple[int, int]:
    x0, y0, x1, y1 = max(boxes, key=lambda b: (b[2] - b[0]) * (b[3] - b[1]))
    return int((y0 + y1) / 2 // CELL), int((x0 + x1) / 2 // CELL)
