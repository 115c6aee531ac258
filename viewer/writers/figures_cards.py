"""Cards of outputs that readers had concerns about (Banerjee 2025, Fig. 4)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viewer.domain.figure import Card, CardFigure, Picture
from viewer.domain.styles import Ground
from viewer.writers.figures_style import PAGE_MM, SMALL_PT, TEXT_PT, bare, page, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_COLUMNS: Final = 6
"""Of a card: two for the pictures, two for the excerpt, two for the concerns."""
_ROW_MM: Final = 6.0
"""Height of a row of the grid; the first of a card has its task."""
_HEAD_LETTERS, _WIDE_LETTERS, _LETTERS = 118, 78, 39
"""How many a line of the task, of a wide excerpt and of a narrow one has room for."""
_LINE_MM: Final = 3.3
_PICTURES_MM: Final = (0.0, 46.0, 60.0)
"""Height of none, one or two pictures, of which four cards fill a page at most."""
_RETURNED: Final = "The picture that the model returned"
_MOST_LINES: Final = 22


def draw_cards(figure: CardFigure, ground: Ground) -> "Page":
    """Draw cards one below the other: pictures, excerpt of the text, and concerns."""
    heights = [1 + _body_rows(card) for card in figure.cards]
    rows = sum(heights)
    sheet = page(PAGE_MM, _ROW_MM * rows, between=0.03)
    for number, card in enumerate(figure.cards):
        top = sum(heights[:number])
        slots = _Slots(sheet, rows, top, heights[number])
        _draw_card(slots, f"{number + 1}  {card.task}", card, ground)
    return sheet


@dataclass(frozen=True)
class _Slots:
    """What a card has of a page's grid of ``rows``: ``height`` of them from ``top``."""

    sheet: "Page"
    rows: int
    top: int
    height: int

    def head(self) -> "Axes":
        """Return axes for the task."""
        start = self.top * _COLUMNS
        return self._axes(start + 1, start + _COLUMNS)

    def body(self, first: int, last: int, part: int = 0, of: int = 1) -> "Axes":
        """Return axes below it, from one column to another, counted from 1.

        They have one ``part`` of its height, counted from 0, ``of`` so many.
        """
        begin = self.top + 1 + (self.height - 1) * part // of
        end = self.top + (self.height - 1) * (part + 1) // of
        return self._axes(begin * _COLUMNS + first, end * _COLUMNS + last)

    def _axes(self, first: int, last: int) -> "Axes":
        return self.sheet.add_subplot(self.rows, _COLUMNS, (first, last))


def _draw_card(slots: _Slots, task: str, card: Card, ground: Ground) -> None:
    head = slots.head()
    bare(head)
    _write(head, wrapped(task, _HEAD_LETTERS), "bold")
    pictures = _pictures(card)
    for part, (picture, below) in enumerate(pictures):
        _picture_of(slots.body(1, 2, part, len(pictures)), picture, below)
    first, letters = (3, _LETTERS) if pictures else (1, _WIDE_LETTERS)
    _text_of(slots.body(first, 4), card, letters, ground)
    words = slots.body(5, 6)
    _headed(words, "Readers’ concerns", ground)
    _write(words, _concerns(card))


def _body_rows(card: Card) -> int:
    """Return how many rows a card needs below its task."""
    needed = _LINE_MM * (_lines(card) + 2)
    least = _PICTURES_MM[len(_pictures(card))]
    return math.ceil(max(least, needed) / _ROW_MM)


def _pictures(card: Card) -> list[tuple[Picture, str]]:
    """Return the pictures of a card, each with the words below it."""
    labels = (f"{n} {label}" for n, label in enumerate(card.labels, 1))
    both = (card.picture, "   ".join(labels)), (card.returned, _RETURNED)
    return [(picture, below) for picture, below in both if picture is not None]


def _picture_of(axes: "Axes", picture: Picture, below: str) -> None:
    bare(axes)
    axes.imshow(picture)
    axes.set_anchor("NW")
    axes.set_xlabel(wrapped(below, _LETTERS), fontsize=SMALL_PT, labelpad=2)


def _text_of(axes: "Axes", card: Card, letters: int, ground: Ground) -> None:
    _headed(axes, f"{card.model}, excerpt", ground)
    _write(axes, _cut(wrapped(card.excerpt, letters)))


def _headed(axes: "Axes", title: str, ground: Ground) -> None:
    bare(axes)
    axes.set_title(title, loc="left", pad=2, fontsize=TEXT_PT, color=ground.soft)


def _write(axes: "Axes", words: str, weight: str = "normal") -> None:
    axes.text(
        0.0,
        0.98,
        words,
        transform=axes.transAxes,
        ha="left",
        va="top",
        fontsize=TEXT_PT,
        linespacing=1.25,
        fontweight=weight,
    )


def _concerns(card: Card) -> str:
    """Return a bullet for each concern, its further lines below its first words."""
    points = (wrapped(one, _LETTERS - 2).split("\n") for one in card.concerns)
    return _cut("\n".join("• " + "\n   ".join(lines) for lines in points))


def _cut(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES:
        return text
    return "\n".join([*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]} …"])


def _lines(card: Card) -> int:
    """Return how many lines the longest column of a card's text has."""
    letters = _LETTERS if _pictures(card) else _WIDE_LETTERS
    columns = (_cut(wrapped(card.excerpt, letters)), _concerns(card))
    return max(column.count("\n") + 1 for column in columns)
