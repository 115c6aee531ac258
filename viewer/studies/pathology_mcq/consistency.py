"""Checks of the numbers in Sun 2024 for consistency (M-09)."""

from collections.abc import Iterator
from typing import Final

from viewer.studies.consistency import Check, PooledCheck, SignCheck
from viewer.studies.pathology_mcq.dataset_sizes import QUESTIONS
from viewer.studies.pathology_mcq.params import SUBSETS
from viewer.studies.pathology_mcq.published import Rows, corruption_rows, rows_of
from viewer.studies.pathology_mcq.scopes import ALL, OVERALL, TINY, Scope

WITHIN: Final = "0.1"
"""Percentage points by which a micro average may differ from its printed parts."""


def checks() -> tuple[Check, ...]:
    """Return every check: overall against subsets, and changes against their rows."""
    return (
        *(check for number in (1, 3, 4) for check in _pooled(rows_of(number))),
        *_signs(),
    )


def _pooled(rows: Rows) -> Iterator[Check]:
    for of in rows.values():
        for part in (TINY, ALL):
            columns = [Scope(part, subset) for subset in SUBSETS]
            if all(column in of for column in columns):
                yield PooledCheck(
                    of[Scope(part, OVERALL)],
                    tuple(of[column] for column in columns),
                    tuple(QUESTIONS[column] for column in columns),
                    WITHIN,
                )


def _signs() -> Iterator[Check]:
    clean = rows_of(1)
    for model, kinds in corruption_rows().items():
        for accuracy, change in kinds.values():
            yield SignCheck(change, accuracy, clean[model][Scope(TINY, OVERALL)])
