"""Icons outlive what Qt makes of them."""

import gc
import subprocess
import sys

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon
from pytestqt.qtbot import QtBot

from viewer.ui.widgets.icons import icon


def drawn(shown: QIcon) -> bool:
    image = shown.pixmap(QSize(16, 16)).toImage()
    return any(
        image.pixelColor(x, y).alpha() > 0
        for x in range(image.width())
        for y in range(image.height())
    )


def test_that_a_copy_that_qt_asks_for_is_drawn_after_python_forgot_it(
    qtbot: QtBot,  # noqa: ARG001 - an application
) -> None:
    kept = []
    for _ in range(600):
        copy = QIcon(icon("undo"))
        copy.setIsMask(True)  # parts it from the first, which Qt does by a clone
        kept.append(copy)
    gc.collect()
    assert all(drawn(copy) for copy in kept[::50])
    del kept
    gc.collect()
    assert drawn(icon("redo"))


def test_that_an_unknown_icon_is_named() -> None:
    with pytest.raises(KeyError, match="no such icon"):
        icon("no such icon")


IN_A_CYCLE = """
import gc
import subprocess
import sys
from PySide6.QtWidgets import QApplication
application = QApplication([])
from viewer.ui.widgets import icons
icons.icon("undo")  # older than the cycle, so that it is taken down first
label = icons.IconLabel("undo", 14)
label.itself = label
del label
icons.icon.cache_clear()
icons._IN_USE.clear()
gc.collect()
print("collected")
"""


def test_that_an_icon_and_its_engine_can_be_collected_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", IN_A_CYCLE],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("collected\n", "", 0)
