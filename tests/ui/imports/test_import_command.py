import pytest
from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from viewer import app
from viewer.settings import Settings
from viewer.ui.dialogs.draw_questions import DrawQuestions
from viewer.ui.dialogs.import_dataset import ImportDataset


def _registered(page: QDialog) -> SignalInstance:
    """Return what a page tells the name of a new data set by."""
    assert isinstance(page, ImportDataset | DrawQuestions)
    return page.imported if isinstance(page, ImportDataset) else page.drawn


@pytest.mark.parametrize(
    ("command", "kind"),
    [("file.import_dataset", ImportDataset), ("file.draw_questions", DrawQuestions)],
)
def test_that_a_command_shows_one_page_and_says_what_was_registered(
    command: str, kind: type[QDialog], qtbot: QtBot, settings: Settings
) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    said: list[object] = []
    window.context.notices.posted.connect(said.append)
    for _ in range(2):
        window.context.actions.run(command)
    pages = window.findChildren(kind)
    assert len(pages) == 1
    assert pages[0].isVisible()
    _registered(pages[0]).emit("mine")
    assert "'mine' is registered" in str(said[-1])
    pages[0].reject()
    window.close()
