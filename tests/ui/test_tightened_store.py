"""A store that others could read is told of in the window that opens on it."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from viewer.__main__ import open_window
from viewer.store.database import open_store
from viewer.ui.window.main_window import MainWindow


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.usefixtures("qapp")
def test_that_the_window_says_that_others_could_read_the_store(
    tmp_path: Path,
) -> None:
    store = tmp_path / "s.sqlite"
    open_store(store).close()
    store.chmod(0o644)
    told: list[str] = []

    def look() -> None:
        windows = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
        told.extend(
            w.notice_bar.text.text() for w in windows if isinstance(w, MainWindow)
        )
        QApplication.closeAllWindows()

    QTimer.singleShot(0, look)
    open_window((), store, demo=False)
    assert told == [
        f"Other users of this machine could read '{store}'; now only you can."
    ]
    assert store.stat().st_mode & 0o777 == 0o600
