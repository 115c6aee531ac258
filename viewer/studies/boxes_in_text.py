"""Boxes and points in a reply as JSON, in thousandths of their image."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from viewer.domain.answer import LabelledBox
from viewer.domain.geometry import BoxPx, PointPx
from viewer.studies.json_documents import documents

_LARGEST: Final = 1000
"""Of coordinates as they are asked for, whatever the image's size."""


@dataclass(frozen=True, slots=True)
class ReadBoxes:
    """The boxes in a text, and a sentence for each invalid one."""

    boxes: tuple[LabelledBox, ...]
    problems: tuple[str, ...]


def read_boxes(text: str, fields: Sequence[BoxPx]) -> ReadBoxes:
    """Return the boxes in a text in native pixels, in order."""
    boxes: list[LabelledBox] = []
    problems: list[str] = []
    for number, entry in enumerate(_entries(text), 1):
        found = _box(entry, fields)
        if isinstance(found, LabelledBox):
            boxes.append(found)
        else:
            problems.append(f"Box {number} is not drawn: {found}.")
    return ReadBoxes(tuple(boxes), tuple(problems))


def _entries(text: str) -> Iterator[Mapping[object, object]]:
    """Yield every object with a box, in lists and under ``boxes``."""
    for document in documents(text):
        inside = document.get("boxes") if isinstance(document, dict) else document
        parts = inside if isinstance(inside, list) else [document]
        yield from (part for part in parts if isinstance(part, dict) and "box" in part)


def _box(entry: Mapping[object, object], fields: Sequence[BoxPx]) -> LabelledBox | str:
    """Return a box, or a clause on why it is invalid."""
    image = entry.get("image", 1 if len(fields) == 1 else None)
    if isinstance(image, bool) or not isinstance(image, int):
        return "it names no image"
    if not 1 <= image <= len(fields):
        return f"there is no image {image}"
    numbers = _numbers(entry["box"])
    if numbers is None:
        return "it does not have four numbers"
    x0, y0, x1, y1 = numbers
    if not (0 <= x0 < x1 <= _LARGEST and 0 <= y0 < y1 <= _LARGEST):
        return f"its corners are not in order from 0 to {_LARGEST}"
    label = entry.get("label")
    words = label.strip() if isinstance(label, str) else ""
    return LabelledBox(_native(numbers, fields[image - 1]), words, image - 1)


def _numbers(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in value):
        return None
    x0, y0, x1, y1 = (float(n) for n in value)
    return (x0, y0, x1, y1) if all(map(isfinite, (x0, y0, x1, y1))) else None


def _native(numbers: tuple[float, float, float, float], field: BoxPx) -> BoxPx:
    x0, y0, x1, y1 = numbers
    width, height = field.x1 - field.x0, field.y1 - field.y0
    return BoxPx(
        field.x0 + x0 * width / _LARGEST,
        field.y0 + y0 * height / _LARGEST,
        field.x0 + x1 * width / _LARGEST,
        field.y0 + y1 * height / _LARGEST,
    )


def read_points(text: str, field: BoxPx) -> tuple[PointPx, ...]:
    """Return the points of a text, under ``point``, in native pixels of its image."""
    named = (
        part["point"]
        for document in documents(text)
        for part in (document if isinstance(document, list) else [document])
        if isinstance(part, dict) and "point" in part
    )
    return tuple(
        PointPx(
            field.x0 + x * (field.x1 - field.x0) / _LARGEST,
            field.y0 + y * (field.y1 - field.y0) / _LARGEST,
        )
        for x, y in filter(None, map(_pair, named))
    )


def names_no_box(text: str) -> bool:
    """Tell whether a text contains an empty list of boxes."""
    return any(isinstance(d, dict) and d.get("boxes") == [] for d in documents(text))


def _pair(value: object) -> tuple[float, float] | None:
    """Return two numbers within an image, None for anything else."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in value):
        return None
    x, y = (float(n) for n in value)
    return (x, y) if 0 <= x <= _LARGEST and 0 <= y <= _LARGEST else None
