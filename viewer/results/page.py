"""Tables as a page shows them: rounded for print, and of long lists the start."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from viewer.domain.report import Section, Table
from viewer.results.spec import P_VALUE, ListSpec, Shown, Spec, Where

_MOST: Final = 100
"""Rows of a list on a page."""
_LEAST_P: Final = 0.01


def sections(specs: Sequence[Spec], tables: Sequence[Table]) -> Iterator[Section]:
    """Yield what has a title, in the order of the tables.

    Of one table several specifications may show rows, one after the other.
    """
    for table in tables:
        for spec in specs:
            if spec.title and spec.name == table.name:
                shown = _taken(table, spec.printed)
                if shown.rows:
                    yield _section(spec, shown)


def _taken(table: Table, where: Where) -> Table:
    places = {table.header.index(column): values for column, values in where.items()}
    rows = (
        row
        for row in table.rows
        if all(row[place] in values for place, values in places.items())
    )
    return replace(table, rows=tuple(rows))


def _section(spec: Spec, table: Table) -> Section:
    count, text = len(table.rows), spec.text
    if isinstance(spec, ListSpec) and count > _MOST:
        table = replace(table, rows=table.rows[:_MOST])
        text = f"{text} The first {_MOST} of {count}; {table.name}.csv has all."
    return Section(spec.title, text, _printed(table, spec.shown), _groups(spec.shown))


def _groups(shown: Sequence[str | Shown]) -> tuple[tuple[str, int], ...]:
    names = [one.group if isinstance(one, Shown) else "" for one in shown]
    runs = ((name, len(list(run))) for name, run in groupby(names))
    return tuple(runs) if any(names) else ()


def _printed(table: Table, shown: Sequence[str | Shown]) -> Table:
    if shown:
        columns = [_column(one) for one in shown]
        lines = (tuple(_cell_of(row, of) for of in columns) for row in table.records())
        return Table(table.name, tuple(of.header for of in columns), tuple(lines))
    header = tuple(name.replace("_", " ") for name in table.header)
    return Table(table.name, header, tuple(tuple(map(_cell, x)) for x in table.rows))


def _column(shown: str | Shown) -> Shown:
    if isinstance(shown, Shown):
        return shown
    return Shown(shown, shown[:1].upper() + shown[1:].replace("_", " "))


def _cell_of(row: Mapping[str, object], shown: Shown) -> object:
    value = row[shown.column]
    if value is None:
        return "-"
    if shown.also:
        other = row[shown.also]
        return f"{_number(value, shown)}{shown.between}{_number(other, shown)}"
    text = _number(value, shown)
    counts = " / ".join(str(row[name]) for name in shown.counts)
    return f"{text} ({counts})" if counts else text


def _number(value: object, shown: Shown) -> object:
    if not isinstance(value, float):
        return shown.words.get(value, _cell(value))
    if shown.form == P_VALUE:
        return f"< {_LEAST_P}" if value < _LEAST_P else f"{value:.2f}"
    return f"{shown.scale * value:{shown.form}}{shown.unit}"


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else value
