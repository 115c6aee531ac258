"""Which rows of Chen 2026 are inconsistent (M-09, E004-11).

The printed percentages are of fewer cases than 398 and 54 for several models: 397 or
393 in English, 50, 51 or 53 in Chinese, one case less in Table 10. Such a row is
reported as having another n, because fewer cases may have been scored; one that no
plausible n gives is inconsistent. Overall rates only need to be the pooled rates of
both languages.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from viewer.studies.consistency import Check, CountCheck, PooledCheck
from viewer.studies.evidence_diagnosis.published import (
    CHINESE_CASES,
    DDX,
    ENGLISH_CASES,
    FDX,
    SPECIALTY_CASES,
    find,
    rows,
)

FEWEST_ENGLISH: Final = 393
FEWEST_CHINESE: Final = 50
"""The least cases that a printed rate implies were scored (GPT-5.2, Qwen3-VL-32B)."""
_FEWEST: Final = {ENGLISH_CASES: FEWEST_ENGLISH, CHINESE_CASES: FEWEST_CHINESE}
WITHIN: Final = "0.02"
"""Percentage points that a pooled rate may be off; all final diagnoses keep to it."""


@lru_cache(maxsize=1)
def checks() -> tuple[Check, ...]:
    """Return every check of the paper's rows."""
    return (*_counts(), *_overall(), *_specialties())


def _counts() -> Iterator[Check]:
    for row in rows():
        if row.n_claimed is None:
            continue
        if row.table == "Table 10":
            yield CountCheck(row, row.n_claimed - 1)
        elif row.n_claimed in _FEWEST:
            yield CountCheck(row, _FEWEST[row.n_claimed])


def _overall() -> Iterator[Check]:
    """Yield the check of each overall rate against its languages' (E004-11)."""
    for row in rows():
        if row.table == "Table 2" and row.subject == "All" and row.measure in _RATES:
            parts = tuple(
                find("Table 2", row.measure, subset, row.who)
                for subset in ("English", "Chinese")
            )
            yield PooledCheck(row, parts, (ENGLISH_CASES, CHINESE_CASES), WITHIN)


_RATES: Final = (DDX, FDX)


def _specialties() -> Iterator[Check]:
    """Yield the check of Table 2's English accuracy against Table 10's parts."""
    for who in dict.fromkeys(row.who for row in rows() if row.table == "Table 10"):
        parts = tuple(find("Table 10", FDX, part, who) for part in SPECIALTY_CASES)
        whole = find("Table 2", FDX, "English", who)
        yield PooledCheck(whole, parts, tuple(SPECIALTY_CASES.values()), WITHIN)
