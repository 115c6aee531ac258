"""Base64 images in the cells of a table, and what is wrong with them.

A cell contains one image, a list of them, or the index of the row whose image it
shares. Files are unpacked into a folder unless they exist already; data that is not a
complete image is named and not unpacked.
"""

import ast
import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice
from viewer.domain.errors import UnreadableInputError
from viewer.private_files import make_folder, share
from viewer.readers.datasets.image_files import stem_of

_SHORTEST_IMAGE: Final = 64
"""Characters of base64; what is shorter names another row's image."""
_SUFFIXES: Final = {
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}
"""By how a file begins; other kinds are not read."""
_NAME: Final = re.compile(r"[\w.-]{1,128}")
_ENDS: Final = {".png": b"IEND", ".jpg": b"\xff\xd9"}
_END: Final = 1024
"""Bytes at the end of a file of which its end mark is among."""
UNREADABLE, MISSING = "unreadable", "missing_file"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an image is missing: the reason of its defect, and a sentence."""

    reason: str
    text: str


_NO_IMAGE: Final = Problem(UNREADABLE, "Its base64 is not a PNG, JPEG or TIFF.")
_CUT_OFF: Final = Problem(UNREADABLE, "Its base64 is cut off.")
_NO_ROW: Final = Problem(
    MISSING, "Its cell is neither base64 nor the index of an earlier row."
)


class EmbeddedImages:
    """The images of a table, unpacked into a folder row by row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, tuple[str, ...]] = {}
        self.problems: dict[str, Problem] = {}

    def of_row(self, row: Mapping[str, str | None]) -> tuple[str, ...]:
        """Return the names of a row's images, empty if it has none."""
        index, cell = row.get("index") or "", (row.get("image") or "").strip()
        path = (row.get("image_path") or "").strip()
        found = self._of_cell(index, cell) if cell else (path,) if path else ()
        self._names[index] = found
        return found

    def _of_cell(self, index: str, cell: str) -> tuple[str, ...]:
        if len(cell) >= _SHORTEST_IMAGE:
            return tuple(
                self._unpacked(text, f"image {place} of row {index}")
                for place, text in enumerate(_listed(cell), 1)
            )
        if cell in self._names:
            return self._names[cell]
        return (self._named(f"image 1 of row {index}", _NO_ROW),)

    def _unpacked(self, text: str, name: str) -> str:
        """Write an image unless it exists, and return its name, which is its hash.

        Data that is not an image keeps the ``name`` and gets no file.
        """
        try:
            # Base64 may be wrapped in lines (RFC 2045), which validate=True refuses.
            data = base64.b64decode(text, validate=False)
        except (binascii.Error, ValueError):
            data = b""
        suffix = suffix_of(data)
        if not suffix:
            problem = _CUT_OFF if text.startswith(_STARTS) else _NO_IMAGE
            return self._named(name, problem)
        if _ENDS.get(suffix, b"") not in data[-_END:]:
            return self._named(name, _CUT_OFF)
        path = self._folder / f"{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
        if not path.exists():
            write_image(path, data)
        return path.name

    def _named(self, name: str, problem: Problem) -> str:
        self.problems[name] = problem
        return name


def with_notices(dataset: Dataset, problems: Mapping[str, Problem]) -> Dataset:
    """Return a data set with a notice for each image that could not be unpacked."""
    images = tuple(
        replace(image, defects={"*": problems[image.key].reason})
        if image.key in problems
        else image
        for image in dataset.images
    )
    others = [notice for notice in dataset.notices if notice.subject not in problems]
    shown = {image.key for image in images}
    found = (
        Notice(problem.reason, name, problem.text)
        for name, problem in problems.items()
        if name in shown
    )
    return replace(dataset, images=images, notices=(*others, *found))


_STARTS: Final = tuple(
    base64.b64encode(start + b"\0\0")[:4].decode() for start in _SUFFIXES
)
"""How base64 of these kinds begins; what does and is none was cut within four."""


def _listed(cell: str) -> Sequence[str]:
    if not cell.startswith("["):
        return (cell,)
    try:
        listed = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return (cell,)
    return tuple(map(str, listed))


def suffix_of(data: bytes) -> str:
    """Return the suffix for an image's first bytes, "" if they are of no known type."""
    return next((s for start, s in _SUFFIXES.items() if data.startswith(start)), "")


def unpacked(table: Path, data: bytes, called: str) -> str:
    """Write an image's bytes beside its table unless they exist; return the name.

    Bytes of an unknown type are not written, so that their file is missing.
    """
    stem = stem_of(Path(called.replace("\\", "/")).name)
    suffix = suffix_of(data)
    name = stem if _NAME.fullmatch(stem) else hashlib.sha256(data).hexdigest()[:16]
    path = table.with_name(f"{table.stem}_images") / f"{name}{suffix}"
    if suffix and not path.exists():
        write_image(path, data)
    return path.name


def write_image(path: Path, data: bytes) -> None:
    """Write an image atomically into a folder beside its table, creating the folder.

    It never leaves that folder: what came with the table may contain links elsewhere.
    """
    part = path.with_suffix(".part")
    if path.parent.is_symlink():
        raise UnreadableInputError(
            f"The images cannot be unpacked into {path.parent.name}, which is a link.",
            "Delete the link, or copy the table to another folder.",
        )
    try:
        make_folder(path.parent)
        part.unlink(missing_ok=True)
        # x: never write through a link that lies there under this name.
        with part.open("xb") as stream:
            stream.write(data)
        share(part)
        part.replace(path)
    except OSError as error:
        raise UnreadableInputError(
            f"The images cannot be unpacked into {path.parent.name}: {error.strerror}.",
            "Copy the table to a writable folder.",
        ) from error
