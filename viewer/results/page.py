"""Tables as a page shows them: rounded for print, and of long ones the start."""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.domain.report import Section, Table
from viewer.results.spec import Spec

_MOST: Final = 100
"""Rows of a table on a page."""


def sections(specs: Sequence[Spec], tables: Sequence[Table]) -> Iterator[Section]:
    """Yield the tables that have a title, in the order of the tables."""
    titled = {spec.name: spec for spec in specs if spec.title}
    for table in tables:
        if table.name in titled and table.rows:
            spec = titled[table.name]
            yield Section(spec.title, _text(spec.text, table), _printed(table))


def _text(text: str, table: Table) -> str:
    count = len(table.rows)
    if count <= _MOST:
        return text
    return f"{text} The first {_MOST} of {count}; {table.name}.csv has all."


def _printed(table: Table) -> Table:
    header = tuple(name.replace("_", " ") for name in table.header)
    rows = tuple(tuple(map(_cell, row)) for row in table.rows[:_MOST])
    return Table(table.name, header, rows)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else value
