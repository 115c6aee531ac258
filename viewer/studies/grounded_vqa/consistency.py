"""Which rows of HEAL-MedVQA are inconsistent (M-09).

Every F1 of Table 2 is checked against its precision and recall, and the sentence on
proprietary models against its table.
"""

from collections.abc import Iterator
from typing import Final

from viewer.studies.consistency import Check, HarmonicCheck, MostBelowCheck
from viewer.studies.grounded_vqa.published import (
    ACCURACY,
    BELOW_HALF,
    MEASURES,
    PROPRIETARY,
)


def _harmonic() -> Iterator[HarmonicCheck]:
    of = {(row.who, row.subject, row.measure): row for row in ACCURACY}
    for row in ACCURACY:
        if row.measure == MEASURES[0]:
            precision, recall = (of[row.who, row.subject, m] for m in MEASURES[1:])
            yield HarmonicCheck(row, precision, recall)


F1_CHECKS: Final = tuple(_harmonic())
_CLOSED_F1: Final = tuple(
    check.row
    for check in F1_CHECKS
    if check.row.who in PROPRIETARY and check.row.subject.endswith("Yes/No")
)

CHECKS: Final[tuple[Check, ...]] = (
    *F1_CHECKS,
    MostBelowCheck(BELOW_HALF, _CLOSED_F1),
)
"""Every check of the paper's rows."""
