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
PORTRAIT, LANDSCAPE = False, True
WIDTHS: Final = {PORTRAIT: 516.0, LANDSCAPE: 762.0}
_HEIGHTS: Final = {PORTRAIT: 757.0, LANDSCAPE: 510.0}
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

    def holds_names(self, *, landscape: bool) -> bool:
        """Tell whether a line holds each name in the first column, a paper's too."""
        first = self.columns[0]
        names = max(map(len, first.texts), default=0)
        named = _LETTER_PT * names + _PADDING_PT
        return self.width_pt + max(named - first.least_pt, 0.0) <= WIDTHS[landscape]

    def height_pt(self, *, landscape: bool) -> float:
        """Return about the height of title, words and table."""
        room, least = WIDTHS[landscape], self.width_pt
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
    """Which sections are landscape, how many pages there are, how full the last is."""

    pages: int
    used_pt: float
    landscape: tuple[bool, ...]

    def cost(self) -> tuple[int, int, float]:
        """Return what is to be least: pages, then landscape sections, then room."""
        return self.pages, sum(self.landscape), self.used_pt

    def then(self, height_pt: float, *, landscape: bool) -> "_Layout":
        room = _HEIGHTS[landscape]
        pages, used = self.pages, self.used_pt
        if self.landscape[-1] != landscape:
            pages, used = pages + 1, 0.0
        if used + height_pt > room >= height_pt:
            pages, used = pages + 1, 0.0
        more, used = divmod(used + height_pt, room)
        return _Layout(pages + int(more), used, (*self.landscape, landscape))


def landscape_sections(
    extents: Sequence[Extent], used_pt: float = 0.0
) -> tuple[bool, ...]:
    """Return which sections are printed on landscape pages, for the fewest pages.

    A table too wide for a portrait page is landscape, a short one only where that saves
    a page. ``used_pt`` of the first page, a portrait one, stands above them.
    """
    best = [_Layout(1, used_pt, (PORTRAIT,))]
    for one in extents:
        ways = list(_ways(one))
        best = [min(_continued(best, one, way), key=_Layout.cost) for way in ways]
    portrait_last = [of.then(0.0, landscape=PORTRAIT) for of in best]
    return min(portrait_last, key=_Layout.cost).landscape[1:-1]


def _ways(one: Extent) -> Iterator[bool]:
    wide = one.width_pt > WIDTHS[PORTRAIT]
    if not wide:
        yield PORTRAIT
    if wide or one.height_pt(landscape=LANDSCAPE) <= _HEIGHTS[LANDSCAPE] / 2:
        yield LANDSCAPE


def _continued(
    best: Sequence[_Layout], one: Extent, landscape: bool
) -> Iterator[_Layout]:
    height = one.height_pt(landscape=landscape)
    return (before.then(height, landscape=landscape) for before in best)
