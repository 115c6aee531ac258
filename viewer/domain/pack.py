"""A paper's pack as data: all its tables and figures."""

from dataclasses import dataclass

from viewer.domain.figure import Figure
from viewer.domain.report import Section, Table


@dataclass(frozen=True)
class PackData:
    """A paper's tables by file name, the same as a page has them, and its figures.

    ``tables`` hold full precision, ``sections`` what is printed. Counts are never
    without what was planned and what failed; ``incomplete`` where trials are pending.
    ``missing`` has a sentence for each reason why figures could not be drawn.
    """

    title: str
    source: str
    tables: tuple[Table, ...]
    sections: tuple[Section, ...]
    figures: tuple[Figure, ...]
    incomplete: bool
    missing: tuple[str, ...] = ()
