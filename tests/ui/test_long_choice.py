"""A choice among long names is short on the page and whole where it is looked at."""

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from viewer.ui.widgets.long_choice import LongChoice

LONG = "a-rather-long-model-name-qwen2.5-vl-72b-instruct-awq-local"


def test_that_a_long_name_does_not_widen_the_page(qtbot: QtBot) -> None:
    short, long = LongChoice(), LongChoice()
    for choice, name in ((short, "m"), (long, LONG)):
        qtbot.addWidget(choice)
        choice.addItem(name)
    assert long.sizeHint() == short.sizeHint()


def test_that_its_list_and_its_tip_show_the_whole_name(qtbot: QtBot) -> None:
    choice = LongChoice("The model")
    qtbot.addWidget(choice)
    choice.addItem(LONG)
    choice.show()
    choice.showPopup()
    assert choice.view().width() >= choice.fontMetrics().horizontalAdvance(LONG)
    choice.hidePopup()
    QApplication.sendEvent(choice, QHelpEvent(QEvent.Type.ToolTip, QPoint(), QPoint()))
    assert choice.toolTip() == f"{LONG}\nThe model"
