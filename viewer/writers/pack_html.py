"""The page of a pack: what is there, every table and every figure of the paper."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from viewer.domain.figure import Figure, FigureHead, full_title
from viewer.domain.pack import PackData
from viewer.writers.figure_layout import scales
from viewer.writers.html_text import rendered
from viewer.writers.numbering import (
    FIGURE,
    TABLE,
    Place,
    contents,
    head_pt,
    numbered,
)
from viewer.writers.tables import html_sections

FIGURES: Final = "figures"
"""The folder of a pack that its figures lie in."""
_KINDS: Final = {"svg": "SVG", "pdf": "PDF", "csv": "CSV"}


@dataclass(frozen=True)
class PackPage:
    """A pack's name and facts, its content, and the files beside its page."""

    name: str
    facts: tuple[tuple[str, str], ...]
    data: PackData
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A figure on the page: its words, its picture as SVG, its files, its size."""

    head: FigureHead
    place: Place
    svg: bytes
    links: tuple[tuple[str, str], ...]
    scale: float = 1.0

    @property
    def source(self) -> str:
        """The picture as a data address."""
        code = base64.b64encode(self.svg).decode()
        return f"data:image/svg+xml;base64,{code}"


def render_pack(page: PackPage, drawings: Mapping[str, bytes]) -> bytes:
    """Return the page as UTF-8 HTML; ``drawings`` are SVG by their path beside it."""
    data = page.data
    heads = ((full_title(figure), figure.head.number) for figure in data.figures)
    places = numbered(FIGURE, heads)
    tables = numbered(TABLE, ((one.title, one.number) for one in data.sections))
    listing = contents(places, tables)
    found, used_pt = _drawings(page, places, head_pt(listing), drawings)
    html = rendered(
        "pack.html.jinja",
        page=page,
        data=data,
        incomplete=data.incomplete,
        contents=listing,
        sections=list(html_sections(data.sections, tables, used_pt)),
        figures=found,
        folders=[
            (folder, _by_stem(names))
            for folder, names in groupby(sorted(page.files, key=_folder), _folder)
        ],
    )
    return html.encode()


def _drawings(
    page: PackPage,
    places: Sequence[Place],
    used_pt: float,
    drawings: Mapping[str, bytes],
) -> tuple[list[_Drawing], float]:
    """Return the figures in the size of their print, and what of a page they use."""
    found = [
        _drawing(figure, place, page.files, drawings)
        for figure, place in zip(page.data.figures, places, strict=True)
    ]
    captions = [f"{of.place.title} {of.head.words}" for of in found]
    svgs = [of.svg for of in found]
    sizes, used_pt = scales(list(zip(svgs, captions, strict=True)), used_pt)
    sized = zip(found, sizes, strict=True)
    return [replace(of, scale=size) for of, size in sized], used_pt


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _by_stem(paths: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the file stems, each with the paths by suffix."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in paths:
        stem, _, ending = path.rpartition("/")[2].rpartition(".")
        found.setdefault(stem, []).append((ending, path))
    return list(found.items())


def _drawing(
    figure: Figure,
    place: Place,
    listed: Sequence[str],
    drawings: Mapping[str, bytes],
) -> _Drawing:
    # a table may have the figure's name
    mine = [
        path
        for path in listed
        if path.rpartition(".")[0] == f"{FIGURES}/{figure.head.name}"
    ]
    shown = next(path for path in mine if path.endswith(".svg"))
    links = tuple((_KINDS[path.rpartition(".")[2]], path) for path in mine)
    return _Drawing(figure.head, place, drawings[shown], links)
