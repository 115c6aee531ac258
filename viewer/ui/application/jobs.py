"""Work off the GUI thread: a thread pool whose results come back to the GUI thread."""

import atexit
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt, QThreadPool, Signal

T = TypeVar("T")
_LEAST_THREADS: Final = 2
"""In each pool, so that one long job (a folder being read) holds up no other."""


@dataclass(eq=False)
class Job(Generic[T]):
    """A call in a background thread; ``cancel`` drops its result."""

    work: Callable[[], T]
    on_done: Callable[[T], None]
    on_error: Callable[[Exception], None] | None
    cancelled: bool = False
    _then: Callable[[], None] | None = field(default=None, init=False)

    def cancel(self) -> None:
        """Do not start, and run no callbacks; a call in progress runs to its end."""
        self.cancelled = True

    def run(self) -> None:
        """Do the work, unless it was cancelled; store the result."""
        if self.cancelled:
            return
        try:
            result = self.work()
        except Exception as error:  # noqa: BLE001 - handed to the GUI thread
            self._then = partial(self._fail, error)
        else:
            self._then = partial(self.on_done, result)

    def finish(self) -> None:
        """Run the callbacks; called in the GUI thread."""
        if self._then is not None and not self.cancelled:
            self._then()

    def _fail(self, error: Exception) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)


class _Courier(QObject):
    """Keeps the jobs, and reports them from their threads to the GUI thread.

    A thread knows a job only by its number. So whatever a job refers to, including
    widgets, is released in the GUI thread: Qt objects must not be destroyed in another.
    """

    _finished = Signal(int)
    """A job's number, emitted in the job's thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs: dict[int, Job[Any]] = {}
        self._numbers = itertools.count()
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def add(self, job: Job[Any]) -> int:
        """Store a job, and return its number."""
        number = next(self._numbers)
        self._jobs[number] = job
        return number

    def forget_all(self) -> None:
        """Release every job, once no thread works any more."""
        self._jobs.clear()

    def carry(self, number: int) -> None:
        """Run a job in the calling thread, which keeps no reference to it."""
        self._jobs[number].run()
        self._finished.emit(number)

    def _deliver(self, number: int) -> None:
        job = self._jobs.pop(number, None)
        if job is not None:
            job.finish()


def _courier() -> _Courier:
    application = QCoreApplication.instance()
    if application is None:
        raise RuntimeError("background work needs the application's event loop")
    known = application.findChild(_Courier)
    if known is not None:
        return known
    # Before PySide deletes the application with the courier, which threads still need.
    atexit.register(finish_background_work)
    return _Courier(application)


def run_in_background(
    work: Callable[[], T],
    on_done: Callable[[T], None],
    on_error: Callable[[Exception], None] | None = None,
    *,
    priority: int = 0,
) -> Job[T]:
    """Call ``work`` in a pool thread, then one of the callbacks in the GUI thread.

    Parameters
    ----------
    work : callable
        Takes nothing, touches no widget.
    on_done : callable
        Gets what ``work`` returned.
    on_error : callable, optional
        Gets what ``work`` raised. Without it the exception is raised in the GUI thread,
        where `viewer.ui.window.crash` reports it.
    priority : int, optional
        Jobs of a higher number start first; thumbnails take a negative one.

    Returns
    -------
    Job
        Its ``cancel`` drops the result, as a widget that moved on should.
    """
    job = Job(work, on_done, on_error)
    courier = _courier()
    carry = partial(courier.carry, courier.add(job))
    _pool(priority).start(carry, priority)
    return job


def finish_background_work() -> None:
    """Wait for every job, without callbacks; for the end of the program.

    A thread that still runs Python, or still emits a signal, while Qt and the
    interpreter shut down crashes the process.
    """
    application = QCoreApplication.instance()
    if application is None:
        return
    for pool in (QThreadPool.globalInstance(), *application.findChildren(QThreadPool)):
        pool.waitForDone()
    for courier in application.findChildren(_Courier):
        courier.forget_all()


def _pool(priority: int) -> QThreadPool:
    """Return the thread pool for a job; low-priority jobs have a separate one.

    So nothing that the user waits for ever queues behind thumbnails.
    """
    if priority >= 0:
        pool = QThreadPool.globalInstance()
        pool.setMaxThreadCount(max(pool.maxThreadCount(), _LEAST_THREADS))
        return pool
    application = QCoreApplication.instance()
    known = application.findChild(QThreadPool) if application is not None else None
    if known is not None:
        return known
    patient = QThreadPool(application)
    patient.setMaxThreadCount(_LEAST_THREADS)
    return patient
