"""The rows of HEAL-MedVQA shown below a run's tables, by those tables' columns.

They come from other data than the run: two data sets, each named beside the model.
"""

from collections.abc import Mapping
from typing import Final

from viewer.results.page import PrintedTables
from viewer.studies.grounded_vqa.published import (
    ABLATION_ROWS,
    ACCURACY,
    COSTS,
    GENERAL,
    TEXTUAL,
    VISUAL,
    WEIGHT_ROWS,
)
from viewer.studies.published import PublishedValue, printed_table

_F1: Final = {"Yes/No": "yes_no_f1", "Open": "open_f1"}
_PART: Final = {"F1": "f1", "precision": "precision", "recall": "recall"}
_COST: Final = {"seconds": "seconds_per_100", "GPU memory, MB": "peak_mib"}
_Placed = tuple[Mapping[str, str], str]


def _accuracy(value: PublishedValue) -> _Placed:
    dataset, form = value.subject.split()
    column = _F1[form].removesuffix("f1") + _PART[value.measure]
    return {"dataset": dataset, "model": value.who, "note": value.note}, column


def _perturbed(value: PublishedValue) -> _Placed:
    return {**_of_dataset(value, value.subject), "test": value.measure}, "score"


def _ablated(value: PublishedValue) -> _Placed:
    if value.measure in {"TPT", "VPT"}:
        return {"model": value.who}, value.measure.lower()
    dataset, form = value.subject.split()
    return _of_dataset(value, dataset), _F1[form]


def _of_dataset(value: PublishedValue, dataset: str) -> Mapping[str, str]:
    return {"model": f"{value.who}, {dataset}"}


def _costing(value: PublishedValue) -> _Placed:
    return {"model": value.who}, _COST[value.measure]


def _weighted(value: PublishedValue) -> _Placed:
    weight = value.measure.rpartition(" ")[2]
    return {"model": value.who, "weight": weight}, _F1[value.subject]


PRINTED: Final[PrintedTables] = {
    "table_2_accuracy": (
        printed_table("Table 2", ACCURACY, _accuracy),
        printed_table("Table 7", GENERAL, _accuracy),
    ),
    "table_3_textual": (printed_table("Table 3", TEXTUAL, _perturbed),),
    "table_4_visual": (printed_table("Table 4", VISUAL, _perturbed),),
    "table_5_ablation": (printed_table("Table 5", ABLATION_ROWS, _ablated),),
    "table_6_cost": (printed_table("Table 6", COSTS, _costing),),
    "table_8_weights": (printed_table("Table 8", WEIGHT_ROWS, _weighted),),
}
"""What stands below the run's rows, by the name of our table."""
