"""The page of a pack: what is there, every table and every figure of the paper."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from viewer.domain.figure import Figure, FigureHead, full_title
from viewer.domain.pack import PackData
from viewer.writers.html_text import rendered
from viewer.writers.numbering import FIGURE, TABLE, Place, contents, numbered
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
    """A figure on the page: its captions, its picture as a data URL, its files."""

    head: FigureHead
    place: Place
    source: str
    links: tuple[tuple[str, str], ...]


def render_pack(page: PackPage, drawings: Mapping[str, bytes]) -> bytes:
    """Return the page as UTF-8 HTML; ``drawings`` are SVG by their path beside it."""
    data = page.data
    heads = ((full_title(figure), figure.head.number) for figure in data.figures)
    places = numbered(FIGURE, heads)
    tables = numbered(TABLE, ((one.title, one.number) for one in data.sections))
    html = rendered(
        "pack.html.jinja",
        page=page,
        data=data,
        incomplete=data.incomplete,
        contents=contents(places, tables),
        sections=list(html_sections(data.sections, tables)),
        figures=[
            _drawing(figure, place, page.files, drawings)
            for figure, place in zip(data.figures, places, strict=True)
        ],
        folders=[(f, _by_stem(names)) for f, names in groupby(page.files, _folder)],
    )
    return html.encode()


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
    code = base64.b64encode(drawings[shown]).decode()
    links = tuple((_KINDS[path.rpartition(".")[2]], path) for path in mine)
    return _Drawing(figure.head, place, f"data:image/svg+xml;base64,{code}", links)
