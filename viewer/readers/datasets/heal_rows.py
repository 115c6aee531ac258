"""The editions of HEAL-MedVQA's rows, converted to one form.

Rows give the anatomy's mask in one field or in several (E002-04):

- ``image``, ``question``, ``answer``, ``location``
- ``image`` or ``image_id``, ``question``, ``answer``, ``anatomy``, ``mask_rle``,
  ``mask_h``, ``mask_w``, as on the data set's page on Hugging Face

``mask_rle`` lists runs that alternate, background first, or start and length of each
run of the mask, counted from 0. Alternating runs add up to the image's pixels, and
starts increase; any other list is not a mask. An image inside the row is unpacked into
a folder beside the table, ``NAME_images``, unless it exists already.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.embedded_images import unpacked
from viewer.readers.datasets.question_rows import Row, question_rows, question_tables

LOCATED: Final = ("image", "question", "answer", "location")
MASKED: Final = ("question", "answer", "anatomy", "mask_rle", "mask_h", "mask_w")


class Coding(StrEnum):
    """How a list of numbers encodes a mask."""

    RUNS = "alternating runs"
    STARTS = "starts and lengths counted from 0"


def heal_tables(path: Path) -> tuple[Path, ...]:
    """Return the tables of any edition below a folder, or the named file."""
    found = {*question_tables(path, LOCATED)}
    for image in ("image", "image_id"):
        found.update(question_tables(path, (*MASKED, image)))
    return tuple(sorted(found))


class HealRows:
    """One table's rows as ``image``, ``question``, ``answer`` and ``location``."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._codings: Counter[Coding] = Counter()

    def __iter__(self) -> Iterator[Row]:
        for row in question_rows(self._table):
            yield {**row, "image": self._image(row), "location": self._location(row)}

    @property
    def notices(self) -> Iterator[Notice]:
        """Return notices of how many masks so far use each encoding."""
        counts = " and ".join(f"{n} {coding}" for coding, n in self._codings.items())
        if counts:
            text = f"Its masks are {counts}, as each list's sum or starts show."
            yield Notice("mask_coding", self._table.name, text)

    def _image(self, row: Row) -> object:
        """Return an image's name; an image inside the row is unpacked."""
        image, named = row.get("image"), row.get("image_id")
        if not isinstance(image, Mapping):
            return image or named
        data, path = image.get("bytes"), image.get("path")
        if isinstance(data, bytes) and data:
            return unpacked(self._table, data, str(named or path or ""))
        if path or named:
            return path or named
        raise UnreadableInputError(
            f"'{self._table.name}' has images without bytes and without a name.",
            "Export it with its images, or write the names of their files as image.",
        )

    def _location(self, row: Row) -> object:
        if "mask_rle" not in row:
            return row.get("location")
        anatomy, listed = str(row.get("anatomy") or "").strip(), row["mask_rle"]
        if listed in (None, ""):
            return anatomy
        size = [_whole(row.get("mask_h")), _whole(row.get("mask_w"))]
        code = {"size": size, "counts": self._runs(_numbers(listed), size[0] * size[1])}
        return {anatomy: code} if anatomy else code

    def _runs(self, numbers: Sequence[int] | None, pixels: int) -> Sequence[int] | None:
        """Return a mask's alternating runs; anything but a mask is unchanged."""
        if not numbers:
            return None if numbers is None else [pixels]
        if sum(numbers) == pixels:
            self._codings[Coding.RUNS] += 1
            return numbers
        if not _are_starts(numbers, pixels):
            return numbers
        self._codings[Coding.STARTS] += 1
        return tuple(_alternating(numbers, pixels))


def _numbers(listed: object) -> Sequence[int] | None:
    """Return a list of integers, also if given as text; None for anything else."""
    if isinstance(listed, str):
        try:
            listed = read_json(listed)
        except ValueError:
            return None
    if not isinstance(listed, list) or not all(type(n) is int for n in listed):
        return None
    return listed


def _whole(value: object) -> int:
    """Return the length of an image's side, 0 if it is invalid."""
    # pandas makes floats of a column of integers with an empty cell.
    text = str(value).strip().removesuffix(".0")
    return int(text) if text.isdecimal() else 0


def _are_starts(numbers: Sequence[int], pixels: int) -> bool:
    """Tell whether numbers are starts and lengths of ordered runs."""
    if len(numbers) % 2:
        return False
    starts, lengths = numbers[::2], numbers[1::2]
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    after = zip([0, *ends], [*starts, pixels], strict=True)
    return min(lengths) > 0 and all(end <= start for end, start in after)


def _alternating(numbers: Sequence[int], pixels: int) -> Iterator[int]:
    """Yield alternating runs of background and mask, background first."""
    end = 0
    for start, length in zip(numbers[::2], numbers[1::2], strict=True):
        yield start - end
        yield length
        end = start + length
    yield pixels - end
