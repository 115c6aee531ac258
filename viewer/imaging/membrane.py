"""Harmonic functions inside a region with given values around it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]
_Array = TypeVar("_Array", npt.NDArray[np.int64], npt.NDArray[np.float64])
_DIRECT = 5_000
"""Unknowns up to which equations are solved at once."""
_TOLERANCE = 1e-5
"""Of the remaining equations, relative to what is given."""
_SMOOTHING = 2 / 3
"""Weight of a Jacobi step."""
_LIFT = 1.8
"""How far a correction constant in blocks falls short (Braess 1995)."""
_NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass(frozen=True, eq=False)
class _Level:
    """A multigrid level: its equations, and the 2 × 2 blocks of the next level.

    ``blocks`` (unknowns, unknowns of the next level) is 1 where a pixel is in a block.
    """

    matrix: "csr_matrix"
    diagonal: _Floats
    blocks: "csr_matrix"


def harmonic(values: _Floats, inside: _Bools) -> _Floats:
    """Return a field that equals ``values`` outside and is harmonic inside.

    Each inner pixel is the mean of its up to four neighbours; the array's edge has none
    outside, which is a Neumann boundary. Small regions are solved directly, large ones
    by conjugate gradients preconditioned by a multigrid cycle over ever larger blocks.

    Parameters
    ----------
    values : (rows, columns) float
        Only values outside the region are used.
    inside : (rows, columns) bool
        The region; if it is the whole array, the field is 0.
    """
    field = np.where(inside, 0.0, values)
    n = int(np.count_nonzero(inside))
    if n in {0, inside.size}:
        return field
    matrix, given = _equations(field, inside, n)
    field[inside] = _solved(matrix, given, np.argwhere(inside))
    return field


def _solved(matrix: "csr_matrix", given: _Floats, places: _Ints) -> _Floats:
    from scipy.sparse.linalg import LinearOperator, cg, splu

    levels: list[_Level] = []
    coarse = matrix
    while coarse.shape[0] > _DIRECT:
        blocks, places = _blocks(places)
        levels.append(_Level(coarse, coarse.diagonal(), blocks))
        coarse = (blocks.T @ coarse @ blocks).tocsr()
    last = splu(coarse.tocsc())
    if not levels:
        return np.asarray(last.solve(given))

    def cycle(rest: _Floats, depth: int = 0) -> _Floats:
        if depth == len(levels):
            return np.asarray(last.solve(rest))
        level = levels[depth]
        step = _SMOOTHING / level.diagonal
        found = step * rest
        below = cycle(level.blocks.T @ (rest - level.matrix @ found), depth + 1)
        found = found + _LIFT * (level.blocks @ below)
        return np.asarray(found + step * (rest - level.matrix @ found))

    first = LinearOperator(matrix.shape, matvec=cycle, dtype=np.float64)
    solution, _ = cg(matrix, given, rtol=_TOLERANCE, maxiter=500, M=first)
    return np.asarray(solution)


def _blocks(places: _Ints) -> tuple["csr_matrix", _Ints]:
    """Return the block of each position, and the blocks' own positions."""
    from scipy.sparse import csr_matrix

    half, index = np.unique(places // 2, axis=0, return_inverse=True)
    n = len(places)
    at = (np.arange(n), index.reshape(-1))
    return csr_matrix((np.ones(n), at), shape=(n, len(half))), half


def _equations(field: _Floats, inside: _Bools, n: int) -> tuple["csr_matrix", _Floats]:
    """Return matrix and right-hand side of the inner pixels' equations."""
    from scipy.sparse import coo_matrix

    index = np.full(inside.shape, -1, dtype=np.int64)
    index[inside] = np.arange(n)
    degree, given = np.zeros(n), np.zeros(n)
    rows, columns = [np.arange(n)], [np.arange(n)]
    for dy, dx in _NEIGHBOURS:
        beside = _shifted(index, dy, dx, -2)[inside]
        value = _shifted(field, dy, dx, 0)[inside]
        degree += beside != -2
        given += np.where(beside == -1, value, 0.0)
        rows.append(np.flatnonzero(beside >= 0))
        columns.append(beside[beside >= 0])
    entries = np.concatenate((degree, np.full(sum(map(len, rows)) - n, -1.0)))
    at = (np.concatenate(rows), np.concatenate(columns))
    return coo_matrix((entries, at), shape=(n, n)).tocsr(), given


def _shifted(values: _Array, dy: int, dx: int, beyond: int) -> _Array:
    """Return each pixel's neighbour, ``beyond`` past the edge."""
    rows, columns = values.shape
    padded = np.pad(values, 1, constant_values=beyond)
    return padded[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + columns]
