"""The rows of Banerjee 2025 shown below a run's tables (X-05)."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.rubric import Dimension
from viewer.results.page import Printed, PrintedTables
from viewer.studies.published import PublishedValue, printed_table
from viewer.studies.rubric_reading.final import Measure
from viewer.studies.rubric_reading.published import (
    DEVIATION,
    DIFFERENCE,
    KAPPA,
    MAIN_READER,
    MEAN,
    P_ADJUSTED,
    TABLE_3,
    TABLES_1_2,
)

_SCORES: Final = {MEAN: "mean", DEVIATION: "sd", P_ADJUSTED: "p_adjusted"}
_AGREEMENT: Final = {KAPPA: "qwk", DIFFERENCE: "mad"}


def _score(value: PublishedValue) -> tuple[Mapping[str, str], str]:
    metric = Measure(value.subject).words
    return {"metric": metric, "model": value.who}, _SCORES[value.measure]


def _agreement(value: PublishedValue) -> tuple[Mapping[str, str], str]:
    reader = "main" if value.who == MAIN_READER else "second"
    column = _AGREEMENT.get(value.measure) or f"{reader}_{_SCORES[value.measure]}"
    return {"category": Dimension(value.subject).words}, column


def _means(table: str) -> Printed:
    own = (value for value in TABLES_1_2 if value.table == table)
    return printed_table(table, own, _score)


PRINTED: Final[PrintedTables] = {
    "table_1": (_means("Table 1"),),
    "table_2": (_means("Table 2"),),
    "table_3": (printed_table("Table 3", TABLE_3, _agreement),),
}
"""What stands below the run's rows, by the name of our table."""
