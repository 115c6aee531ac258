"""Prompts are reworded with a case beside them, and asked from the batch page."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QInputDialog, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.services.asking.prompt_preview import PromptPreviews
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import drafts_for, spec_of
from viewer.services.synthetic.make_question_set import make_question_set
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.prompt_editor import PromptEditor

USER = "gosai2025_user"
MINE = "Point at the {finding}."


@pytest.fixture
def page(settings: Settings, tmp_path: Path, qtbot: QtBot) -> BatchDialog:
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", 2), "tiny")
    made = BatchDialog(settings)
    qtbot.addWidget(made)
    made.reload()
    made.show()
    qtbot.waitUntil(lambda: made.models.count() > 0 and made.preset.count() > 0)
    return made


def test_that_buttons_wait_until_the_study_is_known(
    settings: Settings, qtbot: QtBot
) -> None:
    early = BatchDialog(settings)
    qtbot.addWidget(early)
    early.show()
    for button in (early.vary, early.prompts):
        assert not button.isEnabled()
    early.reload()
    for button in (early.vary, early.prompts):
        qtbot.waitUntil(button.isEnabled)


@pytest.fixture
def editor(page: BatchDialog, qtbot: QtBot) -> PromptEditor:
    assert page.prompts.text() == "Built-in…"
    page.prompts.click()
    made = page.findChild(PromptEditor)
    assert isinstance(made, PromptEditor)
    qtbot.waitUntil(lambda: bool(made.case.text()))
    return made


def choose(editor: PromptEditor, name: str) -> None:
    names = list(editor.drafts.prompts.known)
    editor.names.setCurrentRow(names.index(name))


def question(editor: PromptEditor) -> str:
    """Return the text of the question that is shown."""
    shown = editor.findChildren(QPlainTextEdit)
    return "".join(view.toPlainText() for view in shown if view.isReadOnly())


def test_that_a_reworded_prompt_is_previewed_and_asked(
    page: BatchDialog, editor: PromptEditor, settings: Settings, qtbot: QtBot
) -> None:
    choose(editor, USER)
    editor.text.setPlainText(MINE)
    qtbot.waitUntil(lambda: "Point at the Edema." in question(editor))
    assert editor.case.text().startswith("Question 1 of 2: ")
    editor.next.click()
    qtbot.waitUntil(lambda: editor.case.text().startswith("Question 2 of 2: "))
    editor.use.click()
    assert page.prompts.text() == "1 custom…"
    assert spec_of(page.form, settings).params["prompts"] == {USER: MINE}
    qtbot.waitUntil(
        lambda: f"Custom prompts are used for {USER}." in page.sentence.text()
    )


def test_that_a_text_that_cannot_be_asked_is_said_and_not_used(
    editor: PromptEditor,
) -> None:
    choose(editor, USER)
    editor.text.setPlainText("Where?")
    assert "lacks the placeholder {condition} or {finding}" in editor.problem.text()
    assert not editor.use.isEnabled()
    buttons = editor.findChildren(QPushButton)
    (*_, place) = [button for button in buttons if button.text() == "{finding}"]
    place.click()
    assert editor.text.toPlainText() == "{finding}Where?"
    assert editor.use.isEnabled()
    editor.restore.click()
    assert not editor.restore.isEnabled()
    assert not editor.drafts.own


def test_that_variants_are_added_and_removed(
    page: BatchDialog, editor: PromptEditor, settings: Settings, qtbot: QtBot
) -> None:
    editor.add_variant("base")
    assert "cannot be named 'base'" in editor.problem.text()
    editor.add.click()
    asked = editor.findChild(QInputDialog)
    assert isinstance(asked, QInputDialog)
    asked.setTextValue("short")
    asked.accept()
    assert editor.variant.name == "short"
    assert editor.problem.text() == "The variant 'short' changes no prompt yet."
    choose(editor, USER)
    editor.text.setPlainText(MINE)
    assert editor.names.currentItem().text() == f"● {USER}"
    qtbot.waitUntil(lambda: "Point at the Edema." in question(editor))
    editor.add_variant("other")
    editor.remove.click()
    editor.use.click()
    assert page.prompts.text() == "1 variant…"
    params = spec_of(page.form, settings).params
    assert params["prompt_variants"] == {"short": {USER: MINE}}
    qtbot.waitUntil(lambda: page.start.text() == "Run 4 trials")


def test_that_cancel_and_another_study_keep_none(
    page: BatchDialog, editor: PromptEditor
) -> None:
    choose(editor, USER)
    editor.text.setPlainText(MINE)
    editor.cancel.click()
    assert page.prompts.text() == "Built-in…"


def test_that_without_a_model_the_editor_says_why_there_is_no_question(
    page: BatchDialog, qtbot: QtBot
) -> None:
    for row in range(page.models.count()):
        page.models.item(row).setCheckState(
            page.models.item(row).checkState().Unchecked
        )
    page.prompts.click()
    editor = page.findChild(PromptEditor)
    assert isinstance(editor, PromptEditor)
    qtbot.waitUntil(lambda: "No model is chosen." in editor.note.text())
    assert editor.use.isEnabled()


def test_that_a_question_set_is_reworded_from_its_own_words(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    make_question_set(tmp_path / "set", 4, 0, SizePx(100, 80), lambda _done, _all: None)
    with open_store(settings.store) as store:
        import_dataset(store, "question-set", tmp_path / "set", "set")
    model = ModelProfile("m", "scripted", {"answer": "A"})
    spec = make_spec(
        study="question_set",
        dataset="set",
        preset="controls",
        seed=0,
        repeats=1,
        models=[model],
        overrides={},
    )
    drafts = drafts_for("question_set", {})
    assert drafts is not None
    editor = PromptEditor(drafts, lambda: PromptPreviews(settings.store, spec))
    qtbot.addWidget(editor)
    choose(editor, "choice")
    qtbot.waitUntil(lambda: "This is a frontal" in editor.text.toPlainText())
    assert "Source: the data set's own." in editor.about.text()
    assert not editor.restore.isEnabled()
    editor.text.setPlainText(f"{editor.text.toPlainText()} Say nothing else.")
    qtbot.waitUntil(lambda: "Say nothing else." in question(editor))
    assert "This is a frontal chest radiograph." in question(editor)
    editor.restore.click()
    assert not editor.drafts.own


def test_that_without_a_model_the_question_column_stays_at_the_top(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", 2), "tiny")
    spec = make_spec(
        study="grid_localization",
        dataset="tiny",
        preset="gosai2025",
        seed=0,
        repeats=1,
        models=[],
        overrides={},
    )
    drafts = drafts_for("grid_localization", {})
    assert drafts is not None
    editor = PromptEditor(drafts, lambda: PromptPreviews(settings.store, spec))
    qtbot.addWidget(editor)
    editor.show()
    qtbot.waitUntil(lambda: "No model is chosen." in editor.note.text())
    tops = [one.mapTo(editor, QPoint()).y() for one in (editor.previous, editor.note)]
    assert max(tops) < editor.height() // 4


def test_that_numbers_of_the_batch_page_stand_in_line(page: BatchDialog) -> None:
    fields = (page.seed, page.repeats, page.limit, page.ceiling)
    lines = [line for field in fields for line in field.findChildren(QLineEdit)]
    margins = {line.textMargins().left() for line in lines}
    assert len(lines) == len(fields)
    assert len(margins) == 1
