"""The words under a chart are whole, however little room there is."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.domain.styles import looks_of
from viewer.ui.panels.charts import chart
from viewer.ui.panels.charts.chart import ChartPanel
from viewer.ui.panels.charts.words import filled_sign
from viewer.ui.tables.chart_bars import BarChart

HEAD = FigureHead(
    "endings", "", "Answers by model, not graded yet", "Grade them. " * 12
)
SEGMENTS = ("answered", "truncated", "unparsed", "refused", "provider_error")


@pytest.mark.parametrize("width", [280, 520])
def test_that_the_key_under_answers_not_graded_is_as_high_as_its_lines(
    width: int, qtbot: QtBot
) -> None:
    panel = ChartPanel()
    qtbot.addWidget(panel)
    panel.show_chart(
        StackFigure(
            HEAD, SEGMENTS, (Stack("m", "m", (5, 1, 2, 1, 1)),), "answers", False
        )
    )
    panel.resize(width, 60)
    panel.show()
    qtbot.waitUntil(lambda: "token limit" in panel.caption, timeout=20_000)
    qtbot.waitUntil(lambda: panel.minimumSizeHint().height() > 120)
    panel.resize(width, panel.minimumSizeHint().height())
    words = [one for one in panel.findChildren(QLabel) if one.isVisible()]
    assert len(words) == 3

    def whole() -> bool:
        return all(one.height() >= one.heightForWidth(one.width()) for one in words[1:])

    qtbot.waitUntil(whole)


def test_that_a_sentence_stands_alone_at_the_top_in_place_of_a_chart(
    qtbot: QtBot,
) -> None:
    panel = ChartPanel()
    qtbot.addWidget(panel)
    figure = StackFigure(HEAD, SEGMENTS, (Stack("m", "m", (5,) * 5),), "answers", False)
    panel.resize(520, 400)
    panel.show()
    panel.show_chart(figure)
    qtbot.waitUntil(lambda: "token limit" in panel.caption, timeout=20_000)
    panel.show_words("It made questions.")
    (words,) = (one for one in panel.findChildren(QLabel) if one.isVisible())
    assert words.text() == panel.told == "It made questions."
    assert words.alignment() & Qt.AlignmentFlag.AlignTop
    assert panel.chart is None
    panel.show_chart(figure)
    qtbot.waitUntil(lambda: "token limit" in panel.caption, timeout=20_000)
    assert len([one for one in panel.findChildren(QLabel) if one.isVisible()]) == 3


def test_that_a_title_stands_where_it_stays_until_the_first_chart_is_drawn(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart, "run_for", lambda *_: None)
    panel = ChartPanel()
    qtbot.addWidget(panel)
    panel.resize(800, 400)
    panel.show()
    panel.show_chart(BarChart("Rates", (), ()))
    qtbot.waitUntil(panel._title.isVisible)
    assert panel._title.y() == 0
    assert panel._title.height() < 40
    panel._draw_first(None)
    assert not panel._room.isVisible()


def test_that_the_key_shows_how_bars_of_one_colour_are_filled() -> None:
    looks = looks_of([f"model {n}" for n in range(15)]).values()
    assert len({(look.colour, filled_sign(look)) for look in looks}) == 15
