"""Tables laid out as the paper prints them (Tables 1 to 4; E003-14)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from viewer.domain.report import Section, Table
from viewer.metrics.printed import as_percent
from viewer.results.estimators.rates import arrow
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.frames import OVER_KINDS
from viewer.studies.pathology_mcq.params import KINDS, Arm
from viewer.studies.pathology_mcq.published import (
    EXPERTS,
    FREQUENT,
    RANDOM,
    rows_of,
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

WITH_IMAGE, TEXT_ONLY, CHANCE = "image and text", "text only", "none"
_MEAN: Final = "mean"
"""The group of the experts' mean."""
Record = Mapping[str, object]


@dataclass(frozen=True)
class Told:
    """The tables of a run that the paper's are laid out from, as records by name."""

    tables: Mapping[str, Sequence[Record]]

    @classmethod
    def of(cls, tables: Sequence[Table]) -> "Told":
        """Return what tables tell."""
        return cls({table.name: tuple(_records(table)) for table in tables})

    def of_table(self, name: str) -> Sequence[Record]:
        """Return the records of a table, none where it has no row."""
        return self.tables.get(name, ())

    def accuracies(self) -> dict[tuple[str, str, Scope], float | None]:
        """Return accuracy by model, condition and column."""
        return {
            (str(r["model"]), str(r["condition"]), scope_of(r)): number(r["accuracy"])
            for r in self.of_table("accuracy_paper")
        }


def scope_of(record: Record) -> Scope:
    """Return the column that a record is of."""
    return Scope(str(record["part"]), str(record["subset"]))


def number(value: object) -> float | None:
    """Return a rate, None where there is none."""
    return value if isinstance(value, float) else None


def columns_of(mcqs: Sequence[Mcq], *, validation: bool = True) -> tuple[Scope, ...]:
    """Return the columns of Table 1: validation, then tiny and all, by subset."""
    subsets = (OVERALL, *subsets_of(mcqs))
    tests = (Scope(part, subset) for subset in subsets for part in (TINY, ALL))
    return (*((Scope(VAL, OVERALL),) if validation else ()), *tests)


def table_1(told: Told, mcqs: Sequence[Mcq]) -> Table:
    """Return Table 1 at full precision: chance, experts, models with image, without.

    ``mcqs`` are the questions asked.
    """
    columns = columns_of(mcqs)
    chance = {scope_of(record): record for record in told.of_table("baselines")}
    rows: list[tuple[object, ...]] = [
        (name, CHANCE, *(_of(chance.get(column), key) for column in columns))
        for name, key in ((RANDOM, "random"), (FREQUENT, "frequent"))
    ]
    read = [_experts(told, column) for column in columns]
    if any(value is not None for value in read):
        rows.append((EXPERTS, WITH_IMAGE, *read))
    found = told.accuracies()
    for condition, shown in ((PLAIN, WITH_IMAGE), (Arm.TEXT_ONLY.value, TEXT_ONLY)):
        models = dict.fromkeys(m for m, other, _ in found if other == condition)
        rows += [
            (m, shown, *(found.get((m, condition, c)) for c in columns)) for m in models
        ]
    return Table("table1", ("model", "input", *map(_name, columns)), tuple(rows))


def table_2(told: Told) -> Table:
    """Return Table 2: the mean over levels by kind, and each one's change."""
    names = (*KINDS, OVER_KINDS)
    cells = {(r["model"], r["corruption"]): r for r in told.of_table("corruption")}
    models = dict.fromkeys(model for model, _ in cells)
    rows = tuple(
        (model, *_with_changes([cells.get((model, n)) for n in names], "accuracy"))
        for model in models
    )
    return Table("table2", ("model", *_changing(names)), rows)


def table_3(told: Told, mcqs: Sequence[Mcq]) -> Table:
    """Return Table 3: accuracy with noise for images, and its change."""
    columns = columns_of(mcqs, validation=False)
    cells = {(r["model"], scope_of(r)): r for r in told.of_table("noise")}
    models = dict.fromkeys(model for model, _ in cells)
    rows = tuple(
        (model, *_with_changes([cells.get((model, c)) for c in columns], "noise"))
        for model in models
    )
    return Table("table3", ("model", *_changing(map(_name, columns))), rows)


def table_4() -> Table:
    """Return Table 4, which is the paper's alone: nothing is fine-tuned here."""
    rows = rows_of(4)
    columns = tuple(next(iter(rows.values())))
    values = (
        (model, *(of[column].value / 100 for column in columns))
        for model, of in rows.items()
    )
    return Table("table4_published", ("model", *map(_name, columns)), tuple(values))


def printed(table: Table, title: str, text: str) -> Section:
    """Return a table as it is printed: per cent, changes with their arrow.

    Columns of one subset stand under its name.
    """
    changes = {i for i, name in enumerate(table.header) if name.endswith("_change")}
    names = [name for i, name in enumerate(table.header) if i not in changes]
    parts = [name.rpartition("_") for name in names]
    rows = tuple(tuple(_printed(row, changes)) for row in table.rows)
    header = tuple(part.capitalize() for _, _, part in parts)
    return Section(title, text, Table(table.name, header, rows), _groups(parts))


def _groups(parts: Sequence[tuple[str, str, str]]) -> tuple[tuple[str, int], ...]:
    """Return the runs of columns of one subset; none where no column has one."""
    runs = [(name, len(list(run))) for name, run in groupby(p[0] for p in parts)]
    return tuple(runs) if len(runs) > 1 else ()


def _printed(row: Sequence[object], changes: set[int]) -> Iterator[str]:
    for i, value in enumerate(row):
        if i in changes:
            continue
        if not isinstance(value, float):
            yield "" if value is None else str(value)
            continue
        change = row[i + 1] if i + 1 in changes else None
        shown = as_percent(value)
        if isinstance(change, float):
            shown += f" {arrow(change)} {as_percent(abs(change))}"
        yield shown


def _records(table: Table) -> Iterator[Record]:
    return (dict(zip(table.header, row, strict=True)) for row in table.rows)


def _of(record: Record | None, name: str) -> float | None:
    return number(record[name]) if record else None


def _with_changes(
    records: Sequence[Record | None], name: str
) -> Iterator[float | None]:
    return (_of(record, key) for record in records for key in (name, "change"))


def _changing(names: Iterable[str]) -> Iterator[str]:
    return (part for name in names for part in (name, f"{name}_change"))


def _name(scope: Scope) -> str:
    return f"{scope.subset}_{scope.part}"


def _experts(told: Told, column: Scope) -> float | None:
    """Return the experts' score where they read the whole column, else None."""
    own = [r for r in told.of_table("experts") if scope_of(r) == column]
    groups = [r for r in own if r["group"] != _MEAN]
    whole = groups and all(r["answered"] == r["items"] for r in groups)
    return next((_of(r, "score") for r in own if r["group"] == _MEAN and whole), None)
