"""The runs of the store with their state and progress."""

from collections.abc import Callable, Iterable
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
    Signal,
)
from PySide6.QtGui import QAction, QColor, QPainter
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
from viewer.domain.run import RunStatus, RunSummary
from viewer.services.running.batch_form import study_title
from viewer.ui.application.run_state import Phase
from viewer.ui.application.run_states import RunStates
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, in_role

Index = QModelIndex | QPersistentModelIndex
_NOWHERE: Final = QModelIndex()
_FRACTION: Final = Qt.ItemDataRole.UserRole
_PAD: Final = 8
_BAR: Final = 4
_TOP: Final = QPoint(1, 1)
_AT_TOP: Final = QListView.ScrollHint.PositionAtTop
_COST: Final = Qt.ItemDataRole.UserRole + 1
_LINES: Final = Qt.ItemDataRole.UserRole + 2


def run_title(summary: RunSummary) -> str:
    """Return a run's number, study and data set."""
    return f"{summary.id}  {study_title(summary.study)} · {summary.dataset}"


def cost_text(microusd: int | None) -> str:
    """Return the cost of a run, such as ``$1.84``; "" if it is unknown."""
    return "" if microusd is None else f"${microusd / 1_000_000:.2f}"


def _numbers(runs: Iterable[RunSummary]) -> list[int]:
    return [run.id for run in runs]


class RunModel(QAbstractListModel):
    """The runs, newest first, with their states."""

    def __init__(self, states: RunStates, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: tuple[RunSummary, ...] = ()
        self._states, self._lines = states, tuple[int, ...]()
        states.changed.connect(self._repaint)

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
        self._repaint()

    def row_of(self, run: int) -> int | None:
        """Return the row of a run, None if there is none."""
        return next((i for i, one in enumerate(self.runs) if one.id == run), None)

    def _repaint(self) -> None:
        lines = tuple(map(self._lines_of, self.runs))
        if lines != self._lines:
            self._lines = lines
            self.layoutChanged.emit()
        if self.runs:
            self.dataChanged.emit(self.index(0), self.index(len(self.runs) - 1))

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
        if role == _LINES:
            return self._lines_of(run)
        return cost_text(run.cost_microusd) if role == _COST else None

    def _state(self, run: RunSummary) -> str:
        """Return a run's state, its models, and how many caveats there are."""
        state, n = self._states.of(run), len(run.models)
        models = run.models[0] if n == 1 else counted(n, "model")
        badge = [f"⚠ {len(run.notes)} noted"] if run.notes else []
        return " · ".join((self._states.words(state), models, *badge))

    def _lines_of(self, run: RunSummary) -> int:
        """Return how many lines a run's state takes: when answers are due is seen."""
        return 2 if self._states.of(run).out else 1

    def _fraction(self, run: RunSummary) -> float | None:
        state = self._states.of(run)
        return None if state.phase is Phase.DONE else state.part


class _RunPainter(QStyledItemDelegate):
    """Paints a run's title and state, its cost at the right, a bar if unfinished."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """Return room for the lines and a bar; text is elided to the list's width."""
        height = option.fontMetrics.height()
        lines = 1 + int(index.data(_LINES))
        return QSize(0, lines * height + 2 * _PAD + 2 * _BAR)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paint a run."""
        colours = theme.current()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(rect, QColor(colours.chosen))
        inner = rect.adjusted(_PAD, _PAD, -_PAD, -_PAD)
        # muted text is too faint on what marks the selected row
        soft = colours.text if selected else colours.muted
        self._lines(painter, inner, index, soft)
        fraction = index.data(_FRACTION)
        if isinstance(fraction, float):
            track = QRect(inner.left(), inner.bottom() - 1, inner.width(), _BAR)
            painter.fillRect(track, QColor(colours.line))
            track.setWidth(round(fraction * track.width()))
            painter.fillRect(track, QColor(colours.accent))
        painter.restore()

    def _lines(self, painter: QPainter, inner: QRect, index: Index, soft: str) -> None:
        colours, base = theme.current(), painter.font()
        caption = theme.caption_font(base)
        title = index.data(Qt.ItemDataRole.DisplayRole)
        state, cost = index.data(Qt.ItemDataRole.StatusTipRole), index.data(_COST)
        first, then = state, ""
        if index.data(_LINES) > 1:  # it is broken where it says when answers are due
            first, joint, then = state.partition("; ")
            first += joint.rstrip()
        lines = (
            (title, "", colours.text, base),
            (first, cost, soft, caption),
            (then, "", soft, caption),
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
    delete_wanted = Signal()
    read_wanted = Signal(str, int)
    """The data set and the run whose cases somebody wants to read"""
    """The user wants to delete the selected run."""

    def __init__(self, states: RunStates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._states = states
        self.model = RunModel(states, self)
        self.wanted: int | None = None
        """The run to select as soon as it is in the list."""
        self.view = QListView()
        self.view.setAccessibleName("Runs")
        self.view.setModel(self.model)
        self.view.setItemDelegate(_RunPainter(self.view))
        self.view.selectionModel().currentChanged.connect(self._announce)
        self.model.modelReset.connect(self._update_buttons)
        self.pause, self.cancel, self.resume = (QPushButton() for _ in range(3))
        self.batch = QPushButton("Batch…")
        self.batch.setToolTip("Ask models about a whole data set")
        self.batch.clicked.connect(self.batch_wanted)
        self.pause.clicked.connect(lambda: self._control(states.pause))
        self.cancel.clicked.connect(lambda: self._control(states.cancel))
        self.resume.clicked.connect(lambda: self._control(states.resume))
        states.changed.connect(self._update_buttons)
        self._add_menu()
        self._lay_out()

    @property
    def selected(self) -> RunSummary | None:
        """The selected run."""
        index = self.view.currentIndex()
        return self.model.runs[index.row()] if index.isValid() else None

    def show_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Show the runs and keep the selected one, else select the newest.

        What is at the top of the list stays there, unless it is the newest.
        """
        chosen, top = self.selected, self.view.indexAt(_TOP)
        held = QPersistentModelIndex(top) if top.row() > 0 else None
        self._states.forget_ended(runs)
        self.model.show_runs(runs)
        if held is not None and held.isValid():
            self.view.scrollTo(self.model.index(held.row()), _AT_TOP)
        newest = max((run.id for run in runs), default=0)
        known = {run.id for run in runs}
        selected = chosen.id if chosen and chosen.id in known else newest
        self.select(self.wanted if self.wanted in known else selected)
        self.wanted = None if self.wanted in known else self.wanted
        self._update_buttons()

    def select(self, run: int | None) -> None:
        """Select a run, if it is in the list."""
        row = None if run is None else self.model.row_of(run)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _add_menu(self) -> None:
        """Give the list a context menu, which the menu key opens too."""
        read = QAction("Read these cases yourself…", self.view)
        read.triggered.connect(self._want_reading)
        delete = QAction("Delete run…", self.view)
        delete.triggered.connect(self.delete_wanted)
        self.view.addActions([read, delete])
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _want_reading(self) -> None:
        if self.selected is not None:
            self.read_wanted.emit(self.selected.dataset, self.selected.id)

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
        for widget in (self.resume, self.pause, self.cancel):
            box.addWidget(widget)
        self._update_buttons()

    def _announce(self, index: QModelIndex) -> None:
        self._update_buttons()
        if index.isValid():
            self.run_selected.emit(self.model.runs[index.row()].id)

    def _control(self, act: Callable[[int], None]) -> None:
        if self.selected is not None:
            act(self.selected.id)

    def _update_buttons(self) -> None:
        run = self.selected
        if run is None:
            for button in (self.pause, self.cancel, self.resume):
                button.hide()
            return
        state, unfinished = self._states.of(run), run.status is not RunStatus.FINISHED
        self.pause.setVisible(state.is_active)
        self.pause.setEnabled(not state.is_stopping)
        self.resume.setVisible(unfinished and not state.is_active)
        self.cancel.setVisible(unfinished and state.phase is not Phase.CANCELLED)
        self.cancel.setEnabled(state.phase is not Phase.CANCELLING)
        self.pause.setText(f"Pause run {run.id}")
        self.cancel.setText(f"Cancel run {run.id}")
        left = run.counts.get(Status.PENDING, 0)
        self.resume.setText(f"Resume run {run.id} ({left} left)")
