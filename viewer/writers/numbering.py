"""Tables and figures of a page, numbered for its captions and its contents."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

TABLE: Final = "Table"
FIGURE: Final = "Figure"
_HEAD_PT: Final = 165.0
_LISTED_PT: Final = 10.9
_LISTED_LETTERS: Final = 48
"""What of a printed page its head takes, and a line of its contents; its letters."""


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


def head_pt(listing: Contents) -> float:
    """Return about what head and contents, in two columns, take of a printed page."""
    texts = [f"{of.title} (paper: {of.paper})" for _, some in listing for of in some]
    lines = sum(ceil(len(text) / _LISTED_LETTERS) for text in texts)
    return _HEAD_PT + _LISTED_PT * (lines + 2 * len(listing)) / 2
