"""Work off the GUI thread: a thread pool whose results come back to the GUI thread."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt, QThreadPool, Signal

T = TypeVar("T")
_PATIENT_THREADS: Final = 2


@dataclass(eq=False)
class Job(Generic[T]):
    """A call in a background thread; ``cancel`` drops its result."""

    work: Callable[[], T]
    on_done: Callable[[T], None]
    on_error: Callable[[Exception], None] | None
    cancelled: bool = False

    def cancel(self) -> None:
        """Start no more, and call nobody; a call that runs already runs to its end."""
        self.cancelled = True

    def run(self) -> Callable[[], None]:
        """Do the work; return what the GUI thread has to do about it."""
        try:
            result = self.work()
        except Exception as error:  # noqa: BLE001 - handed to the GUI thread
            caught = error
            return lambda: self._fail(caught)
        return lambda: self.on_done(result)

    def _fail(self, error: Exception) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)


@dataclass(frozen=True, eq=False)
class _Finished:
    """A job is over; ``then`` belongs to the GUI thread, unless it was dropped."""

    dropped: Callable[[], bool]
    then: Callable[[], None]


class _Courier(QObject):
    """Carries what jobs return from their threads to the GUI thread."""

    finished = Signal(object)
    """_Finished, emitted in the job's thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def _deliver(self, event: _Finished) -> None:
        if not event.dropped():
            event.then()


def _courier() -> _Courier:
    application = QCoreApplication.instance()
    if application is None:
        raise RuntimeError("background work needs the application's event loop")
    known = application.findChild(_Courier)
    return known if known is not None else _Courier(application)


def run_in_background(
    work: Callable[[], T],
    on_done: Callable[[T], None],
    on_error: Callable[[Exception], None] | None = None,
    *,
    priority: int = 0,
) -> Job[T]:
    """Call ``work`` in a thread of the pool, then one of the others in the GUI thread.

    Parameters
    ----------
    work : callable
        Takes nothing, touches no widget.
    on_done : callable
        Gets what ``work`` returned.
    on_error : callable, optional
        Gets what ``work`` raised. Without it the exception is raised in the GUI
        thread, where `viewer.ui.crash` tells the person about it.
    priority : int, optional
        Jobs of a higher number start first; thumbnails take a negative one.

    Returns
    -------
    Job
        Its ``cancel`` drops the result, as a widget that moved on should.
    """
    job = Job(work, on_done, on_error)
    courier = _courier()

    def carry() -> None:
        if not job.cancelled:
            courier.finished.emit(_Finished(lambda: job.cancelled, job.run()))

    _pool(priority).start(carry, priority)
    return job


def _pool(priority: int) -> QThreadPool:
    """Return the threads for a job; what can wait has one of its own.

    So nothing that somebody waits for ever queues behind thumbnails.
    """
    if priority >= 0:
        return QThreadPool.globalInstance()
    application = QCoreApplication.instance()
    known = application.findChild(QThreadPool) if application is not None else None
    if known is not None:
        return known
    patient = QThreadPool(application)
    patient.setMaxThreadCount(_PATIENT_THREADS)
    return patient
