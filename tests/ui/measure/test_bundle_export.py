"""From the selected run to a bundle that holds."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.measure_store import finished_run
from viewer.services.measure import run_list
from viewer.settings import Settings
from viewer.ui.desk import Desk, WorkerBridge
from viewer.ui.notices import Notice
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.panels.run_export import BUNDLE, RunExport
from viewer.writers.verify.main import verify_file


def _made(settings: Settings, qtbot: QtBot) -> tuple[RunExport, RunList, list[str]]:
    desk, runs = Desk(settings, WorkerBridge(settings.store)), RunList()
    qtbot.addWidget(runs)
    said: list[str] = []

    def note(notice: Notice) -> None:
        said.append(notice.what)

    desk.notices.posted.connect(note)
    return RunExport(desk, runs, BUNDLE), runs, said


def test_that_the_selected_run_is_written_where_a_person_says(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    finished_run(settings.store, tmp_path / "images")
    export, runs, said = _made(settings, qtbot)
    runs.show_runs(run_list(settings.store))
    runs.show()
    export.ask()
    dialog = runs.findChild(QFileDialog)
    assert dialog is not None
    assert Path(dialog.selectedFiles()[0]).name == "run-1.zip"
    out = tmp_path / "run.zip"
    dialog.fileSelected.emit(str(out))
    qtbot.waitUntil(lambda: len(said) == 2, timeout=20_000)
    assert said[0] == "run.zip is being written."
    assert said[1].startswith("run.zip is written, without pixels")
    assert verify_file(out, said.append) == 0
    dialog.close()


def test_that_without_a_run_a_sentence_says_what_to_do(
    settings: Settings, qtbot: QtBot
) -> None:
    export, runs, said = _made(settings, qtbot)
    export.ask()
    assert said == ["Select a run first."]
    assert runs.findChild(QFileDialog) is None


def test_that_a_folder_that_cannot_be_written_is_told(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    run = finished_run(settings.store, tmp_path / "images")
    export, _, said = _made(settings, qtbot)
    (tmp_path / "file").write_bytes(b"")
    export.export_to(run, tmp_path / "file" / "run.zip")
    qtbot.waitUntil(lambda: len(said) == 2, timeout=20_000)
    assert "run.zip cannot be written" in said[1]
