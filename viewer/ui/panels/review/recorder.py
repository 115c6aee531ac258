"""Records what is on screen while a case is open, if its reader agreed to that."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from viewer.domain.case import ImageRef
from viewer.domain.reading import Task
from viewer.domain.reading_time import IDLE_AFTER_MS
from viewer.domain.telemetry import Look, Sight
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.confirm import confirm
from viewer.ui.panels.review.clock import ReviewClock
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.widgets.labels import link

if TYPE_CHECKING:
    from viewer.ui.panels.review.session import Session

STEP_MS: Final = 100
"""What changes again within this time is one change."""
_BATCH_MS: Final = 5000
"""So often what was recorded is written."""
_STOP: Final = "Stop recording…"
_TIP: Final = (
    "What is on screen is recorded, as you agreed. Stop it, and have the record deleted"
)
_DELETED: Final = (
    "What was recorded in this session is deleted for good. Your answers stay, and you "
    "continue without recording."
)
Write = Callable[[Sequence[Look], bool], None]
"""Stores looks; True to have the audit seal all that are stored."""


class LookQueue:
    """Looks waiting to be stored; one thread at a time writes them, in order."""

    def __init__(self, write: Write) -> None:
        self._write, self._lock = write, Lock()
        self._looks: deque[Look] = deque()
        self.seals = False
        """Whether the next write is to seal what is stored."""

    def add(self, look: Look) -> None:
        """Add a look that has ended."""
        self._looks.append(look)

    def clear(self) -> None:
        """Forget what is not written yet."""
        self._looks.clear()
        self.seals = False

    def write(self) -> None:
        """Write what is there; on an error it stays, to be written later."""
        with self._lock:
            looks, seals = tuple(self._looks), self.seals
            if looks or seals:
                self._write(looks, seals)
                for _ in range(min(len(looks), len(self._looks))):
                    self._looks.popleft()
                self.seals = False


class Recorder(QObject):
    """Turns changes of viewports into looks, timed as a reader's activity is.

    A look ends with the next change, with the case, when the window is left, and after
    a pause that is too long to be reading; nothing is recorded until it is used again.
    """

    failed = Signal(object)
    """Exception: something could not be stored; it is tried again."""

    def __init__(self, views: Sequence[ReviewImage], clock: ReviewClock) -> None:
        super().__init__(clock)
        self._views, self._clock = tuple(views), clock
        self._session: Session | None = None
        self._queue: LookQueue | None = None
        self._position, self._images = 0, tuple[ImageRef, ...]()
        self._open: dict[int, tuple[Sight, int]] = {}
        self._last: int | None = None
        self._began = datetime.now(UTC)
        self._changed = False
        self._pace = QTimer(self, interval=STEP_MS, singleShot=True)
        self._pace.timeout.connect(self._pass)
        self._batch = QTimer(self, interval=_BATCH_MS)
        self._batch.timeout.connect(self._write)
        self._background_tasks = BackgroundTasks(self)
        self.stop = link(_STOP, _TIP)
        self.stop.clicked.connect(self._ask_to_stop)
        self.stop.hide()
        clock.noted.connect(self._note)
        clock.left.connect(self._leave)
        for view in self._views:
            for change in (view.seen_changed, view.window_changed, view.sense_changed):
                change.connect(self._change)

    def open(self, session: "Session") -> None:
        """Begin with a session, if its reader agreed to be recorded."""
        self.close()
        if not session.records:
            return
        self._session, self._queue = session, LookQueue(session.record)
        # One look at the clock that can be set; after it only the other one counts.
        self._began = datetime.now(UTC) - timedelta(milliseconds=self._clock.now())
        self._batch.start()
        self.stop.show()

    def show(self, task: Task) -> None:
        """Begin with a case, which is on the screen."""
        if self._queue is not None:
            now = self._clock.now()
            self._leave(now)
            self._position, self._images = task.position, task.images
            self._note(now)

    def seal(self) -> None:
        """Write everything up to now, and seal it in the audit: a case is locked."""
        if self._queue is not None:
            self._note(self._clock.now())
            self._renew(self._clock.now())
            self._queue.seals = True
            self._write()

    def close(self) -> None:
        """Write everything and record no more."""
        queue = self._queue
        if queue is None:
            return
        self._leave(self._clock.now())
        queue.seals = True
        self._end_session()
        try:
            queue.write()
        except Exception as error:  # noqa: BLE001 - the page tells it or raises it
            self.failed.emit(error)

    def forget(self) -> None:
        """Stop recording, and discard what is not written yet."""
        if self._queue is not None:
            self._queue.clear()
        self._end_session()

    def _ask_to_stop(self) -> None:
        confirm(
            self.stop.window(),
            "Stop recording what is on screen?",
            _DELETED,
            "Stop and delete",
            self._take_back,
        )

    def _take_back(self) -> None:
        session = self._session
        self.forget()
        if session is not None:
            self._background_tasks.start(
                "stop", session.stop_record, lambda _: None, self.failed.emit
            )

    def _end_session(self) -> None:
        self._session, self._queue, self._last = None, None, None
        self.stop.hide()
        self._open.clear()
        self._batch.stop()
        self._pace.stop()

    def _change(self) -> None:
        """Look at the viewports now, or once the last change is old enough."""
        if self._queue is None or self._last is None:
            return
        if self._pace.isActive():
            self._changed = True
            return
        self._pace.start()
        now = self._clock.now()
        self._note(now)
        self._renew(now)

    def _pass(self) -> None:
        if self._changed:
            self._changed = False
            self._change()

    def _note(self, now: int) -> None:
        """Take in that the reader did something; a long pause before it is left out."""
        if self._queue is None:
            return
        if self._last is not None and now - self._last > IDLE_AFTER_MS:
            self._leave(now)
        if self._last is None:
            self._last = now
            self._renew(now)
        self._last = now

    def _leave(self, now: int) -> None:
        """End what is in sight: the reader is away, or something else is shown."""
        if self._last is not None:
            until = min(now, self._last + IDLE_AFTER_MS)
            for viewport in tuple(self._open):
                self._end(viewport, until)
            self._last = None

    def _renew(self, now: int) -> None:
        """End what is no longer in sight, and begin with what is now."""
        for viewport, view in enumerate(self._views):
            sight = self._sight(viewport, view)
            before = self._open.get(viewport)
            if before is not None and before[0] != sight:
                self._end(viewport, now)
            if sight is not None:
                self._open.setdefault(viewport, (sight, now))

    def _end(self, viewport: int, now: int) -> None:
        sight, since = self._open.pop(viewport)
        if self._queue is not None and now > since:
            start = self._began + timedelta(milliseconds=since)
            text = start.isoformat(timespec="milliseconds")
            self._queue.add(Look(self._position, text, now - since, sight))

    def _sight(self, viewport: int, view: ReviewImage) -> Sight | None:
        """Return what a viewport shows, None without an image of the case."""
        ref = view.shown_ref
        if ref is None or ref not in self._images or not view.isVisible():
            return None
        seen, window = view.seen, view.window_shown
        return Sight(
            viewport,
            self._images.index(ref),
            ref.frame,
            round(seen.y0, 2),
            round(seen.x0, 2),
            round(seen.y1, 2),
            round(seen.x1, 2),
            view.zoom,
            window.center if window else None,
            window.width if window else None,
            view.inverted,
        )

    def _write(self) -> None:
        """Write what waits, away from the screen's thread."""
        queue = self._queue
        if queue is not None:
            self._background_tasks.start(
                "write", queue.write, lambda _: None, self.failed.emit
            )
