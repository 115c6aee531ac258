"""One case large, the question at the right, progress at the top, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.form_values import Values
from viewer.domain.reading import Interval, Reveal, Task, TaskState, open_cases
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.action_set import main_key
from viewer.ui.application.actions import SPECS
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.review.bar import ReviewBar, SessionSums
from viewer.ui.panels.review.case import CaseArea
from viewer.ui.panels.review.clock import ReviewClock
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.panels.review.prefetch import AHEAD
from viewer.ui.panels.review.question import ValueChanged
from viewer.ui.panels.review.recorder import Recorder
from viewer.ui.panels.review.side import ReviewSide

if TYPE_CHECKING:
    from viewer.ui.panels.review.session import Session

T = TypeVar("T")
_TYPED_MS: Final = 400
"""So long after the last key what is typed is kept."""
_OPEN: Final = frozenset({TaskState.WAITING, TaskState.STARTED, TaskState.STAGE_LOCKED})
_UNLOCKED: Final = frozenset({TaskState.WAITING, TaskState.STARTED})
_GO: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_ASIDE: Final = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class ReviewPage(QWidget):
    """Goes through a session's cases; all that is shown of one is its Task.

    Everything a reader does is kept before the next thing is shown.
    """

    left = Signal()
    """The reader pauses."""
    finished = Signal()
    """Every case is locked, and none is unsure."""
    case_shown = Signal(object)
    """Task: its image is painted with the next frame"""

    def __init__(self, decoder: Decoder, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session: Session | None = None
        self._tasks: list[Task] = []
        self._locked_here: list[int] = []
        self.position = 0
        self.ready = False
        self.bar, self.image = ReviewBar(), ReviewImage()
        self.case = CaseArea(self.image, decoder)
        self.views = (self.image, *self.case.tiles.beside)
        self.texts, self.strip = self.case.texts, self.case.strip
        self.prefetch = self.case.prefetch
        self.side = ReviewSide(self.image)
        self.clock = ReviewClock(self)
        self.recorder = Recorder(self.views, self.clock)
        self._background_tasks = BackgroundTasks(self)
        self._sums = SessionSums(
            self.bar, self.texts, self._background_tasks, self._fail
        )
        self._typed = QTimer(self, interval=_TYPED_MS, singleShot=True)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        row, column = QHBoxLayout(), QVBoxLayout(self)
        for layout in (row, column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        row.addWidget(self.case, 1)
        row.addWidget(self.side)
        column.addWidget(self.bar)
        self.bar.add(self.recorder.stop)
        column.addLayout(row, 1)
        for scrolls in (*self.views, self.side.area, self.texts):
            scrolls.installEventFilter(self)

    def _connect(self) -> None:
        self.bar.left.connect(self.left)
        self.bar.skipped.connect(self.skip)
        self.strip.chosen.connect(self.case.show_exhibit)
        self.case.turned.connect(self.clock.note)
        self.side.go_wanted.connect(self.go)
        self.side.advice.accepted.connect(self.accept)
        self.side.advice.kept.connect(self.keep_own)
        self.side.comment_changed.connect(self._type)
        self.side.form.value_changed.connect(self._change)
        self._typed.timeout.connect(self.keep)
        self.case_shown.connect(self.recorder.show)
        self.recorder.failed.connect(self._fail)
        for view in self.views:
            view.window_changed.connect(self.clock.note)
            view.zoom_changed.connect(self.clock.note)

    @property
    def task(self) -> Task | None:
        """The case on the screen."""
        return self._tasks[self.position] if self._tasks else None

    @property
    def locked(self) -> bool:
        """Whether the case on the screen is locked permanently."""
        return self.task is not None and self.task.state is TaskState.LOCKED

    def open(self, session: "Session", tasks: Sequence[Task]) -> None:
        """Continue a session at its first unlocked case."""
        self.close_session()
        self._session, self._tasks = session, list(tasks)
        self.bar.show_session(session.summary)
        self.texts.overview.show_exhibits(())
        self.side.show_form(session.summary.form)
        self.case.tiles.show_form(session.summary.form)
        self._sums.open(session)
        self.recorder.open(session)
        self.show_case(next(iter(open_cases(self._tasks)), 0))

    def close_session(self) -> None:
        """Save what is on the screen and release the session."""
        session = self._session
        if session is None:
            return
        self.keep(leaving=True)
        self.recorder.close()
        self._background_tasks.cancel_all()
        self._sums.close()
        self._session = None
        session.close()
        self._tasks, self._locked_here, self.ready = [], [], False
        self.clock.stop()
        self.prefetch.forget()
        self.case.tiles.clear()
        self.image.forget()
        self.image.clear()

    def show_case(self, position: int) -> None:
        """Show a case; decode the next ones meanwhile."""
        if not 0 <= position < len(self._tasks):
            return
        self.position = position
        task, self.ready = self._tasks[position], False
        self._background_tasks.cancel("reveal")
        if task.image not in self.prefetch:
            self.side.setEnabled(False)
            self.image.forget()
            self.image.clear()
            self.image.waiting.start("Opening the case…")
        following = [self._tasks[i].image for i in self._next()[:AHEAD]]
        self.case.want(task, following, self._paint, self._fail)
        self._sums.show_position(self.position, len(self._tasks))

    def _paint(self, opened: OpenedImage) -> None:
        task = self.task
        if task is None or task.image != opened.shown.ref:
            return
        self.case.show_image(task, opened)
        self.image.show_subject(task.answer, framed=task.arm is None)
        self.side.setEnabled(True)
        self.clock.start()
        self._show_task(task)
        self.case_shown.emit(task)

    def _show_task(self, task: Task) -> None:
        """Show a case in its current state; read what a lock reveals meanwhile."""
        self.side.show_task(task)
        self.case.show_task(task)
        if task.arm is not None:  # a model's answer came with the lock
            self.image.show_subject(task.answer, framed=False)
        session = self._session
        self.ready = task.state is not TaskState.LOCKED or not self._reveals
        if not self.ready and session is not None:
            self._background_tasks.start(
                "reveal",
                lambda: session.reveal(task.position),
                self._show_reveal,
                self._fail,
            )

    def _show_reveal(self, reveal: Reveal) -> None:
        """Show what is revealed of the case on the screen."""
        self.ready = True
        self.side.show_reveal(reveal)
        self.texts.show_truth(reveal.truth)
        self.image.set_reference(reveal.reference)
        if reveal.answer is not None and self.image.subject is None:
            self.image.show_subject(reveal.answer)
        self.image.frame_revealed()

    @property
    def _reveals(self) -> bool:
        session = self._session
        return session is not None and bool(session.summary.form.revealed)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self.image.waiting.end()
        self.side.setEnabled(True)
        self.side.say(f"{error.what} {error.how}")

    def _next(self) -> list[int]:
        """Return the open cases after the one on the screen."""
        order = open_cases(self._tasks, self.position + 1)
        return [i for i in order if i != self.position]

    def go(self) -> None:
        """Lock the answer; if it is locked, go to the next case."""
        if not self.ready:
            return
        if self.locked:
            self.go_on()
        else:
            self.lock()

    def go_on(self) -> None:
        """Show the next open case, or say that there is none."""
        following = self._next()
        if following:
            self.show_case(following[0])
        elif self.locked:
            self.finished.emit()

    def lock(self) -> None:
        """Lock the current stage, if every question of it is answered."""
        task, session = self.task, self._session
        if task is None or session is None or not self.ready:
            return
        missing = self.side.form.missing(task)
        if missing:
            self.side.say(missing)
            self.side.form.ask_next()
            return
        self._typed.stop()
        comment, values = self.side.comment.text(), self.side.form.values
        after = self._tried(lambda spent: session.lock(task, values, comment, spent))
        if after is not None:
            self.recorder.seal()
            self._locked_here.append(self.position)
            self._sums.show_forecast()
            self._take(after)

    def accept(self) -> None:
        """Take the model's answer, and lock if nothing else is asked."""
        self._answer(lambda task: task.advice)

    def keep_own(self) -> None:
        """Lock the first answers again where they are asked beside a model's."""
        self._answer(self.side.form.first_answers)

    def _answer(self, values_of: Callable[[Task], Values]) -> None:
        task = self.task
        if task is None or not self.ready or self.locked or not task.advice:
            return
        if self.side.form.fill(values_of(task)) and not self.side.form.missing(task):
            self.lock()

    def _take(self, task: Task) -> None:
        """Show the new state of the case on the screen."""
        self._tasks[self.position] = task
        self._sums.show_position(self.position, len(self._tasks))
        self._show_task(task)
        unsure = task.state is TaskState.UNRESOLVED and self._next()
        if unsure or (self.locked and not self._reveals):
            self.go_on()  # there is nothing more to look at

    def undo(self) -> None:
        """Undo the last action at this case, else the last lock before."""
        task, session = self.task, self._session
        if task is None or session is None:
            return
        self.keep()
        untouched = task.state in _UNLOCKED and not task.values
        back = untouched and bool(self._locked_here)
        position = self._locked_here[-1] if back else task.position
        after = self._tried(lambda spent: session.undo(position, spent))
        if after is None:
            return
        if position in self._locked_here:
            self._locked_here.remove(position)
        self._tasks[position] = after
        self._sums.show_forecast()
        self.show_case(position)

    def keep(self, *, leaving: bool = False) -> bool:
        """Save the answers so far, if a case is open; False if that failed.

        On ``leaving`` the case the time spent on it is kept without an answer as well.
        """
        task, session = self.task, self._session
        self._typed.stop()
        here = task is not None and self.ready and task.state in _OPEN
        if task is None or session is None or not here:
            return True
        values, comment = self.side.form.values, self.side.comment.text()
        unchanged = (values, comment) == (dict(task.values), task.comment)
        if unchanged and not leaving:
            return True
        after = self._tried(
            lambda spent: session.save(task.position, values, comment, spent)
        )
        if after is not None:
            self._tasks[task.position] = after
        return after is not None or unchanged

    def _change(self, event: ValueChanged) -> None:
        self.side.say("")
        self.clock.note()
        if self.side.form.boxes[event.question].typed:
            self._typed.start()
        else:
            self.keep()

    def _type(self, _: str) -> None:
        self.clock.note()
        self._typed.start()

    def _tried(self, call: Callable[[tuple[Interval, ...]], T]) -> T | None:
        """Run a store operation with the time spent; show an error by the question."""
        spent = self.clock.take()
        try:
            return call(spent)
        except OverreadError as error:
            self.clock.give_back(spent)
            self.side.say(f"{error.what} {error.how}")
            return None

    def step(self, steps: int) -> None:
        """Go to another case, once the answers here are saved."""
        other = self.position + steps
        if 0 <= other < len(self._tasks) and self.keep(leaving=True):
            self.show_case(other)

    def skip(self) -> None:
        """Leave the case for later; after the last one those skipped come back."""
        following = self._next()
        if not following:
            self.side.say("No other case is left.")
        elif self.keep(leaving=True):
            self.show_case(following[0])

    def handlers(self) -> Mapping[str, Callable[[], None]]:
        """Return the handlers of the commands on a case by the action's id."""
        return {
            "review.go": self.go,
            "review.previous": lambda: self.step(-1),
            "review.next": lambda: self.step(1),
            "review.comment": self.side.write_comment,
            "review.accept": self.accept,
            "review.keep": self.keep_own,
            "review.frame": self.image.toggle_frame,
            "review.grid": self.image.toggle_grid,
            "review.invert": self.image.invert,
            "review.place": self.side.form.place,
            "review.image_previous": lambda: self.case.step(-1),
            "review.image_next": lambda: self.case.step(1),
            "review.pause": self.left.emit,
        }

    def _commands(self) -> dict[Qt.Key, Callable[[], object]]:
        return {
            **{
                Qt.Key(main_key(SPECS[name].shortcut)): act
                for name, act in self.handlers().items()
            },
            Qt.Key.Key_Enter: self.go,
            Qt.Key.Key_Z: self.undo,
            Qt.Key.Key_Space: lambda: self.texts.turn(1),
            Qt.Key.Key_H: lambda: self.case.hide_drawn(hidden=True),
        }

    def _take_key(self, event: QKeyEvent) -> bool:
        """Answer with a key, or run its command."""
        if self._session is None:
            return False
        self.clock.note()
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
            return True
        if event.modifiers() & _ASIDE:
            return False
        key = Qt.Key(event.key())
        if self.ready and key not in _GO and self.side.form.take_key(event):
            return True
        command = self._commands().get(key)
        if command is not None:
            command()
        return command is not None

    def withdraw(self) -> None:
        """Purge all that the reader answered, and leave."""
        session = self._session
        if (
            session is not None
            and self._tried(lambda _: session.withdraw()) is not None
        ):
            self.recorder.forget()
            self._tasks = []  # nothing of it may be kept any more
            self.left.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Focus the image, which takes the keys."""
        self.image.setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Handle the keys that the focused widget does not."""
        if not self._take_key(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Show again what a held key hides."""
        self._let_go(event)
        super().keyReleaseEvent(event)

    def _let_go(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_H and not event.isAutoRepeat():
            self.case.hide_drawn(hidden=False)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Show again what a held key hides if another window takes the keyboard."""
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.case.hide_drawn(hidden=False)
        super().changeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Handle the keys of what would scroll by them."""
        if isinstance(event, QKeyEvent):
            kind = event.type()
            if kind == QEvent.Type.KeyPress and self._take_key(event):
                return True
            if kind == QEvent.Type.KeyRelease:
                self._let_go(event)
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Save the answers when another workspace is shown."""
        self.keep()
        super().hideEvent(event)
