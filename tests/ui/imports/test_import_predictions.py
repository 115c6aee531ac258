"""Import predictions: nothing is guessed, and what is shown is what is imported."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import a_spec, finish, write_images
from viewer import app
from viewer.domain.prediction import Coordinates
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.importing.import_predictions import PlannedPredictions
from viewer.services.importing.match_predictions import Matched
from viewer.services.inspecting.runs import run_list
from viewer.services.running.plan_run import plan_run
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.dialogs.import_predictions import ImportPredictions

TABLE = """\
image_id,label,xmin,ymin,xmax,ymax,confidence,remark
patient00000_frontal,edema,20,30,60,70,0.5,x
patient00001_frontal,edema,20,30,60,70,0.5,x
nowhere,edema,20,30,60,70,0.5,x
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "my boxes.csv"
    file.write_text(TABLE)
    return file


@pytest.fixture
def page(qtbot: QtBot, settings: Settings, tmp_path: Path) -> ImportPredictions:
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    with open_store(settings.store) as opened:
        import_dataset(opened, "folder", write_images(tmp_path / "i", 3), "tiny")
        finish(opened, plan_run(opened, a_spec()))
    page = ImportPredictions(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.questions.count() == 3)
    return page


def _drop(page: ImportPredictions, file: Path) -> None:
    data, left = QMimeData(), Qt.MouseButton.LeftButton
    data.setUrls([QUrl.fromLocalFile(str(file))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, left, none)
    QApplication.sendEvent(page, enter)
    QApplication.sendEvent(page, QDropEvent(QPointF(5, 5), copy, data, left, none))


def _choose(page: ImportPredictions, meant: object) -> None:
    page.coordinates.setCurrentIndex(page.coordinates.findData(meant))
    page.coordinates.activated.emit(page.coordinates.currentIndex())


def test_that_columns_are_suggested_and_numbers_are_not_guessed(
    page: ImportPredictions, table: Path, qtbot: QtBot, settings: Settings
) -> None:
    assert not page.go.isEnabled()
    page.open_path(table)
    qtbot.waitUntil(lambda: "The units" in page.sentence.text())
    assert not page.go.isEnabled()
    assert page.name.text() == "my-boxes"
    assert page.columns.choice(0).currentText() == "image  (suggested)"
    assert page.columns.mapping()["remark"] == ""
    _choose(page, Coordinates.NATIVE)
    qtbot.waitUntil(page.go.isEnabled)
    assert page.sentence.text() == "2 predictions for 2 of 3 items; 1 item has none."
    assert page.unused.text().startswith("1 prediction not used: nowhere")
    drawn = [not label.pixmap().isNull() for label in page.pictures]
    assert drawn == [True, True, False]
    assert len(run_list(settings.store)) == 1, "nothing is kept before Import"
    with qtbot.waitSignal(page.planned) as planned:
        page.go.click()
    assert isinstance(planned.args[0], PlannedPredictions)
    assert {run.id for run in run_list(settings.store)} == {1, planned.args[0].run}
    assert not page.isVisible()


def test_that_a_change_takes_away_what_was_shown_before(
    page: ImportPredictions, table: Path, qtbot: QtBot
) -> None:
    page.open_path(table)
    qtbot.waitUntil(lambda: "The units" in page.sentence.text())
    _choose(page, Coordinates.NATIVE)
    qtbot.waitUntil(page.go.isEnabled)
    box = page.columns.choice(0)
    box.setCurrentIndex(0)
    box.activated.emit(0)
    qtbot.waitUntil(lambda: "is mapped to an image or patient" in page.sentence.text())
    assert not page.go.isEnabled()
    assert page.unused.text() == ""
    assert all(label.pixmap().isNull() for label in page.pictures)


def test_that_the_questions_of_a_run_can_be_answered(
    page: ImportPredictions, table: Path, qtbot: QtBot, settings: Settings
) -> None:
    page.open_path(table)
    _choose(page, Coordinates.NATIVE)
    page.questions.setCurrentIndex(2)
    assert page.questions.currentText() == "Those of run 1: says-d4"
    page.questions.activated.emit(2)
    qtbot.waitUntil(page.go.isEnabled)
    page.name.setText("")
    assert not page.go.isEnabled()
    page.name.setText("two words")
    page.go.click()
    qtbot.waitUntil(lambda: "A model's name" in page.sentence.text())
    assert len(run_list(settings.store)) == 1


def test_that_only_what_a_kind_of_file_needs_is_asked(
    page: ImportPredictions, tmp_path: Path, qtbot: QtBot
) -> None:
    file = tmp_path / "results.json"
    file.write_text(
        '[{"image_id": "patient00000_frontal.png", "bbox": [1, 2, 30, 40]}]'
    )
    assert not page.listing.isVisible()
    _drop(page, file)
    assert page.listing.isVisible()
    assert not page.columns.isVisible()
    qtbot.waitUntil(lambda: "It is not known which finding" in page.sentence.text())
    page.finding.setText("Edema")
    _choose(page, Coordinates.NATIVE)
    qtbot.waitUntil(page.go.isEnabled)


def test_that_the_command_shows_the_page_and_has_the_run_asked(
    qtbot: QtBot, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    said: list[object] = []
    asked: list[tuple[int, int]] = []
    window.context.notices.posted.connect(said.append)
    monkeypatch.setattr(
        window.context.worker, "resume", lambda run, n: asked.append((run, n))
    )
    window.context.actions.run("file.import_predictions")
    page = window.findChild(ImportPredictions)
    assert page is not None
    assert "No data set is registered" in page.sentence.text()
    assert not page.go.isEnabled()
    matched = Matched({}, 2, 3, 2, {}, {}, {})
    page.planned.emit(PlannedPredictions(7, matched))
    assert asked == [(7, 4)]
    assert "Run 7 in Measure scores 2 predictions for 2 of 3 items" in str(said[-1])
    page.reject()
    window.close()
