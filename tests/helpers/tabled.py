"""Rows of tables: of small frames, and of items that two runs are compared by."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from viewer.domain.report import Table
from viewer.results.estimators import ESTIMATORS, Seen
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame, Frames, frame_of
from viewer.results.spec import Spec

Row = Mapping[str, Any]


def rows_of(table: Table) -> list[Row]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def rows(spec: Spec, frames: Frames) -> list[Row]:
    """Return a specification's table, a mapping a row."""
    return rows_of(evaluate(spec, frames))


def estimate(
    name: str,
    columns: Mapping[str, Any] | Frame,
    others: Frame | None = None,
    of: Sequence[str] | None = None,
    **options: object,
) -> tuple[Any, ...]:
    """Return what an estimator says of some columns, all of which it reads."""
    own = frame_of(columns) if isinstance(columns, Mapping) else columns
    read = own.columns if of is None else tuple(of)
    return tuple(ESTIMATORS[name](Seen(own, others, read, options)))


OF_THE_DAY = frozenset({"seconds", "request_sha256"})
"""Columns that hang on the clock or on a server's port."""


def lasting(table: Table) -> list[Row]:
    """Return the rows of a table of items, without what is of the day."""
    return [_lasting(row) for row in table.records()]


def lasting_csv(data: bytes) -> list[Row]:
    """Return the same of an items.csv."""
    rows = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return [_lasting(dict(row)) for row in rows]


def _lasting(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in OF_THE_DAY}
