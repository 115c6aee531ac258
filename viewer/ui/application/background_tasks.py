"""Background work on behalf of a widget; late results are dropped."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from PySide6.QtCore import QObject
from shiboken6 import isValid

from viewer.ui.application.jobs import Job, run_in_background

T = TypeVar("T")


def run_for(
    owner: QObject,
    work: Callable[[], T],
    on_done: Callable[[T], None],
    on_error: Callable[[Exception], None],
    *,
    priority: int = 0,
) -> Job[T]:
    """Like run_in_background, but without callbacks once the owner is deleted."""

    def done(result: T) -> None:
        if isValid(owner):
            on_done(result)

    def failed(error: Exception) -> None:
        if isValid(owner):
            on_error(error)

    return run_in_background(work, done, failed, priority=priority)


class BackgroundTasks:
    """Background calls on behalf of ``owner``; per name only the latest counts."""

    def __init__(self, owner: QObject) -> None:
        self._owner = owner
        self._jobs: dict[Hashable, Job[Any]] = {}

    def __contains__(self, name: Hashable) -> bool:
        return name in self._jobs

    def start(
        self,
        name: Hashable,
        work: Callable[[], T],
        on_done: Callable[[T], None],
        on_error: Callable[[Exception], None],
        *,
        priority: int = 0,
    ) -> None:
        """Run ``work`` as :func:`run_for` does, and drop an earlier one."""
        self.cancel(name)

        def done(result: T) -> None:
            self._jobs.pop(name, None)
            on_done(result)

        def failed(error: Exception) -> None:
            self._jobs.pop(name, None)
            on_error(error)

        self._jobs[name] = run_for(self._owner, work, done, failed, priority=priority)

    def cancel(self, name: Hashable) -> None:
        """Drop the call in progress under that name, if there is one."""
        job = self._jobs.pop(name, None)
        if job is not None:
            job.cancel()

    def cancel_all(self) -> None:
        """Drop every call in progress."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()
