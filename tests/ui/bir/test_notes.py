"""What a reader draws: polygon, heart, arrow, text, point, freehand line."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog

from tests.ui.bir.conftest import LEFT, Open, at, click
from tests.ui.canvas.conftest import drag
from viewer.domain.mark import MarkKind
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView

_CORNERS = ((40, 40), (120, 40), (120, 100), (40, 100))


def _write(view: ImageView, words: str) -> None:
    (dialog,) = [d for d in view.findChildren(QInputDialog) if d.isVisible()]
    dialog.setTextValue(words)
    dialog.accept()


def test_that_a_polygon_is_closed_at_its_first_corner_or_by_enter(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.polygon"].trigger()
    for corner in (*_CORNERS, _CORNERS[0]):
        click(view, *corner)
    assert not view.marks.drawing
    assert "mean" in view.marks.texts[0]
    for corner in ((140, 20), (180, 20), (180, 30)):
        click(view, *corner)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert [len(mark.handles) for mark in view.marks.marks] == [4, 3]
    context.undo.undo()
    assert len(view.marks.marks) == 1


def test_that_the_edges_of_the_heart_can_be_moved(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    context.actions["tool.heart"].trigger()
    for edge in ((80, 90), (130, 90), (20, 110), (180, 110)):
        click(view, *edge)
    before = view.marks.texts[0]
    assert before.startswith("Cardiothoracic ratio 0.31")
    drag(view, at(view, 130, 90), at(view, 160, 90), LEFT)
    assert view.marks.texts[0].startswith("Cardiothoracic ratio 0.5")
    assert "mm at detector" in before


def test_that_arrow_and_text_are_written_beside(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.arrow"].trigger()
    drag(view, at(view, 60, 60), at(view, 90, 80), LEFT)
    _write(view, "nodule?")
    context.actions["tool.text"].trigger()
    click(view, 30, 120)
    _write(view, "compare with the prior")
    assert view.marks.texts == ("nodule?", "compare with the prior")
    click(view, 150, 120)
    _write(view, "")
    assert len(view.marks.marks) == 2  # a note without words is none


def test_that_a_point_says_its_value_and_a_line_is_drawn_by_hand(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.point"].trigger()
    click(view, 60, 50)
    assert view.marks.texts[0].endswith("HU")
    context.actions["tool.freehand"].trigger()
    drag(view, at(view, 100, 40), at(view, 150, 90), LEFT)
    line = view.marks.marks[-1]
    assert line.kind is MarkKind.FREEHAND
    assert len(line.points) >= 3
    assert not view.marks.drawing
