"""Window tests draw on no screen, and start with the dark theme."""

import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs PySide6")

from PySide6.QtCore import QEvent, QEventLoop, QThreadPool, QTimer, SignalInstance
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from tests.helpers.window_parts import WorkerInThread
from viewer.services.worker import background
from viewer.ui.canvas import layers
from viewer.ui.widgets import theme

LIMIT_MS: Final = 300_000
"""A condition that is not met after this never will be."""
LOOKS_MS: Final = (5, 10, 10, 20, 30, 50)
"""Pauses between the looks at a condition; the last is repeated."""


class PatientBot(QtBot):
    """Waits for conditions and signals for minutes, whatever a test names at least."""

    def waitUntil(  # noqa: N802 - pytest-qt's name
        self, callback: Callable[[], bool | None], *, timeout: int = LIMIT_MS
    ) -> None:
        """Wait until something is true, or raises no AssertionError.

        pytest-qt looks 100 times a second, which is a tenth of these tests' time.
        """
        loop, looks = QEventLoop(), iter(LOOKS_MS)
        end = time.monotonic() + max(timeout, LIMIT_MS) / 1000
        while not _holds(callback, last=time.monotonic() > end):
            QTimer.singleShot(next(looks, LOOKS_MS[-1]), loop.quit)
            loop.exec()

    def waitSignal(  # noqa: N802 - pytest-qt's name
        self,
        signal: SignalInstance,
        *,
        timeout: int = LIMIT_MS,
        raising: bool | None = None,
        check_params_cb: Callable[..., bool] | None = None,
    ) -> SignalBlocker:
        """Return a context that waits for a signal; without raising, no longer."""
        longest = timeout if raising is False else max(timeout, LIMIT_MS)
        return super().waitSignal(
            signal, timeout=longest, raising=raising, check_params_cb=check_params_cb
        )


def _holds(callback: Callable[[], bool | None], *, last: bool) -> bool:
    """Tell whether a condition is true; after the ``last`` look it has to be."""
    try:
        is_true = callback() in (None, True)
    except AssertionError:
        if last:
            raise
        return False
    if last and not is_true:
        raise TimeoutError("what a test waits for has not become true")
    return is_true


@pytest.fixture(scope="session")
def _themed(qapp: QApplication) -> None:
    theme.apply(qapp, theme.DARK)


@pytest.fixture(autouse=True)
def _dark(qapp: QApplication, _themed: None) -> Iterator[None]:
    if theme.current() is not theme.DARK:
        theme.apply(qapp, theme.DARK)
    yield
    for pool in (QThreadPool.globalInstance(), *qapp.findChildren(QThreadPool)):
        pool.waitForDone()
    # Windows that are closed go only now: outside an event loop Qt keeps them, and each
    # change of the theme would polish them again.
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def worker_process() -> None:
    """Let the window of a test start its worker as a process, as it does outside."""


@pytest.fixture(autouse=True, scope="session")
def _few_labels_at_once() -> Iterator[None]:
    """Place a few labels in one turn, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(layers, "_FEW_S", math.inf)
        yield


@pytest.fixture(autouse=True)
def _worker_in_thread(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "worker_process" not in request.fixturenames:
        monkeypatch.setattr(background, "spawn_worker", WorkerInThread)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:  # noqa: ARG001
    """Return a hand on the windows that gives up only on what hangs."""
    return PatientBot(request)
