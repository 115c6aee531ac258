"""The last resort: an unexpected failure becomes a dialog with a report to copy."""

import sys
import threading
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.services.starting.crash_report import (
    crash_report,
    crash_sentence,
    keep_crash_report,
)
from viewer.settings import Settings
from viewer.ui.application.notices import Notices
from viewer.ui.widgets.plain_text import Label

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


class CrashDialog(QDialog):
    """A failure, the report of it, and a button that copies the report."""

    def __init__(self, sentence: str, report: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Overread failed")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 360)
        message = Label(sentence, self)
        message.setWordWrap(True)
        self.report = QPlainTextEdit(report, self)
        self.report.setReadOnly(True)
        fixed = QFontDatabase.SystemFont.FixedFont
        self.report.setFont(QFontDatabase.systemFont(fixed))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.copy_button = buttons.addButton(
            "Copy report", QDialogButtonBox.ButtonRole.ActionRole
        )
        self.copy_button.clicked.connect(self.copy)
        layout = QVBoxLayout(self)
        for widget in (message, self.report, buttons):
            layout.addWidget(widget)

    def copy(self) -> None:
        """Put the report on the clipboard."""
        QGuiApplication.clipboard().setText(self.report.toPlainText())


class CrashHandler(QObject):
    """Reports every exception that nothing else caught.

    An `OverreadError` becomes a notice; anything else a dialog, once for each place in
    the code. Failures of other threads are told in the GUI thread.
    """

    _failed = Signal(object)
    """BaseException"""

    def __init__(self, settings: Settings, notices: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings, self._notices, self._window = settings, notices, parent
        self._told: set[str] = set()
        self._before: tuple[Hook, Callable[[threading.ExceptHookArgs], object]] = (
            sys.excepthook,
            threading.excepthook,
        )
        self._failed.connect(self.tell)

    def install(self) -> None:
        """Install the hooks for uncaught exceptions."""
        sys.excepthook = self._caught
        threading.excepthook = self._caught_in_thread

    def uninstall(self) -> None:
        """Restore the previous hooks."""
        sys.excepthook, threading.excepthook = self._before

    def tell(self, error: BaseException) -> None:
        """Report one exception to the user."""
        if isinstance(error, OverreadError):
            self._notices.error(error)
            return
        report = crash_report(error)
        # A failure while painting comes back with every frame.
        if report in self._told:
            return
        self._told.add(report)
        path = keep_crash_report(report, self._settings.home)
        CrashDialog(crash_sentence(error, path), report, self._window).show()

    def _caught(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        self.tell(error)

    def _caught_in_thread(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            self._failed.emit(failure.exc_value)
