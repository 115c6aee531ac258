"""The page of a pack: what is there, every table and every figure of the paper."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from viewer.domain.figure import Figure, FigureHead
from viewer.domain.pack import PackData
from viewer.writers.html_text import rendered
from viewer.writers.tables import html_section

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
    """A figure on the page: its words, its picture as a data address, its files."""

    head: FigureHead
    source: str
    links: tuple[tuple[str, str], ...]


def render_pack(page: PackPage, drawings: Mapping[str, bytes]) -> bytes:
    """Return the page as UTF-8 HTML; ``drawings`` are SVG by their path beside it."""
    data = page.data
    html = rendered(
        "pack.html.jinja",
        page=page,
        data=data,
        incomplete=data.incomplete,
        sections=[html_section(section) for section in data.sections],
        figures=[_drawing(figure, page.files, drawings) for figure in data.figures],
        folders=[(f, list(names)) for f, names in groupby(page.files, _folder)],
    )
    return html.encode()


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _drawing(
    figure: Figure, listed: Sequence[str], drawings: Mapping[str, bytes]
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
    return _Drawing(figure.head, f"data:image/svg+xml;base64,{code}", links)
