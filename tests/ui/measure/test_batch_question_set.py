"""Questions of one's own on the page Batch…"""

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.item_datasets import write_question_set
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import study_beside
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.dialogs.batch import BatchDialog

THEIRS = '[[model]]\nname = "theirs"\nadapter = "scripted"\nanswer = "A"\n'
MODEL = '[[model]]\nname = "mine"\nadapter = "scripted"\nanswer = "A"\n'


def opened(settings: Settings, folder: Path, qtbot: QtBot) -> BatchDialog:
    """Return the page with a question set and a model of one's own ticked."""
    settings.models_file.write_text(MODEL)
    with open_store(settings.store) as store:
        import_dataset(store, "question-set", folder, "set")
    dialog = BatchDialog(settings)
    qtbot.addWidget(dialog)
    dialog.reload()
    dialog.show()
    qtbot.waitUntil(lambda: dialog.dataset.name == "set", timeout=10_000)
    for row in range(dialog.models.count()):
        item = dialog.models.item(row)
        if item.text().startswith("mine"):
            item.setCheckState(Qt.CheckState.Checked)
    return dialog


def test_that_a_question_set_brings_its_study_and_counts_every_control(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = write_question_set(tmp_path / "set")
    toml = folder / "question_set.toml"
    toml.write_text(toml.read_text().replace("judged", "normalised"))
    dialog = opened(settings, folder, qtbot)
    assert dialog.study.currentText() == "Question set"
    assert dialog.preset.itemText(0) == "With every control"
    qtbot.waitUntil(lambda: dialog.start.text() == "Run 90 trials", timeout=10_000)


def test_that_words_to_be_judged_ask_for_a_judge_at_the_foot(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    dialog = opened(settings, write_question_set(tmp_path / "set"), qtbot)
    qtbot.waitUntil(lambda: "no judge" in dialog.sentence.text(), timeout=10_000)
    assert not dialog.start.isEnabled()


def test_that_the_study_file_in_a_data_sets_folder_fills_the_page(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = write_question_set(tmp_path / "set")
    study = f'study = "question_set"\ndataset = "set"\nmodels = ["theirs"]\n{THEIRS}'
    (folder / "study.toml").write_text(study)
    dialog = opened(settings, folder, qtbot)
    qtbot.waitUntil(lambda: "theirs" in dialog.form.models, timeout=10_000)
    assert [one.name for one in dialog.form.profiles] == ["theirs"]


def test_that_a_study_file_about_another_data_set_or_a_broken_one_is_left_alone(
    settings: Settings, tmp_path: Path
) -> None:
    folder = write_question_set(tmp_path / "set")
    with open_store(settings.store) as store:
        import_dataset(store, "question-set", folder, "set")
    assert study_beside("set", settings) is None
    assert study_beside("unknown", settings) is None
    study = f'study = "question_set"\ndataset = "other"\nmodels = ["theirs"]\n{THEIRS}'
    for text in (study, "study ="):
        (folder / "study.toml").write_text(text)
        assert study_beside("set", settings) is None
