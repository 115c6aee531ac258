"""The results as tables: words, order, filters, copies."""

import csv
import io
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStyle, QTableView
from pytestqt.qtbot import QtBot

from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.domain.report import Table
from viewer.services.exporting.export_table import table_as_tsv
from viewer.services.inspecting.runs import RunResults
from viewer.ui.panels.charts.chart import ChartPanel
from viewer.ui.panels.measure.results_panel import ResultsPanel
from viewer.ui.tables.chart_bars import bar_chart, words_of_chart
from viewer.ui.tables.columns import grid_words, shown
from viewer.ui.tables.number_table import AIR
from viewer.ui.tables.results_model import VALUE_ROLE, ResultsModel, RowKey
from viewer.ui.tables.results_view import ResultsFilter, ResultsView
from viewer.ui.widgets import theme

LONG = "Enlarged Cardiomediastinum"
HEADER = (
    "finding",
    "view",
    "condition",
    "model",
    "n_planned",
    "n_excluded",
    "n_pending",
    "hit_rate",
    "ci_low",
    "ci_high",
    "random_baseline",
)


def _row(
    finding: str, view: str, grid: str, model: str, rate: float | None, n: int = 10
) -> tuple[object, ...]:
    ends = (None, None) if rate is None else (rate / 2, (1 + rate) / 2)
    return (finding, view, f"grid={grid}", model, n + 3, 1, 2, rate, *ends, 0.125)


TABLE = Table(
    "results",
    HEADER,
    (
        _row("Edema", "frontal", "8", "first", 0.5),
        _row("Edema", "all", "16", "first", 0.125),
        _row("Edema", "all", "8", "first", 1 / 3),
        _row("Edema", "all", "8", "second", None),
        _row("Lung Lesion", "all", "8", "second", 0.25, n=100),
        _row("(macro)", "all", "8", "first", 0.4),
        _row("(micro)", "all", "8", "first", 0.41),
    ),
)


@pytest.fixture
def model(qapp: object) -> ResultsModel:
    del qapp
    made = ResultsModel()
    made.show_table(TABLE)
    return made


def _column(proxy: ResultsFilter, name: str) -> list[object]:
    at = HEADER.index(name)
    return [proxy.index(row, at).data(VALUE_ROLE) for row in range(proxy.rowCount())]


@pytest.mark.parametrize("order", list(Qt.SortOrder))
def test_that_rates_sort_by_value_with_the_missing_one_last(
    model: ResultsModel, order: Qt.SortOrder
) -> None:
    proxy = ResultsFilter(model)
    proxy.sort(HEADER.index("hit_rate"), order)
    *rates, last = _column(proxy, "hit_rate")
    assert last is None
    expected = sorted(
        (r[HEADER.index("hit_rate")] for r in TABLE.rows if r[7] is not None),
        reverse=order is Qt.SortOrder.DescendingOrder,
    )  # type: ignore[type-var]
    assert rates == expected


def test_that_a_grid_of_8_sorts_before_one_of_16(model: ResultsModel) -> None:
    proxy = ResultsFilter(model)
    proxy.sort(HEADER.index("condition"))
    assert [c == "grid=16" for c in _column(proxy, "condition")] == [False] * 6 + [True]


def test_that_filters_are_exact_and_every_value_passes_without_one(
    model: ResultsModel,
) -> None:
    proxy = ResultsFilter(model)
    proxy.show_only({"view": "all", "condition": "grid=8", "model": ""})
    assert proxy.rowCount() == 5
    assert set(_column(proxy, "condition")) == {"grid=8"}
    proxy.show_only({"view": ""})
    assert proxy.rowCount() == len(TABLE.rows)


def test_that_a_row_is_found_again_by_its_key(model: ResultsModel) -> None:
    proxy = ResultsFilter(model)
    proxy.sort(HEADER.index("hit_rate"))
    for row in range(proxy.rowCount()):
        key = model.key(proxy.mapToSource(proxy.index(row, 0)).row())
        assert proxy.row_of(key) == row
    assert proxy.row_of(RowKey("Edema", "lateral", "grid=8", "first")) is None


def test_that_copied_rows_read_back_at_full_precision(qtbot: QtBot) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    view.show_table(TABLE)
    text = table_as_tsv(view.table_of([2, 3]))
    header, *rows = csv.reader(io.StringIO(text), delimiter="\t")
    assert tuple(header) == HEADER
    assert float(rows[0][7]) == 1 / 3
    assert rows[1][7:10] == ["", "", ""]


def test_that_numbers_stand_right_and_names_left(model: ResultsModel) -> None:
    role = Qt.ItemDataRole.TextAlignmentRole
    sides = [model.index(0, c).data(role) for c in range(len(HEADER))]
    assert all(Qt.AlignmentFlag(s) & Qt.AlignmentFlag.AlignLeft for s in sides[:4])
    assert all(Qt.AlignmentFlag(s) & Qt.AlignmentFlag.AlignRight for s in sides[4:])


def test_that_values_are_shown_as_people_read_them() -> None:
    assert shown("hit_rate", 0.85714) == "85.7 %"
    assert shown("hit_rate", 23 / 80) == "28.8 %"  # a tie, as on the page
    assert shown("gain", -0.0214) == "−0.021"
    assert shown("gain", 0.0214) == "+0.021"
    assert shown("ci_low", None) == ""
    assert shown("finding", "(macro)") == "Mean of findings"
    assert grid_words("grid=8x10") == "8 × 10"
    assert grid_words("blur=3") == "blur=3"
    varied = "8 × 8, names along the margin, sent 2 times as large"
    assert grid_words("grid=8 labels=margin render_scale=2") == varied


def test_that_means_of_rates_show_no_counts(qapp: object) -> None:
    del qapp
    header = ("finding", "view", "condition", "model", "k", "hit_rate")
    about = ("all", "grid=8", "first")
    rows = (("(macro)", *about, 6, 0.354), ("(micro)", *about, 6, 0.273))
    made = ResultsModel()
    made.show_table(Table("results", header, rows))
    assert [made.index(row, 4).data() for row in (0, 1)] == ["mean of rates", "6"]


def test_that_the_chart_shows_all_views_of_the_first_grid_unless_asked() -> None:
    chart = bar_chart(TABLE, {})
    assert chart == bar_chart(TABLE, dict.fromkeys(HEADER[:4], ""))
    assert chart.title == "Hit rate by finding, 8 × 8, all views"
    assert chart.models == ("first", "second")
    assert [g.finding for g in chart.groups] == [
        "Edema",
        "Lung Lesion",
        "Mean of findings",
    ]
    first, second = chart.groups[0].bars
    assert (first.value, first.low, first.n) == (1 / 3, 1 / 6, 10)
    assert second.value is None


def test_that_the_chart_follows_the_filters_and_models_keep_their_colours() -> None:
    chart = bar_chart(TABLE, {"model": "second", "finding": "Lung Lesion"})
    (group,) = chart.groups
    assert [bar.model for bar in group.bars] == ["second"]
    assert chart.models.index("second") == 1
    assert bar_chart(TABLE, {"condition": "grid=16"}).groups[0].bars[0].value == 0.125
    assert bar_chart(Table("results", HEADER, ()), {}).groups == ()


def test_that_sorting_is_stable_under_a_change_of_filter(model: ResultsModel) -> None:
    proxy = ResultsFilter(model)
    proxy.sort(HEADER.index("n_planned"), Qt.SortOrder.DescendingOrder)
    proxy.show_only({"view": "all"})
    planned = _column(proxy, "n_planned")
    assert all(a >= b for a, b in pairwise(planned))  # type: ignore[operator]


def test_that_every_name_is_shown_whole_and_as_a_tip(qtbot: QtBot) -> None:
    table = ResultsView()
    qtbot.addWidget(table)
    table.show_table(
        Table("results", HEADER, (*TABLE.rows, _row(LONG, "all", "8", "first", 0.5)))
    )
    table.resize(900, 300)
    table.show()
    row = table.shown.row_of(RowKey(LONG, "all", "grid=8", "first"))
    assert row is not None
    cell = table.shown.index(row, 0)
    table.setCurrentIndex(cell)
    table.setFocus()
    words = table.fontMetrics().horizontalAdvance(LONG)
    style = table.style()
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, table) + 1
    assert table.columnWidth(0) >= words + 2 * margin
    assert table.shown.data(cell, Qt.ItemDataRole.ToolTipRole) == LONG
    table.show_only({"finding": "Edema"})
    table.show_only({})
    assert table.columnWidth(0) >= words + 2 * margin


def test_that_a_width_set_by_hand_stays_until_there_are_other_results_or_another_font(
    qtbot: QtBot, qapp: QApplication
) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    theme.apply_to(view)
    view.show_table(TABLE)
    view.show()
    fitting = view.columnWidth(0)
    view.setColumnWidth(0, fitting + 50)
    view.hide()
    view.show()
    assert view.columnWidth(0) == fitting + 50
    view.hide()
    theme.apply(qapp, theme.other())
    theme.apply_to(view)
    view.show()
    assert view.columnWidth(0) == fitting + 50
    view.hide()
    view.show_table(Table("results", HEADER, (_row(LONG, "all", "8", "first", 0.5),)))
    view.show()
    longer = view.columnWidth(0)
    assert longer > fitting
    larger = view.font()
    larger.setPointSize(2 * larger.pointSize())
    view.hide()
    view.setFont(larger)
    view.show()
    assert view.columnWidth(0) > longer


def test_that_columns_are_as_wide_as_qt_would_have_them(qtbot: QtBot) -> None:
    view = ResultsView()
    qtbot.addWidget(view)
    view.show_table(TABLE)
    view.show()
    for column in range(view.model().columnCount()):
        whole = QTableView.sizeHintForColumn(view, column) + AIR
        assert view.sizeHintForColumn(column) == whole
    view.show_table(Table("results", TABLE.header, ()))
    assert view.sizeHintForColumn(0) == AIR


def test_that_columns_are_measured_in_sight_alone(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results come while a batch runs, whatever else is looked at."""
    table, measured = ResultsView(), list[int]()
    qtbot.addWidget(table)
    resize = table.resizeColumnsToContents

    def counted() -> None:
        measured.append(table.shown.rowCount())
        resize()

    monkeypatch.setattr(table, "resizeColumnsToContents", counted)
    table.show_table(TABLE)
    table.show_only({"view": "all"})
    assert measured == []
    table.show()
    assert measured == [6]
    table.show_only({})
    assert measured == [6, 7]


def test_that_results_that_stand_there_already_are_not_filled_in_again(
    qtbot: QtBot,
) -> None:
    """A list of runs is read again whenever something is asked or ends."""
    panel, results = ResultsPanel(), RunResults(TABLE)
    qtbot.addWidget(panel)
    panel.show_results(results)
    resets, rows = list[object](), list[RowKey | None]()
    panel.table.results.modelReset.connect(lambda: resets.append(None))
    panel.row_chosen.connect(rows.append)
    changes = list[object]()
    panel.table.results.dataChanged.connect(lambda *_: changes.append(None))
    panel.show_results(results)
    assert (resets, changes, rows) == ([], [], [panel.table.key])
    panel.show_results(RunResults(TABLE))  # the same rows, maybe of other numbers
    assert (len(resets), len(changes)) == (0, 1)
    panel.show_results(RunResults(replace(TABLE, rows=TABLE.rows[:1])))
    assert len(resets) == 1


def test_that_the_row_looked_at_stays_when_results_come_anew(qtbot: QtBot) -> None:
    panel = ResultsPanel()
    qtbot.addWidget(panel)
    panel.show_results(RunResults(TABLE))
    panel.table.choose(RowKey("Lung Lesion", "all", "grid=8", "second"))
    panel.show_results(RunResults(TABLE))
    assert panel.table.key == RowKey("Lung Lesion", "all", "grid=8", "second")


def test_that_a_chart_is_drawn_again_for_other_bars_or_another_theme(
    qtbot: QtBot, qapp: QApplication
) -> None:
    panel, chart = ChartPanel(), bar_chart(TABLE, {})
    qtbot.addWidget(panel)
    panel.show_chart(chart)
    qtbot.waitUntil(lambda: panel._plot is not None, timeout=20_000)

    def drawn() -> list[object]:
        return list(panel._plot.getPlotItem().items)

    before = drawn()
    panel.show_chart(bar_chart(TABLE, {}))
    assert drawn() == before
    panel.show_chart(bar_chart(TABLE, {"finding": "Edema"}))
    assert drawn() != before
    before = drawn()
    theme.apply(qapp, theme.LIGHT)
    panel.show_chart(bar_chart(TABLE, {"finding": "Edema"}))
    assert drawn() != before


def test_that_a_chart_is_told_in_words(qtbot: QtBot) -> None:
    panel = ChartPanel()
    qtbot.addWidget(panel)
    chart = bar_chart(TABLE, {"finding": "Edema", "view": "all"})
    panel.show_chart(chart)
    words = panel.accessibleDescription()
    assert panel.accessibleName() == chart.title
    assert "Edema: first 33 % (17 to 67 %) of 10" in words
    assert "second no rate" in words
    assert words.endswith("chance 12 %")
    panel.show_words("There is no rate yet.")
    assert panel.accessibleDescription() == "There is no rate yet."


def test_that_stacked_counts_are_told_in_words() -> None:
    stacks = (Stack("Edema", "first", (3, 1)), Stack("Nodule", "first", (0, 4)))
    head = FigureHead("counts", "", "Outcomes", "")
    figure = StackFigure(head, ("full", "miss"), stacks, "answers", share=False)
    assert words_of_chart(figure) == (
        "Edema: 3 full hit, 1 miss; Nodule: 0 full hit, 4 miss"
    )
