"""Steps from one disagreement to the next, back and forth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from viewer.services.inspecting.predictions.tour import (
    Between,
    Disagreement,
    all_of,
    disagreements,
)
from viewer.services.inspecting.predictions.view import ResultsView
from viewer.services.inspecting.runs import TrialRow, trial_rows_at
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.measure.filmstrip import TrialChosen
from viewer.ui.panels.measure.outcome_words import glyph, words
from viewer.ui.widgets.plain_text import Label

_KINDS: Final = {
    Between.REFERENCE: "model and reference",
    Between.MODELS: "model and model",
    Between.READERS: "reader and model",
}
_NAMED: Final = 3
"""Of those who hit, how many are named, and drawn beside the miss."""


class Tour(QObject):
    """The disagreements among the predictions shown, and the current one."""

    stop_reached = Signal(object)
    """TrialChosen"""
    told = Signal(str)
    """What the tour is about, in words; "" if it has not begun."""
    arrived = Signal(str)
    """The position of the tour in words, for the page of the case."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self._stops: tuple[Disagreement, ...] | None = None
        self._at = -1
        self._between = Between.REFERENCE
        self._groups: ResultsView | None = None
        self._row: int | None = None
        self.run: int | None = None
        """What is toured before any predictions were looked at; None for the newest."""

    @property
    def between(self) -> Between:
        """Which models disagree."""
        return self._between

    @between.setter
    def between(self, between: Between) -> None:
        self._between = between
        self.forget()

    def look_at(self, groups: ResultsView, row: int | None) -> None:
        """Tour a row of the groups from now on, or all of them."""
        self._groups, self._row = groups, row
        self.forget()

    def forget(self) -> None:
        """Start again with the next step."""
        self._background_tasks.cancel_all()
        self._stops, self._at = None, -1
        self.told.emit("")

    def step(self, by: int) -> None:
        """Step by a number of disagreements, negative for back; wraps around."""
        if self._stops is not None:
            self._go(by)
            return
        groups, row, run = self._groups, self._row, self.run
        store, between = self._store, self._between
        self.told.emit("Looking for disagreements …")
        self._background_tasks.start(
            "stops",
            lambda: disagreements(store, groups or all_of(store, run), row, between),
            lambda stops: self._begin(stops, by),
            self._fail,
        )

    def _begin(self, stops: tuple[Disagreement, ...], by: int) -> None:
        self._stops, self._at = stops, -1 if by > 0 else len(stops)
        self._go(by)

    def _go(self, by: int) -> None:
        stops = self._stops or ()
        if not stops:
            self.told.emit(f"No disagreement between {_KINDS[self._between]} here.")
            return
        self._at = (self._at + by) % len(stops)
        stop, where = stops[self._at], f"{self._at + 1:,} of {len(stops):,}"
        self._background_tasks.start(
            "words",
            lambda: _rows(self._store, stop),
            lambda rows: self._arrive(where, rows),
            self._fail,
        )
        self.stop_reached.emit(TrialChosen(stop.trial, stop.others[:_NAMED]))

    def _arrive(self, where: str, rows: Sequence[TrialRow]) -> None:
        if rows:
            self.arrived.emit(f"Disagreement {where} · {_answers(rows)}")
            return
        self.forget()
        self.told.emit("These answers were deleted. Press Next to search again.")

    def _fail(self, error: Exception) -> None:
        tell_error(self._context, error)


def _rows(store: Path, stop: Disagreement) -> tuple[TrialRow, ...]:
    return trial_rows_at(store, [stop.trial, *stop.others[:_NAMED]])


def _answers(rows: Sequence[TrialRow]) -> str:
    """Return who answered what; if more than three hit, not all are named."""
    answers = [
        f"{row.model} {glyph(row.score)} {row.score.answer} {words(row.score)}"
        for row in rows
    ]
    return f"{rows[0].called[0]} · {' · '.join(answers)}"


class TourBar(QWidget):
    """Which disagreements to step through, with Back, Next and the position."""

    def __init__(self, tour: Tour, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kinds, self.words = QComboBox(), Label()
        self.back, self.on = QPushButton("Previous"), QPushButton("Next")
        for between, text in _KINDS.items():
            self.kinds.addItem(f"Disagreements of {text}", between.value)
        self.kinds.setAccessibleName("Whose disagreements")
        self.back.setToolTip("Open the previous disagreement (P)")
        self.on.setToolTip("Open the next disagreement of this row (N)")
        self.kinds.currentIndexChanged.connect(
            lambda: setattr(tour, "between", Between(self.kinds.currentData()))
        )
        self.back.clicked.connect(lambda: tour.step(-1))
        self.on.clicked.connect(lambda: tour.step(1))
        tour.told.connect(self.words.setText)
        tour.arrived.connect(self.words.setText)
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        for widget in (self.kinds, self.back, self.on):
            box.addWidget(widget)
        box.addWidget(self.words, 1)
