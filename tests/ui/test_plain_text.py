"""What comes from outside is text in the window: no tag of it is read."""

import pyqtgraph
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from viewer.ui.panels.charts.words import tick_axis
from viewer.ui.widgets.plain_text import Label, ShortLabel, as_html, as_tip, in_role

HOSTILE = '<img src="x">\x1b[31m\u202egnp'
SEEN = r'<img src="x">\x1b[31m\u202egnp'


def test_that_a_label_shows_a_tag_as_text(qtbot: QtBot) -> None:
    label = Label(HOSTILE)
    qtbot.addWidget(label)
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert label.text() == SEEN
    label.setText("caf\udce9")
    assert label.text() == r"caf\xe9"


def test_that_a_short_label_gives_way_and_says_all_in_its_tip(qtbot: QtBot) -> None:
    label = ShortLabel()
    qtbot.addWidget(label)
    label.setText("Batch of 1,000 submitted; answers due by 14:05 tomorrow" + HOSTILE)
    assert label.minimumSizeHint().width() < label.sizeHint().width() / 2
    assert "answers due by" in label.toolTip()
    assert "<img" not in label.toolTip()
    label.resize(label.sizeHint())
    whole = label.grab().toImage()
    label.resize(label.sizeHint().width() // 2, label.height())
    short = label.grab().toImage()
    assert short != whole.copy(short.rect()), "it ends in an ellipsis"


@pytest.mark.parametrize("text", [HOSTILE, "x &lt;b>", "a\n<b>b"])
def test_that_a_tip_with_a_tag_is_escaped(text: str) -> None:
    assert "<img" not in as_tip(text)
    assert "<b>" not in as_tip(text)
    assert "\x1b" not in as_tip(text)


def test_that_other_tips_stay_as_they_are() -> None:
    assert as_tip("Mean & SD\nof 5") == "Mean & SD\nof 5"


def test_that_a_part_of_rich_text_is_escaped() -> None:
    assert as_html("<b>\x07") == r"&lt;b&gt;\x07"


def test_that_an_item_is_displayed_as_text_and_tipped_escaped() -> None:
    roles = Qt.ItemDataRole
    assert in_role(HOSTILE, roles.DisplayRole) == SEEN
    assert in_role(HOSTILE, roles.ToolTipRole) == as_tip(HOSTILE)


def test_that_the_axis_of_a_chart_shows_what_a_name_hides(qtbot: QtBot) -> None:
    plot = pyqtgraph.PlotWidget()
    qtbot.addWidget(plot)
    tick_axis(plot, [f"{HOSTILE}\nn = 4"])
    assert plot.getAxis("bottom")._tickLevels == [[(0, f"{SEEN}\nn = 4")]]
