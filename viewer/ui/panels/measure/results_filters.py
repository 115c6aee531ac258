"""Filters and grouping of predictions."""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.answer import Status
from viewer.domain.result import Outcome
from viewer.domain.study_words import StudyWords
from viewer.services.inspecting.predictions.view import By, Offered, Wanted
from viewer.ui.tables.columns import header_of, shown
from viewer.ui.widgets.number_box import DecimalBox
from viewer.ui.widgets.plain_text import Label, as_tip
from viewer.ui.widgets.some_of import SomeOf

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVERY_RUN: Final = "Every run"
_NAMES: Final = ("finding", "view", "condition", "model", "status", "outcome")
_OUTCOMES: Final = {
    Outcome.FULL: "hit",
    Outcome.FULL_FALLBACK: "hit in the best-covered cell",
    Outcome.PARTIAL: "partial",
    Outcome.MISS: "miss",
}
FIRST: Final = (By.FINDING, By.CONDITION, By.MODEL)
"""What predictions are grouped by at first."""
_TYPING_MS: Final = 200
_ROW: Final = 5
"""Filters beside one another."""


class ResultsFilters(QWidget):
    """Check boxes for the grouping, and below them a choice for each property."""

    changed = Signal()
    """What is wanted, or what it is grouped by, is another."""
    run_chosen = Signal()
    """Another run, or all runs, were chosen, with other filter values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes = {by: QCheckBox(header_of(by.value)) for by in By}
        self.runs = QComboBox()
        self.choices = {
            name: SomeOf(f"Filter by {name}", f"Every {name}") for name in _NAMES
        }
        self.patient = QLineEdit()
        self.low, self.high = DecimalBox(), DecimalBox()
        self.coverage, self._grid = QWidget(), QGridLayout()
        self.reset = QPushButton("Show all")
        self._soon = QTimer(self, interval=_TYPING_MS, singleShot=True)
        self._soon.timeout.connect(self.changed)
        self._prepare()
        self._connect()
        self._lay_out()

    @property
    def by(self) -> tuple[By, ...]:
        """What predictions are grouped by."""
        return tuple(by for by, box in self.boxes.items() if box.isChecked())

    @property
    def wanted(self) -> Wanted:
        """The filters of the predictions."""
        some = {name: choice.values for name, choice in self.choices.items()}
        whole = self.low.value() <= 0 and self.high.value() >= self.high.maximum()
        return Wanted(
            runs=() if self.run is None else (self.run,),
            findings=some["finding"],
            views=some["view"],
            conditions=some["condition"],
            models=some["model"],
            statuses=tuple(map(Status, some["status"])),
            outcomes=tuple(map(Outcome, some["outcome"])),
            patient=self.patient.text().strip(),
            coverage=None
            if whole
            else (self.low.value() / 100, self.high.value() / 100),
        )

    def group_by(self, names: Sequence[str]) -> None:
        """Restore the grouping of an earlier session."""
        with self._quietly():
            for by, box in self.boxes.items():
                box.setChecked(by.value in names)

    @property
    def run(self) -> int | None:
        """The run that is shown, None for every one."""
        value = self.runs.currentData()
        return value if isinstance(value, int) else None

    def offer(self, offered: Offered, run: int | None) -> None:
        """Offer the available values, and select a run, or all runs with None.

        A choice that is no longer available is reset to show everything.
        """
        values = {
            "finding": offered.findings,
            "view": offered.views,
            "condition": offered.conditions,
            "model": offered.models,
        }
        words = offered.words
        with self._quietly():
            for name, some in values.items():
                texts = [shown(name, value, words) for value in some]
                self.choices[name].offer(some, texts)
            self._speak(words)
            self.runs.clear()
            self.runs.addItem(_EVERY_RUN, None)
            for number in offered.runs:
                self.runs.addItem(f"Run {number}", number)
            at = 0 if run is None else max(0, self.runs.findData(run))
            self.runs.setCurrentIndex(at)

    def _speak(self, words: StudyWords) -> None:
        """Name groups and filters in the words of a study.

        What only answers have that are places is not asked about others.
        """
        for by, box in self.boxes.items():
            box.setText(header_of(by.value, words))
        for name in ("finding", "view"):
            called = header_of(name, words).lower()
            self.choices[name].rename(f"Filter by {called}", f"Every {called}")
        placing = (self.choices["outcome"], self.coverage)
        self._place(*(() if words.places else placing))
        if not words.places:
            self.choices["outcome"].choose(())
            self._cover_all()

    def _cover_all(self) -> None:
        self.low.setValue(0)
        self.high.setValue(self.high.maximum())

    def choose_run(self, run: int) -> bool:
        """Show a run, unless every one is shown; False if it is unknown."""
        at = self.runs.findData(run)
        if self.run is not None and at > 0:
            self.runs.setCurrentIndex(at)
        return at > 0

    def show_all(self) -> None:
        """Clear every filter."""
        with self._quietly():
            self.runs.setCurrentIndex(0)
            for choice in self.choices.values():
                choice.choose(())
            self.patient.clear()
            self._cover_all()
        self.run_chosen.emit()

    @contextmanager
    def _quietly(self) -> "Iterator[None]":
        """Change several things without emitting signals."""
        self.blockSignals(True)
        yield
        # The fields' own signals were not blocked, and have started it.
        self._soon.stop()
        self.blockSignals(False)

    def _prepare(self) -> None:
        self.group_by([by.value for by in FIRST])
        self.runs.addItem(_EVERY_RUN, None)
        self.runs.setAccessibleName("Filter by run")
        statuses = [status.value.replace("_", " ") for status in Status]
        self.choices["status"].offer(list(Status), statuses)
        self.choices["outcome"].offer(list(Outcome), list(_OUTCOMES.values()))
        self.patient.setPlaceholderText("Patient …")
        self.patient.setClearButtonEnabled(True)
        self.patient.setAccessibleName("Filter by a part of the patient's pseudonym")
        _prepare_coverage(self.low, "Minimum coverage", 0)
        _prepare_coverage(self.high, "Maximum coverage", 100)

    def _connect(self) -> None:
        for box in self.boxes.values():
            box.toggled.connect(self.changed)
        self.runs.currentIndexChanged.connect(self.run_chosen)
        for choice in self.choices.values():
            choice.changed.connect(self.changed)
        self.patient.textChanged.connect(self._soon.start)
        self.low.valueChanged.connect(self._soon.start)
        self.high.valueChanged.connect(self._soon.start)
        self.reset.setToolTip("Clear all filters")
        self.reset.clicked.connect(self.show_all)

    def _lay_out(self) -> None:
        grouping = QHBoxLayout()
        grouping.setSpacing(12)
        grouping.addWidget(Label("Group by"))
        for check in self.boxes.values():
            grouping.addWidget(check)
        grouping.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addLayout(grouping)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        for column in range(_ROW):
            self._grid.setColumnStretch(column, 1)
        self._fill_coverage()
        box.addLayout(self._grid)
        self._place()

    def _fill_coverage(self) -> None:
        inner = QHBoxLayout(self.coverage)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(4)
        for part in (Label("Coverage"), self.low, Label("to"), self.high):
            inner.addWidget(part)

    def _place(self, *left_out: QWidget) -> None:
        """Lay the filters out side by side in rows, except some."""
        choices = (self.runs, *self.choices.values())
        every = (*choices, self.patient, self.coverage, self.reset)
        for widget in every:
            self._grid.removeWidget(widget)
        there = [widget for widget in every if widget not in left_out]
        for place, widget in enumerate(there):
            self._grid.addWidget(widget, *divmod(place, _ROW))
        for widget in every:
            widget.setVisible(widget in there)


def _prepare_coverage(box: QDoubleSpinBox, words: str, value: float) -> None:
    box.setRange(0, 100)
    box.setDecimals(0)
    box.setSuffix(" %")
    box.setValue(value)
    box.setAccessibleName(words)
    box.setToolTip(as_tip(f"{words} of the answered cell by the reference"))
