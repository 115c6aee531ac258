"""Tables and single estimates of small frames."""

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
