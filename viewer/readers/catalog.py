"""Cases from files and folders, without decoding pixels."""

from collections.abc import Sequence
from pathlib import Path

from viewer.domain.case import Case, ImageHeader
from viewer.domain.errors import UnreadableInputError
from viewer.readers.folders import list_files
from viewer.readers.headers import read_file_header
from viewer.readers.index import Index


def read_headers(path: Path) -> tuple[ImageHeader, ...]:
    """Return the header of every frame of an image file, pixels undecoded.

    Raises
    ------
    UnreadableInputError
        If the file is not an image.
    """
    return read_file_header(path).images()


def scan(paths: Sequence[Path]) -> tuple[Case, ...]:
    """Return the cases in files and folders, including all subfolders.

    `viewer.readers.index.Index` describes grouping and order,
    `viewer.readers.folders.list_files` which files are skipped.
    """
    index = Index()
    for file in list_files(paths):
        try:
            index.add(file, read_file_header(file.path))
        except UnreadableInputError as error:
            index.add_other(file, error.what)
    return index.cases()
