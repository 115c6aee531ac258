"""Errors in methods that Qt calls reach Python, and leave the process alive."""

import subprocess
import sys

import pytest

_TURNS_WHEEL = """
import sys
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from viewer.ui.canvas.still_view import StillView

class View(StillView):
    def wheelEvent(self, event):
        {fails}

app = QApplication()
sys.excepthook = lambda kind, error, _: print(kind.__name__, isinstance(error, kind))
view = View()
view.show()
at, down = QPointF(9, 9), QPoint(0, 120)
none, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
turn = QWheelEvent(at, at, down, down, none, keys, Qt.ScrollPhase.NoScrollPhase, False)
QCoreApplication.postEvent(view.viewport(), turn)
QTimer.singleShot(0, lambda: QTimer.singleShot(0, app.quit))
app.exec()
print("alive")
"""
"""A turn of the wheel as the event loop brings it."""


@pytest.mark.parametrize(
    ("fails", "kind"),
    [
        ("max(())", "ValueError"),
        ("next(iter(()))", "StopIteration"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise KeyError('a')", "KeyError"),
    ],
)
def test_that_an_error_in_an_override_reaches_python(fails: str, kind: str) -> None:
    """All but the last ended the process, with a segmentation fault."""
    done = subprocess.run(
        [sys.executable, "-c", _TURNS_WHEEL.format(fails=fails)],
        capture_output=True,
        text=True,
    )
    said = f"{kind} True\nalive\n"
    assert (done.returncode, done.stdout) == (0, said), done.stderr


def test_that_the_window_is_imported_without_reading_its_source() -> None:
    code = (
        "import linecache, viewer.__main__; viewer.__main__._need_qt()\n"
        "import viewer.ui.workspaces.read\n"
        "print(*(name for name in linecache.cache if '/viewer/' in name))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
