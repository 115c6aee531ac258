"""Every test of two runs on the same items, put together from the metrics alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import (
    McNemar,
    PairedTable,
    mcnemar,
    mean_difference,
    paired_table,
)
from viewer.metrics.permutation import PermutationTest, sign_flip


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The first run less the second on the same items, as each test sees it.

    ``difference`` is that of the hit rates, with an interval by patient.
    """

    table: PairedTable
    mcnemar: McNemar
    difference: Estimate
    permutation: PermutationTest


def paired_comparison(
    first: Sequence[bool],
    second: Sequence[bool],
    patients: Sequence[str],
) -> PairedComparison:
    """Compare two runs; each item has both runs' hits and its patient.

    The result does not depend on the order of the items.
    """
    table = paired_table(first, second)
    present, of = np.unique(patients, return_inverse=True)
    totals, trials = np.zeros((2, present.size, 1))
    np.add.at(totals[:, 0], of, first)
    np.subtract.at(totals[:, 0], of, second)
    np.add.at(trials[:, 0], of, 1)
    return PairedComparison(
        table,
        mcnemar(table.only_first, table.only_second),
        mean_difference(
            totals[:, 0].tolist(),
            trials[:, 0].tolist(),
            table.only_first + table.only_second,
        ),
        sign_flip(totals[:, 0].tolist()),
    )
