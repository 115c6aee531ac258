"""How soon the view of many predictions is painted; printed, never asserted (M-06)."""

import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the workspace needs PySide6")

from pytestqt.qtbot import QtBot

from tests.helpers.big_store import big_store
from viewer.services.inspecting.predictions.view import By
from viewer.settings import read_settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.workspaces.measure import MeasureWorkspace

PATIENCE_MS = 60_000


def _milliseconds(qtbot: QtBot, do: Callable[[], object], painted: MeasureWorkspace,
                  there: Callable[[], object]) -> float:  # fmt: skip
    start = time.perf_counter()
    do()
    qtbot.waitUntil(lambda: bool(there()), timeout=PATIENCE_MS)
    painted.grab()
    return 1_000 * (time.perf_counter() - start)


@pytest.mark.parametrize("n", [100_000, 1_000_000], ids=lambda n: f"{n:,}")
def test_first_paint_and_a_filter_in_the_window(
    n: int, tmp_path: Path, qtbot: QtBot
) -> None:
    settings = read_settings(tmp_path / "s.sqlite")
    big_store(settings.store, n)
    context = AppContext(settings, WorkerBridge(settings.store))
    start = time.perf_counter()
    workspace = MeasureWorkspace(context)
    qtbot.addWidget(workspace)
    workspace.resize(1500, 900)
    groups = workspace.groups

    def shown() -> int:
        return groups.table.model_.rowCount()

    first = _milliseconds(qtbot, workspace.show, workspace, shown)
    made = 1_000 * (time.perf_counter() - start) - first
    print(f"\n{n:,} predictions: first paint {first:.0f} ms (budget 1,000) after"
          f" {made:.0f} ms to make the workspace")  # fmt: skip
    choice, model = groups.filters.choices["finding"], groups.table.model_
    seconds = []
    for at in range(1, 6):
        before = model.groups
        seconds.append(
            _milliseconds(
                qtbot,
                lambda at=at: choice.menu().actions()[1 + at].trigger(),  # type: ignore[misc]
                workspace,
                lambda before=before: model.groups is not before,  # type: ignore[misc]
            )
        )
    print(f"  a filter, to paint: {sorted(seconds)[2]:.0f} ms median")
    took = _milliseconds(
        qtbot, int, workspace, lambda: not model.groups.lacks_intervals
    )
    print(f"  its intervals, to paint: {took:.0f} ms later")
    before, box = model.groups, groups.filters.boxes[By.PATIENT]
    took = _milliseconds(
        qtbot, box.click, workspace, lambda: model.groups is not before
    )
    print(f"  by patients too, to paint: {took:.0f} ms, {shown():,} rows")
    assert shown() == len(model.groups.keys) > len(before.keys)
