"""Import replies: what is counted is what is imported, and nothing before Import."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.bundled_run import bundled_run
from tests.helpers.study_samples import item_run
from viewer import app
from viewer.domain.exchange import PAPER_MODELS
from viewer.services.importing.import_replies import PlannedReplies
from viewer.services.inspecting.runs import run_list
from viewer.services.reporting.records import records
from viewer.settings import Settings
from viewer.store import cases, runs
from viewer.store.database import open_store
from viewer.ui.dialogs.import_replies import ImportReplies


@pytest.fixture
def keys(settings: Settings, tmp_path: Path) -> list[str]:
    with open_store(settings.store) as store:
        run = item_run(store, tmp_path / "sample", "pathology_mcq")
        return [item.key for item in cases.dataset_of_run(store, run).items]


@pytest.fixture
def page(qtbot: QtBot, settings: Settings, keys: list[str]) -> ImportReplies:
    del keys
    page = ImportReplies(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.questions.count() == 1)
    return page


def _file(folder: Path, keys: list[str]) -> Path:
    rows = [{"item": key, "condition": "plain", "reply": "(A)"} for key in keys]
    rows += [{"item": f"no {n}", "condition": "plain", "reply": "A"} for n in range(9)]
    path = folder / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_that_a_file_is_counted_and_then_planned_under_a_models_name(
    page: ImportReplies,
    settings: Settings,
    keys: list[str],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    assert page.questions.currentText().startswith("Those of run 1: Pathology")
    page.open_paths((_file(tmp_path, keys),))
    qtbot.waitUntil(lambda: "--name" in page.sentence.text())
    assert not page.go.isEnabled()
    page.name.setText("mine")
    page.name.editingFinished.emit()
    qtbot.waitUntil(page.go.isEnabled)
    assert page.sentence.text().startswith(f"{len(keys)} replies for {len(keys)} of ")
    assert "no 0 is not an item of this run." in page.unused.text()
    assert page.unused.text().endswith("… and 3 more")
    assert len(run_list(settings.store)) == 1, "nothing is kept yet"
    with qtbot.waitSignal(page.planned) as caught:
        page.go.click()
    planned = caught.args[0]
    assert isinstance(planned, PlannedReplies)
    assert [run.models for run in run_list(settings.store)] == [("mine",), ("studied",)]


def test_that_a_file_that_is_none_is_refused_at_the_foot(
    page: ImportReplies, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    page.open_paths((path,))
    qtbot.waitUntil(lambda: "is not a file of replies" in page.sentence.text())
    assert not page.go.isEnabled()


def test_that_the_questions_of_a_study_file_can_be_answered(
    page: ImportReplies, keys: list[str], tmp_path: Path, qtbot: QtBot
) -> None:
    study = tmp_path / "study.toml"
    study.write_text('study = "pathology_mcq"\ndataset = "sample"\n')
    page.name.setText("mine")
    page.open_paths((_file(tmp_path, keys),))
    page.choose_study(study)
    qtbot.waitUntil(page.go.isEnabled)
    assert page.questions.currentText() == "Those of study.toml"


def test_that_a_model_counts_as_one_of_a_paper_only_where_its_study_compares_them(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        item_run(store, tmp_path / "sample", "pathology_mcq")
        bundled_run(store, tmp_path / "grid", n=2)
    page = ImportReplies(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.questions.count() == 2)
    assert page.questions.currentText().startswith("Those of run 2: Grid")
    qtbot.waitUntil(lambda: page.counting[""].isVisible() is True)
    choice = page.counting[""]
    offered = [choice.itemText(i) for i in range(choice.count())]
    assert offered == ["by the name at its server", *PAPER_MODELS]
    page.questions.setCurrentIndex(1)
    page.questions.activated.emit(1)
    assert page.counting[""].isHidden()
    assert page.counting[""].currentData() == ""
    study = tmp_path / "study.toml"
    study.write_text('study = "grid_localization"\ndataset = "tiny"\n')
    page.choose_study(study)
    qtbot.waitUntil(lambda: page.counting[""].isVisible() is True)


def test_that_each_of_several_models_is_asked_what_it_counts_as(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        run = bundled_run(store, tmp_path / "grid", n=2)
        items = dict.fromkeys(records(store, run)["item"])
    files = []
    for name in ("new", "old"):
        rows = [
            json.dumps({"item": item, "reply": "D4", "condition": "grid=8"})
            for item in items
        ]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("\n".join(rows))
    page = ImportReplies(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.questions.count() == 1)
    page.name.setText("new, old")
    page.open_paths(tuple(files))
    qtbot.waitUntil(lambda: tuple(page.counting) == ("new", "old"))
    for name, counts_as in (("new", "GPT-5"), ("old", "GPT-4")):
        choice = page.counting[name]
        assert choice.accessibleName().startswith(f"{name} counts as")
        choice.setCurrentIndex(choice.findText(counts_as))
        choice.activated.emit(choice.currentIndex())
    qtbot.waitUntil(page.go.isEnabled)
    with qtbot.waitSignal(page.planned) as caught:
        page.go.click()
    with open_store(settings.store) as store:
        models = runs.run_spec(store, caught.args[0].run).models
    told = {model.name: model.settings["paper_model"] for model in models}
    assert told == {"new": "GPT-5", "old": "GPT-4"}


def test_that_a_broken_study_file_is_refused_at_the_foot(
    page: ImportReplies, tmp_path: Path, qtbot: QtBot
) -> None:
    study = tmp_path / "study.toml"
    study.write_text("study = ")
    page.choose_study(study)
    qtbot.waitUntil(lambda: "is not valid TOML" in page.sentence.text())
    assert page.questions.count() == 1


def test_that_the_menu_opens_the_page(settings: Settings, qtbot: QtBot) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    window.show()
    window.context.actions.run("file.import_replies")
    page = window.findChild(ImportReplies)
    assert page is not None
    qtbot.waitUntil(lambda: "choose a study file" in page.sentence.text())
    page.close()
    window.close()
