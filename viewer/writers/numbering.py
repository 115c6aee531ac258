"""Tables and figures of a page, numbered for its captions and its contents."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

TABLE: Final = "Table"
FIGURE: Final = "Figure"


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a table or figure on a page.

    ``paper`` is what the paper calls it, "" where the paper has none such.
    """

    kind: str
    number: int
    title: str
    paper: str = ""

    @property
    def label(self) -> str:
        """Its label on the page."""
        return f"{self.kind} {self.number}"

    @property
    def anchor(self) -> str:
        """The id for links."""
        return f"{self.kind.lower()}-{self.number}"


def numbered(kind: str, titles: Iterable[tuple[str, str]]) -> tuple[Place, ...]:
    """Return the places of a page's tables or figures, by title and paper's number."""
    return tuple(
        Place(kind, number, title, paper)
        for number, (title, paper) in enumerate(titles, 1)
    )


Contents = tuple[tuple[str, tuple[Place, ...]], ...]
"""The places of a page under a heading each."""


def contents(figures: tuple[Place, ...], tables: tuple[Place, ...]) -> Contents:
    """Return a page's table of contents."""
    return ("Figures", figures), ("Tables", tables)
