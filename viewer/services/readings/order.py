"""Draw cases and their order from a seed, never from their content."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from viewer.metrics.seeding import generator

_T = TypeVar("_T")


def sampled(
    strata: Mapping[tuple[str, ...], Sequence[_T]], cap: int, seed: int
) -> dict[tuple[str, ...], tuple[_T, ...]]:
    """Return ``cap`` members of each stratum, drawn without replacement (E000-25).

    A stratum's draw depends on the seed, its name and its members in their order, so
    that every reader of one seed gets the same. The members for a smaller cap are the
    first of those for a larger one, so that a review can be extended.
    """
    return {
        name: tuple(
            members[i]
            for i in generator(seed, "sample", *name).permutation(len(members))[:cap]
        )
        for name, members in strata.items()
    }


def mixed(members: Sequence[_T], seed: int, reader: str) -> tuple[_T, ...]:
    """Return members in an order of the reader's own, so that models are mixed."""
    order = generator(seed, "order", reader).permutation(len(members))
    return tuple(members[i] for i in order)


def williams(blocks: int) -> tuple[tuple[int, ...], ...]:
    """Return a Latin square of blocks, balanced for what comes before what.

    Williams 1949: for an even number of blocks, each row is one reader's order, each
    block is once in every position and follows every other one once. An odd number
    needs twice as many rows: the mirrored ones follow.
    """
    steps = [(k + 1) // 2 if k % 2 else -(k // 2) for k in range(blocks)]
    rows = [tuple((step + row) % blocks for step in steps) for row in range(blocks)]
    if blocks % 2:
        rows += [row[::-1] for row in rows]
    return tuple(rows)


def counterbalanced(
    members: Sequence[_T], seed: int, reader: int, blocks: int = 4
) -> tuple[_T, ...]:
    """Return the members in the order of the ``reader``-th reader (0-based).

    They are shuffled once by the seed and cut into blocks, the same for all readers;
    a row of :func:`williams` says in which order this one reads the blocks.
    """
    order = generator(seed, "counterbalance").permutation(len(members))
    square = williams(max(1, min(blocks, len(members))))
    parts = np.array_split(order, len(square[0]))
    row = square[reader % len(square)]
    return tuple(members[i] for block in row for i in parts[block])
