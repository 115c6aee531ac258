import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from viewer.domain.case import Notice
from viewer.domain.exchange import ModelProfile
from viewer.domain.report import BarFigure, BarSeries, ReportData, Section, Table
from viewer.domain.run import RunSpec, RunStatus, RunSummary
from viewer.writers.figures import bar_figure_svg
from viewer.writers.report_html import ReportPage, render_report

TABLE = Table(
    "t",
    ("Finding", "Model", "k / n", "Hit rate %"),
    (
        ("Edema", "a", "1 / 4", "25.0"),
        ("Edema", "b", "0 / 4", "0.0"),
        ("Heart <b>", "a", "-", "-"),
    ),
)
FIGURE = BarFigure(
    "f.svg",
    "T",
    "Hit rate",
    "SD",
    ("Edema",),
    (BarSeries("a", (0.5,), (0.1,), (4,)),),
    "random",
    (0.1,),
)
PAGE = ReportPage(
    RunSummary(
        7,
        "grid_localization",
        "phantom & co",
        ("a",),
        RunStatus.FINISHED,
        "2026-11-21T10:00:00Z",
        12,
        {"scored_correct": 4, "excluded": 8},
        adhoc=False,
        plan_sha256="ab" * 32,
    ),
    RunSpec(
        "grid_localization",
        "phantom & co",
        "gosai2025",
        3,
        2,
        (
            ModelProfile("a", "openai_api", {"model": "tiny", "api_key_env": "KEY"}),
            ModelProfile("uniform", "uniform"),
        ),
        {"grids": ["8"]},
        limit=5,
    ),
    ReportData(
        (TABLE,),
        (FIGURE, FIGURE),
        {"hit": "At least half."},
        incomplete=False,
        sections=(Section("Results", "Words.", TABLE, (("", 2), ("Paper mode", 2))),),
        appendix=(Section("Excluded: 1 item", "", TABLE),),
    ),
    (Notice("label_without_mask", "patient1_view1", "A label without a mask."),),
)


class Ids(HTMLParser):
    """Collects element ids and checks that every element is closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def rendered(page: ReportPage) -> bytes:
    return render_report(page, [bar_figure_svg(one) for one in page.data.figures])


@pytest.fixture(scope="module")
def html() -> str:
    return rendered(PAGE).decode()


def test_that_the_page_is_well_formed_with_unique_ids(html: str) -> None:
    parser = Ids()
    parser.feed(html)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))


def test_that_the_page_asks_the_network_for_nothing(html: str) -> None:
    assert not re.search(r"<(script|link|img|iframe)\b", html)
    assert not re.search(r"@import|url\((?!#)", html)
    addresses = set(re.findall(r'(?:href|src)="([^"]*)"', html))
    assert all(address.startswith("#") for address in addresses)


def test_that_the_page_is_the_same_each_time() -> None:
    assert rendered(PAGE) == rendered(PAGE)


def test_that_text_is_escaped(html: str) -> None:
    assert "phantom &amp; co" in html
    assert "Heart &lt;b&gt;" in html


def test_that_the_page_says_what_was_run_and_what_is_missing(html: str) -> None:
    for text in (
        "2 × each, seed 3",
        "a (openai_api, model tiny); uniform<",
        "first 5 items",
        "Excluded 8",
        "2026-11-21 10:00:00 UTC",
    ):
        assert text in html
    assert "patient1_view1" in html
    assert "At least half." in html
    assert "KEY" not in html


def test_that_a_repeated_first_cell_is_written_once(html: str) -> None:
    assert html.count('<td rowspan="2">Edema</td>') == 2


def test_that_settings_may_be_lists_numbers_and_words() -> None:
    spec = replace(PAGE.spec, limit=None, params={"grids": [8, 16], "side": 256})
    html = rendered(replace(PAGE, spec=spec)).decode()
    assert "8, 16" in html
    assert "256" in html
    assert "items only" not in html


def test_that_an_unfinished_run_is_watermarked() -> None:
    unfinished = replace(
        PAGE,
        data=replace(PAGE.data, incomplete=True),
        summary=replace(PAGE.summary, counts={"pending": 3}),
    )
    html = rendered(unfinished).decode()
    assert 'class="watermark"' in html
    assert "3 of 12 trials are still pending" in html
    assert 'class="watermark"' not in rendered(PAGE).decode()
