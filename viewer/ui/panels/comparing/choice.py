"""The two sides to compare, and what comparing them now would mean."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.services.comparing.listing import ListedSide, Outlook
from viewer.services.comparing.sides import Side
from viewer.ui.widgets import theme
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import Label

Sides = tuple[Side, Side]


class CompareChoice(QWidget):
    """Two lists of runs and models, and the buttons that declare and compare."""

    sides_changed = Signal()
    """Another pair was chosen."""
    compare_wanted = Signal()
    declare_wanted = Signal()
    back_wanted = Signal()
    export_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first, self.second = LongChoice(), LongChoice()
        self.back = QPushButton("Back to results")
        self.swap = QPushButton("Swap")
        self.compare = QPushButton("Compare")
        self.declare = QPushButton("Declare first")
        self.export = QPushButton("Export…")
        self.outlook = Label()
        self._listed: tuple[ListedSide, ...] = ()
        self._explain()
        self._lay_out()
        self._connect()

    @property
    def sides(self) -> Sides | None:
        """The two sides chosen, None without two."""
        chosen = self.first.currentData(), self.second.currentData()
        return None if None in chosen else chosen

    def show_sides(self, listed: tuple[ListedSide, ...], runs: Sequence[int]) -> None:
        """List sides; choose two of the given runs, else of the newest."""
        self._listed = listed
        previous = self.sides
        for combo in (self.first, self.second):
            combo.blockSignals(True)
            combo.clear()
            for one in listed:
                combo.addItem(one.title, one.side)
        pair = self._wanted(runs) or previous
        for combo, side in zip((self.first, self.second), pair or (), strict=False):
            places = [i for i, one in enumerate(listed) if one.side == side]
            combo.setCurrentIndex(places[0] if places else 0)
        for combo in (self.first, self.second):
            combo.blockSignals(False)
        if not listed:
            self.outlook.setText("There is no run to compare yet.")
        self._allow()
        self.sides_changed.emit()

    def show_outlook(self, outlook: Outlook) -> None:
        """Say what a comparison would be, and offer to declare it if still possible."""
        self.outlook.setText(outlook.sentence)
        self.declare.setText(f"Declare {outlook.declarable_words} first")
        self.declare.setVisible(outlook.declarable > 0)
        self._allow()

    def _allow(self) -> None:
        sides = self.sides
        self.compare.setEnabled(sides is not None and sides[0] != sides[1])

    def _wanted(self, runs: Sequence[int]) -> Sides | None:
        """Return the first sides of two runs, or two of one, or one beside another."""
        mine = [one for one in self._listed if one.side.run in runs]
        if len({*runs}) > 1:
            heads = {one.side.run: one.side for one in reversed(mine)}
            pair = [heads[run] for run in runs if run in heads][:2]
            return (pair[0], pair[1]) if len(pair) > 1 else None
        if len(mine) > 1:
            return mine[0].side, mine[1].side
        if not mine:
            return None
        data = mine[0].dataset
        others = [o for o in self._listed if o.dataset == data and o not in mine]
        return (mine[0].side, others[0].side) if others else None

    def _swap(self) -> None:
        first, second = self.first.currentIndex(), self.second.currentIndex()
        self.first.blockSignals(True)
        self.first.setCurrentIndex(second)
        self.first.blockSignals(False)
        self.second.setCurrentIndex(first)

    def _connect(self) -> None:
        for combo in (self.first, self.second):
            combo.currentIndexChanged.connect(lambda _: self.sides_changed.emit())
        self.swap.clicked.connect(self._swap)
        self.compare.clicked.connect(self.compare_wanted)
        self.declare.clicked.connect(self.declare_wanted)
        self.back.clicked.connect(self.back_wanted)
        self.export.clicked.connect(self.export_wanted)

    def _explain(self) -> None:
        self.first.setAccessibleName("First run and model")
        self.second.setAccessibleName("Second run and model")
        self.compare.setProperty("primary", True)
        self.swap.setToolTip("Swap the first and the second")
        self.back.setToolTip("Return to the results of the selected run (Esc)")
        self.declare.setToolTip(
            "Declare, before seeing results, that every difference of this pair will "
            "be tested: stored with its time, it cannot be withdrawn"
        )
        self.export.setToolTip("Save tables, JSON and the figure to a folder")
        self.export.setEnabled(False)
        self.declare.hide()

    def _lay_out(self) -> None:
        title = Label("Compare")
        title.setFont(theme.title_font(self.font()))
        head, foot = QHBoxLayout(), QHBoxLayout()
        head.addWidget(title)
        head.addWidget(self.first, 1)
        head.addWidget(self.swap)
        head.addWidget(self.second, 1)
        self.outlook.setFont(theme.caption_font(self.font()))
        foot.addWidget(self.outlook, 1)
        for button in (self.declare, self.compare, self.export, self.back):
            foot.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addLayout(head)
        box.addLayout(foot)
