"""The numbers of a location in JSON or text: in a list, or each with its name."""

import re

from viewer.models.coordinates.lenient_json import DIGITS, Pairs

_CORNERS = (
    ("x1", "y1", "x2", "y2"),
    ("x0", "y0", "x1", "y1"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("left", "top", "right", "bottom"),
)
_EXTENTS = (
    ("x", "y", "width", "height"),
    ("x", "y", "w", "h"),
    ("left", "top", "width", "height"),
)
_CENTRED = (
    ("xcenter", "ycenter", "width", "height"),
    ("centerx", "centery", "width", "height"),
    ("cx", "cy", "w", "h"),
    ("cx", "cy", "width", "height"),
)
_EXTENT_NAMES = frozenset({"width", "height", "w", "h"})
_HALVES = (*_CORNERS, ("x", "y"))
"""Names of which two with a number tell that a place was meant."""
_OPPOSITE = (
    ("topleft", "bottomright"),
    ("upperleft", "lowerright"),
    ("lefttop", "rightbottom"),
)
_STRING_NUMBER = re.compile(rf"([-+]?{DIGITS}(?:e[-+]?\d{{1,9}})?)\s*(?:px)?")
_ONE = rf"[-+]?{DIGITS}"
_NUMBERS = re.compile(_ONE)
_BETWEEN = r"(?:\s*[,;]\s*|\s+)"
_ONLY_NUMBERS = re.compile(r"[\s\[(]*[-+.\d][-+.\d\s,;()\[\]]*")
_GLUED = re.compile(r"[\d.][-+]|\.\d*\.")
"""Signs and dots within a number: a range, a version or a slip, and no number."""
_FOUR = re.compile(rf"{_ONE}(?:{_BETWEEN}{_ONE}){{3}}")
_NAMED = re.compile(
    rf"\b([xy])_?(1|2|min|max)\s*[=:]\s*({_ONE})(?:\s?px\b|(?![\w.+-]|\s?%))"
)


def plain_key(key: str) -> str:
    """Return a key in lower case without underscores and blanks."""
    return re.sub(r"[^a-z0-9]", "", key.casefold())


def number(value: object) -> float | None:
    """Return a number, also if written as text or with "px", else None."""
    if isinstance(value, float):
        return value
    if not isinstance(value, str):
        return None
    match = _STRING_NUMBER.fullmatch(value.casefold().strip())
    return float(match[1]) if match else None


def numbers_of(members: list[object]) -> list[float] | None:
    """Return the numbers of a list that contains only numbers, else None."""
    found = [number(member) for member in members]
    numbers = [n for n in found if n is not None]
    return numbers if numbers and len(numbers) == len(found) else None


def keyed_numbers(value: object, *, corners: bool) -> list[float] | None:
    """Return the numbers of a list or a text; with ``corners`` also of two pairs."""
    if isinstance(value, str):
        whole = _ONLY_NUMBERS.fullmatch(value)
        usable = whole and not _GLUED.search(value)
        return [float(n) for n in _NUMBERS.findall(value)] if usable else None
    if not isinstance(value, list):
        return None
    pairs = [
        numbers_of(member) if isinstance(member, list) else None for member in value
    ]
    if corners and len(pairs) == 2 and all(pair and len(pair) == 2 for pair in pairs):
        return [n for pair in pairs for n in pair or ()]
    return numbers_of(value)


def named_corners(value: Pairs) -> list[float] | None:
    """Return x0, y0, x1, y1 or x, y from an object that names each of them."""
    numbers = {plain_key(key): number(member) for key, member in value.pairs}
    for names in _CORNERS:
        if all(numbers.get(name) is not None for name in names):
            return [numbers[name] or 0.0 for name in names]
    for names in (*_EXTENTS, *_CENTRED):
        if all(numbers.get(name) is not None for name in names):
            x, y, width, height = (numbers[name] or 0.0 for name in names)
            if names in _CENTRED:
                x, y = x - width / 2, y - height / 2
            return [x, y, x + width, y + height]
    of_point = numbers.get("x") is not None and numbers.get("y") is not None
    # x and y beside a width or a height alone are part of a box, not a point.
    if of_point and not _EXTENT_NAMES.intersection(numbers):
        return [numbers["x"] or 0.0, numbers["y"] or 0.0]
    return None


def is_half_a_box(value: Pairs) -> bool:
    """Tell whether an object names some sides or corners of a box, but not all."""
    members = {plain_key(key): member for key, member in value.pairs}
    if any(name in members for names in _OPPOSITE for name in names):
        return True
    sides = [[number(members.get(name)) for name in names] for names in _HALVES]
    return any(sum(side is not None for side in group) > 1 for group in sides)


def opposite_corners(value: Pairs) -> list[float] | None:
    """Return the four numbers of an object with two corners, as written."""
    members = {plain_key(key): member for key, member in value.pairs}
    for first, last in _OPPOSITE:
        corners = [_corner(members.get(first)), _corner(members.get(last))]
        if all(len(corner) == 2 for corner in corners):
            return [n for corner in corners for n in corner]
    return None


def four_in(text: str) -> list[float] | None:
    """Return the numbers of a text that consists of four numbers."""
    whole = re.sub(r"```(?:json)?", " ", text).strip(" \t\r\n.`*")
    return (
        [float(n) for n in _NUMBERS.findall(whole)] if _FOUR.fullmatch(whole) else None
    )


def _corner(value: object) -> list[float]:
    if isinstance(value, Pairs):
        return named_corners(value) or []
    return (numbers_of(value) or []) if isinstance(value, list) else []


def box_in_words(text: str) -> list[float] | None:
    """Return x0, y0, x1, y1 from a text that names each of them exactly once."""
    named = _NAMED.findall(text)
    numbers = {axis + end: float(value) for axis, end, value in named}
    for names in (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax")):
        if len(named) == 4 and set(numbers) == set(names):
            return [numbers[name] for name in names]
    return None
