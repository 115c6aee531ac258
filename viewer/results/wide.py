"""From long tables to a wide one: values of a column stand side by side, as papers do.

Papers' own rows come in as any others do, from a table of what is published.
"""

from collections.abc import Iterator, Sequence

from viewer.domain.report import Table
from viewer.results.spec import Block, Column, WideSpec

_Values = tuple[object, ...]


def lay_out(spec: WideSpec, tables: Sequence[Table]) -> Table:
    """Return the wide table of a specification; absent tables give it no rows.

    Raises
    ------
    KeyError
        A table lacks a column that the specification names.
    """
    found = {table.name: table for table in tables}
    rows = (
        row
        for block in spec.blocks
        if block.table in found
        for row in _rows(spec, block, found[block.table])
    )
    return Table(spec.name, spec.header, tuple(rows))


def _rows(spec: WideSpec, block: Block, table: Table) -> Iterator[_Values]:
    """Yield a block's rows in the order in which its table first tells of them."""
    wanted = [_place(block, column) for column in spec.columns]
    rows: dict[_Values, dict[_Values, dict[str, object]]] = {}
    for record in table.records():
        place = tuple(record[name] for name in block.across or spec.across)
        taken = all(record[name] in of for name, of in block.where.items())
        if taken and place in wanted:
            labels = tuple(
                record[block.of[key]] if key in block.of else block.told[key]
                for key in spec.keys
            )
            rows.setdefault(labels, {})[place] = record
    for labels, cells in rows.items():
        known = (cells.get(place, {}) for place in wanted)
        values = (one.get(name) for one in known for name in block.values)
        yield (*labels, *(_number(value, block.per) for value in values))


def _place(block: Block, column: Column) -> _Values:
    return (column.subject,) if block.across else column.of


def _number(value: object, per: int) -> object:
    return value / per if isinstance(value, float) and per != 1 else value
