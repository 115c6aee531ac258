"""The notice that a batch has ended, with a way to its results."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.counting import counted
from viewer.domain.run import RunEnded
from viewer.services.worker.background import WorkerEvent
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice, Offer


class RunEndings(QObject):
    """Tells of batches that end while ``owner`` is hidden; ``open_run`` shows one."""

    def __init__(
        self, context: AppContext, owner: QWidget, open_run: Callable[[int], None]
    ) -> None:
        super().__init__(owner)
        self._context, self._owner, self._open_run = context, owner, open_run
        context.worker.message.connect(self._hear)

    def _hear(self, message: object) -> None:
        event = message.event if isinstance(message, WorkerEvent) else None
        if not isinstance(event, RunEnded) or event.cancelled:
            return
        # A question from Read is a single trial, and is shown there.
        if not self._owner.isVisible() and sum(event.counts.values()) > 1:
            offer = Offer("Open results", partial(self._open, event.run))
            words = f"Run {event.run} has ended: {ending_words(event)}."
            self._context.notices.post(Notice(words, warning=False, offer=offer))

    def _open(self, run: int) -> None:
        self._context.actions.run("window.measure")
        self._open_run(run)


def ending_words(event: RunEnded) -> str:
    """Return how many trials a run has, and how many did not go well."""
    counts = event.counts
    odd = {
        "unreadable": sum(counts.get(status, 0) for status in UNREADABLE),
        "refused": counts.get(Status.REFUSED, 0),
        "failed": counts.get(Status.PROVIDER_ERROR, 0),
        "pending": counts.get(Status.PENDING, 0),
    }
    parts = [f"{n:,} {word}" for word, n in odd.items() if n]
    return ", ".join((counted(sum(counts.values()), "trial"), *parts))
