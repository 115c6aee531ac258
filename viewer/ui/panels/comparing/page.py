"""Comparison of two runs or models: rates, differences of prompts, and every item."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.domain.styles import sides_of
from viewer.services.comparing.export import forest_of, write_comparison
from viewer.services.comparing.listing import declare_at, listed_sides, outlook
from viewer.services.comparing.runs import (
    Comparison,
    Statistics,
    compare_at,
    condition_words,
    statistics_at,
    summary_sentence,
)
from viewer.services.comparing.statistics import GroupCounts
from viewer.services.comparing.tables import groups_table, methods_of, numbers_of_group
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.comparing.cells import CompareCells
from viewer.ui.panels.comparing.choice import CompareChoice
from viewer.ui.panels.comparing.differences import CompareDifferences
from viewer.ui.panels.comparing.film import CompareFilm, PairChosen, PairShown
from viewer.ui.panels.comparing.items import (
    ItemsWanted,
    items_wanted,
    name_of,
    nothing_compared,
)
from viewer.ui.panels.comparing.plot import ComparePlot
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import Purpose, choose_folder
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import Label, as_html, as_tip

_SIDE_WIDTH: Final = 300
_EVERY: Final = ""
_HINT: Final = (
    "Choose two runs, or two models of one, and compare them item by item:\n"
    "which each gets right, why verdicts differ, and what was asked differently.\n\n"
    "Declare first if the result should be confirmatory."
)


class ComparePage(QWidget):
    """The choice above, the results in the middle, the items as a strip below."""

    trial_chosen = Signal(object)
    """PairChosen: the user wants to see a case with both answers"""
    left = Signal()
    """The user wants to return to the results."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self.comparison: Comparison | None = None
        self.statistics: Statistics | None = None
        self._chosen: PairChosen | None = None
        self.choice, self.cells = CompareChoice(), CompareCells()
        self.plot, self.asked = ComparePlot(), CompareDifferences()
        self.film = CompareFilm(self._store, context.decoder)
        context.changes.deleted.connect(self.film.forget)
        self.summary, self.family, self.watermark = Label(), Label(), Label()
        self.causes = Label()
        self.condition, self.finding, self.cause = (
            LongChoice(), LongChoice(), QComboBox(),
        )  # fmt: skip
        self._body = QWidget()
        self._lay_out()
        self._connect()

    def open(self, runs: Sequence[int]) -> None:
        """List what can be compared, and choose sides of the given runs."""
        self._background_tasks.start(
            "sides",
            lambda: listed_sides(self._store),
            lambda listed: self.choice.show_sides(listed, runs),
            self._fail,
        )

    def compare(self) -> None:
        """Compare the two chosen sides in the background, first counts, then tests."""
        sides = self.choice.sides
        if sides is None:
            return
        self._clear()
        self.summary.setText("Comparing …")
        self._background_tasks.start(
            "compare", lambda: compare_at(self._store, *sides), self._show, self._fail
        )

    def declare(self) -> None:
        """Declare the pair's findings, and confirm it."""
        sides = self.choice.sides
        if sides is None:
            return
        self._background_tasks.start(
            "declare",
            lambda: declare_at(self._store, *sides),
            self._tell_declared,
            self._fail,
        )

    def ask_where_to_export(self) -> None:
        """Ask for the folder to write to."""
        choose_folder(self, "Export comparison", self.export_to, Purpose.RESULTS)

    def export_to(self, folder: Path) -> None:
        """Write the comparison's tables, JSON and figure into a folder."""
        comparison, statistics = self.comparison, self.statistics
        if comparison is None or statistics is None:
            return
        self._background_tasks.start(
            "export",
            lambda: write_comparison(comparison, statistics, folder),
            lambda files: self._context.notices.say(
                f"{counted(len(files), 'file')} saved to {folder.name}."
            ),
            self._fail,
        )

    def copy(self) -> None:
        """Copy the table of differences to the clipboard, for a spreadsheet."""
        if self.comparison is not None and self.statistics is not None:
            table = groups_table(self.comparison, self.statistics)
            rows = (table.header, *table.rows)
            text = "\n".join("\t".join(map(_pasted, row)) for row in rows)
            QGuiApplication.clipboard().setText(text)

    def return_to_item(self) -> None:
        """Return to the item whose case was opened."""
        if self._chosen is not None:
            self.film.select(self._chosen.trial)
        self.film.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Leave with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _change_sides(self) -> None:
        """Remove the comparison of the previous pair."""
        shown = self.comparison
        if shown is None or self.choice.sides != (shown.first, shown.second):
            self._clear()
        self._look_ahead()

    def _clear(self) -> None:
        """Clear an earlier comparison, and ignore its pending statistics."""
        for task in ("compare", "statistics"):
            self._background_tasks.cancel(task)
        self.comparison, self.statistics = None, None
        self.choice.export.setEnabled(False)
        self.summary.setText("")
        self._mark()
        self._body.hide()
        self.hint.setText(_HINT)
        self.hint.show()

    def _look_ahead(self) -> None:
        """Say what comparing the two chosen sides would be."""
        sides = self.choice.sides
        if sides is not None:
            self._background_tasks.start(
                "outlook",
                lambda: outlook(self._store, *sides),
                self.choice.show_outlook,
                self._fail,
            )

    def _tell_declared(self, sentence: str) -> None:
        self._context.notices.say(sentence)
        self._look_ahead()

    def _show(self, comparison: Comparison) -> None:
        self.comparison, self.statistics = comparison, None
        self.choice.export.setEnabled(False)
        self._body.setVisible(bool(comparison.groups))
        self.hint.setVisible(not comparison.groups)
        self.hint.setText(nothing_compared(comparison))
        self._mark()
        self.family.setText("Computing intervals and permutations …")
        causes = ", ".join(
            f"the {name} in {n}" for name, n in comparison.causes.items()
        )
        differ = f"Why verdicts differ, over all conditions: {causes}."
        self.causes.setText(differ if causes else "")
        self.asked.show_asked(comparison.asked, comparison.words)
        self._offer_filters(comparison)
        self._filter()
        self._background_tasks.start(
            "statistics",
            lambda: statistics_at(self._store, comparison),
            lambda statistics: self._show_statistics(comparison, statistics),
            self._fail,
        )
        self._look_ahead()

    def _mark(self) -> None:
        """Show a warning over the numbers of unfinished runs."""
        words = self.comparison.watermark if self.comparison else ""
        colour = theme.current().warning
        self.watermark.setTextFormat(Qt.TextFormat.RichText)
        self.watermark.setText(f'<b style="color:{colour}">⚠ {as_html(words)}</b>')
        self.watermark.setVisible(bool(words))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Colour the names again when the theme changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.comparison is not None:
            self._mark()
            self._name_sides()

    def _show_statistics(self, comparison: Comparison, statistics: Statistics) -> None:
        if comparison is not self.comparison:
            return
        self.statistics = statistics
        self.choice.export.setEnabled(True)
        self.family.setText(statistics.adjustment.sentence)
        methods = methods_of(statistics, comparison.words)
        self.family.setToolTip(as_tip("\n".join(methods)))
        self._draw()
        self._tell_group()

    def _draw(self) -> None:
        """Draw the differences under the condition chosen, once there are any."""
        comparison, statistics = self.comparison, self.statistics
        if comparison is not None and statistics is not None:
            chosen = self.condition.currentData() or ""
            self.plot.show_figure(forest_of(comparison, statistics, chosen))

    def _choose_condition(self) -> None:
        """Show another condition: its findings, differences and items."""
        comparison = self.comparison
        if comparison is not None:
            self._offer_findings(comparison)
            self._tell_summary(comparison)
            self._draw()
            self._filter()

    def _offer_filters(self, comparison: Comparison) -> None:
        self._refill(self.condition)
        for condition in comparison.conditions:
            self.condition.addItem(
                condition_words(comparison.words, condition), condition
            )
        self.condition.setVisible(len(comparison.conditions) > 1)
        self.condition.blockSignals(False)
        self._offer_findings(comparison)
        self._tell_summary(comparison)
        self._refill(self.cause)
        self.cause.addItem("Every cause", _EVERY)
        for cause, n in comparison.causes.items():
            self.cause.addItem(f"{cause.value.capitalize()} ({n})", cause.value)
        self.cause.blockSignals(False)

    def _offer_findings(self, comparison: Comparison) -> None:
        """Offer the findings compared under the chosen condition, "all" first."""
        condition = self.condition.currentData()
        groups = [g for g in comparison.groups if g.condition == condition]
        self._refill(self.finding)
        for group in sorted(groups, key=lambda one: not one.pooled):
            self.finding.addItem(name_of(group, comparison.words), group.key)
        self.finding.blockSignals(False)

    def _tell_summary(self, comparison: Comparison) -> None:
        summary = summary_sentence(comparison, self.condition.currentData() or "")
        self.summary.setText(summary.removeprefix(comparison.watermark).strip())

    def _refill(self, combo: QComboBox) -> None:
        combo.blockSignals(True)
        combo.clear()

    @property
    def group(self) -> GroupCounts | None:
        """The group whose 2 × 2 is shown."""
        groups = self.comparison.groups if self.comparison else ()
        key = self.finding.currentData()
        return next((one for one in groups if one.key == key), None)

    def _filter(self) -> None:
        """Show the 2 × 2 of the chosen finding, and the items of its chosen cells."""
        comparison, group = self.comparison, self.group
        if comparison is None or group is None:
            self.film.show_items("Nothing is compared yet.", ())
            return
        self._name_sides()
        wanted = ItemsWanted(
            group, self.cells.chosen, self.cause.currentData() or _EVERY
        )
        self._background_tasks.start(
            "items",
            lambda: items_wanted(comparison, wanted),
            lambda items: self._show_items(name_of(group, comparison.words), items),
            self._fail,
        )
        self._tell_group()

    def _name_sides(self) -> None:
        """Show the counts of the chosen group, each side with its name and colour."""
        comparison, group = self.comparison, self.group
        if comparison is None or group is None:
            return
        names = models = comparison.first.model, comparison.second.model
        if names[0] == names[1]:
            names = str(comparison.first), str(comparison.second)
        sides = zip(names, sides_of(models), strict=True)
        self.cells.show_counts(group, tuple(sides), comparison.words.verdicts)

    def _show_items(self, name: str, items: tuple[PairShown, ...]) -> None:
        found = counted(len(items), "item") if items else "no items in these cells"
        self.film.show_items(f"{name}: {found}", items)

    def _tell_group(self) -> None:
        """Write the chosen group's numbers out once they are computed."""
        comparison, statistics, group = self.comparison, self.statistics, self.group
        told: tuple[str, ...] = ()
        if comparison is not None and statistics is not None and group is not None:
            told = numbers_of_group(comparison, statistics, group.key)
        self.told.setText("\n".join(told))

    def _choose(self, event: PairChosen) -> None:
        self._chosen = event
        self.trial_chosen.emit(event)

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix; raise others."""
        if not isinstance(error, OverreadError):
            raise error
        self.summary.setText(str(error))

    def _connect(self) -> None:
        self.choice.sides_changed.connect(self._change_sides)
        self.choice.compare_wanted.connect(self.compare)
        self.choice.declare_wanted.connect(self.declare)
        self.choice.export_wanted.connect(self.ask_where_to_export)
        self.choice.back_wanted.connect(self.left)
        self.cells.cells_chosen.connect(self._filter)
        self.condition.currentIndexChanged.connect(lambda _: self._choose_condition())
        for combo in (self.finding, self.cause):
            combo.currentIndexChanged.connect(lambda _: self._filter())
        self.film.pair_chosen.connect(self._choose)

    def _lay_out(self) -> None:
        self.told = Label()
        for label in (self.family, self.told, self.causes):
            label.setFont(theme.caption_font(self.font()))
        for label in (
            self.summary, self.family, self.watermark, self.causes, self.told,
        ):  # fmt: skip
            label.setWordWrap(True)
        self.watermark.hide()
        tabs = QTabWidget()
        tabs.setDocumentMode(True)
        tabs.tabBar().setDrawBase(False)
        tabs.addTab(self._numbers(), "Differences")
        tabs.addTab(self.asked, "What was asked")
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(8)
        body.addWidget(self.family)
        body.addWidget(tabs, 1)
        body.addWidget(self.film)
        self._body.hide()
        self.hint = Label(_HINT)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 8)
        box.setSpacing(8)
        box.addWidget(self.choice)
        box.addWidget(self.watermark)
        box.addWidget(self.summary)
        box.addWidget(self._body, 1)
        box.addWidget(self.hint, 1)

    def _numbers(self) -> QWidget:
        """Return the page with the charts and, at their right, the 2 × 2."""
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(12, 0, 0, 0)
        column.setSpacing(8)
        self.condition.setAccessibleName("Condition under which items are compared")
        self.finding.setAccessibleName("What the 2 × 2 is about")
        self.cause.setAccessibleName("Why the verdicts differ")
        above = (self.condition, self.finding, self.cells)
        for widget in (*above, self.cause, self.causes, self.told):
            column.addWidget(widget)
        column.addStretch(1)
        page = QWidget()
        across = QHBoxLayout(page)
        across.setContentsMargins(0, 8, 0, 0)
        across.addWidget(self.plot, 1)
        across.addWidget(_scrolled(side))
        return page


def _scrolled(side: QWidget) -> QScrollArea:
    """Return a column of a fixed width that a low window scrolls."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    area.setFixedWidth(_SIDE_WIDTH)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(side)
    return area


def _pasted(value: object) -> str:
    return "" if value is None else str(value)
