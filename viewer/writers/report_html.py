"""A run's report as one page that asks the network for nothing."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from viewer.domain.answer import Status
from viewer.domain.case import Notice
from viewer.domain.counting import counted
from viewer.domain.exchange import ModelProfile
from viewer.domain.report import ReportData, Section
from viewer.domain.run import RunSpec, RunSummary
from viewer.writers.figures import bar_figure_svg
from viewer.writers.html_text import shown

if TYPE_CHECKING:
    from jinja2 import Template

_NUMBER = re.compile(r"[-+±]?\d[\d., /%()×]*(?: to [-+]?[\d.]+)?|-")
_LONG_TEXT = 40
_IDS = re.compile(r'(\bid="|url\(#|href="#)')
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)


@dataclass(frozen=True)
class ReportPage:
    """What the page is made of: the run, its settings, its results, the data's gaps.

    ``study`` is what people call its study.
    """

    summary: RunSummary
    spec: RunSpec
    data: ReportData
    notices: tuple[Notice, ...] = ()
    study: str = ""


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a table: its text, how many rows it spans, its style classes."""

    text: str
    rows: int
    css: str


@dataclass(frozen=True, slots=True)
class _Row:
    """A row; ``starts`` tells that a new value of the first column begins."""

    cells: tuple[_Cell, ...]
    starts: bool


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's head."""

    name: str
    css: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A section with its table laid out."""

    title: str
    text: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[_Column, ...]
    rows: tuple[_Row, ...]


def render_report(page: ReportPage) -> bytes:
    """Return the page as UTF-8 HTML with its figures inside."""
    from markupsafe import Markup

    data, summary = page.data, page.summary
    figures = [
        Markup(_inline(bar_figure_svg(figure), i))  # noqa: S704 - drawn here
        for i, figure in enumerate(data.figures)
    ]
    html: str = _template().render(
        title=f"{page.study or _spoken(page.spec.study)} on {page.spec.dataset}",
        subtitle=f"Run {summary.id}, preset {page.spec.preset}",
        incomplete=data.incomplete,
        pending=summary.counts.get(str(Status.PENDING), 0),
        planned=summary.n_planned,
        badges=[str(note) for note in summary.notes],
        facts=tuple(_facts(page)),
        sections=[_part(section) for section in data.sections],
        figures=figures,
        appendix=[_part(section) for section in data.appendix],
        notices=page.notices,
        definitions=tuple(data.metric_definitions.items()),
        settings=[(k, _listed(v)) for k, v in sorted(page.spec.params.items())],
        plan_sha256=summary.plan_sha256,
    )
    return html.encode()


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    path = files("viewer.writers") / "templates" / "report.html.jinja"
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=shown,
    )
    return environment.from_string(path.read_text(encoding="utf-8"))


def _facts(page: ReportPage) -> Iterator[tuple[str, str]]:
    spec, summary = page.spec, page.summary
    yield "Data set", spec.dataset
    yield "Models", "; ".join(_model(profile) for profile in spec.models)
    if spec.helpers:
        yield "Models in a role", "; ".join(map(_model, spec.helpers))
    yield "Planned trials", f"{summary.n_planned:,}".replace(",", " ")
    yield "Ended as", _counts(_ended(page))
    yield "Asked", f"{spec.repeats} × each, seed {spec.seed}"
    yield "Started", summary.created_at[:19].replace("T", " ") + " UTC"
    if spec.limit is not None:
        yield "Limit", f"the first {counted(spec.limit, 'item')} only"


def _model(profile: ModelProfile) -> str:
    adapter = [] if profile.adapter == profile.name else [profile.adapter]
    details = [*adapter, *_known(profile.settings, "model", "temperature")]
    return f"{profile.name} ({', '.join(details)})" if details else profile.name


def _known(settings: Mapping[str, object], *names: str) -> Iterator[str]:
    for name in names:
        if name in settings:
            yield f"{name} {settings[name]}"


def _ended(page: ReportPage) -> Mapping[str, int]:
    """Return how many trials have each verdict that the page reports.

    Readers may have graded since what the run left without a verdict.
    """
    items = next((t for t in page.data.tables if t.name == "items"), None)
    if items is None or "status" not in items.header:
        return page.summary.counts
    place = items.header.index("status")
    found = Counter(str(row[place]) for row in items.rows)
    return {str(status): found[status] for status in Status}


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{_spoken(str(s))} {n}" for s, n in counts.items() if n)


def _spoken(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return str(value)


def _part(section: Section) -> _Part:
    """Lay out a table: numbers to the right, repeated first cells joined."""
    rows = [[_text(value) for value in row] for row in section.table.rows]
    css = tuple(_css(section, rows, i) for i in range(len(section.table.header)))
    columns = tuple(map(_Column, section.table.header, css))
    return _Part(
        section.title, section.text, section.groups, columns, tuple(_rows(rows, css))
    )


def _rows(rows: Sequence[Sequence[str]], css: Sequence[str]) -> Iterator[_Row]:
    for _, run in groupby(rows, key=lambda row: row[0]):
        same = list(run)
        for i, row in enumerate(same):
            cells = tuple(_Cell(text, 1, c) for text, c in zip(row, css, strict=True))
            first = (_Cell(row[0], len(same), css[0]),) if i == 0 else ()
            yield _Row((*first, *cells[1:]), starts=i == 0)


def _css(section: Section, rows: Sequence[Sequence[str]], column: int) -> str:
    texts = [row[column] for row in rows]
    starts, edges = 0, set()
    for _, span in section.groups:
        edges.add(starts)
        starts += span
    classes = {
        "right": bool(texts) and all(_NUMBER.fullmatch(text) for text in texts),
        "long": any(len(text) > _LONG_TEXT for text in texts),
        "edge": column in edges and column > 0,
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _inline(svg: bytes, number: int) -> str:
    """Return a drawing without its prolog, its ids made the page's own."""
    text = svg.decode()
    text = _METADATA.sub("", text[text.index("<svg") :])
    return _IDS.sub(rf"\1figure{number}-", text)
