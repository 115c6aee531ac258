"""A cell, a point, a box, a mask and a heat map on one phantom, beside its reference.

Set OVERREAD_SCREENSHOTS to an existing folder to keep pictures.
"""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.five_answers import KINDS, Asked, ask_five
from tests.helpers.window_story import Story, open_window
from viewer.domain.answer import MaskAnswer
from viewer.domain.geometry import SizePx
from viewer.settings import Settings

SIZE = SizePx(500, 400)
_NAMES = {"box": "boxes", "heat map": "heat_map"}


@pytest.fixture
def asked(settings: Settings, tmp_path: Path) -> Asked:
    return ask_five(settings.store, tmp_path, SIZE)


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, asked: Asked) -> Story:
    return open_window(qtbot, settings, asked.image.ref.path)


def test_that_five_kinds_of_answer_are_drawn_and_measured_as_the_scorer_did(
    story: Story, asked: Asked
) -> None:
    panel, view = story.read.side.answers, story.read.pair.view
    story.window.open_paths([asked.image.ref.path])
    story.wait(lambda: panel.tree.topLevelItemCount() == len(KINDS))
    story.read.ask.finding.setCurrentText(asked.finding)
    for row in range(len(KINDS)):
        item = panel.tree.topLevelItem(row)
        assert item is not None
        item.setCheckState(0, Qt.CheckState.Checked)
    story.wait(lambda: len(view.answer_items) == len(KINDS))
    tags = [item.tag for item in view.answer_items]
    for i, tag in enumerate(tags):
        assert view.area.contains(tag)
        assert not any(tag.intersects(other) for other in tags[:i])
    for row in range(len(KINDS)):
        item = panel.tree.topLevelItem(row)
        assert item is not None
        panel.tree.setCurrentItem(item)
        _check_as_scored(panel.details.toPlainText(), asked)
    panel.tree.setCurrentIndex(panel.tree.model().index(KINDS.index("boxes"), 0))
    story.picture("five_answers")
    mask = next(a for a in view.answer_items if isinstance(a.answer.answer, MaskAnswer))
    assert mask.answer.measures is not None
    view.zoom_at(view.to_view(mask.answer.measures.point), 2.0)
    story.picture("five_answers_near")


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
