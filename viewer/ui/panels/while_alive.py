"""Background work for a widget: what comes back too late for it is dropped."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject
from shiboken6 import isValid

from viewer.ui.jobs import Job, run_in_background

T = TypeVar("T")


def run_for(
    owner: QObject,
    work: Callable[[], T],
    on_done: Callable[[T], None],
    on_error: Callable[[Exception], None],
    *,
    priority: int = 0,
) -> Job[T]:
    """Do as run_in_background, but call nobody once the owner is deleted."""

    def done(result: T) -> None:
        if isValid(owner):
            on_done(result)

    def failed(error: Exception) -> None:
        if isValid(owner):
            on_error(error)

    return run_in_background(work, done, failed, priority=priority)
