"""Every prediction, grouped and filtered, with the interval of a row's rate."""

from dataclasses import dataclass
from math import inf, isnan
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.counting import counted
from viewer.domain.study_words import Verdicts
from viewer.metrics.estimate import Estimate
from viewer.metrics.printed import as_percent
from viewer.services.exporting.export_table import TABLE_FILES, export_table
from viewer.services.inspecting.predictions.groups import AT_ONCE, grouped, offered
from viewer.services.inspecting.predictions.view import By, Offered, ResultsView, Tally
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.measure.results_filters import FIRST, ResultsFilters
from viewer.ui.tables.columns import shown
from viewer.ui.tables.results_groups_view import GroupsView, NumberChosen
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import choose_to_write
from viewer.ui.widgets.plain_text import Label

_REST_MS: Final = 250
"""How long a table or a row rests before what takes longer is computed."""
_AT_ONCE_MS: Final = 500
"""The interval at which a running run is counted again."""
_ABSENT: Final = "Denying an absent finding is not a hit: this row has no rate."
_POOLED: Final = (
    "This row has no rate: it mixes {}. Group by them, or choose one of each."
)
_FIRST: Final = "{}, {} first"
_KINDS: Final = {
    "n": _FIRST.format("settled", "{}"),
    "n_scored": _FIRST.format("scored", "{}"),
    "n_failed": "failed",
    "n_refused": "refused",
    "n_unparsed": "unparsed",
    "n_excluded": "excluded",
    "n_pending": "pending",
    "partial": "partial hits",
}
"""What the trials of a column are called."""


@dataclass(frozen=True, slots=True)
class GroupsChoice:
    """The user's choices, for the next start."""

    by: tuple[str, ...] = tuple(by.value for by in FIRST)
    every_run: bool = False
    sorted_by: str = ""
    descending: bool = False


class GroupsPanel(QWidget):
    """Grouping and filters above, the table, and the details of its current row."""

    number_chosen = Signal(object)
    """NumberChosen, or None if there is no row"""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self._run: int | None = None
        self._every_run = False
        self._offered = False
        self.filters, self.table = ResultsFilters(), GroupsView()
        self.summary, self.details = Label(), Label()
        self.copy = QPushButton("Copy table")
        self.export = QPushButton("Export table…")
        self._whole = QTimer(self, interval=_REST_MS, singleShot=True)
        self._again = QTimer(self, interval=_AT_ONCE_MS, singleShot=True)
        self._prepare()
        self._lay_out()

    @property
    def groups(self) -> ResultsView:
        """What the table shows."""
        return self.table.model_.groups

    @property
    def choice(self) -> GroupsChoice:
        """The user's current choices."""
        name, descending = self.table.model_.sorted_by
        by = tuple(by.value for by in self.filters.by)
        return GroupsChoice(by, self._looks_at_every_run, name, descending)

    @property
    def _looks_at_every_run(self) -> bool:
        """Whether the user chose to see every run, now or in an earlier session."""
        return self.filters.run is None if self._offered else self._every_run

    def recall(self, choice: GroupsChoice) -> None:
        """Restore the choices of the previous session."""
        self.filters.group_by(choice.by)
        self._every_run = choice.every_run
        self.table.sort_by(choice.sorted_by, descending=choice.descending)

    def show_run(self, run: int) -> None:
        """Show a run, unless the predictions of every run are shown."""
        self._run = run
        if not self._offered or not self.filters.choose_run(run):
            self.refresh()

    def refresh(self) -> None:
        """Read the available values again, then count."""
        run = None if self._looks_at_every_run else self._run
        self._background_tasks.start(
            "offered",
            lambda: offered(self._store, run),
            self._offer,
            lambda error: tell_error(self._context, error),
        )

    def refresh_soon(self) -> None:
        """Count again soon; several calls in a moment are merged into one."""
        if not self._again.isActive():
            self._again.start()

    def ask_where_to_export(self) -> None:
        """Ask for the file to write."""
        choose_to_write(
            self, "Export table", "predictions.csv", TABLE_FILES, self.export_to
        )

    def export_to(self, path: Path) -> None:
        """Write the table, every row of it, in the order shown."""
        model = self.table.model_
        groups, order = model.groups, model.groups_in_order()
        self._background_tasks.start(
            path,
            lambda: export_table(groups.table(order), path),
            lambda _: self._context.notices.say(f"{path.name} has been saved."),
            lambda error: tell_error(self._context, error),
        )

    def _turn_to_run(self) -> None:
        """Offer the values of the run that is now shown, then count."""
        self._run = self.filters.run or self._run
        self.refresh()

    def count(self) -> None:
        """Count the filtered predictions in the background."""
        self._count(AT_ONCE)

    def _count(self, most: float) -> None:
        self._whole.stop()
        by, wanted = self.filters.by, self.filters.wanted
        self._background_tasks.start(
            "groups",
            lambda: grouped(self._store, by, wanted, most=most),
            self._show,
            lambda error: tell_error(self._context, error),
        )

    def _offer(self, choice: Offered) -> None:
        every = self._looks_at_every_run
        self.filters.offer(choice, None if every else self._run)
        self._offered = True
        self.count()

    def _show(self, groups: ResultsView) -> None:
        self.summary.setText(summary_words(groups))
        whole = bool(groups.keys) and not groups.lacks_intervals
        self.copy.setEnabled(whole)
        self.export.setEnabled(whole)
        self.table.show_groups(groups)
        self._tell_row(self.table.chosen)
        if groups.is_preliminary:
            self._whole.start()

    def _choose(self, chosen: NumberChosen | None) -> None:
        self._tell_row(chosen)
        self.number_chosen.emit(chosen)

    def _tell_row(self, chosen: NumberChosen | None) -> None:
        if chosen is None or chosen.group >= len(self.groups.keys):
            self.details.setText("")
        else:
            self.details.setText(row_words(self.groups, chosen.group))

    def _prepare(self) -> None:
        self.summary.setFont(theme.title_font(self.font()))
        self.summary.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.details.setFont(theme.caption_font(self.font()))
        for label in (self.summary, self.details):
            label.setWordWrap(True)
        self.details.setMinimumHeight(2 * self.details.fontMetrics().height())
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.copy.setToolTip(
            "Copy every row, with its header, to paste into a sheet; Ctrl+C copies the"
            " selected rows"
        )
        self.export.setToolTip("Save predictions.csv: every row in the order shown")
        self.copy.clicked.connect(self.table.copy_all)
        self.export.clicked.connect(self.ask_where_to_export)
        self.filters.changed.connect(self.count)
        self.filters.run_chosen.connect(self._turn_to_run)
        self.table.number_chosen.connect(self._choose)
        self._whole.timeout.connect(lambda: self._count(inf))
        self._again.timeout.connect(self.refresh)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.summary, 1)
        head.addWidget(self.copy)
        head.addWidget(self.export)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.filters)
        box.addLayout(head)
        box.addWidget(self.table, 1)
        box.addWidget(self.details)


def summary_words(groups: ResultsView) -> str:
    """Return how all rows together ended (X-01)."""
    total, gone = groups.total, _gone_words(groups.left_out)
    if not total.n_planned:
        return " ".join(("No prediction matches the filters.", *gone))
    parts = [counted(total.n_planned, "prediction")]
    if groups.wanted.by_ending:
        parts.append("selected by outcome: counts only, because a rate would mislead")
    elif groups.absent:
        parts.append("some have an absent finding: no rate over all of them")
    elif not groups.has_rate():
        parts.append(f"{groups.pooled[None].several}: no rate over all of them")
    elif (estimate := groups.estimate()) is not None:
        told = groups.words.verdicts.count(total.k, right=True)
        parts.append(f"{told} of {total.n:,} = {_estimate_words(estimate)}")
    if groups.reused:
        again = counted(groups.reused, "prediction")
        parts.append(
            f"{again} {_SHOW[groups.reused > 1]} a reply that is already counted"
        )
    return " · ".join([*parts, *_rest_words(total), *gone])


_SHOW: Final = ("shows", "show")


def _gone_words(runs: tuple[int, ...]) -> list[str]:
    """Return which runs are left out of every count."""
    if not runs:
        return []
    which = "Run" if len(runs) == 1 else "Runs"
    verb, whose = ("is", "its reader") if len(runs) == 1 else ("are", "their readers")
    numbers = " and ".join(map(str, runs))
    return [f"{which} {numbers} {verb} left out: {whose} withdrew."]


def _estimate_words(estimate: Estimate) -> str:
    span = _span(estimate.interval.low, estimate.interval.high)
    return f"{as_percent(estimate.value)} % ({span}{estimate.method})"


def _rest_words(total: Tally) -> list[str]:
    names = ("failed", "refused", "unparsed", "excluded")
    endings = [(getattr(total, f"n_{name}"), name) for name in names]
    words = [f"{n:,} {name}" for n, name in endings if n]
    if total.n_pending:
        words.append(f"incomplete: {total.n_pending:,} pending")
    return words


def cases_title(groups: ResultsView, chosen: NumberChosen, n: int) -> str:
    """Return which trials a number counts, and how many they are."""
    pairs = zip(groups.by, groups.keys[chosen.group], strict=True)
    parts = [
        f"Run {value}" if by is By.RUN else shown(by.value, value, groups.words)
        for by, value in pairs
    ]
    kind = _kind(chosen.column, n, groups.words.verdicts)
    return " · ".join([*(parts or ["Everything shown"]), f"{n:,} {kind}"])


def _kind(column: str, n: int, verdicts: Verdicts) -> str:
    """Return what the trials of a column are called; singular without an order."""
    if column == "k":
        return verdicts.right if n == 1 else verdicts.rights
    kind = _KINDS.get(column, _FIRST.format("trial" if n == 1 else "trials", "{}"))
    return (kind.partition(",")[0] if n == 1 else kind).format(verdicts.wrongs)


def row_words(groups: ResultsView, row: int) -> str:
    """Return a row's rate with its interval, or why it has none."""
    estimate, tally = groups.estimate(row), groups.tally(row)
    if estimate is not None:
        trials, patients = counted(tally.n, "trial"), groups.patients(row)
        whose = f", {counted(patients, 'patient')}" if patients else ""
        head = f"This row: {tally.k:,} of {trials}{whose}"
        return f"{head}, {_estimate_words(estimate)}."
    if groups.wanted.by_ending:
        return "Trials selected by outcome have no rate."
    if not groups.has_rate(row):
        if row in groups.absent:
            return _ABSENT
        return _POOLED.format(groups.pooled[row].several)
    if tally.n_excluded == tally.n_planned:
        return "Every trial of this row is excluded."
    return "No trial of this row is settled yet."


def _span(low: float, high: float) -> str:
    return "" if isnan(low) else f"{as_percent(low)} to {as_percent(high)} %: "
