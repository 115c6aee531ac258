"""The page of a pack: what is there, every table and every figure of the paper."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Final

from viewer.domain.figure import Figure, FigureHead
from viewer.domain.pack import PackData
from viewer.domain.report import Section
from viewer.writers.html_text import shown

if TYPE_CHECKING:
    from jinja2 import Template

_NUMBER: Final = re.compile(r"[-+±]?\d[\d., /%()]*(?: to [-+]?[\d.]+)?|-")
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


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    rows: int
    right: bool


def render_pack(page: PackPage, drawings: Mapping[str, bytes]) -> bytes:
    """Return the page as UTF-8 HTML; ``drawings`` are SVG by their path beside it."""
    data = page.data
    html: str = _template().render(
        page=page,
        data=data,
        sections=[(s, _rows(s)) for s in data.sections],
        figures=[_drawing(figure, page.files, drawings) for figure in data.figures],
        folders=[(f, list(names)) for f, names in groupby(page.files, _folder)],
    )
    return html.encode()


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    path = files("viewer.writers") / "templates" / "pack.html.jinja"
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=shown,
    )
    return environment.from_string(path.read_text(encoding="utf-8"))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _drawing(
    figure: Figure, listed: Sequence[str], drawings: Mapping[str, bytes]
) -> _Drawing:
    mine = [
        path
        for path in listed
        if path.rpartition("/")[2].rpartition(".")[0] == figure.head.name
    ]
    shown = next(path for path in mine if path.endswith(".svg"))
    code = base64.b64encode(drawings[shown]).decode()
    links = tuple((_KINDS[path.rpartition(".")[2]], path) for path in mine)
    return _Drawing(figure.head, f"data:image/svg+xml;base64,{code}", links)


def _rows(section: Section) -> Sequence[tuple[bool, Sequence[_Cell]]]:
    """Lay out a table: numbers to the right, repeated first cells joined."""
    rows = [[str(value) for value in row] for row in section.table.rows]
    columns = list(zip(*rows, strict=True))
    right = [all(_NUMBER.fullmatch(text) for text in column) for column in columns]
    return list(_joined(rows, right))


def _joined(
    rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> Iterator[tuple[bool, Sequence[_Cell]]]:
    for _, same in groupby(rows, key=lambda row: row[0]):
        together = list(same)
        for i, row in enumerate(together):
            cells = [_Cell(t, 1, r) for t, r in zip(row, right, strict=True)]
            first = [_Cell(row[0], len(together), right[0])] if i == 0 else []
            yield i == 0, [*first, *cells[1:]]
