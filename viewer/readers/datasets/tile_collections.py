"""The collections that PathCLS is made of, as they are published (Sun 2024, 3.2).

Each layout is recognised by a unique feature; the readers were written from
descriptions and tested on synthetic folders only, never on the originals.

- MHIST (Wei 2021): ``annotations.csv`` with the columns ``Image Name``, ``Majority Vote
  Label`` (HP, SSA) and ``Partition`` beside ``images/``
  (kaiko-ai.github.io/eva/dev/datasets/mhist).
- SICAPv2 (Silva-Rodriguez 2020): ``partition/Test/Train.xlsx`` and ``Test.xlsx`` with
  ``image_name`` and a 1 under one of ``NC``, ``G3``, ``G4``, ``G5`` beside ``images/``;
  ``G4C`` only marks a grade 4 as cribriform
  (cvblab/SICAPv2, as read by jusiro/FLAIR's FCA: HISTOLOGY/SICAPv2).
- WSSS4LUAD (Han 2022, arXiv 2204.06455): training patches whose names end in
  ``[tumor, stroma, normal]``, such as ``1031280-2300-27920-[1, 0, 0].png``. Patches of
  validation and test have masks and no label.
- LC25000 (Borkowski 2019, arXiv 1912.12142): ``lung_image_sets/lung_aca`` … and
  ``colon_image_sets/colon_n`` …; the lung's labels are options of lung images alone.
- CRC-100K (Kather 2018, zenodo 1214456): ``NCT-CRC-HE-100K/ADI`` … for training,
  ``CRC-VAL-HE-7K/ADI`` … for testing (kaiko-ai.github.io/eva/main/datasets/crc).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.readers.datasets.csv_tables import header_of, rows_of
from viewer.readers.datasets.folder_layout import IMAGE_SUFFIXES
from viewer.readers.files.xlsx import rows_of_sheet


@dataclass(frozen=True, slots=True)
class Tile:
    """A labelled image: its path below the folder, its split and its label's code.

    The options of its question are the labels in its ``pool``.
    """

    path: str
    split: str
    label: str
    pool: str = ""


@dataclass(frozen=True)
class Tiles:
    """The tiles of a collection, and what is left out and why."""

    tiles: tuple[Tile, ...]
    notices: tuple[Notice, ...] = ()


_MHIST: Final = ("Image Name", "Majority Vote Label", "Partition")
_SICAP: Final = ("NC", "G3", "G4", "G5")
_FLAGS: Final = re.compile(r"\[\s*(\d(?:[\s,]*\d)*)\s*\]$")
_TISSUES: Final = ("tumor", "stroma", "normal")
_YES: Final = frozenset({"1", "1.0", "true"})
_SEVERAL: Final = "several_labels"


def published(root: Path, files: Sequence[str]) -> Tiles | None:
    """Return the tiles of a collection whose labels are not folder names.

    ``files`` are the paths below the folder; None if it is none of these.
    """
    for read in (_mhist, _sicap, _wsss):
        found = read(root, files)
        if found is not None:
            return found
    return None


def is_image(path: str) -> bool:
    """Tell whether a file has the name of an image."""
    return path.lower().endswith(IMAGE_SUFFIXES)


def _mhist(root: Path, files: Sequence[str]) -> Tiles | None:
    tables = [f for f in files if f.rpartition("/")[2].lower() == "annotations.csv"]
    tables = [f for f in tables if set(_MHIST) <= set(header_of(root / f))]
    if len(tables) != 1:
        return None
    base = tables[0].rpartition("/")[0]
    rows = [row.cells for row in rows_of(root / tables[0])]
    tiles = [
        Tile(_below(base, "images", row[_MHIST[0]]), row[_MHIST[2]], row[_MHIST[1]])
        for row in rows
    ]
    return Tiles(tuple(tiles))


def _sicap(root: Path, files: Sequence[str]) -> Tiles | None:
    tables = {
        split: [f for f in files if f.endswith(f"partition/Test/{split}.xlsx")]
        for split in ("Train", "Test")
    }
    if [len(of) for of in tables.values()] != [1, 1]:
        return None
    tiles: list[Tile] = []
    notices: list[Notice] = []
    for split, (table,) in tables.items():
        base = table.removesuffix(f"partition/Test/{split}.xlsx").rstrip("/")
        for row in rows_of_sheet(root / table):
            path = _below(base, "images", row.get("image_name", ""))
            grades = [g for g in _SICAP if row.get(g, "").casefold() in _YES]
            if len(grades) == 1:
                tiles.append(Tile(path, split.lower(), grades[0]))
            else:
                notices.append(_unsure(path, grades))
    return Tiles(tuple(tiles), tuple(notices))


def _wsss(root: Path, files: Sequence[str]) -> Tiles | None:  # noqa: ARG001 - names say all
    flagged = {f: _flags(f) for f in files if is_image(f)}
    known = {f: flags for f, flags in flagged.items() if len(flags) == len(_TISSUES)}
    if not known or any(len(flags) not in {0, 3} for flags in flagged.values()):
        return None
    tiles: list[Tile] = []
    notices: list[Notice] = []
    for path, flags in known.items():
        there = [t for t, flag in zip(_TISSUES, flags, strict=True) if flag == "1"]
        if len(there) == 1:
            tiles.append(Tile(path, "train", there[0]))
        else:
            notices.append(_unsure(path, there))
    return Tiles(tuple(tiles), tuple(notices))


def _flags(path: str) -> list[str]:
    stem = path.rpartition("/")[2].rpartition(".")[0]
    found = _FLAGS.search(stem)
    return re.findall(r"\d", found[1]) if found else []


def _below(base: str, folder: str, name: str) -> str:
    return "/".join(part for part in (base, folder, name) if part)


def _unsure(path: str, labels: Sequence[str]) -> Notice:
    count = f"has {len(labels)} labels ({', '.join(labels)})" if labels else "has none"
    return Notice(_SEVERAL, path, f"It {count} instead of one, and is not used.")


LABELS: Final[Mapping[str, str]] = {
    "ADI": "Adipose tissue",
    "BACK": "Background",
    "DEB": "Debris",
    "LYM": "Lymphocytes",
    "MUC": "Mucus",
    "MUS": "Smooth muscle",
    "NORM": "Normal colon mucosa",
    "STR": "Cancer-associated stroma",
    "TUM": "Colorectal adenocarcinoma epithelium",
    "HP": "Hyperplastic polyp",
    "SSA": "Sessile serrated adenoma",
    "lung_aca": "Lung adenocarcinoma",
    "lung_n": "Benign lung tissue",
    "lung_scc": "Lung squamous cell carcinoma",
    "colon_aca": "Colon adenocarcinoma",
    "colon_n": "Benign colonic tissue",
    "InSitu": "In situ carcinoma",
    "Invasive": "Invasive carcinoma",
    "NC": "Non-cancerous prostate tissue",
    "G3": "Gleason grade 3",
    "G4": "Gleason grade 4",
    "G5": "Gleason grade 5",
    "tumor": "Tumor epithelium",
    "stroma": "Tumor-associated stroma",
    "normal": "Normal tissue",
}
"""What the codes of CRC-100K, MHIST, LC25000, BACH, SICAPv2, WSSS4LUAD stand for."""
POOLS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("lung_aca", "lung_n", "lung_scc"), "lung"),
    **dict.fromkeys(("colon_aca", "colon_n"), "colon"),
}
"""LC25000 is two collections, LC-Lung and LC-Colon."""
