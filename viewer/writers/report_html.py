"""A run's report as one page without network requests."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from viewer.domain.answer import Status
from viewer.domain.case import Notice
from viewer.domain.counting import counted
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import Figure, full_title
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec, RunSummary
from viewer.domain.times import in_utc
from viewer.writers.html_text import rendered
from viewer.writers.numbering import FIGURE, TABLE, contents, head_pt, numbered
from viewer.writers.tables import html_sections

_IDS = re.compile(r'(\bid="|url\(#|href="#)')
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)


@dataclass(frozen=True)
class ReportPage:
    """The contents of the page: run, settings, results and gaps in the data.

    ``study`` is what people call its study, ``doubt`` a sentence on verdicts that do
    not match their replies. ``cards`` are shown after the report's own figures.
    """

    summary: RunSummary
    spec: RunSpec
    data: ReportData
    notices: tuple[Notice, ...] = ()
    study: str = ""
    doubt: str = ""
    cards: tuple[Figure, ...] = ()


def render_report(page: ReportPage, drawings: Sequence[bytes]) -> bytes:
    """Return the page as UTF-8 HTML with the SVG of each of its figures inside."""
    from markupsafe import Markup

    data, summary = page.data, page.summary
    drawn = [
        Markup(_inline(drawing, i))  # noqa: S704 - drawn by our writers
        for i, drawing in enumerate(drawings)
    ]
    shown = (*data.sections, *data.appendix)
    tables = numbered(TABLE, ((one.title, one.number) for one in shown))
    heads = [(figure.title, "") for figure in data.figures]
    heads += [(full_title(card), card.head.number) for card in page.cards]
    figures = numbered(FIGURE, heads)
    listing = contents(figures, tables)
    sections = list(html_sections(shown, tables, head_pt(listing)))
    html = rendered(
        "report.html.jinja",
        title=f"{page.study or _spoken(page.spec.study)} on {page.spec.dataset}",
        subtitle=f"Run {summary.id}, preset {page.spec.preset}",
        incomplete=data.incomplete,
        pending=summary.counts.get(str(Status.PENDING), 0),
        planned=summary.n_planned,
        badges=[*map(str, summary.notes), *_unsaid(data), *filter(None, (page.doubt,))],
        facts=tuple(_facts(page)),
        contents=listing,
        sections=sections[: len(data.sections)],
        figures=list(zip(figures, drawn, strict=True)),
        appendix=sections[len(data.sections) :],
        notices=page.notices,
        definitions=tuple(data.metric_definitions.items()),
        settings=[
            (name, _listed(value))
            for name, value in sorted(page.spec.params.items())
            if value != {}
        ],
        plan_sha256=summary.plan_sha256,
    )
    return html.encode()


def _unsaid(data: ReportData) -> Iterator[str]:
    """Yield the warnings that no table of the page has."""
    tables = (section.table for section in (*data.sections, *data.appendix))
    said = {cell for table in tables for row in table.rows for cell in row}
    yield from (sentence for sentence in data.warnings if sentence not in said)


def _facts(page: ReportPage) -> Iterator[tuple[str, str]]:
    spec, summary = page.spec, page.summary
    yield "Data set", spec.dataset
    yield "Models", "; ".join(_model(profile) for profile in spec.models)
    if spec.helpers:
        yield "Models in a role", "; ".join(map(_model, spec.helpers))
    yield "Planned trials", f"{summary.n_planned:,}".replace(",", " ")
    yield "Ended as", _counts(_ended(page))
    yield "Asked", f"{spec.repeats} × each, seed {spec.seed}"
    yield "Started", in_utc(summary.created_at)
    if own := spec.params.get("prompts"):
        yield "Custom prompts", _names(own)
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
    """Return the number of trials with each verdict that the page reports.

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


def _names(value: object) -> str:
    return ", ".join(value) if isinstance(value, Mapping) else str(value)


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _inline(svg: bytes, number: int) -> str:
    """Return a drawing without its prolog, with ids unique to the page."""
    text = svg.decode()
    text = _METADATA.sub("", text[text.index("<svg") :])
    return _IDS.sub(rf"\1figure{number}-", text)
