"""The sessions that were begun: to continue, to see again, or to replay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.form import PlaceKind, PlaceQuestion
from viewer.domain.reading import SessionId, SessionSummary
from viewer.ui.tables.columns import grid_words
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.plain_text import Label

PLACES: Final = {
    PlaceKind.CELL: "a cell of the grid",
    PlaceKind.POINT: "a point",
    PlaceKind.BOXES: "a box",
    PlaceKind.MASK: "a mask",
}


@dataclass(frozen=True, slots=True)
class SessionWanted:
    """The reader wants to continue a session, or to see it again."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class ReplayWanted:
    """The user wants to see what was on screen in a finished session."""

    session: SessionId
    words: str
    cases: Sequence[int]


class SessionList(QWidget):
    """A row a session, with its reader and progress; hidden without any."""

    session_wanted = Signal(object)
    """SessionWanted"""
    replay_wanted = Signal(object)
    """ReplayWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QGridLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(title("Continue"))
        column.addLayout(self._rows)

    def show_sessions(
        self,
        sessions: Sequence[SessionSummary],
        recorded: Mapping[SessionId, Sequence[int]],
    ) -> None:
        """List sessions, unfinished ones first; ``recorded`` cases can be replayed."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        shown = [one for one in sessions if not one.withdrawn]
        for row, one in enumerate(sorted(shown, key=lambda s: s.finished)):
            self._list(row, one, recorded.get(one.id, ()))
        self.setVisible(bool(shown))

    def _list(self, row: int, one: SessionSummary, recorded: Sequence[int]) -> None:
        words = "View" if one.finished else "Continue"
        go = QPushButton(words)
        go.setAccessibleName(f"{words}: {what_words(one)}, {one.reader}")
        go.clicked.connect(partial(self._want, SessionWanted(one.id)))
        self._rows.addWidget(Label(what_words(one)), row, 0)
        self._rows.addWidget(caption(one.reader), row, 1)
        self._rows.addWidget(caption(session_words(one)), row, 2)
        self._rows.addWidget(go, row, 3)
        if recorded:
            again = QPushButton("Replay")
            again.setAccessibleName(f"Replay: {what_words(one)}, {one.reader}")
            again.setToolTip("See what was on screen, and for how long")
            told = ReplayWanted(one.id, f"{one.title} · {one.reader}", recorded)
            again.clicked.connect(partial(self._want, told))
            self._rows.addWidget(again, row, 4)
        self._rows.setColumnStretch(0, 2)
        self._rows.setColumnStretch(1, 1)
        self._rows.setColumnStretch(2, 1)

    def _want(
        self, wanted: SessionWanted | ReplayWanted, _checked: bool = False
    ) -> None:
        replays = isinstance(wanted, ReplayWanted)
        (self.replay_wanted if replays else self.session_wanted).emit(wanted)


def what_words(one: SessionSummary) -> str:
    """Return the run, the grid and the kind of answer of a session in words."""
    questions = [q for q in one.form.questions if isinstance(q, PlaceQuestion)]
    placed = [PLACES[k] for q in questions if q.required for k in q.kinds]
    run = [] if one.run is None else [f"run {one.run}"]
    grid = [grid_words(one.condition)] if one.condition else []
    return " · ".join((one.title, *run, *grid, *placed))


def session_words(one: SessionSummary) -> str:
    """Return the progress of a session in words."""
    unsure = f", {one.unresolved} unsure" if one.unresolved else ""
    return f"{one.done} of {one.planned} done{unsure}"
