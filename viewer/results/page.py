"""Tables as a page shows them: rounded for print, and of long lists the start."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.report import Section, Table
from viewer.results.spec import P_VALUE, ListSpec, Shown, Spec

_MOST: Final = 100
"""Rows of a list on a page."""
_LEAST_P: Final = 0.01


def sections(specs: Sequence[Spec], tables: Sequence[Table]) -> Iterator[Section]:
    """Yield the tables that have a title, in the order of the tables."""
    titled = {spec.name: spec for spec in specs if spec.title}
    for table in tables:
        if table.name in titled and table.rows:
            yield _section(titled[table.name], table)


def _section(spec: Spec, table: Table) -> Section:
    count, text = len(table.rows), spec.text
    if isinstance(spec, ListSpec) and count > _MOST:
        table = replace(table, rows=table.rows[:_MOST])
        text = f"{text} The first {_MOST} of {count}; {table.name}.csv has all."
    return Section(spec.title, text, _printed(table, spec.shown))


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
    if not isinstance(value, float):
        return _cell(value)
    if shown.form == P_VALUE:
        return f"< {_LEAST_P}" if value < _LEAST_P else f"{value:.2f}"
    text = f"{shown.scale * value:{shown.form}}{shown.unit}"
    counts = " / ".join(str(row[name]) for name in shown.counts)
    return f"{text} ({counts})" if counts else text


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else value
