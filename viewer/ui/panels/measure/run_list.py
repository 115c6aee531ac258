"""The runs of the store with their state and progress."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.domain.run import (
    Event,
    ModelLoading,
    RunEnded,
    RunStarted,
    RunStatus,
    RunSummary,
    RunWaiting,
    TrialDone,
)
from viewer.services.running.batch_form import study_title
from viewer.ui.application.run_progress import RunProgress
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, in_role

Index = QModelIndex | QPersistentModelIndex
_NOWHERE: Final = QModelIndex()
_FRACTION: Final = Qt.ItemDataRole.UserRole
_PAD: Final = 8
_BAR: Final = 4
_TICK_MS: Final = 500
_TOP: Final = QPoint(1, 1)
_AT_TOP: Final = QListView.ScrollHint.PositionAtTop
_COST: Final = Qt.ItemDataRole.UserRole + 1
_STATES: Final = {RunStatus.PAUSED: "paused", RunStatus.CANCELLED: "cancelled"}


def run_title(summary: RunSummary) -> str:
    """Return a run's number, study and data set."""
    return f"{summary.id}  {study_title(summary.study)} · {summary.dataset}"


def run_state(summary: RunSummary) -> str:
    """Return the state of a run that is not running, in words."""
    done = summary.n_planned - summary.counts.get(Status.PENDING, 0)
    n = len(summary.models)
    models = summary.models[0] if n == 1 else counted(n, "model")
    badge = f" · ⚠ {len(summary.notes)} noted" if summary.notes else ""
    if summary.status is RunStatus.FINISHED:
        return f"done · {counted(summary.n_planned, 'trial')} · {models}{badge}"
    words = _STATES.get(summary.status, "stopped")
    return f"{words} · {done} of {summary.n_planned} · {models}{badge}"


def cost_text(microusd: int | None) -> str:
    """Return the cost of a run, such as ``$1.84``; "" if it is unknown."""
    return "" if microusd is None else f"${microusd / 1_000_000:.2f}"


def _numbers(runs: Iterable[RunSummary]) -> list[int]:
    return [run.id for run in runs]


class RunModel(QAbstractListModel):
    """The runs, newest first, with their progress."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: tuple[RunSummary, ...] = ()
        self.running: dict[int, RunProgress] = {}

    def show_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Replace the runs; keep the rows of existing ones, as views refer to them."""
        newest_first = tuple(sorted(runs, key=lambda run: -run.id))
        more = len(newest_first) - len(self.runs)
        if _numbers(newest_first[max(0, more) :]) != _numbers(self.runs):
            self.beginResetModel()
            self.runs = newest_first
            self.endResetModel()
            return
        if more:
            self.beginInsertRows(_NOWHERE, 0, more - 1)
        self.runs = newest_first
        if more:
            self.endInsertRows()
        if self.runs:
            self.dataChanged.emit(self.index(0), self.index(len(self.runs) - 1))

    def row_of(self, run: int) -> int | None:
        """Return the row of a run, None if there is none."""
        return next((i for i, one in enumerate(self.runs) if one.id == run), None)

    def follow(self, event: Event, now_s: float) -> None:
        """Handle an event of a batch; ``now_s`` as in :class:`RunProgress`."""
        if isinstance(event, RunStarted):
            self.running[event.run] = RunProgress(
                event.run, event.planned, event.done, event.done, now_s
            )
        elif isinstance(event, TrialDone) and event.run in self.running:
            self.running[event.run] = self.running[event.run].after(event)
        elif isinstance(event, ModelLoading) and event.run in self.running:
            progress = self.running[event.run]
            self.running[event.run] = progress.waiting(event, now_s)
        elif isinstance(event, RunWaiting) and event.run in self.running:
            progress = self.running[event.run]
            self.running[event.run] = replace(progress, awaited=event.words)
        elif isinstance(event, RunEnded):
            self.running.pop(event.run, None)

    def repaint_progress(self) -> None:
        """Notify the view of new progress."""
        for run in self.running:
            row = self.row_of(run)
            if row is not None:
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of runs."""
        return 0 if parent.isValid() else len(self.runs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a run's title, its state in words or its progress 0-1."""
        if not index.isValid():
            return None
        run = self.runs[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return in_role(run_title(run), role)
        if role == Qt.ItemDataRole.StatusTipRole:
            return self._state(run)
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            models = ", ".join(run.models)
            cost = cost_text(run.cost_microusd) or "no price known"
            notes = (str(note) for note in run.notes)
            lines = (run_title(run), self._state(run), models, cost, *notes)
            return in_role("\n".join(lines), role)
        if role == _FRACTION:
            return self._fraction(run)
        return cost_text(run.cost_microusd) if role == _COST else None

    def _state(self, run: RunSummary) -> str:
        progress = self.running.get(run.id)
        if progress is None:
            return run_state(run)
        if progress.loading is not None:
            return progress.loading.words
        if progress.awaited:
            return progress.awaited
        return f"running · {progress.done} of {progress.planned}"

    def _fraction(self, run: RunSummary) -> float | None:
        progress = self.running.get(run.id)
        if progress is not None:
            return progress.part
        if run.status is RunStatus.FINISHED:
            return None
        return 1 - run.counts.get(Status.PENDING, 0) / max(1, run.n_planned)


class _RunPainter(QStyledItemDelegate):
    """Paints two lines per run, the cost at the right, and a bar if unfinished."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """Return room for two lines and a bar; text is elided to the list's width."""
        del index
        height = option.fontMetrics.height()
        return QSize(0, 2 * height + 2 * _PAD + 2 * _BAR)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paint a run."""
        colours = theme.current()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colours.chosen))
        inner = rect.adjusted(_PAD, _PAD, -_PAD, -_PAD)
        self._lines(painter, inner, index)
        fraction = index.data(_FRACTION)
        if isinstance(fraction, float):
            track = QRect(inner.left(), inner.bottom() - 1, inner.width(), _BAR)
            painter.fillRect(track, QColor(colours.line))
            track.setWidth(round(fraction * track.width()))
            painter.fillRect(track, QColor(colours.accent))
        painter.restore()

    def _lines(self, painter: QPainter, inner: QRect, index: Index) -> None:
        colours, base = theme.current(), painter.font()
        caption = theme.caption_font(base)
        title = index.data(Qt.ItemDataRole.DisplayRole)
        state, cost = index.data(Qt.ItemDataRole.StatusTipRole), index.data(_COST)
        lines = (
            (title, "", colours.text, base),
            (state, cost, colours.muted, caption),
        )
        top = inner.top()
        for text, right, colour, font in lines:
            painter.setFont(font)
            painter.setPen(QColor(colour))
            metrics = painter.fontMetrics()
            room = inner.width() - metrics.horizontalAdvance(f"  {right}" * bool(right))
            short = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            baseline = top + metrics.ascent()
            painter.drawText(inner.left(), baseline, short)
            # QRect.right() is one less than left + width, for Qt's history.
            edge = inner.left() + inner.width() - metrics.horizontalAdvance(right)
            painter.drawText(edge, baseline, right)
            top += metrics.height() + 2


class RunList(QWidget):
    """The runs at the left; the selected one can be paused, cancelled or resumed."""

    run_selected = Signal(int)
    """The run's number."""
    batch_wanted = Signal()
    pause_wanted = Signal(int)
    """The run's number."""
    cancel_wanted = Signal(int)
    """The run's number."""
    resume_wanted = Signal(int)
    """The run's number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = RunModel(self)
        self.wanted: int | None = None
        """The run to select as soon as it is in the list."""
        self.view = QListView()
        self.view.setAccessibleName("Runs")
        self.view.setModel(self.model)
        self.view.setItemDelegate(_RunPainter(self.view))
        self.view.selectionModel().currentChanged.connect(self._announce)
        self.model.modelReset.connect(self._update_buttons)
        self._progress = Label()
        self._progress.setWordWrap(True)
        self._progress.setFont(theme.caption_font(self.font()))
        self.pause, self.cancel, self.resume = (QPushButton() for _ in range(3))
        self.batch = QPushButton("Batch…")
        self.batch.setToolTip("Ask models about a whole data set")
        self._connect_buttons()
        self._lay_out()
        self._clock = QTimer(self, interval=_TICK_MS)
        self._clock.timeout.connect(self._tick)

    @property
    def selected(self) -> RunSummary | None:
        """The selected run."""
        index = self.view.currentIndex()
        return self.model.runs[index.row()] if index.isValid() else None

    @property
    def progress_words(self) -> str:
        """The progress of the selected run, if it is running."""
        return self._progress.text()

    def show_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show the runs and keep the selected one, else select the newest.

        What is at the top of the list stays there, unless it is the newest.
        """
        chosen, top = self.selected, self.view.indexAt(_TOP)
        held = QPersistentModelIndex(top) if top.row() > 0 else None
        self.model.show_runs(runs)
        if held is not None and held.isValid():
            self.view.scrollTo(self.model.index(held.row()), _AT_TOP)
        newest = max((run.id for run in runs), default=0)
        selected = chosen.id if chosen else newest
        known = {run.id for run in runs}
        self.select(self.wanted if self.wanted in known else selected)
        self.wanted = None if self.wanted in known else self.wanted
        self._update_buttons()

    def lists(self, run: int) -> bool:
        """Tell whether a run is listed: a batch, not a single question from Read."""
        return self.model.row_of(run) is not None

    def select(self, run: int | None) -> None:
        """Select a run, if it is in the list."""
        row = None if run is None else self.model.row_of(run)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def follow(self, event: Event) -> None:
        """Show what a batch reports."""
        self.model.follow(event, time.monotonic())
        if self.model.running and not self._clock.isActive():
            self._clock.start()
        if isinstance(event, RunStarted | RunEnded):
            self._tick()

    def forget_running(self, run: int | None = None) -> None:
        """Show a run as stopped, or every run if no number is given."""
        for number in list(self.model.running) if run is None else [run]:
            self.model.running.pop(number, None)
        self._tick()

    def _connect_buttons(self) -> None:
        self.batch.clicked.connect(self.batch_wanted)
        self.pause.clicked.connect(lambda: self._send(self.pause_wanted))
        self.cancel.clicked.connect(lambda: self._send(self.cancel_wanted))
        self.resume.clicked.connect(lambda: self._send(self.resume_wanted))

    def _lay_out(self) -> None:
        title = Label("Runs")
        title.setFont(theme.title_font(self.font()))
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.batch)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 8)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self.view, 1)
        for widget in (self._progress, self.resume, self.pause, self.cancel):
            box.addWidget(widget)
        self._update_buttons()

    def _announce(self, index: QModelIndex) -> None:
        self._update_buttons()
        if index.isValid():
            self.run_selected.emit(self.model.runs[index.row()].id)

    def _send(self, signal: SignalInstance) -> None:
        if self.selected is not None:
            signal.emit(self.selected.id)

    def _tick(self) -> None:
        self.model.repaint_progress()
        self._update_buttons()
        if not self.model.running:
            self._clock.stop()

    def _update_buttons(self) -> None:
        run = self.selected
        progress = self.model.running.get(run.id) if run else None
        self._progress.setVisible(progress is not None)
        self.pause.setVisible(progress is not None)
        unfinished = run is not None and run.status is not RunStatus.FINISHED
        self.resume.setVisible(unfinished and progress is None)
        cancelled = run is not None and run.status is RunStatus.CANCELLED
        self.cancel.setVisible(unfinished and not (cancelled and progress is None))
        if run is None:
            return
        self._progress.setText(progress.words(time.monotonic()) if progress else "")
        self.pause.setText(f"Pause run {run.id}")
        self.cancel.setText(f"Cancel run {run.id}")
        left = run.counts.get(Status.PENDING, 0)
        self.resume.setText(f"Resume run {run.id} ({left} left)")
