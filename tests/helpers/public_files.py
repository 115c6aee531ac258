"""Real files: those of pydicom, and those beside the project on some machines."""

from importlib.resources import files
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"
_NO_DICOM = {".txt", ".json", ".icc", ".gz", ".dump", ".py", ".md"}


def pydicom_files() -> list[Path]:
    """Return every file of both that could be taken for DICOM, in order of name."""
    roots = (
        Path(str(files("pydicom"))) / "data" / "test_files",
        Path(str(files("data_store"))) / "data",
    )
    return sorted(
        path
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and path.suffix not in _NO_DICOM
    )


def pydicom_file(name: str) -> Path:
    """Return the file of that name."""
    return next(path for path in pydicom_files() if path.name == name)


def shared_data(*parts: str) -> Path:
    """Return a path inside the shared data, or skip the calling test."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared data folder: {'/'.join(parts)} is not there")
    return path
