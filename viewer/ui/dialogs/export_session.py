"""Export a session: sealed, its answers or readings, a certificate, the recording."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QRadioButton, QVBoxLayout, QWidget

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.domain.reading import SessionId, SessionSummary
from viewer.settings import ANSWERS_ENDING, SEALED_ENDING
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.foot import Foot
from viewer.ui.dialogs.import_reading import FilesRead, Seldom
from viewer.ui.widgets.file_choice import Purpose, choose_folder, choose_to_write
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.scrolled import resize_on_screen, stacked

_SIZE: Final = (640, 420)
_INDENT: Final = 22
_NONE: Final = "There is no reader's session yet: begin one in Window ▸ Review."


@dataclass(frozen=True)
class _Work:
    """What is written from where to where; ``told`` is how far it is."""

    store: Path
    session: SessionId
    out: Path
    told: Callable[[int, int], object]
    stop: Event


def _seal(work: _Work) -> str:
    from viewer.services.readings.sealing import seal_session

    sealed = seal_session(
        work.store, work.session, work.out, progress=work.told, stop=work.stop
    )
    return sealed.sentence


def _write_answers(work: _Work) -> str:
    from viewer.services.readings.sealed import write_answers

    return f"{write_answers(work.store, work.session, work.out).sentence}."


def _write_tables(work: _Work) -> str:
    from viewer.services.readings.mrmc import doubts, export_readings

    files = export_readings(work.store, work.session, work.out)
    names = ", ".join(file.name for file in files)
    told = doubts(work.store, work.session)
    return " ".join((f"{names} in '{work.out.name}'.", *told))


def _certify(work: _Work) -> str:
    from viewer.services.readings.certificate import certify

    return " and ".join(p.name for p in certify(work.store, work.session, work.out))


def _write_recording(work: _Work) -> str:
    from viewer.services.readings.telemetry import export_telemetry

    written = export_telemetry(work.store, work.session, work.out)
    rows = f"{counted(written.rows, 'row')} in {work.out.name}."
    return " ".join(filter(None, (rows, written.problem)))


@dataclass(frozen=True)
class _Kind:
    """A form that a session can be written in, as a file, or without one a folder.

    ``visiting`` tells whether it suits sessions that another store sealed.
    """

    words: str
    about: str
    name: str
    files: str
    visiting: tuple[bool, ...]
    write: Callable[[_Work], str]


_KINDS: Final = (
    _Kind(
        "Sealed session",
        "For a reader at another machine: the images, their order and the questions, "
        "without what is right and without names of models and patients. What is shown "
        "once an answer is locked follows in another file.",
        f"session-{{}}{SEALED_ENDING}",
        f"Sealed sessions (*{SEALED_ENDING})",
        (False,),
        _seal,
    ),
    _Kind(
        "Answers",
        "What was answered here, for the machine that the session comes from.",
        f"session-{{}}{ANSWERS_ENDING}",
        f"Answers (*{ANSWERS_ENDING})",
        (True,),
        _write_answers,
    ),
    _Kind(
        "Readings and agreement",
        "Tables of what all its readers locked, and how far they agree; of a reader "
        "study also files for iMRMC and RJafroc.",
        "",
        "",
        (False,),
        _write_tables,
    ),
    _Kind(
        "Certificate",
        "Who read what and when, signed, and as a page to print.",
        "session-{}.json",
        "Certificates (*.json)",
        (True, False),
        _certify,
    ),
    _Kind(
        "What was on screen",
        "Which part of which image, and for how long, if its reader agreed to have it "
        "recorded.",
        "session-{}-screen.csv",
        "Tables (*.csv)",
        (False,),
        _write_recording,
    ),
)


class ExportSession(QDialog):
    """The page; the window stays free beside it."""

    _progressed = Signal(object)
    """FilesRead, emitted in the thread that works"""

    def __init__(
        self,
        store: Path,
        parent: QWidget | None = None,
        session: SessionId | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export session")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._store, self._wanted, self._stop = store, session, Event()
        self._background_tasks = BackgroundTasks(self)
        self.session, self.foot = LongChoice("Session"), Foot("Export…")
        self.session.setAccessibleName("Session")
        self._group = QButtonGroup(self)
        self.kinds = [QRadioButton(kind.words) for kind in _KINDS]
        self._lay_out()
        self._connect()
        self.foot.go.setEnabled(False)
        self._background_tasks.start("list", self._list, self._offer, self._fail)

    def _list(self) -> Sequence[SessionSummary]:
        from viewer.services.readings.opening import sessions

        return [one for one in sessions(self._store) if not one.withdrawn]

    def _offer(self, found: Sequence[SessionSummary]) -> None:
        for one in found:
            done = f"{one.done} of {one.planned} done"
            words = f"Session {one.id} · {one.title} · {one.reader} · {done}"
            self.session.addItem(words, one)
        wanted = (row for row, one in enumerate(found) if one.id == self._wanted)
        self.session.setCurrentIndex(next(wanted, 0))
        self._choose()
        if not found:
            self.foot.sentence.setText(_NONE)

    def _choose(self) -> None:
        """Offer what the session can be written as; the first is chosen."""
        chosen: SessionSummary | None = self.session.currentData()
        suits = [chosen is not None and chosen.visiting in k.visiting for k in _KINDS]
        for button, able in zip(self.kinds, suits, strict=True):
            button.setEnabled(able)
        now = self._group.checkedId()
        if chosen is not None and (now < 0 or not suits[now]):
            self.kinds[suits.index(True)].setChecked(True)
        self.foot.go.setEnabled(chosen is not None)
        self.foot.sentence.setText("")

    def _ask(self) -> None:
        """Ask where to write."""
        chosen, kind = self.session.currentData(), _KINDS[self._group.checkedId()]
        title = f"Export {kind.words.lower()}"

        def write(out: Path) -> None:
            self.export(chosen.id, kind, out)

        if kind.name:
            choose_to_write(self, title, kind.name.format(chosen.id), kind.files, write)
        else:
            choose_folder(self, title, write, Purpose.RESULTS)

    def export(self, session: SessionId, kind: _Kind, out: Path) -> None:
        """Write a session in a form, telling how far it is."""
        self._stop.clear()
        told = Seldom(self._progressed.emit)
        work = _Work(self._store, session, out, told, self._stop)
        self.foot.busy("Writing …")
        self._background_tasks.start(
            "write", lambda: kind.write(work), self._wrote, self._fail
        )

    def _wrote(self, sentence: str) -> None:
        self.foot.ready()
        self.foot.go.setEnabled(True)
        self.foot.sentence.setText(sentence)

    def _progressed_to(self, told: FilesRead) -> None:
        if "write" in self._background_tasks:
            words = f"{told.done:,} of {counted(told.every, 'case')}"
            self.foot.tell(told.done, told.every, words)

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self.foot.ready()
        self.foot.go.setEnabled(self.session.count() > 0)
        if not isinstance(error, OverreadError):
            raise error
        self.foot.sentence.setText(str(error))

    def reject(self) -> None:
        """Close, and stop writing."""
        self._stop.set()
        super().reject()

    def _connect(self) -> None:
        self.session.currentIndexChanged.connect(self._choose)
        self.foot.go.clicked.connect(self._ask)
        self.foot.leave.clicked.connect(self.reject)
        # What was stopped says so itself, once it has ended.
        self.foot.stop.clicked.connect(self._stop.set)
        self._progressed.connect(self._progressed_to)

    def _lay_out(self) -> None:
        offered: list[QWidget] = []
        for number, (button, kind) in enumerate(zip(self.kinds, _KINDS, strict=True)):
            self._group.addButton(button, number)
            about = caption(kind.about)
            about.setContentsMargins(_INDENT, 0, 0, 4)
            offered += [button, about]
        column = QVBoxLayout(self)
        column.addWidget(self.session)
        # What is said at the foot can be long, and the screen small.
        column.addWidget(stacked(*offered), 1)
        column.addWidget(self.foot)
        resize_on_screen(self, *_SIZE)
