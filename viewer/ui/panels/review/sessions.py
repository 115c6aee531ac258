"""The sessions that were begun: to continue, to see again, or to replay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

_RESULTS: Final = "How far its readers agree, and what a model's answers did to them"


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


@dataclass(frozen=True, slots=True)
class ResultsWanted:
    """The user wants to see how the readers of a finished session's work did."""

    session: SessionId
    words: str


class SessionList(QWidget):
    """A row a session, with its reader and progress; hidden without any."""

    session_wanted = Signal(object)
    """SessionWanted"""
    replay_wanted = Signal(object)
    """ReplayWanted"""
    results_wanted = Signal(object)
    """ResultsWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QGridLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(title("Continue"))
        column.addLayout(self._rows)
        self.hide()  # until it is known that there is one

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
        words = f"{one.title} · {one.reader}"
        self._rows.addWidget(Label(what_words(one)), row, 0)
        self._rows.addWidget(caption(one.reader), row, 1)
        self._rows.addWidget(caption(session_words(one)), row, 2)
        for column, stretch in enumerate((2, 1, 1)):
            self._rows.setColumnStretch(column, stretch)
        go = self._add("View" if one.finished else "Continue", (row, 3), one)
        go.clicked.connect(lambda: self.session_wanted.emit(SessionWanted(one.id)))
        if one.finished and not one.visiting:
            results = self._add("Results", (row, 4), one)
            results.setToolTip(_RESULTS)
            told = ResultsWanted(one.id, words)
            results.clicked.connect(lambda: self.results_wanted.emit(told))
        if recorded:
            again = self._add("Replay", (row, 5), one)
            again.setToolTip("See what was on screen, and for how long")
            replay = ReplayWanted(one.id, words, recorded)
            again.clicked.connect(lambda: self.replay_wanted.emit(replay))

    def _add(self, words: str, at: tuple[int, int], one: SessionSummary) -> QPushButton:
        button = QPushButton(words)
        button.setAccessibleName(f"{words}: {what_words(one)}, {one.reader}")
        self._rows.addWidget(button, *at)
        return button


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
