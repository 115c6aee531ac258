"""Window tests draw on no screen, and start with the dark theme."""

import os
from collections.abc import Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs PySide6")

from PySide6.QtCore import QThreadPool
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.patient_bot import PatientBot
from viewer.settings import Settings, read_settings
from viewer.ui.widgets import theme


@pytest.fixture(autouse=True)
def _dark(qapp: QApplication) -> Iterator[None]:
    theme.apply(qapp, theme.DARK)
    yield
    for pool in (QThreadPool.globalInstance(), *qapp.findChildren(QThreadPool)):
        pool.waitForDone()


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:  # noqa: ARG001
    """Return a hand on the windows that gives up only on what hangs."""
    return PatientBot(request)


@pytest.fixture
def settings() -> Settings:
    """Settings whose home is this test's own empty folder."""
    return read_settings()
