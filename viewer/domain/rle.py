"""COCO's compressed run-length coding of binary masks.

Runs alternate background and foreground, start with background and go down the
columns. Each run is written in groups of five bits, least significant first, six bits
used of each character from ``0`` (48) on, the sixth saying that more follow; from the
fourth run on the difference to the run two before is written instead of the run
(E000-01).
"""

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError

_HOW = "Use COCO compressed RLE whose runs add up to the mask's height × width."


def decode_runs(counts: str) -> list[int]:
    """Return the run lengths coded in ``counts``; they may exceed the mask's size."""
    runs: list[int] = []
    position = 0
    while position < len(counts):
        value, shift, more = 0, 0, True
        while more:
            if position >= len(counts):
                raise UnreadableInputError(
                    "A mask's run-length code is cut short.", _HOW
                )
            code = ord(counts[position]) - 48
            if not 0 <= code < 64:
                raise UnreadableInputError(
                    "A mask's run-length code holds a character outside its alphabet.",
                    _HOW,
                )
            value |= (code & 0x1F) << shift
            shift += 5
            more = bool(code & 0x20)
            position += 1
            # Differences can be negative: the last group's highest bit is the sign.
            if not more and code & 0x10:
                value |= -1 << shift
        if len(runs) > 2:
            value += runs[-2]
        runs.append(value)
    return runs


def encode_runs(runs: list[int]) -> str:
    """Return the code of ``runs``; the inverse of :func:`decode_runs`."""
    out: list[str] = []
    for i, run in enumerate(runs):
        value = run - runs[i - 2] if i > 2 else run
        more = True
        while more:
            code = value & 0x1F
            value >>= 5
            more = value != -1 if code & 0x10 else value != 0
            out.append(chr((code | 0x20 if more else code) + 48))
    return "".join(out)


def decode(counts: str, height: int, width: int) -> npt.NDArray[np.bool_]:
    """Return the (height, width) mask; UnreadableInputError if the runs do not fit."""
    if height <= 0 or width <= 0:
        raise UnreadableInputError(
            f"A mask's size {height} × {width} is not positive.", _HOW
        )
    runs = decode_runs(counts)
    if any(run < 0 for run in runs):
        raise UnreadableInputError("A mask's run-length code has a negative run.", _HOW)
    if sum(runs) != height * width:
        raise UnreadableInputError(
            f"A mask's runs cover {sum(runs)} pixels, but its size says "
            f"{height * width}.",
            _HOW,
        )
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape((width, height)).T


def encode(mask: npt.NDArray[np.bool_]) -> str:
    """Return the code of a (height, width) mask."""
    flat = np.asarray(mask, dtype=bool).T.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    edges = np.concatenate(([0], changes, [flat.size]))
    runs = [int(n) for n in np.diff(edges)]
    if flat.size and flat[0]:
        runs.insert(0, 0)
    return encode_runs(runs)
