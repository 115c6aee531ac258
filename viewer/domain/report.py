"""Reports of studies as data: tables and figures, drawn by writers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows of printable values under one header.

    ``kinds`` are the types of columns whose values are of one type, or None, whatever
    rows there are; other columns have what their values are.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    kinds: Mapping[str, type] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """Return each row by column."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class BarSeries:
    """One model's bars; every tuple runs parallel to the figure's groups.

    ``limits`` are the ends of whiskers that may differ below and above, in the place
    of ``errors``, which reach as far either way.
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

    ``table`` is what the paper calls the place where it prints them. A column has ""
    where it prints nothing.
    """

    source: str
    table: str
    rows: tuple[tuple[object, ...], ...]

    @property
    def words(self) -> str:
        """What stands above them."""
        return f"Published: {', '.join(filter(None, (self.source, self.table)))}"


@dataclass(frozen=True)
class Section:
    """A titled table of a report's page, ready to be printed.

    ``groups`` names runs of columns, from the left, each with how many it spans.
    ``best`` and ``second`` are cells set bold and underlined, by row and column.
    ``printed`` are columns of what a paper prints, by place. ``number`` is what the
    paper calls its own table, "" for one that it lacks, and ``published`` are rows of
    the paper below those of the run.
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

    ``sections`` stand on the page before the figures, ``appendix`` after them;
    ``warnings`` are sentences for whoever asked for the report. ``specs`` are the
    specifications (viewer.results.spec) of those tables that have one, and of those
    that were left out for having no row.
    """

    tables: tuple[Table, ...]
    figures: tuple[BarFigure, ...]
    metric_definitions: Mapping[str, str]
    incomplete: bool
    sections: tuple[Section, ...] = ()
    appendix: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()
    specs: tuple[Any, ...] = ()
