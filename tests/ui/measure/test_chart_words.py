"""The words under a chart are whole, however little room there is."""

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.ui.panels.charts.chart import ChartPanel

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
