"""How large figures are on printed pages of A4, so that pages are filled."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

_SIZE: Final = re.compile(rb'<svg[^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"', re.DOTALL)
_PAGE_PT: Final = (516.0, 757.0)
"""Width and height of a portrait page without its margins."""
_TALLEST_PT: Final = 609.0
_MARGIN_PT: Final = 24.0
_CAPTION_LINE_PT: Final = 11.6
_CAPTION_LETTERS: Final = 105
_LEAST: Final = 0.8
"""How much smaller the letters of a figure may become."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A figure on a page: the heights of its image in full width and its caption."""

    image_pt: float
    caption_pt: float
    scale: float = 1.0


def scales(
    drawings: Sequence[tuple[bytes, str]], used_pt: float
) -> tuple[tuple[float, ...], float]:
    """Return how large to print figures, SVG each with its caption, 1 for full width.

    ``used_pt`` of the first page stands above them; what they use of the last one
    follows. Figures of a page shrink a little where that makes room for the one after
    them.
    """
    pages = list(_pages(drawings, used_pt))
    above = used_pt if len(pages) == 1 else 0.0
    last = above + sum(of.image_pt * of.scale + of.caption_pt for of in pages[-1])
    return tuple(of.scale for page in pages for of in page), last


def _pages(
    drawings: Sequence[tuple[bytes, str]], used_pt: float
) -> Iterator[Sequence[_Placed]]:
    page: list[_Placed] = []
    for drawing, caption in drawings:
        one = _placed(drawing, caption)
        scale = _fitting([*page, one], used_pt)
        if scale < _LEAST:
            yield page
            page, used_pt, scale = [], 0.0, 1.0
        page = [replace(of, scale=scale) for of in (*page, one)]
    yield page


def _fitting(page: Sequence[_Placed], used_pt: float) -> float:
    """Return the largest scale in which a page has room for its figures."""
    room = _PAGE_PT[1] - used_pt - sum(of.caption_pt for of in page)
    return min(1.0, room / sum(of.image_pt for of in page))


def _placed(drawing: bytes, caption: str) -> _Placed:
    lines = ceil(len(caption) / _CAPTION_LETTERS)
    found = _SIZE.search(drawing)
    width, height = map(float, found.groups()) if found else _PAGE_PT
    return _Placed(
        min(_PAGE_PT[0] * height / width, _TALLEST_PT),
        _MARGIN_PT + _CAPTION_LINE_PT * lines,
    )
