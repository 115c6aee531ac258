"""Masks as pairs of numbers that run down the columns, in two conventions.

``absolute``: each pair is the pixel at which a run starts, counted from 1, and its
length. ``relative`` (SIIM-ACR 2019): each pair is the number of pixels between the end
of the previous run and this one, the first counted from pixel 0, and its length. The
two look alike; only an impossible value in one of them distinguishes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from viewer.domain import rle
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask

_HOW = "Write pairs of start and length, down the columns."


class Runs(StrEnum):
    """The pixel that a run's first number counts from."""

    RELATIVE = "relative"
    ABSOLUTE = "absolute"


@dataclass(frozen=True)
class Evidence:
    """How many codes are invalid in each convention, with one reason each."""

    not_relative: int
    not_absolute: int
    why_not_relative: str = ""
    why_not_absolute: str = ""


def pairs_of(text: str) -> tuple[int, ...]:
    """Return a code's numbers; raises unless they are pairs of integers."""
    try:
        numbers = tuple(int(word) for word in text.split())
    except ValueError as error:
        raise _unreadable("it contains something that is not a whole number") from error
    if len(numbers) % 2 or not numbers:
        raise _unreadable("its numbers are not pairs")
    if min(numbers) < 0:
        raise _unreadable("a number is below 0")
    return numbers


def evidence(codes: Sequence[tuple[tuple[int, ...], SizePx]]) -> Evidence:
    """Return the evidence against each convention, from codes and image sizes."""
    whys = [(_not_relative(c, size), _not_absolute(c, size)) for c, size in codes]
    relative = [why for why, _ in whys if why]
    absolute = [why for _, why in whys if why]
    return Evidence(
        len(relative),
        len(absolute),
        *(of[0] if of else "" for of in (relative, absolute)),
    )


def mask_of_runs(numbers: Sequence[tuple[int, ...]], runs: Runs, size: SizePx) -> Mask:
    """Return the union of codes as one mask; raises if a run leaves the image."""
    flat = np.zeros(size.rows * size.columns, dtype=np.bool_)
    for code in numbers:
        position = 0
        for start, length in zip(code[::2], code[1::2], strict=True):
            first = position + start if runs is Runs.RELATIVE else start - 1
            position = first + length
            if first < 0 or position > flat.size:
                raise _unreadable(f"a run ends beyond the {flat.size} pixels")
            flat[first:position] = True
    shape = (size.columns, size.rows)
    return Mask(size, rle.encode(flat.reshape(shape).T))


def _not_relative(code: tuple[int, ...], size: SizePx) -> str:
    if sum(code) > size.rows * size.columns:
        return "its distances would add up to more pixels than the image has"
    return ""


def _not_absolute(code: tuple[int, ...], size: SizePx) -> str:
    starts, lengths = np.array(code[::2]), np.array(code[1::2])
    if starts[0] == 0:
        return "a run would start at pixel 0, before the first"
    if (starts[1:] < starts[:-1] + lengths[:-1]).any():
        return "a run would start before the previous one ends"
    if starts[-1] - 1 + lengths[-1] > size.rows * size.columns:
        return "a run would end beyond the image"
    return ""


def _unreadable(why: str) -> UnreadableInputError:
    return UnreadableInputError(f"A run-length code cannot be read: {why}.", _HOW)
