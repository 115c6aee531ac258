"""All tables and figures of a paper, as data."""

from dataclasses import dataclass

from viewer.domain.figure import Figure
from viewer.domain.report import Section, Table


@dataclass(frozen=True)
class PackData:
    """A paper's tables by file name, the same as sections of a page, and its figures.

    ``tables`` hold full precision, ``sections`` the printed form. Counts always come
    with the number planned and failed; ``incomplete`` is True while trials are pending.
    ``missing`` has one sentence per reason why figures could not be drawn.
    """

    title: str
    source: str
    tables: tuple[Table, ...]
    sections: tuple[Section, ...]
    figures: tuple[Figure, ...]
    incomplete: bool
    missing: tuple[str, ...] = ()
