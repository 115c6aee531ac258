"""An unexpected failure: a report to copy, without a value in it."""

import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from viewer.domain.errors import WrongUseError
from viewer.services.starting.crash_report import crash_report
from viewer.settings import Settings
from viewer.ui.application.notices import Notice, Notices
from viewer.ui.window.crash import CrashDialog, CrashHandler


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def installed(window: QWidget, settings: Settings) -> Iterator[None]:
    made = CrashHandler(settings, Notices(), window)
    made.install()
    yield
    made.uninstall()


def _raise(text: str = "anything") -> None:
    raise ValueError(text)


def _failure(text: str) -> ValueError:
    try:
        _raise(text)
    except ValueError as error:
        return error
    raise AssertionError


def _raise_hook(error: BaseException) -> None:
    sys.excepthook(type(error), error, error.__traceback__)


@pytest.mark.usefixtures("installed")
def test_that_the_report_names_the_place_and_holds_no_value(
    window: QWidget, settings: Settings
) -> None:
    _raise_hook(_failure("Jane Doe"))
    dialog = window.findChild(CrashDialog)
    assert isinstance(dialog, CrashDialog)
    text = dialog.report.toPlainText()
    assert "Jane Doe" not in text
    assert "ValueError" in text
    assert "test_crash.py" in text
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == text
    kept = list((settings.home / "crashes").iterdir())
    assert [path.read_text(encoding="utf-8") for path in kept] == [text]


def _fail_over(file: Path) -> None:
    """Fail with a patient's name in the message, in the cause and in a note."""
    name = str(pydicom.dcmread(file).PatientName)
    failure = KeyError(name, file.name)
    failure.add_note(f"while reading {file} of {name}")
    try:
        (file.parent / "missing.dcm").read_bytes()
    except OSError as error:
        raise failure from error


@pytest.mark.usefixtures("installed")
def test_that_nothing_copied_or_kept_names_the_patient(
    window: QWidget, settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "DOE_JANE_19500101"
    folder.mkdir()
    pixels = np.zeros((4, 4), np.uint8)
    file = make_dicom(folder / "Doe Jane.dcm", pixels, PatientName="Doe^Jane")
    with pytest.raises(KeyError) as failure:
        _fail_over(file)
    _raise_hook(failure.value)
    dialog = window.findChild(CrashDialog)
    assert isinstance(dialog, CrashDialog)
    dialog.copy_button.click()
    (kept,) = (settings.home / "crashes").iterdir()
    said = [label.text() for label in dialog.findChildren(QLabel)]
    texts = [QGuiApplication.clipboard().text(), kept.read_text("utf-8"), *said]
    assert "KeyError" in texts[0]
    for text in texts:
        assert not re.search("doe|jane|19500101", text, re.IGNORECASE)


def test_that_the_report_names_no_folder_of_this_machine() -> None:
    report = crash_report(_failure("anything"))
    assert str(Path(__file__).parent) not in report
    assert 'File "test_crash.py"' in report


@pytest.mark.usefixtures("installed")
def test_that_the_same_failure_is_told_once(window: QWidget) -> None:
    for _ in range(3):
        _raise_hook(_failure("again"))
    assert len(window.findChildren(CrashDialog)) == 1


def test_that_an_error_for_people_becomes_a_notice(
    window: QWidget, settings: Settings
) -> None:
    notices, heard = Notices(), list[Notice]()
    notices.posted.connect(heard.append)
    CrashHandler(settings, notices, window).tell(WrongUseError("No.", "Do this."))
    assert heard == [Notice("No.", "Do this.")]
    assert window.findChild(CrashDialog) is None


@pytest.mark.usefixtures("installed")
def test_that_a_failure_in_a_thread_is_told_in_the_window(
    window: QWidget, qtbot: QtBot
) -> None:
    thread = threading.Thread(target=_raise)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: window.findChild(CrashDialog) is not None)
    dialog = window.findChild(CrashDialog)
    assert isinstance(dialog, CrashDialog)
    assert dialog.isVisible()
    assert "in _raise" in dialog.report.toPlainText()


def test_that_the_hooks_are_given_back(window: QWidget, settings: Settings) -> None:
    before = sys.excepthook, threading.excepthook
    made = CrashHandler(settings, Notices(), window)
    made.install()
    assert sys.excepthook is not before[0]
    made.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
