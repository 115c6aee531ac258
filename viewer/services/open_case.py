"""Open what a person points at: files and folders to cases."""

from collections.abc import Sequence
from pathlib import Path

from viewer.domain.case import Case
from viewer.domain.errors import UnreadableInputError
from viewer.readers.catalog import read_headers, scan


def open_case(paths: Sequence[Path]) -> tuple[Case, ...]:
    """Return the cases in files and folders, pixels undecoded.

    Raises
    ------
    UnreadableInputError
        If a path is not there, or none of them holds an image: for a single file with
        the reason why it cannot be read.
    """
    for path in paths:
        if not path.exists():
            raise UnreadableInputError(
                f"{path.name} is not there.", "Check the path, or whether it was moved."
            )
    cases = scan(paths)
    if any(case.studies for case in cases):
        return cases
    for path in paths:
        if path.is_file():
            read_headers(path)
    names = ", ".join(path.name for path in paths)
    raise UnreadableInputError(
        f"There is no readable image in {names or 'an empty list of paths'}.",
        "Choose DICOM, PNG, JPEG, TIFF, NIfTI, NRRD or MetaImage files.",
    )
