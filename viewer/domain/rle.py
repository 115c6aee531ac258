"""COCO's compressed run-length coding of binary masks.

Runs alternate background and foreground, start with background and go down the
columns. Each run is written in groups of five bits, least significant first, six bits
used of each character from ``0`` (48) on, the sixth saying that more follow; from the
fourth run on the difference to the run two before is written instead of the run
(E000-01).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError

_HOW: Final = "Use COCO compressed RLE whose runs add up to the mask's height × width."
_TOO_LONG: Final = "A mask's run-length code has a run that is longer than any image."
_ZERO, _MORE, _SIGN = 48, 0x20, 0x10
"""The code of the character 0, and two of its bits: more follow, and negative."""
_MOST_GROUPS: Final = 10
_TOO_MANY: Final = 1 << 48
"""The difference of two runs below this fits into the groups."""


def decode_runs(counts: str) -> list[int]:
    """Return the run lengths coded in ``counts``; they may exceed the mask's size."""
    runs: list[int] = _runs(counts).tolist()
    return runs


def _runs(counts: str) -> npt.NDArray[np.int64]:
    """Return the run lengths coded in ``counts``; all at once, as there may be many."""
    codes = np.frombuffer(counts.encode(errors="surrogatepass"), np.uint8).astype(int)
    codes -= _ZERO
    if ((codes < 0) | (codes >= 64)).any():
        raise UnreadableInputError(
            "A mask's run-length code holds a character outside its alphabet.", _HOW
        )
    ends = np.flatnonzero(codes & _MORE == 0)
    if codes.size and (not ends.size or ends[-1] != codes.size - 1):
        raise UnreadableInputError("A mask's run-length code is cut short.", _HOW)
    lengths = np.diff(ends, prepend=-1)
    if lengths.max(initial=0) > _MOST_GROUPS:
        raise UnreadableInputError(_TOO_LONG, _HOW)
    if not codes.size:
        return codes
    starts = ends - lengths + 1
    place = np.arange(codes.size) - np.repeat(starts, lengths)
    runs = np.add.reduceat((codes & 0x1F) << 5 * place, starts)
    # Differences can be negative: the last group's highest bit is the sign.
    runs -= (codes[ends] & _SIGN != 0).astype(int) << 5 * lengths
    for first in (1, 2):
        runs[first::2] = np.cumsum(runs[first::2])
    return runs


def encode_runs(runs: Sequence[int] | npt.NDArray[np.int64]) -> str:
    """Return the code of ``runs``; the inverse of :func:`decode_runs`."""
    try:
        values = np.array(runs, np.int64)
    except OverflowError as error:
        raise UnreadableInputError(_TOO_LONG, _HOW) from error
    if np.abs(values).max(initial=0) >= _TOO_MANY:
        raise UnreadableInputError(_TOO_LONG, _HOW)
    values[3:] -= values[1:-2].copy()
    groups = np.zeros((values.size, _MOST_GROUPS), np.uint8)
    unfinished, place = np.arange(values.size), 0
    while unfinished.size:
        code, rest = values[unfinished] & 0x1F, values[unfinished] >> 5
        more = np.where(code & _SIGN, rest != -1, rest != 0)
        groups[unfinished, place] = code + _MORE * more + _ZERO
        values[unfinished] = rest
        unfinished, place = unfinished[more], place + 1
    return groups[groups > 0].tobytes().decode("ascii")


def decode(counts: str, height: int, width: int) -> npt.NDArray[np.bool_]:
    """Return the (height, width) mask; UnreadableInputError if the runs do not fit."""
    if height <= 0 or width <= 0:
        raise UnreadableInputError(
            f"A mask's size {height} × {width} is not positive.", _HOW
        )
    runs = _runs(counts)
    if (runs < 0).any():
        raise UnreadableInputError("A mask's run-length code has a negative run.", _HOW)
    if (covered := sum(runs.tolist())) != height * width:
        raise UnreadableInputError(
            f"A mask's runs cover {covered} pixels, but its size says "
            f"{height * width}.",
            _HOW,
        )
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape((width, height)).T


def encode(mask: npt.NDArray[np.bool_]) -> str:
    """Return the code of a (height, width) mask."""
    bits = np.asarray(mask, dtype=bool)
    background = [0] if bits.size and bits[0, 0] else []
    runs = np.diff(_changes(bits), prepend=0, append=bits.size)
    return encode_runs(np.concatenate((background, runs)).astype(np.int64))


def _changes(bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return where a pixel differs from the one before it, going down the columns."""
    if bits.flags.f_contiguous:
        flat = bits.T.ravel()
        return np.flatnonzero(flat[1:] != flat[:-1]) + 1
    # To copy rows as columns takes ten times as long as to sort the few changes.
    height, width = bits.shape
    rows, columns = divmod(np.flatnonzero(bits[1:] != bits[:-1]), width)
    first = 1 + np.flatnonzero(bits[0, 1:] != bits[-1, :-1])
    return np.sort(np.concatenate((columns * height + rows + 1, first * height)))
