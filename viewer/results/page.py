"""Tables for a page: rounded for print, with long lists shortened."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.report import PaperRows, Section, Table
from viewer.domain.study_words import capital, spoken
from viewer.domain.times import in_utc
from viewer.metrics.printed import as_percent
from viewer.results.estimators.rates import arrow
from viewer.results.spec import (
    HIGHEST,
    P_VALUE,
    PERCENT,
    TIME,
    ListSpec,
    Ranking,
    Shown,
    Spec,
    TableSpec,
    Where,
)

_LEAST_P: Final = 0.01
_Records = Sequence[Mapping[str, object]]
_Cells = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Printed:
    """A paper's printed rows of a table: texts by the columns of a page.

    Without ``rows`` the paper has the table, but no number of it belongs on the page.
    """

    source: str
    table: str
    rows: tuple[Mapping[str, object], ...] = ()


PrintedTables = Mapping[str, Sequence[Printed]]
"""What a paper prints, by the names of our tables."""
_NONE: Final[PrintedTables] = {}


def sections(
    specs: Sequence[Spec], tables: Sequence[Table], paper: PrintedTables = _NONE
) -> Iterator[Section]:
    """Yield the sections with a title, in the order of the tables.

    Several specifications may show rows of one table, one after the other. A
    ``paper``'s printed rows follow below.
    """
    for table in tables:
        for spec in specs:
            if spec.title and spec.name == table.name and table.rows:
                _check(spec, table)
                shown = _taken(table, spec.printed)
                if shown.rows:
                    yield _section(spec, shown, paper.get(table.name, ()))


def printed(table: Table, shown: Sequence[str | Shown] = ()) -> Table:
    """Return the chosen columns of a table, or all, rounded for people."""
    if shown:
        columns = [_column(one) for one in shown]
        lines = (tuple(_cell_of(row, of) for of in columns) for row in table.records())
        return Table(table.name, tuple(of.header for of in columns), tuple(lines))
    header = tuple(name.replace("_", " ") for name in table.header)
    return Table(table.name, header, tuple(tuple(map(_cell, x)) for x in table.rows))


def headers(spec: Spec) -> tuple[str, ...]:
    """Return the headers of the columns that a specification shows."""
    return tuple(_column(one).header for one in spec.shown)


def _check(spec: Spec, table: Table) -> None:
    """Raise if a page names a column that its table does not have."""
    named = chain(spec.printed, spec.ranking.apart, spec.ranking.but, _named(spec))
    missing = next((name for name in named if name not in table.header), "")
    if missing:
        raise WrongUseError(
            f"The page of the table '{spec.name}' names the column '{missing}', which "
            "the table does not have.",
            f"It has {', '.join(table.header)}.",
        )


def _named(spec: Spec) -> Iterator[str]:
    for one in map(_column, spec.shown):
        yield from (one.column, *one.counts, *one.limits, *one.but)
        yield from filter(None, (one.also, one.change))


def _taken(table: Table, where: Where) -> Table:
    rows = zip(table.rows, table.records(), strict=True)
    return replace(table, rows=tuple(row for row, of in rows if _holds(of, where)))


def _holds(record: Mapping[str, object], where: Where) -> bool:
    return all(record[column] in values for column, values in where.items())


def _section(spec: Spec, table: Table, paper: Sequence[Printed]) -> Section:
    table, below = _parted(spec, table)
    count, text = len(table.rows), spec.text
    if isinstance(spec, ListSpec) and count > spec.most:
        table = replace(table, rows=table.rows[: spec.most])
        text = f"{text} The first {spec.most} of {count}; {table.name}.csv has all."
    spec = replace(spec, shown=tuple(_filled(spec.shown, table, below, paper)))
    columns = tuple(map(_column, spec.shown or table.header))
    return Section(
        spec.title,
        text,
        printed(table, spec.shown),
        _groups(spec.shown),
        *_ranked(table.records(), spec),
        number=next((one.table for one in paper), ""),
        printed=frozenset(i for i, of in enumerate(columns) if of.published),
        published=(
            *_of_paper(printed(below, spec.shown)),
            *(
                PaperRows(one.source, one.table, tuple(_as_printed(one, columns)))
                for one in paper
                if one.rows
            ),
        ),
    )


def _filled(
    shown: Sequence[str | Shown],
    table: Table,
    below: Table,
    paper: Sequence[Printed],
) -> Iterator[str | Shown]:
    """Yield the columns of a page in which something stands."""
    records = [*table.records(), *below.records()]
    printed_rows = [row for one in paper for row in one.rows]
    for one in shown:
        of = _column(one)
        told = any(_cell_of(row, of) != "" for row in records)
        if told or any(row.get(of.column, "") != "" for row in printed_rows):
            yield one


def _parted(spec: Spec, table: Table) -> tuple[Table, Table]:
    """Split a table into its own rows and the paper's rows below them."""
    below = set(spec.below) if isinstance(spec, TableSpec) else set()
    above = tuple(row for row in table.rows if row not in below)
    paper = tuple(row for row in table.rows if row in below)
    return replace(table, rows=above), replace(table, rows=paper)


def _of_paper(below: Table) -> Iterator[PaperRows]:
    """Yield a paper's rows inside their own table; the first cell names the paper."""
    if below.rows:
        yield PaperRows(str(below.rows[0][0]), "", below.rows)


def _as_printed(
    paper: Printed, columns: Sequence[Shown]
) -> Iterator[tuple[object, ...]]:
    for row in paper.rows:
        yield tuple(row.get(of.column, "") for of in columns)


def _ranked(records: _Records, spec: Spec) -> tuple[_Cells, _Cells]:
    """Return the cells of the best and of the second-best numbers."""
    best: set[tuple[int, int]] = set()
    second: set[tuple[int, int]] = set()
    for place, shown in enumerate(spec.shown):
        if isinstance(shown, Shown) and shown.best:
            for rows in _compared(records, spec.ranking):
                first, next_ = _two_best({i: records[i] for i in rows}, shown)
                best |= {(row, place) for row in first}
                second |= {(row, place) for row in next_}
    return frozenset(best), frozenset(second)


def _compared(records: _Records, ranking: Ranking) -> Iterator[list[int]]:
    """Yield the indices of rows that are compared with each other."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, record in enumerate(records):
        if not (ranking.but and _holds(record, ranking.but)):
            groups.setdefault(tuple(record[x] for x in ranking.apart), []).append(place)
    return (rows for rows in groups.values() if len(rows) > 1)


def _two_best(
    rows: Mapping[int, Mapping[str, object]], shown: Shown
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the rows of the best number and of the next; equal in print is equal."""
    values = {
        place: value
        for place, row in rows.items()
        if isinstance(value := row[shown.column], int | float)
    }
    ordered = sorted(values, key=lambda i: values[i], reverse=shown.best == HIGHEST)
    alike = groupby(ordered, lambda i: _number(values[i], shown))
    first, second = ([list(same) for _, same in alike] + [[], []])[:2]
    return first, second


def _groups(shown: Sequence[str | Shown]) -> tuple[tuple[str, int], ...]:
    names = [one.group if isinstance(one, Shown) else "" for one in shown]
    runs = ((name, len(list(run))) for name, run in groupby(names))
    return tuple(runs) if any(names) else ()


def _column(shown: str | Shown) -> Shown:
    if isinstance(shown, Shown):
        return shown
    header = shown if len(shown) == 1 else capital(spoken(shown))
    return Shown(shown, header)


def _cell_of(row: Mapping[str, object], shown: Shown) -> object:
    value = row[shown.column]
    if value is None or (shown.but and _holds(row, shown.but)):
        return shown.none
    if shown.also:
        other = row[shown.also]
        return f"{_number(value, shown)}{shown.between}{_number(other, shown)}"
    text = _number(value, shown)
    if shown.change and isinstance(by := row[shown.change], float):
        text = f"{text} {arrow(by)} {_number(abs(by), shown)}"
    counts = " / ".join(str(row[name]) for name in shown.counts)
    text = f"{text} ({counts})" if counts else text
    return f"{text} {_limits(row, shown)}" if shown.limits else text


def _limits(row: Mapping[str, object], shown: Shown) -> str:
    """Return the interval in brackets, with a dash for one that is not estimable."""
    ends = [row[name] for name in shown.limits]
    texts = ["-"] if None in ends else [str(_number(end, shown)) for end in ends]
    return f"[{', '.join(texts)}]"


def _number(value: object, shown: Shown) -> object:
    if shown.form == TIME:
        return in_utc(str(value))
    if not isinstance(value, float):
        return shown.words.get(value, _cell(value))
    if shown.form == P_VALUE:
        return f"< {_LEAST_P}" if value < _LEAST_P else f"{value:.2f}"
    if shown.form == PERCENT:
        return as_percent(value)
    return f"{shown.scale * value:{shown.form}}{shown.unit}"


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else value
