"""Reports of studies as data, drawn by writers: tables and figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows of printable values under one header.

    ``kinds`` are column types that hold whatever rows there are, or None; other columns
    take the type of their values.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    kinds: Mapping[str, type] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a dict by column."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class BarSeries:
    """One model's bars; every tuple runs parallel to the figure's groups.

    ``limits`` are asymmetric whisker ends; they replace ``errors``, which are
    symmetric.
    """

    name: str
    values: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    counts: tuple[int, ...]
    limits: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True)
class BarFigure:
    """Grouped bars of rates 0-1 with named whiskers and a baseline per group."""

    file_name: str
    title: str
    y_label: str
    error_name: str
    groups: tuple[str, ...]
    series: tuple[BarSeries, ...]
    baseline_name: str
    baseline: tuple[float | None, ...]


@dataclass(frozen=True)
class PaperRows:
    """Rows that a paper prints, under the columns of a page's table.

    ``table`` is the table's name in the paper. Values that the paper does not print are
    "".
    """

    source: str
    table: str
    rows: tuple[tuple[object, ...], ...]

    @property
    def words(self) -> str:
        """The heading above the rows."""
        return f"Published: {', '.join(filter(None, (self.source, self.table)))}"


@dataclass(frozen=True)
class Section:
    """A titled table of a report's page, in printable form.

    ``groups`` are headers that span columns, from the left, each with its span.
    ``best`` and ``second`` are the cells set bold and underlined, as (row, column).
    ``printed`` are the indices of columns with a paper's values. ``number`` is the
    table's number in the paper, "" if it has none, and ``published`` are the paper's
    rows, shown below those of the run.
    """

    title: str
    text: str
    table: Table
    groups: tuple[tuple[str, int], ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()
    second: frozenset[tuple[int, int]] = frozenset()
    number: str = ""
    printed: frozenset[int] = frozenset()
    published: tuple[PaperRows, ...] = ()


@dataclass(frozen=True)
class ReportData:
    """A study's report: tables by file name, and data for its figures.

    ``sections`` come before the figures on the page, ``appendix`` after them;
    ``warnings`` are sentences for the user. ``specs`` are the specifications
    (viewer.results.spec) of the tables that have one, including tables left out because
    they have no rows.
    """

    tables: tuple[Table, ...]
    figures: tuple[BarFigure, ...]
    metric_definitions: Mapping[str, str]
    incomplete: bool
    sections: tuple[Section, ...] = ()
    appendix: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    specs: tuple[Any, ...] = ()
