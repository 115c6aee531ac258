"""What the program takes of a reader's time for each miss reviewed; printed only."""

import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the review needs PySide6")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import a_spec, finish
from viewer import app
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.plan_run import plan_run
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.services.viewing.decoding import ProcessDecoder
from viewer.settings import read_settings
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.workspaces.review import ReviewWorkspace

_PATIENTS, _WANTED = 16, 200
_SIZE = SizePx(2500, 2048)
_CELLS = ("A1", "A8", "H1", "H8", "D1", "E8", "A4", "H5", "B8", "G1")
_PATIENCE_MS = 120_000
_READING_MS = 400
"""A reader looks at a case for longer; meanwhile the next ones are decoded."""


def _missed(store: Path, folder: Path) -> None:
    make_phantom(folder, _PATIENTS, 0, _SIZE, lambda _done, _all: None, compress=False)
    models = [ModelProfile(f"m{c}", "scripted", {"answer": c}) for c in _CELLS]
    with open_store(store) as opened:
        import_dataset(opened, "chexlocalize", folder, "phantom")
        spec = a_spec(models, dataset="phantom")
        run = plan_run(opened, spec)
        finish(opened, run)


def test_how_long_a_reader_waits_for_the_program(qtbot: QtBot, tmp_path: Path) -> None:
    settings = read_settings()
    _missed(settings.store, tmp_path / "phantom")
    decoder = ProcessDecoder()
    window = app.build_window(settings, decoder)
    qtbot.addWidget(window)
    app.furnish(window)
    window.resize(1600, 1000)
    window.show()
    window.enter(Place.REVIEW)
    review = window.findChild(ReviewWorkspace)
    assert isinstance(review, ReviewWorkspace)
    page = review.page
    qtbot.waitUntil(review.start.review.isEnabled, timeout=_PATIENCE_MS)
    review.start.reader.setText("Reader A")
    review.start.review.click()
    times: dict[str, list[float]] = {"choose": [], "lock and reveal": [], "next": []}

    def press(what: str, key: Qt.Key) -> None:
        begun = time.perf_counter()
        QTest.keyClick(page.image, key)
        qtbot.waitUntil(lambda: page.ready, timeout=_PATIENCE_MS)
        page.image.viewport().repaint()
        page.side.repaint()
        QApplication.processEvents()
        times[what].append(1000 * (time.perf_counter() - begun))

    qtbot.waitUntil(lambda: page.ready, timeout=_PATIENCE_MS)
    cases = min(_WANTED, len(page._tasks) - 1)
    for number in range(cases):
        qtbot.wait(_READING_MS)
        press("choose", Qt.Key.Key_2 if number % 3 else Qt.Key.Key_3)
        press("lock and reveal", Qt.Key.Key_Return)
        press("next", Qt.Key.Key_Return)
    page.close_session()
    decoder.close()
    whole = [sum(each) for each in zip(*times.values(), strict=True)]
    times["the whole case"] = whole
    for what, spent in times.items():
        spent.sort()
        print(
            f"{what}: median {statistics.median(spent):.0f} ms,"
            f" p95 {spent[int(0.95 * len(spent))]:.0f} ms over {len(spent)} misses"
            f" of {_SIZE.rows} × {_SIZE.columns}"
        )
    assert len(whole) == cases
