"""Where tables stand on printed pages of A4, estimated from their texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from viewer.domain.report import Section

_WORD_ENDS: Final = re.compile(r"[\s-]")
_LETTER_PT: Final = 4.1
_PADDING_PT: Final = 6.0
_LINE_PT: Final = 9.1
_ROW_PT: Final = 1.8
"""What a row needs besides its lines."""
_LINE: Final = 30
"""Letters of a line of text in a narrow column."""
_TITLE_PT: Final = 50.0
"""A title and the space around it and below its words."""
_WORDS_PT: Final = 12.3
_WORDS_LINE: Final = 90
"""The height of a line of words below a title, and the letters on it."""
_PAPER_PT: Final = 20.0
"""The line that says whose the rows below it are."""
UPRIGHT, LYING = False, True
WIDTHS: Final = {UPRIGHT: 516.0, LYING: 762.0}
_HEIGHTS: Final = {UPRIGHT: 757.0, LYING: 510.0}
"""What a page has room for, in points."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a printed table: its header, and its texts.

    The first so many are the table's ``own``, those after them a paper's. A line holds
    each text where they are ``whole``.
    """

    name: str
    texts: tuple[str, ...]
    own: int
    whole: bool

    @property
    def widest_pt(self) -> float:
        """The width in which every text stands on one line."""
        return _LETTER_PT * max(map(len, (self.name, *self.texts))) + _PADDING_PT

    @property
    def least_pt(self) -> float:
        """About the width that it needs, its text in lines."""
        word = max(map(len, _WORD_ENDS.split(self.name)), default=0)
        longest = max(map(len, self.texts[: self.own]), default=0)
        longest = longest if self.whole else min(longest, _LINE)
        return _LETTER_PT * max(word, longest) + _PADDING_PT

    def lines(self, row: int, width_pt: float) -> int:
        """Return how many lines a row's text needs in a width."""
        needed = _LETTER_PT * len(self.texts[row])
        return ceil(needed / max(width_pt - _PADDING_PT, _LETTER_PT)) or 1


@dataclass(frozen=True, slots=True)
class Extent:
    """The columns of a section's table, and the lines of words around them."""

    columns: tuple[Column, ...]
    words: int
    papers: int

    @property
    def width_pt(self) -> float:
        """About the width that the table needs."""
        return sum(column.least_pt for column in self.columns)

    def holds_names(self, *, lies: bool) -> bool:
        """Tell whether a line holds each name in the first column, a paper's too."""
        first = self.columns[0]
        names = max(map(len, first.texts), default=0)
        named = _LETTER_PT * names + _PADDING_PT
        return self.width_pt + max(named - first.least_pt, 0.0) <= WIDTHS[lies]

    def height_pt(self, *, lies: bool) -> float:
        """Return about the height of title, words and table."""
        room, least = WIDTHS[lies], self.width_pt
        spare = sum(column.widest_pt for column in self.columns) - least
        share = min(max(room - least, 0.0) / spare, 1.0) if spare else 1.0
        widths = [c.least_pt + share * (c.widest_pt - c.least_pt) for c in self.columns]
        rows = range(len(self.columns[0].texts) if self.columns else 0)
        lines = sum(
            max(c.lines(row, w) for c, w in zip(self.columns, widths, strict=True))
            for row in rows
        )
        heads = _WORDS_PT * self.words + _PAPER_PT * self.papers + 3 * _LINE_PT
        return _TITLE_PT + heads + _LINE_PT * lines + _ROW_PT * len(rows)


def extent(section: Section, columns: Sequence[Column]) -> Extent:
    """Return what a section needs of a page."""
    words = ceil(len(section.text) / _WORDS_LINE)
    return Extent(tuple(columns), words, len(section.published))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which sections lie, how many pages they take, how much of the last is full."""

    pages: int
    used_pt: float
    lying: tuple[bool, ...]

    def cost(self) -> tuple[int, int, float]:
        """Return what is to be least: pages, then sections that lie, then room."""
        return self.pages, sum(self.lying), self.used_pt

    def then(self, height_pt: float, *, lies: bool) -> "_Layout":
        room = _HEIGHTS[lies]
        pages, used = self.pages, self.used_pt
        if self.lying[-1] != lies:
            pages, used = pages + 1, 0.0
        if used + height_pt > room >= height_pt:
            pages, used = pages + 1, 0.0
        more, used = divmod(used + height_pt, room)
        return _Layout(pages + int(more), used, (*self.lying, lies))


def lying(extents: Sequence[Extent], used_pt: float = 0.0) -> tuple[bool, ...]:
    """Return which sections are printed on pages that lie, for the fewest pages.

    A table too wide for an upright page lies. Short ones do so only where it saves a
    page. ``used_pt`` of the first page, an upright one, stands above them.
    """
    best = [_Layout(1, used_pt, (UPRIGHT,))]
    for one in extents:
        ways = list(_ways(one))
        best = [min(_continued(best, one, lies), key=_Layout.cost) for lies in ways]
    upright_last = [of.then(0.0, lies=UPRIGHT) for of in best]
    return min(upright_last, key=_Layout.cost).lying[1:-1]


def _ways(one: Extent) -> Iterator[bool]:
    wide = one.width_pt > WIDTHS[UPRIGHT]
    if not wide:
        yield UPRIGHT
    if wide or one.height_pt(lies=LYING) <= _HEIGHTS[LYING] / 2:
        yield LYING


def _continued(best: Sequence[_Layout], one: Extent, lies: bool) -> Iterator[_Layout]:
    height = one.height_pt(lies=lies)
    return (before.then(height, lies=lies) for before in best)
