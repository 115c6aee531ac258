"""Nothing of a closed window stays known to Python by an address that Qt uses again.

A wrapper of an object that Qt made and deletes by itself, such as the root of a tree,
is not told of its end. While it lives it stands for whatever Qt makes next in that
place, of whatever type, until the process ends over it.
"""

import gc
import weakref
from collections.abc import Callable, Sequence

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThreadPool, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsItem,
    QLayoutItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import IdleWorker
from viewer import app
from viewer.services.starting.head_start import begin
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.models import ModelsWorkspace
from viewer.ui.workspaces.read import ReadWorkspace
from viewer.ui.workspaces.review import ReviewWorkspace


@pytest.fixture(autouse=True)
def _without_what_was_there() -> None:
    """Let no collection look through what earlier tests have left."""
    gc.collect()
    gc.freeze()


_MADE_IN_PARTS = (QTreeWidgetItem, QLayoutItem, QGraphicsItem)


def _left_over() -> Sequence[object]:
    """Return the wrappers of items that Qt made, once what is closed is gone."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        gc.collect()
    return [
        wrapper
        for wrapper in shiboken6.getAllValidWrappers()
        if isinstance(wrapper, _MADE_IN_PARTS)
        and not isinstance(wrapper, QObject)
        and not shiboken6.createdByPython(wrapper)
    ]


@pytest.mark.usefixtures("qapp")
def test_that_a_closed_window_leaves_no_wrapper_behind(settings: Settings) -> None:
    known = {id(one) for one in _left_over()}
    window = app.build_window(settings)
    app.furnish(window)
    window.show()
    window.close()
    shiboken6.delete(window)
    assert [one for one in _left_over() if id(one) not in known] == []


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("moment_ms", [0, 1000])
def test_that_nothing_of_the_window_outlives_the_end_of_the_program(
    settings: Settings, moment_ms: int
) -> None:
    known = {id(one) for one in _objects()}
    QTimer.singleShot(moment_ms, QApplication.closeAllWindows)
    app.open_window((), settings, begin((), settings, demo=False))
    kept = "_Courier", "QThreadPool"
    left = [one for one in _objects() if type(one).__name__ not in kept]
    assert [one for one in left if id(one) not in known] == []


def _objects() -> Sequence[QObject]:
    wrappers = shiboken6.getAllValidWrappers()
    return [wrapper for wrapper in wrappers if isinstance(wrapper, QObject)]


_WORKSPACES = (ReadWorkspace, MeasureWorkspace, ReviewWorkspace, ModelsWorkspace)


@pytest.mark.parametrize("kind", _WORKSPACES)
def test_that_a_deleted_workspace_does_not_keep_its_context(
    kind: Callable[[AppContext], QWidget],
    qapp: QApplication,
    qtbot: QtBot,
    settings: Settings,
) -> None:
    with open_store(settings.store):
        pass
    context = AppContext(settings, WorkerBridge(settings.store, IdleWorker))
    workspace, kept = kind(context), weakref.ref(context)
    workspace.show()
    for pool in (QThreadPool.globalInstance(), *qapp.findChildren(QThreadPool)):
        pool.waitForDone()
    qapp.processEvents()  # what was read in the background has arrived
    shiboken6.delete(workspace)
    del workspace, context

    def is_gone() -> bool:
        gc.collect()
        return kept() is None

    qtbot.waitUntil(is_gone)


@pytest.mark.usefixtures("qapp")
def test_that_a_wrapper_left_behind_would_be_found() -> None:
    tree = QTreeWidget()
    root = tree.invisibleRootItem()
    shiboken6.delete(tree)
    assert any(one is root for one in _left_over())
