"""From the selected run to a table of its answers, or to a bundle that holds."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.study_samples import item_run
from tests.helpers.tiny_study import a_spec, finish, planned
from viewer.services.inspecting.runs import run_list
from viewer.settings import Settings
from viewer.store import consents
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.notices import Notice
from viewer.ui.panels.measure.run_export import (
    ANSWERS,
    BUNDLE,
    SHORTCUTS,
    ExportForm,
    RunExport,
)
from viewer.ui.panels.measure.run_list import RunList
from viewer.writers.verify.main import verify_file

forms = pytest.mark.parametrize("form", [ANSWERS, BUNDLE], ids=["answers", "bundle"])

ALONE = {
    "tasks": ["fdx"],
    "arms": ["raw"],
    "controls": ["options_only"],
    "option_order": "given",
}


def _made(
    settings: Settings, qtbot: QtBot, form: ExportForm
) -> tuple[RunExport, RunList, list[str]]:
    context = AppContext(settings, WorkerBridge(settings.store))
    runs = RunList(context.run_states)
    qtbot.addWidget(runs, before_close_func=lambda _: context.worker.close())
    said: list[str] = []

    def note(notice: Notice) -> None:
        said.append(" ".join(filter(None, (notice.what, notice.how, notice.details))))

    context.notices.posted.connect(note)
    return RunExport(context, runs, form), runs, said


def _run(settings: Settings, images: Path, *, asked: bool = True) -> None:
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    with open_store(settings.store) as opened:
        run = planned(opened, images, a_spec(), 2)
        if asked:
            finish(opened, run)


def _choose(export: RunExport, runs: RunList, settings: Settings, out: Path) -> str:
    """Choose a file as a person does; return the name that was offered."""
    runs.show_runs(run_list(settings.store))
    runs.show()
    export.ask()
    dialog = runs.findChild(QFileDialog)
    assert dialog is not None
    offered = Path(dialog.selectedFiles()[0]).name
    dialog.fileSelected.emit(str(out))
    dialog.close()
    return offered


def test_that_the_selected_run_s_answers_are_written_where_a_person_says(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images")
    export, runs, said = _made(settings, qtbot, ANSWERS)
    out = tmp_path / "answers.csv"
    assert _choose(export, runs, settings, out) == "run-1-answers.csv"
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Saved answers.csv: 2 answers."]
    assert len(out.read_text().splitlines()) == 3


@pytest.mark.usefixtures("worker_process")
def test_that_the_worker_writes_the_selected_run_s_bundle_where_a_person_says(
    settings: Settings, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("viewer.services.exporting.export_bundle.export_stored_bundle")
    _run(settings, tmp_path / "images")
    export, runs, said = _made(settings, qtbot, BUNDLE)
    out = tmp_path / "run.zip"
    assert _choose(export, runs, settings, out) == "run-1.zip"
    qtbot.waitUntil(lambda: len(said) == 2, timeout=90_000)
    assert said[0] == "Saving run.zip …"
    assert said[1].startswith("Saved run.zip, without pixels")
    assert verify_file(out, said.append) == 0


def test_that_a_run_in_words_is_written_in_both_forms_unless_its_words_stay_here(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    with open_store(settings.store) as opened:
        run = item_run(opened, tmp_path / "data", "rubric_reading")
    answers, _, said = _made(settings, qtbot, ANSWERS)
    answers.export_to(run, tmp_path / "answers.csv")
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Saved answers.csv: 4 answers."]
    bundle, _, told = _made(settings, qtbot, BUNDLE)
    bundle.export_to(run, tmp_path / "run.zip")
    qtbot.waitUntil(lambda: len(told) == 2, timeout=90_000)
    assert verify_file(tmp_path / "run.zip", told.append) == 0
    with open_store(settings.store) as opened:
        consents.set_restricted(opened, "sample", restricted=True)
    told.clear()
    bundle.export_to(run, tmp_path / "again.zip")
    qtbot.waitUntil(lambda: len(told) == 2, timeout=90_000)
    assert "'sample' is restricted" in told[1]
    assert not (tmp_path / "again.zip").exists()


def test_that_pending_questions_are_counted(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images", asked=False)
    export, _, said = _made(settings, qtbot, ANSWERS)
    export.export_to(1, tmp_path / "answers.csv")
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].endswith("0 answers; 2 questions are pending and left out.")


@pytest.mark.statement("E004-23")
def test_that_shortcuts_are_told_and_reviewed_in_a_chosen_folder(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    with open_store(settings.store) as opened:
        run = item_run(
            *(opened, tmp_path / "data", "evidence_diagnosis", ALONE), b="D", c="D"
        )
    export, runs, said = _made(settings, qtbot, SHORTCUTS)
    out = tmp_path / "next"
    out.mkdir()
    _choose(export, runs, settings, out)
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].startswith("Most models solve ")
    assert said[0].endswith("verdict, then export again.")
    assert (out / "options.csv").is_file()
    export.export_to(run, out)
    qtbot.waitUntil(lambda: len(said) == 2)
    assert "has no verdict, although 2 of 3 models solve it" in said[1]
    assert "excluded. Import 'next' as MEDSYN." in said[1]


def test_that_a_run_without_options_alone_says_how_to_ask(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images")
    export, _, said = _made(settings, qtbot, SHORTCUTS)
    export.export_to(1, tmp_path)
    qtbot.waitUntil(lambda: bool(said))
    assert "whose cases have no options. Choose a run of evidence_diagnosis" in said[0]


@forms
def test_that_without_a_run_a_sentence_says_what_to_do(
    form: ExportForm, settings: Settings, qtbot: QtBot
) -> None:
    export, runs, said = _made(settings, qtbot, form)
    export.ask()
    assert said == ["Select a run first."]
    assert runs.findChild(QFileDialog) is None


@forms
def test_that_a_folder_that_cannot_be_written_is_told(
    form: ExportForm, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images")
    export, _, said = _made(settings, qtbot, form)
    (tmp_path / "file").write_bytes(b"")
    export.export_to(1, tmp_path / "file" / "run.out")
    qtbot.waitUntil(lambda: any("cannot be written" in s for s in said), timeout=90_000)
    assert (tmp_path / "file").read_bytes() == b""
