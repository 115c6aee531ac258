"""The data-set formats that can be imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from viewer.domain.case import Dataset, View
from viewer.domain.errors import WrongUseError
from viewer.readers.datasets import chexlocalize, folder
from viewer.readers.datasets.files import Progress

ENTRY_POINTS = "viewer.readers"
"""Where other distributions offer formats: each entry point a DatasetFormat."""


@dataclass(frozen=True)
class DatasetFormat:
    """A line of the catalogue.

    ``read(root, name, view, progress)`` returns the data set; what is missing or
    disagrees is in its notices, and only a folder that is not of this format raises.
    """

    name: str
    summary: str
    read: Callable[[Path, str, View | None, Progress | None], Dataset]


FORMATS: Mapping[str, DatasetFormat] = {
    fmt.name: fmt
    for fmt in (
        DatasetFormat(
            "chexlocalize",
            "Chest radiographs with gt_segmentations_{val,test}.json",
            chexlocalize.read,
        ),
        DatasetFormat(
            "folder",
            "Images of any kind; NAME.<finding>.png beside one is its mask",
            folder.read,
        ),
    )
}


def read_dataset(
    format: str,  # noqa: A002 - the word of the command line
    root: Path,
    name: str,
    view: View | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read a data set of a named format; an unknown name raises ``WrongUseError``."""
    return _format_named(format).read(root, name, view, progress)


def _format_named(name: str) -> DatasetFormat:
    if name in FORMATS:
        return FORMATS[name]
    outside = entry_points(group=ENTRY_POINTS)
    if name in outside.names:
        found: DatasetFormat = outside[name].load()
        return found
    known = ", ".join(sorted({*FORMATS, *outside.names}))
    raise WrongUseError(
        f"There is no data-set format '{name}'.", f"Choose of: {known}."
    )
