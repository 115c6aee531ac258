"""The golden replies, and what their numbers mean by the formulas of each convention.

The formulas stand here once more, number by number and without the program's own
classes, so that table and program cannot be wrong together. Below them are accidents
that befall a reply, and what must hold of every reading.
"""

import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from viewer.domain.geometry import Affine, BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.places import Place, PlacesReading, ReplyStatus
from viewer.models.coordinates.frame import Frame

TABLE = Path(__file__).parents[1] / "unit/models/coordinates/golden.jsonl"
NATIVE_W, NATIVE_H = 1600.0, 800.0
SEEN_W, SEEN_H = 784.0, 392.0
FRAME = Frame(
    SizePx(800, 1600),
    Affine.scale_after_shift(PointPx(0.0, 0.0), 0.5, 0.5),
    SizePx(400, 800),
    SizePx(392, 784),
)
CROP_X = 400.0
"""Half of what the native width exceeds the height by."""

Formula = Callable[[float, float], tuple[float, float]]
FORMULAS: Mapping[str, Formula] = {
    "qwen2_vl": lambda x, y: (x / 1000 * NATIVE_W, y / 1000 * NATIVE_H),
    "qwen2_5_vl": lambda x, y: (x / SEEN_W * NATIVE_W, y / SEEN_H * NATIVE_H),
    "qwen3_vl": lambda x, y: (x / 1000 * NATIVE_W, y / 1000 * NATIVE_H),
    "gemini": lambda x, y: (x / 1000 * NATIVE_W, y / 1000 * NATIVE_H),
    "paligemma": lambda x, y: (x / 1024 * NATIVE_W, y / 1024 * NATIVE_H),
    "molmo": lambda x, y: (x / 100 * NATIVE_W, y / 100 * NATIVE_H),
    "florence2": lambda x, y: (
        (x + 0.5) * NATIVE_W / 1000,
        (y + 0.5) * NATIVE_H / 1000,
    ),
    "deepseek_vl2": lambda x, y: (x / 999 * NATIVE_W, y / 999 * NATIVE_H),
    "internvl": lambda x, y: (x / 1000 * NATIVE_W, y / 1000 * NATIVE_H),
    "claude": lambda x, y: (x / SEEN_W * NATIVE_W, y / SEEN_H * NATIVE_H),
    "xyxy_1000": lambda x, y: (x / 1000 * NATIVE_W, y / 1000 * NATIVE_H),
    "maira2": lambda x, y: (
        CROP_X + (x + 0.5) / 100 * NATIVE_H,
        (y + 0.5) / 100 * NATIVE_H,
    ),
}


@dataclass(frozen=True)
class Golden:
    """A line of the table: a reply, and what must be read in it."""

    convention: str
    reply: str
    status: str
    reason: str
    places: tuple[tuple[str, tuple[Any, ...], str], ...]
    flags: tuple[str, ...]


@cache
def golden_replies() -> tuple[Golden, ...]:
    """Return every line of the table."""
    return tuple(
        Golden(
            row["convention"],
            row["reply"],
            row["status"],
            row["reason"],
            tuple((kind, tuple(at), label) for kind, at, label in row["places"]),
            tuple(row["flags"]),
        )
        for row in map(json.loads, TABLE.read_text(encoding="utf-8").splitlines())
    )


def expected_numbers(
    convention: str, kind: str, values: tuple[Any, ...]
) -> list[float]:
    """Return x and y in turn in native pixels, cut at the image's edges."""
    if kind == "cell":
        return _cell(str("".join(values)))
    if kind == "patches":
        return _patches(*values)
    formula = FORMULAS[convention]
    points = [formula(x, y) for x, y in zip(values[::2], values[1::2], strict=True)]
    limits = (NATIVE_W, NATIVE_H)
    return [
        min(max(value, 0.0), limit)
        for point in points
        for value, limit in zip(point, limits, strict=True)
    ]


def numbers_of(place: Place) -> list[float]:
    """Return a place's x and y in turn."""
    match place.shape:
        case PointPx(x, y):
            return [x, y]
        case BoxPx(x0, y0, x1, y1):
            return [x0, y0, x1, y1]
        case PolygonPx(points):
            return [value for point in points for value in (point.x, point.y)]


def _cell(name: str) -> list[float]:
    row, column = "ABCDEFGH".index(name[0]), int(name[1:]) - 1
    return [column * 200.0, row * 100.0, column * 200.0 + 200, row * 100.0 + 100]


def _patches(upper_left: int, lower_right: int) -> list[float]:
    left, top = upper_left % 32, upper_left // 32
    right, bottom = lower_right % 32, lower_right // 32
    near, far = (0.0, 1.0) if left == right or top == bottom else (0.5, 0.5)
    corners = (left + near, top + near, right + far, bottom + far)
    sides = (NATIVE_W, NATIVE_H) * 2
    return [n / 32 * side for n, side in zip(corners, sides, strict=True)]


_PIECES = (
    *("[", "]", "{", "}", "(", ")", "<", ">", '"', "'", ",", ":", ";", "\\", "/", "|"),
    *("0", "-1", "1e9", "1e999", "99999999999", ".5", "NaN", "null", "\n", "\x00", "…"),
    *(
        "<think>",
        "</think>",
        "```json",
        "```",
        "<loc0001>",
        "<loc_1>",
        "<box>",
        "</box>",
    ),
    *(
        "<|det|>",
        "<|box_start|>",
        "<object>",
        "<patch_index_0001>",
        "<point x=",
        "<obj>",
    ),
    *('"bbox_2d"', '"box_2d"', '"label"', "٣", "D4", "//", "/*", "sorry", "no nodule"),
)


def mutated(text: str, rng: random.Random) -> str:
    """Return ``text`` after one to four small accidents."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_ACCIDENTS)(text, rng)
    return text


def _cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _dropped(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 6) :]


def _inserted(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_PIECES) + text[at:]


def _repeated(text: str, rng: random.Random) -> str:
    start = rng.randint(0, len(text))
    stop = rng.randint(start, min(len(text), start + 40))
    return text[:stop] + text[start:stop] * rng.randint(1, 3) + text[stop:]


def _digit_changed(text: str, rng: random.Random) -> str:
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if not digits:
        return text
    at = rng.choice(digits)
    return text[:at] + rng.choice(("", "0", "9", "-", ".", "77")) + text[at + 1 :]


def _swapped(text: str, rng: random.Random) -> str:
    if len(text) < 2:
        return text
    i, j = sorted(rng.sample(range(len(text)), 2))
    return text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]


_ACCIDENTS = (_cut_off, _dropped, _inserted, _repeated, _digit_changed, _swapped)


def assert_sound(reading: PlacesReading, reply: str, frame: Frame) -> None:
    """Check that a reading is no silent empty and lies within the image."""
    assert reading.raw == reply
    status = reading.status
    assert (status is ReplyStatus.OK) == (reading.reason == "")
    assert (status is ReplyStatus.OK) == bool(reading.scored)
    if status not in {ReplyStatus.OK, ReplyStatus.TRUNCATED}:
        assert reading.places == ()
    answers = status in {ReplyStatus.OK, ReplyStatus.EMPTY}
    assert (reading.unparsed() is None) == answers
    for place in reading.places:
        numbers = numbers_of(place)
        assert all(math.isfinite(n) for n in numbers)
        assert all(0.0 <= x <= frame.native.columns for x in numbers[::2])
        assert all(0.0 <= y <= frame.native.rows for y in numbers[1::2])
        if isinstance(place.shape, BoxPx):
            assert place.shape.x0 < place.shape.x1
            assert place.shape.y0 < place.shape.y1
