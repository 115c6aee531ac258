"""A small collection of generated tissue tiles, imported."""

from pathlib import Path

from tests.helpers.phantom_folders import write_phantom
from viewer.domain.case import Dataset
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.pathmmu import read
from viewer.services.synthetic.make_tiles import make_tiles


def tiles_dataset(folder: Path, count: int = 10) -> Dataset:
    """Write tiles of 128 × 128 pixels and return them as a data set, ``tiles``."""
    write_phantom(make_tiles, folder, count, 3, SizePx(128, 128))
    return read(folder, "tiles")
