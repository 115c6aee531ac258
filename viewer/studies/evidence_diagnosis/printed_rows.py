"""The rows of Chen 2026 shown below a run's tables (X-05).

All but Tables 2 and 8 are of English cases, and are not shown below tables of Chinese
ones.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from viewer.results.page import Printed, PrintedTables
from viewer.studies.evidence_diagnosis.params import Arm
from viewer.studies.evidence_diagnosis.published import (
    DDX,
    DDX_SCORE,
    FDX,
    RANK,
    SOURCE,
    rows,
    table_5,
)
from viewer.studies.published import Place, PublishedValue, printed_table

_SUBSETS: Final = {"English": "en", "Chinese": "zh", "All": "all"}
_MEASURES: Final = {DDX: "ddx", FDX: "fdx", RANK: "rank", DDX_SCORE: "score"}
_ARMS: Final = {
    "raw": Arm.RAW,
    "baseline": Arm.RAW,
    "expert": Arm.EXPERT,
    "remove text": Arm.REMOVE_TEXT,
    "random text": Arm.RANDOM_TEXT,
    "refined": Arm.REFINED,
}
_SETTINGS: Final = {"Baseline": "baseline", "Prompt refinement": "refined"}
_Placed = tuple[Mapping[str, str], str]


def _by_subset(value: PublishedValue) -> _Placed:
    column = f"{_MEASURES[value.measure]}_{_SUBSETS[value.subject]}"
    return {"model": value.who}, column


def _by_arm(value: PublishedValue) -> _Placed:
    arm = _ARMS[value.subject.partition(", ")[2]]
    return {"model": value.who, "arm": arm.value}, "fdx"


def _scored(value: PublishedValue) -> _Placed:
    return {"model": value.who}, "score"


def _by_stratum(value: PublishedValue) -> _Placed:
    return {"model": value.who}, value.subject


def _by_evidence(value: PublishedValue) -> _Placed:
    return {"evidence": value.subject, "model": value.who}, "nmse"


def _by_setting(value: PublishedValue) -> _Placed:
    return {"model": value.who}, _SETTINGS[value.subject]


_PLACES: Final[Mapping[str, tuple[str, Place]]] = {
    "table_02": ("Table 2", _by_subset),
    "table_03": ("Table 3", _by_arm),
    "table_04": ("Table 4", _by_arm),
    "table_06": ("Table 6", _by_arm),
    "table_08": ("Table 8", _by_subset),
    "table_09": ("Table 9", _scored),
    "table_10": ("Table 10", _by_stratum),
    "table_11": ("Table 11", _by_stratum),
    "table_12": ("Table 12", _by_evidence),
    "table_13": ("Table 13", _by_setting),
}


@lru_cache(maxsize=1)
def printed_tables() -> PrintedTables:
    """Return what stands below a run's rows, by the name of our table."""
    found = {
        name: (printed_table(table, (r for r in rows() if r.table == table), place),)
        for name, (table, place) in _PLACES.items()
    }
    fifth = ({"model": who, "nmse_mean": n, "fdx": fdx} for who, n, fdx in table_5())
    return {**found, "table_05": (Printed(SOURCE, "Table 5", tuple(fifth)),)}
