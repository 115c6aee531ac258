"""The closed outlines of a mask, along the edges of its pixels."""

from typing import Final

import numpy as np
import numpy.typing as npt

_TAKEN: Final = -1


def outline_loops(mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Return the closed outlines as (n, 2) x, y corners, the mask to the right.

    Each begins with the corner that it ends with.
    """
    ys, xs = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not ys.size:
        return []
    # Most masks are small beside their image.
    top, left = int(ys[0]), int(xs[0])
    wide = np.pad(mask[top : ys[-1] + 1, left : xs[-1] + 1], 1)
    starts, ends = _runs(wide)
    pitch = wide.shape[1]
    return [
        np.stack((keys % pitch + left, keys // pitch + top), axis=1)
        for keys in _chained(starts, ends)
    ]


def _runs(wide: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.intp], ...]:
    """Return the corners that straight runs of the outline start and end at.

    ``wide`` is the mask with a free border; a corner (x, y) of the mask's own pixels
    is numbered ``y`` times the columns of ``wide``, plus ``x``.
    """
    pitch = wide.shape[1]
    # Between rows: what is entered from above runs right, what is left runs left.
    y, x, enters = _steps(wide)
    first, last = _joined(y, x, enters)
    right = y[first] * pitch + x[first] - 1, y[last] * pitch + x[last]
    x2, y2, enters2 = _steps(wide.T)
    first2, last2 = _joined(x2, y2, enters2)
    # What is entered from the left runs up, what is left runs down.
    down = (y2[first2] - 1) * pitch + x2[first2], y2[last2] * pitch + x2[last2]
    rightwards, upwards = enters[first], enters2[first2]
    starts = np.concatenate(
        (np.where(rightwards, *right), np.where(upwards, *down[::-1]))
    )
    ends = np.concatenate(
        (np.where(rightwards, *right[::-1]), np.where(upwards, *down))
    )
    return starts, ends


def _steps(
    wide: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return line and place of each step along the first axis, and if it enters."""
    # Faster than to look for both indices at once.
    steps = np.flatnonzero(np.ascontiguousarray(wide[1:] != wide[:-1]))
    line, place = np.divmod(steps, wide.shape[1])
    return line, place, wide[line + 1, place]


def _joined(
    line: npt.NDArray[np.intp],
    place: npt.NDArray[np.intp],
    sense: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first and the last step of each straight run."""
    apart = (np.diff(line) != 0) | (np.diff(place) != 1) | (sense[1:] != sense[:-1])
    cuts = np.flatnonzero(apart)
    last = np.append(cuts, len(line) - 1)
    return np.append(0, cuts + 1), last


def _chained(
    starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp]
) -> list[npt.NDArray[np.intp]]:
    """Return the closed chains of runs, as the corners that they go through."""
    # As many runs end at a corner as start there, so both orders pair them.
    follows = np.empty_like(starts)
    follows[np.argsort(ends, kind="stable")] = np.argsort(starts, kind="stable")
    after = follows.tolist()
    chains = []
    for run in range(len(after)):
        chain, here = [], run
        while after[here] != _TAKEN:
            chain.append(here)
            following = after[here]
            after[here] = _TAKEN
            here = following
        if chain:
            chains.append(starts[[*chain, run]])
    return chains
