"""The choice of a study's task, the reader's group, and how many cases."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from viewer.services.readings.advice import AidSource
from viewer.services.readings.task_choice import TaskChoice, TaskOffer, TaskWanted
from viewer.ui.panels.review.aid import AidChoice
from viewer.ui.widgets.labels import caption, primary
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.number_box import WholeBox

_MOST: Final = 100_000
_FIRST: Final = 20
"""How many cases are drawn until somebody says otherwise."""
_TYPING_MS: Final = 200
_ALL, _DRAWN = "all", "drawn"
_GROUPS: Final = ("I", "II")
"""Of Sun 2024, 3.2; others can be typed."""
_NOTHING: Final = (
    "No study has anything for readers yet. Import a data set of questions, or of "
    "cases with evidence, or finish a run whose outputs are graded."
)
_LOOKING: Final = "Looking for what there is to do…"


class TaskCard(QWidget):
    """Tasks of studies, and which part of one is read."""

    changed = Signal(object)
    """TaskWanted: another task, or another part of it, is chosen"""
    wanted = Signal(object)
    """TaskWanted: the reader wants to begin"""
    refused = Signal(object)
    """str: why the reader cannot begin yet"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tasks, self.words = LongChoice("Task"), caption(_LOOKING)
        self.group, self.amount = QComboBox(), NamedChoice()
        self.sample, self.begin = WholeBox(1, _MOST), primary("Begin")
        self.aid = AidChoice()
        self._soon = QTimer(self, interval=_TYPING_MS, singleShot=True)
        self._fill()
        self._lay_out()
        self._connect()
        self.offer_tasks(())

    def _fill(self) -> None:
        self.group.setEditable(True)
        self.group.addItems(_GROUPS)
        self.group.setCurrentIndex(-1)  # nobody is in a group unasked
        line = self.group.lineEdit()
        assert line is not None  # noqa: S101 - it is editable
        line.setPlaceholderText("Group")
        self.group.setMinimumContentsLength(len("Group") + 1)
        self.group.setToolTip("Readers are compared and pooled within their group")
        self.amount.offer({_ALL: "All cases", _DRAWN: "A drawn sample of"})
        self.amount.setToolTip("Every reader gets the same sample, in another order")
        self.sample.setValue(_FIRST)
        for widget, name in (
            (self.tasks, "Task"),
            (self.group, "Group of readers"),
            (self.amount, "Which cases"),
            (self.sample, "Size of the sample"),
        ):
            widget.setAccessibleName(name)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        rows = ((self.tasks, self.group), (self.amount, self.sample), (self.begin,))
        for number, widgets in enumerate(rows):
            row = QHBoxLayout()
            row.setSpacing(8)
            for widget in widgets:
                row.addWidget(widget, 1 if widget is self.tasks else 0)
            if number:
                row.addStretch(1)
            if widgets == (self.begin,):
                column.addWidget(self.aid)
                column.addWidget(self.words)
            column.addLayout(row)

    def _connect(self) -> None:
        self.tasks.currentIndexChanged.connect(self._change)
        self.amount.currentIndexChanged.connect(self._change)
        self.sample.valueChanged.connect(self._soon.start)
        self.aid.changed.connect(self._change)
        self._soon.timeout.connect(self._change)
        self.begin.clicked.connect(self._begin)

    @property
    def choice(self) -> TaskChoice | None:
        """The chosen task, None if there is none."""
        choice = self.tasks.currentData()
        return choice if isinstance(choice, TaskChoice) else None

    def offer_tasks(self, choices: Sequence[TaskChoice]) -> None:
        """Offer tasks; keep the choice if it is still there."""
        chosen = self.choice
        self.tasks.blockSignals(True)
        self.tasks.clear()
        for choice in choices:
            self.tasks.addItem(choice.words, choice)
        self.tasks.setCurrentIndex(choices.index(chosen) if chosen in choices else 0)
        self.tasks.blockSignals(False)
        self.tasks.setEnabled(bool(choices))
        self._change()

    def choose(self, dataset: str, run: int | None) -> bool:
        """Choose a task on a run's outputs, else on a data set; tell if there is one.

        Of several the first is chosen.
        """
        choices: list[TaskChoice] = [
            self.tasks.itemData(row) for row in range(self.tasks.count())
        ]
        of_set = [one for one in choices if one.wanted.dataset == dataset]
        of_run = [one for one in of_set if run is not None and one.wanted.run == run]
        found = of_run or [one for one in of_set if one.wanted.run is None]
        if found:
            self.tasks.setCurrentIndex(choices.index(found[0]))
        return bool(found)

    def _change(self) -> None:
        choice, drawn = self.choice, self.amount.name == _DRAWN
        self.group.setVisible(choice is not None and choice.in_panels)
        self.amount.setVisible(choice is not None)
        self.sample.setVisible(choice is not None and drawn)
        self.aid.setVisible(choice is not None and choice.can_be_aided)
        self.sample.setSuffix(f" {choice.unit}" if choice else "")
        self.begin.setEnabled(False)  # until it is known how much there is
        self.words.setText(_NOTHING if choice is None else "Counting…")
        if choice is not None:
            self.changed.emit(self._wanted(choice))

    def _wanted(self, choice: TaskChoice) -> TaskWanted:
        limit = self.sample.value() if self.amount.name == _DRAWN else None
        group = self.group.currentText().strip() if choice.in_panels else ""
        wanted = replace(choice.wanted, limit=limit, panel=group)
        aid = self.aid.aid if choice.can_be_aided else None
        return replace(wanted, aid=aid, seed=self.aid.seed.value()) if aid else wanted

    def offer_models(self, wanted: TaskWanted, sources: Sequence[AidSource]) -> bool:
        """Offer models whose answers can be shown; tell if ``wanted`` is still so."""
        self.aid.offer(sources)
        choice = self.choice
        return choice is not None and self._wanted(choice) == wanted

    def look_again(self) -> None:
        """Ask again how much there is to read."""
        self._change()

    def show_offer(self, offer: TaskOffer) -> None:
        """Say how much there is to read of the chosen task."""
        self.words.setText(f"{offer.about} {offer.sentence}")
        choice = self.choice
        lacks = choice is not None and choice.can_be_aided and self.aid.lacks_model
        self.begin.setEnabled(offer.cases > 0 and not lacks)

    def say(self, problem: str) -> None:
        """Say why the chosen task cannot be read."""
        self.words.setText(problem)

    def _begin(self) -> None:
        choice = self.choice
        if choice is None:
            return
        wanted = self._wanted(choice)
        if choice.in_panels and not wanted.panel:
            self.refused.emit("Enter the group of readers first, such as I.")
            self.group.setFocus()
        else:
            self.wanted.emit(wanted)
