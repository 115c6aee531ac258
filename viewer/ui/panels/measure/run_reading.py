"""Reads the list of runs: when first shown, on request, and after other writers."""

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtWidgets import QWidget

from viewer.domain.run import RunSummary
from viewer.services.inspecting.runs import run_list
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks

_REST_S: Final = 10.0
"""How seldom the list is read again while a batch of this window writes."""
Show = Callable[[tuple[RunSummary, ...]], None]


class RunReading:
    """Reads runs in the background on behalf of a widget; ``show`` gets them."""

    def __init__(
        self,
        context: AppContext,
        owner: QWidget,
        show: Show,
        fail: Callable[[Exception], None],
    ) -> None:
        self._store, self._owner = context.settings.store, owner
        self._show, self._fail, self._states = show, fail, context.run_states
        self._background_tasks = BackgroundTasks(owner)
        self._fresh, self._read_s = False, 0.0

    def read(self) -> None:
        """Read the runs again."""
        self._fresh, self._read_s = True, time.monotonic()
        self._background_tasks.start(
            "runs", lambda: run_list(self._store), self._found, self._fail
        )

    def read_unless_fresh(self) -> None:
        """Read the runs if they were never read or have been written since."""
        if not self._fresh:
            self.read()

    def read_in_time(self) -> bool:
        """Read the runs if the store was written; tell whether the list is up to date.

        A batch of this window writes all the time and tells of itself: then others'
        work is looked for every now and then. Unseen runs are read once looked at.
        """
        self._fresh = False
        due = time.monotonic() > self._read_s + _REST_S or not self._states.active
        reads = due and self._owner.isVisible() and "runs" not in self._background_tasks
        if reads:
            self.read()
        return reads

    def _found(self, runs: tuple[RunSummary, ...]) -> None:
        self._show(runs)
        if not self._fresh:
            self.read_in_time()
