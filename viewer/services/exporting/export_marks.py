"""Marks and key images of a study as DICOM files."""

from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Final, TypeVar

from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.mark import DrawnImage
from viewer.writers.files import write_atomically
from viewer.writers.mark_files import key_objects, presentation_states

T = TypeVar("T")
_INSTEAD: Final = "Only grey images of a DICOM study can; save a picture instead."


def export_marks(images: Sequence[DrawnImage], path: Path) -> tuple[Path, ...]:
    """Write presentation states of marked images; return the files.

    Images of one series that are shown alike share a file. The first has the name of
    ``path``, each further one a number after it.

    Raises
    ------
    WrongUseError
        If an image is not a grey one of a DICOM study, or the folder cannot be written.
    """
    written = made(lambda: tuple(presentation_states(images)))
    names = numbered(path, len(written))
    for name, data in zip(names, written, strict=True):
        _write(name, data)
    return names


def export_key_images(refs: Sequence[ImageRef], path: Path) -> None:
    """Write a Key Object Selection document of images of one study.

    Raises
    ------
    WrongUseError
        As :func:`export_marks`.
    """
    _write(path, made(lambda: key_objects(refs)))


def numbered(path: Path, files: int) -> tuple[Path, ...]:
    """Return the names of so many files: the first is ``path``."""
    further = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return (path, *islice(further, files - 1))


def made(make: Callable[[], T], instead: str = _INSTEAD) -> T:
    """Return what refers to images; WrongUseError, with advice, where nothing can."""
    try:
        return make()
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        # What pydicom and highdicom say of images that no such file can refer to.
        raise WrongUseError(
            f"These images cannot be referred to: {error}".rstrip(".") + ".",
            instead,
        ) from error


def _write(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        raise WrongUseError(
            f"{path.name} cannot be written: {error.strerror}.",
            "Choose another folder.",
        ) from error
