"""What pointing a region out adds to F1, relative to the plain answers (E002-19).

The paper's gains are relative ones: .551 to .581 is its "up to 5.44 %".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.report import Table
from viewer.studies.grounded_vqa.arms import PLAIN, shows_region
from viewer.studies.grounded_vqa.cells import note_of
from viewer.studies.grounded_vqa.published import ACCURACY, LLAVA_MED, LOBA, SOURCE

GAIN_TABLE: Final = "relative_gain"
_HEADER: Final = (
    *("source", "model", "condition", "note", "questions"),
    *("f1_plain", "f1", "gain_percent"),
)
_F1: Final = {"Yes/No": "yes_no_f1", "Open": "open_f1"}
"""The column of Table 2 that each format's F1 stands in."""
_Record = Mapping[str, object]


def relative_gain(before: float, after: float) -> float | None:
    """Return a gain in per cent of what was there before, None of nothing."""
    return 100 * (after - before) / before if before else None


def gain_table(accuracy: Table) -> Table:
    """Return each model's gain over its own plain answers, and LobA's as printed.

    ``accuracy`` is Table 2 of the run; without a region that is pointed out there is
    no row.
    """
    found = [dict(zip(accuracy.header, row, strict=True)) for row in accuracy.rows]
    own = tuple(_own(found))
    return Table(GAIN_TABLE, _HEADER, (*own, *_printed()) if own else ())


def _own(found: Sequence[_Record]) -> Iterator[tuple[object, ...]]:
    plain = {r["model"]: r for r in found if r["condition"] == PLAIN}
    for record in found:
        model, condition = record["model"], str(record["condition"])
        if shows_region(condition) and model in plain:
            for questions, column in _F1.items():
                f1 = plain[model][column], record[column]
                who = ("this run", model, condition, note_of(condition), questions)
                yield *who, *f1, _gain(*f1)


def _printed() -> Iterator[tuple[object, ...]]:
    """Yield the paper's gains of LobA over the model that it was built on."""
    f1 = {(row.who, row.subject): row.value for row in ACCURACY if row.measure == "F1"}
    for who, subject in f1:
        if who == LOBA:
            both = f1[LLAVA_MED, subject], f1[LOBA, subject]
            yield (
                SOURCE,
                LOBA,
                "loba",
                f"over {LLAVA_MED}",
                subject,
                *both,
                _gain(*both),
            )


def _gain(before: object, after: object) -> float | None:
    if not isinstance(before, float) or not isinstance(after, float):
        return None
    return relative_gain(before, after)
