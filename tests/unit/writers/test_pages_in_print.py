"""Pages are numbered, link to what they name, and fit on A4."""

import re
from dataclasses import replace
from importlib.resources import files

import pytest

from tests.unit.writers.test_report_html import PAGE, Ids, rendered
from viewer.domain.figure import (
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    Stack,
    StackFigure,
)
from viewer.domain.pack import PackData
from viewer.domain.report import PaperRows, Section, Table
from viewer.domain.styles import LIGHT
from viewer.writers.figure_layout import scales
from viewer.writers.figures_files import figure_files
from viewer.writers.figures_plots import draw_plots
from viewer.writers.figures_stacks import draw_stacks
from viewer.writers.numbering import TABLE, Place, numbered
from viewer.writers.pack_html import PackPage, render_pack
from viewer.writers.recorded import real
from viewer.writers.tables import html_sections, latex_table

SHORT = Table("short", ("Model", "Rate %"), (("a", "50.0"), ("b", "")))
LONG = Table("long", ("Model", "Item"), tuple(("a", str(i)) for i in range(40)))
WIDE = Table(
    "wide",
    tuple(f"Column {i}" for i in range(14)),
    (tuple(f"{i}.12345678" for i in range(14)),),
)
WIDEST = Table("widest", WIDE.header * 2, (WIDE.rows[0] * 2,))
PAPER = PaperRows("Somebody 2025", "Table 3", (("A & B", "71.8"),))
SECTIONS = (
    Section("Rates", "In per cent.", SHORT, number="Table 3", published=(PAPER,)),
    Section("Items", "", LONG),
    Section("Numbers", "", WIDE),
    Section("Notes", "", SHORT),
    Section("More numbers", "", WIDEST),
)
FIGURE = PlotFigure(
    FigureHead("points", "Figure 6", "Points", "Every point."),
    (PlotPanel("CT", (PlotSeries("m", (0.1,), (0.2,)),)), PlotPanel("MRI", ())),
    "x",
    "y",
    identity=True,
)
DATA = PackData("Title", "Source", (), SECTIONS, (FIGURE,), incomplete=False)


@pytest.fixture(scope="module")
def pack() -> str:
    drawn = {f"figures/{name}": code for name, code in figure_files(FIGURE).items()}
    return render_pack(PackPage("p", (), DATA, tuple(drawn)), drawn).decode()


@pytest.fixture(scope="module")
def report() -> str:
    return rendered(PAGE).decode()


(FIRST,) = numbered(TABLE, (("Rates", ""),))


def captions(html: str) -> list[str]:
    """Return the captions of a page's tables and figures."""
    tables = re.findall(r'<section id="table-\d+"[^>]*>\s*<h2>(.*?)</h2>', html)
    figures = re.findall(r"<figcaption><strong>(.*?)\.</strong>", html)
    return [*figures, *tables]


def test_that_every_table_and_figure_is_numbered(pack: str, report: str) -> None:
    titles = ["Rates", "Items", "Numbers", "Notes", "More numbers"]
    tables = [f"Table {i}. {title}" for i, title in enumerate(titles, 1)]
    assert captions(pack) == ["Figure 1. Points", *tables]
    assert captions(report) == [
        *("Figure 1. T", "Figure 2. T"),
        *("Table 1. Results", "Table 2. Excluded: 1 item"),
    ]


def test_that_the_contents_name_every_table_and_figure(pack: str, report: str) -> None:
    for html in (pack, report):
        parser = Ids()
        parser.feed(html)
        links = re.findall(r'href="#([^"]+)">((?:Table|Figure) \d+)</a>', html)
        assert len(links) == len(captions(html))
        assert {anchor for anchor, _ in links} <= set(parser.ids)
    assert "(paper: Table 3)" in pack
    assert "In the paper: Figure 6." in pack


def test_that_a_papers_rows_stand_apart(pack: str) -> None:
    paper = pack[pack.index('<tbody class="paper">') :].split("</tbody>", maxsplit=1)[0]
    assert 'scope="rowgroup">Published: Somebody 2025, Table 3</th>' in paper
    assert "<td>A &amp; B</td>" in paper
    assert re.search(r"\.paper td.*{.*background", pack)
    latex = latex_table(SECTIONS[0]).decode()
    assert "{l}{\\emph{Published: Somebody 2025, Table 3}}" in latex
    assert "A \\& B & 71.8 \\\\" in latex


def test_that_a_long_text_of_a_paper_takes_the_empty_cells_after_it() -> None:
    header = ("Model", "Note", "Planned", "Failed", "Rate %")
    table = Table("noted", header, (("a", "", "9", "0", "50.0"),))
    said = ("GPT", "fine-tuned on the training set", "", "", "71.8")
    paper = PaperRows("Somebody 2025", "Table 3", (said, ("b", "no", "", "", "9.1")))
    (html,) = html_sections([Section("Rates", "", table, published=(paper,))], [FIRST])
    assert 'colspan="3">fine-tuned on the training set</td>' in html
    assert html.count("colspan") == 2
    assert '<td class="words">no</td><td class="right"></td>' in html


def test_that_numbers_stand_at_the_right_though_some_are_missing(pack: str) -> None:
    assert '<td class="right">50.0</td>' in pack
    assert '<td class="right"></td>' in pack


def test_that_a_wide_table_lies_with_those_that_its_page_has_room_for() -> None:
    classes = [
        re.match(r'<section id="table-\d" class="([^"]*)"', str(html))
        for html in html_sections(SECTIONS, numbered_places())
    ]
    assert [found and found[1] for found in classes] == [
        *("short named", "named", "turn short wide named", "short wide named"),
        "short wide dense",
    ]


def test_that_a_short_table_lies_only_where_that_saves_a_page() -> None:
    first, alone = Section("Rates", "", SHORT), Section("Numbers", "", WIDE)
    places = numbered(TABLE, (("Rates", ""), ("Numbers", ""), ("Rates", "")))
    sections = (alone, first, Section("Items", "", LONG))
    pages = [str(html) for html in html_sections(sections, places)]
    assert ["wide" in html.partition(">")[0] for html in pages] == [True, False, False]


def test_that_figures_shrink_a_little_to_share_a_page() -> None:
    def drawing(height: float) -> tuple[bytes, str]:
        return f'<svg viewBox="0 0 500 {height}">'.encode(), "A caption."

    assert scales([drawing(300), drawing(300)], 0.0)[0] == (1.0, 1.0)
    sizes, used_pt = scales([drawing(380), drawing(400)], 0.0)
    assert sizes[0] == sizes[1] == pytest.approx(0.85, abs=0.02)
    assert used_pt == pytest.approx(757.0)
    assert scales([drawing(500), drawing(500)], 0.0)[0] == (1.0, 1.0)


def numbered_places() -> tuple[Place, ...]:
    """Return places for the sections."""
    return numbered(TABLE, ((one.title, "") for one in SECTIONS))


def test_that_a_long_run_under_one_cell_says_it_again(pack: str) -> None:
    assert pack.count('<td rowspan="10">a</td>') == 4


def test_that_the_rules_of_print_stand_in_one_place(pack: str, report: str) -> None:
    for html in (pack, report):
        (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
        for rule in (
            "@media print",
            "@page { size: A4 portrait",
            "@page wide { size: A4 landscape",
            "counter(page)",
            "color-scheme: only light",
            "display: table-header-group",
            ".scroll { overflow: visible",
        ):
            assert rule in style
    folder = files("viewer.writers") / "templates"
    ruled = [
        path.name
        for path in folder.iterdir()
        if path.name.endswith(".jinja") and "@media print" in path.read_text("utf-8")
    ]
    assert ruled == ["base.html.jinja"]


def test_that_a_panel_without_a_point_says_so() -> None:
    sheet = real(draw_plots(FIGURE, LIGHT))
    told = [[text.get_text() for text in axes.texts] for axes in sheet.axes]
    assert told == [[], ["None in this run."]]


def test_that_a_point_corrected_to_below_zero_is_drawn_whole() -> None:
    panel = PlotPanel("CT", (PlotSeries("m", (-0.1, 0.4), (0.0, -0.02)),))
    (axes,) = real(draw_plots(replace(FIGURE, panels=(panel,)), LIGHT)).axes
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((-0.105, 0.42))
    assert not axes.lines[0].get_clip_on()


def test_that_a_bar_without_a_part_says_so() -> None:
    stacks = (Stack("CT", "m", (1.0, 2.0), 3), Stack("MRI", "m", (0.0, 0.0), 0))
    head = FigureHead("shares", "", "Shares", "")
    figure = StackFigure(head, ("full", "partial"), stacks, "cases", share=True)
    (axes,) = real(draw_stacks(figure, LIGHT)).axes
    said = [text.get_text() for text in axes.texts]
    assert said.count("none in this run") == 1
