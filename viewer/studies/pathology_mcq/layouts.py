"""Tables laid out as the paper prints them (Tables 1 to 4; E003-14)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.report import Table
from viewer.results.estimators.rates import arrow
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.page import Printed, PrintedTables
from viewer.results.spec import (
    HIGHEST,
    PERCENT,
    Cell,
    Key,
    Ranking,
    Shown,
    TableSpec,
    Where,
)
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.frames import OVER_KINDS
from viewer.studies.pathology_mcq.params import KINDS, SUBSETS, Arm
from viewer.studies.pathology_mcq.published import (
    EXPERTS,
    FREQUENT,
    RANDOM,
    SOURCE,
    corruption_rows,
    rows_of,
    subject_of,
)
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.scopes import (
    ALL,
    OVERALL,
    TINY,
    VAL,
    Scope,
    subsets_of,
)
from viewer.studies.pathology_mcq.tables import BASELINES, EXPERTS_WHOLE

RATES: Final = "rates"
"""The frame of Table 1: what chance, experts and models come to in each column."""
WITH_IMAGE, TEXT_ONLY, CHANCE = "image and text", "text only", "none"
_CHANGE: Final = "_change"
_NAMES: Final = {"jpeg": "JPEG"}
_NO_SIZES: Final[Mapping[str, int]] = {}
_PAPER: Final = "published"
_LONG: Final = frozenset({_PAPER, "corruption", "noise"})
_SOURCES: Final = (
    (BASELINES, "random", RANDOM, CHANCE, ""),
    (BASELINES, "frequent", FREQUENT, CHANCE, ""),
    (EXPERTS_WHOLE, "score", EXPERTS, WITH_IMAGE, ""),
    ("accuracy_paper", "accuracy", "", WITH_IMAGE, PLAIN),
    ("accuracy_paper", "accuracy", "", TEXT_ONLY, Arm.TEXT_ONLY.value),
)
"""Of whom Table 1 tells: a table, its column, who, what was shown, the condition."""


def layouts(mcqs: Sequence[Mcq]) -> tuple[TableSpec, ...]:
    """Return Tables 1 to 4; ``mcqs`` are the questions that count."""
    tests = _tests(subsets_of(mcqs))
    first = _table_1((Scope(VAL, OVERALL), *tests), mcqs)
    return first, _TABLE_2, _table_3(tests), _TABLE_4


def layout_frames(tables: Sequence[Table]) -> dict[str, Frame]:
    """Return the frames of Tables 1 to 4: long tables by their names, and rates."""
    records = {table.name: table.records() for table in tables}
    frames = {
        t.name: frame_of_rows(t.header, t.rows) for t in tables if t.name in _LONG
    }
    published = frames[_PAPER]
    rates = [value / 100 for value in published["value"]]
    header = ("model", "input", "part", "subset", "accuracy")
    return {
        **frames,
        _PAPER: published.having(rate=rates),
        RATES: frame_of_rows(header, _rates(records)),
    }


def _rates(
    told: Mapping[str, Sequence[Mapping[str, object]]],
) -> Iterator[tuple[object, ...]]:
    for table, column, who, shown, condition in _SOURCES:
        for row in told.get(table, ()):
            part, subset = row["part"], row["subset"]
            is_column = part in {TINY, ALL} or (part, subset) == (VAL, OVERALL)
            if is_column and row.get("condition", "") == condition:
                yield who or row["model"], shown, part, subset, row[column]


def _tests(subsets: Iterable[str]) -> tuple[Scope, ...]:
    """Return the columns of the test: tiny and all, overall and by subset."""
    every = (OVERALL, *subsets)
    return tuple(Scope(part, subset) for subset in every for part in (TINY, ALL))


def _named(scope: Scope) -> str:
    return f"{scope.subset}_{scope.part}"


def _here(scope: Scope) -> Where:
    return {"part": (scope.part,), "subset": (scope.subset,)}


def _cells(columns: Mapping[str, Where], *of: str) -> tuple[Cell, ...]:
    """Return a cell for each column; a change follows where two numbers are named."""
    return tuple(
        Cell(
            "first",
            tuple(f"{name}{end}" for end in ("", _CHANGE)[: len(of)]),
            of,
            where,
        )
        for name, where in columns.items()
    )


def _shown(
    names: Iterable[str],
    change: str = "",
    best: str = "",
    sizes: Mapping[str, int] = _NO_SIZES,
) -> list[Shown]:
    """Return columns in per cent; those of one subset are grouped under its name.

    Headers include the numbers of items if there are ``sizes``.
    """
    return [
        Shown(
            name,
            _NAMES.get(part, part.capitalize())
            + (f", n = {sizes[name]}" if name in sizes else ""),
            PERCENT,
            group=group,
            change=f"{name}{change}" if change else "",
            none="",
            best=best,
        )
        for name in names
        for group, _, part in [name.rpartition("_")]
    ]


def _table_1(scopes: Sequence[Scope], mcqs: Sequence[Mcq]) -> TableSpec:
    """Return Table 1: chance, experts, models with image, models without."""
    columns = {_named(scope): _here(scope) for scope in scopes}
    sizes = {
        _named(scope): sum(scope.holds(m.subset, m.split) for m in mcqs)
        for scope in scopes
    }
    return TableSpec(
        "table1",
        (Key("model"), Key("input")),
        _cells(columns, "accuracy"),
        "Accuracy with images and without",
        "Accuracy in per cent. All is the tiny test and the rest of the test; every "
        "item counts the same. All rows are over the n items of a column, without "
        "those rejected in review. Chance needs no model.",
        RATES,
        shown=("model", "input", *_shown(columns, best=HIGHEST, sizes=sizes)),
        ranking=Ranking(("input",), {"model": (RANDOM, FREQUENT, EXPERTS)}),
    )


_KINDS: Final[Mapping[str, Where]] = {
    kind: {"corruption": (kind,)} for kind in (*KINDS, OVER_KINDS)
}
_TABLE_2: Final = TableSpec(
    "table2",
    (Key("model"),),
    _cells(_KINDS, "accuracy", "change"),
    "Accuracy under corruption",
    "Accuracy in per cent on the tiny test with corrupted images, averaged over the "
    "levels, and the change against uncorrupted images.",
    "corruption",
    shown=("model", *_shown(_KINDS, _CHANGE)),
)
"""The mean over levels by kind, and each one's change."""


def _table_3(scopes: Sequence[Scope]) -> TableSpec:
    columns = {_named(scope): _here(scope) for scope in scopes}
    return TableSpec(
        "table3",
        (Key("model"),),
        _cells(columns, "noise", "change"),
        "Accuracy with noise in place of images",
        "Accuracy in per cent with Gaussian noise in place of images, and the change "
        "against the images.",
        "noise",
        shown=("model", *_shown(columns, _CHANGE)),
    )


_PUBLISHED: Final[Mapping[str, Where]] = {
    _named(scope): {"subject": (subject_of(scope),)} for scope in _tests(SUBSETS)
}
_TABLE_4: Final = TableSpec(
    "table4_published",
    (Key("who", "model"),),
    _cells(_PUBLISHED, "rate"),
    "Models that the authors fine-tuned, as published",
    "Accuracy in per cent; for reference only, nothing is trained here.",
    _PAPER,
    {"table": ("Table 4",)},
    shown=("model", *_shown(_PUBLISHED)),
)
"""The paper's alone: nothing is fine-tuned here."""


def printed_tables() -> PrintedTables:
    """Return what the paper prints below Tables 1 to 3, by the name of ours."""
    return {
        "table1": (Printed(SOURCE, "Table 1", tuple(_printed(1))),),
        "table2": (Printed(SOURCE, "Table 2", tuple(_printed_changes())),),
        "table3": (Printed(SOURCE, "Table 3", tuple(_printed(3))),),
        "table4_published": (Printed(SOURCE, "Table 4"),),
    }


def _printed(number: int) -> Iterator[Mapping[str, str]]:
    for model, columns in rows_of(number).items():
        yield {
            "model": model,
            **{_named(scope): value.printed for scope, value in columns.items()},
        }


def _printed_changes() -> Iterator[Mapping[str, str]]:
    for model, kinds in corruption_rows().items():
        told = {
            kind: f"{accuracy.printed} {arrow(change.value)} {abs(change.value):.1f}"
            for kind, (accuracy, change) in kinds.items()
        }
        yield {"model": model, **told}
