"""A cell, a point, a box, a mask and a heat map on one phantom, beside its reference.

Set OVERREAD_SCREENSHOTS to an existing folder to keep pictures.
"""

import os
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTreeWidgetItem, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.five_answers import KINDS, Asked, ask_five
from tests.helpers.window_story import PICTURES_VARIABLE, Story, open_window
from viewer.domain.answer import MaskAnswer, PointAnswer
from viewer.domain.geometry import SizePx
from viewer.settings import Settings
from viewer.ui.panels.asking.answers_panel import AnswersPanel

SIZE = SizePx(500, 400)
_THEMES = ("dark", "light") if os.environ.get(PICTURES_VARIABLE) else ("dark",)
_NAMES = {"box": "boxes", "heat map": "heat_map"}


@pytest.fixture
def asked(settings: Settings, tmp_path: Path) -> Asked:
    return ask_five(settings.store, tmp_path, SIZE)


@pytest.fixture(params=_THEMES)
def story(
    qtbot: QtBot, settings: Settings, asked: Asked, request: pytest.FixtureRequest
) -> Story:
    made = open_window(qtbot, settings, asked.image.ref.path)
    if request.param == "light":
        made.window.context.actions["view.theme"].trigger()
    return made


def test_that_five_kinds_of_answer_are_drawn_and_measured_as_the_scorer_did(
    story: Story, asked: Asked
) -> None:
    panel, view = story.read.side.answers, story.read.lightbox.view
    story.window.open_paths([asked.image.ref.path])
    for name in ("overlays.answers", "overlays.reference"):
        story.window.context.actions[name].trigger()
    story.wait(lambda: panel.tree.topLevelItemCount() == len(KINDS))
    story.read.ask.finding.setCurrentText(asked.finding)
    for row in range(len(KINDS)):
        item = _item(panel, row)
        item.setCheckState(0, Qt.CheckState.Checked)
    story.wait(lambda: len(view.answer_items) == len(KINDS))
    tags = [item.tag for item in view.answer_items]
    for i, tag in enumerate(tags):
        assert view.area.contains(tag)
        assert not any(tag.intersects(other) for other in tags[:i])
    for row in range(len(KINDS)):
        panel.tree.setCurrentItem(_item(panel, row))
        _check_as_scored(panel.details.toPlainText(), asked)
    panel.tree.setCurrentIndex(panel.tree.model().index(KINDS.index("boxes"), 0))
    story.picture("five_answers")
    _check_that_hovering_lights(story)
    _check_that_clicking_chooses(story)
    mask = next(a for a in view.answer_items if isinstance(a.answer.answer, MaskAnswer))
    assert mask.answer.measures is not None
    view.zoom_at(view.to_view(mask.answer.measures.point), 2.0)
    story.picture("five_answers_near")


def _check_that_hovering_lights(story: Story) -> None:
    """Hover an answer on the image, then one in the list: the same one stands out."""
    panel, view = story.read.side.answers, story.read.lightbox.view
    drawn = {type(item.answer.answer): item for item in view.answer_items}
    point, mask = drawn[PointAnswer], drawn[MaskAnswer]
    _move(view.viewport(), point.tag.center())
    assert _lit_trial(panel) == point.answer.trial
    assert [item for item in view.answer_items if item.opacity() == 1] == [point]
    story.picture("five_answers_hovered")
    row = _row_of(panel, mask.answer.trial)
    _move(panel.tree.viewport(), QPointF(panel.tree.visualItemRect(row).center()))
    assert _lit_trial(panel) == mask.answer.trial
    assert [item for item in view.answer_items if item.opacity() == 1] == [mask]
    QApplication.sendEvent(panel.tree.viewport(), QEvent(QEvent.Type.Leave))
    assert _lit_trial(panel) is None
    assert all(item.opacity() == 1 for item in view.answer_items)
    (chosen,) = [item for item in view.answer_items if item.chosen]
    assert chosen.answer is panel.current


def _check_that_clicking_chooses(story: Story) -> None:
    """Click an answer on the image: its row is chosen; a drag chooses nothing."""
    panel, view = story.read.side.answers, story.read.lightbox.view
    drawn = {type(item.answer.answer): item for item in view.answer_items}
    chosen = panel.current
    other = next(i for i in drawn.values() if i.answer is not chosen)
    at = other.tag.center().toPoint()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(view.viewport(), left, none, at)
    QTest.mouseRelease(view.viewport(), left, none, at + QPoint(30, 0))
    assert panel.current is chosen
    QTest.mouseClick(view.viewport(), left, none, at)
    assert panel.current is not None
    assert panel.current.trial == other.answer.trial


def _move(widget: QWidget, at: QPointF) -> None:
    none = Qt.MouseButton.NoButton
    there = QPointF(widget.mapToGlobal(at.toPoint()))
    keys = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(QEvent.Type.MouseMove, at, there, none, none, keys)
    QApplication.sendEvent(widget, event)


def _row_of(panel: AnswersPanel, trial: int) -> QTreeWidgetItem:
    rows = (_item(panel, i) for i in range(panel.tree.topLevelItemCount()))
    return next(r for r in rows if r.data(0, Qt.ItemDataRole.UserRole).trial == trial)


def _lit_trial(panel: AnswersPanel) -> int | None:
    """Return the trial whose row is marked as under the cursor."""
    rows = [_item(panel, i) for i in range(panel.tree.topLevelItemCount())]
    empty = Qt.BrushStyle.NoBrush
    lit = [row for row in rows if row.background(0).style() is not empty]
    assert len(lit) < 2
    trials = [row.data(0, Qt.ItemDataRole.UserRole).trial for row in lit]
    return trials[0] if trials else None


def _item(panel: AnswersPanel, row: int) -> QTreeWidgetItem:
    item = panel.tree.topLevelItem(row)
    assert item is not None
    return item


def _check_as_scored(details: str, asked: Asked) -> None:
    """Compare every number of the details with the batch's own table."""
    said = dict(line.partition(": ")[::2] for line in details.splitlines())
    kind = said["Answer"].partition(",")[0]
    (row,) = [
        r for r in asked.rows("geometry.csv") if _NAMES.get(kind, kind) == r["kind"]
    ]
    hits = {"Cell rule": "cell_hit", "Pointing rule": "pointing_hit"}
    hits |= {"IoU rule": "iou_hit"} if row["iou"] else {}
    for name, column in hits.items():
        assert said[name] == {"True": "hit", "False": "miss"}[row[column]]
    pixels, millimetres = re.findall(r"[\d.]+(?= px| mm)", said["Distance"])
    shown = {"distance_px": pixels, "distance_mm": millimetres}
    if row["iou"]:
        shown |= {"iou": said["IoU"], "dice": said["Dice"]}
    for column, value in shown.items():
        assert float(value) == pytest.approx(float(row[column]), abs=1e-9)
