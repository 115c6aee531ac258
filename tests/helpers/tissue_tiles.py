"""A small collection of generated tissue tiles, imported."""

from pathlib import Path

from viewer.domain.case import Dataset
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.pathmmu import read
from viewer.services.synthetic.make_tiles import make_tiles


def tiles_dataset(folder: Path, count: int = 10) -> Dataset:
    """Write tiles of 128 × 128 pixels and return them as a data set, ``tiles``."""
    make_tiles(folder, count, 3, SizePx(128, 128), lambda *_: None)
    return read(folder, "tiles")
