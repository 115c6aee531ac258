"""The background work of one widget: the latest of each name, and none outlives it."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from viewer.ui.jobs import Job, run_in_background

T = TypeVar("T")


class Errands:
    """Background calls on behalf of ``owner``, whose results end with it.

    A result that came to a widget already destroyed would raise in the GUI thread.
    """

    def __init__(self, owner: QObject) -> None:
        jobs: dict[Hashable, Job[Any]] = {}
        self._jobs = jobs
        owner.destroyed.connect(lambda: _cancel_all(jobs))

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
        """Do ``work`` as :func:`run_in_background` does, and drop an earlier one."""
        self.cancel(name)

        def done(result: T) -> None:
            self._jobs.pop(name, None)
            on_done(result)

        def failed(error: Exception) -> None:
            self._jobs.pop(name, None)
            on_error(error)

        self._jobs[name] = run_in_background(work, done, failed, priority=priority)

    def cancel(self, name: Hashable) -> None:
        """Drop what is under way by that name, if anything."""
        job = self._jobs.pop(name, None)
        if job is not None:
            job.cancel()

    def cancel_all(self) -> None:
        """Drop everything that is under way."""
        _cancel_all(self._jobs)


def _cancel_all(jobs: dict[Hashable, Job[Any]]) -> None:
    for job in jobs.values():
        job.cancel()
    jobs.clear()
