"""The trials behind a row of the results, misses first, as thumbnails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPixmap
from PySide6.QtWidgets import QLabel, QListView, QVBoxLayout, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.image import Raster
from viewer.domain.item import TASK_MARK
from viewer.services.decoding import Decoder
from viewer.services.measure import TrialRow
from viewer.services.results.cases import trial_rows_at
from viewer.ui import theme
from viewer.ui.errands import Errands
from viewer.ui.panels.measure.film_picture import FilmPicture, FilmPictures
from viewer.ui.panels.outcome_words import glyph, words

Index = QModelIndex | QPersistentModelIndex
_NOWHERE: Final = QModelIndex()
_SIDE: Final = 144
_KEPT: Final = 512
_PRIORITY: Final = -1
_PAGE: Final = 200
"""Trials read at once."""
_LISTING: Final = "listing"


@dataclass(frozen=True, slots=True)
class TrialChosen:
    """A person wants to see a trial's case with its answer, and others ``beside``."""

    trial: int
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WordsWanted:
    """A person wants to read what was asked and answered in a trial."""

    trial: int


class FilmModel(QAbstractListModel):
    """Trials with their pictures, each drawn in the background when first looked at."""

    def __init__(
        self,
        draw: Callable[[TrialRow], FilmPicture],
        parent: QObject | None = None,
        list_: Callable[[Sequence[int]], tuple[TrialRow, ...]] = lambda _: (),
    ) -> None:
        super().__init__(parent)
        self._draw, self._list = draw, list_
        self._trials: tuple[TrialRow, ...] = ()
        self._waiting: list[int] = []
        self._errands = Errands(self)
        self._pictures: dict[TrialRow, QPixmap] = {}
        self._provenance: dict[TrialRow, str] = {}
        self._failures: dict[TrialRow, str] = {}

    @property
    def trials(self) -> tuple[TrialRow, ...]:
        """The trials in the order shown."""
        return self._trials

    @property
    def pictures_drawn(self) -> int:
        """How many pictures are at hand."""
        return len(self._pictures)

    def show_trials(self, trials: tuple[TrialRow, ...]) -> None:
        """Replace the trials; pictures not yet drawn of the old ones are dropped."""
        self.beginResetModel()
        self._errands.cancel_all()
        self._failures.clear()
        self._trials, self._waiting = trials, []
        self.endResetModel()

    def show_ids(self, ids: Sequence[int]) -> None:
        """Replace the trials by those of some ids, read as far as they are looked at.

        Trials that are shown already stay until the first of the new ones are read.
        """
        self._errands.cancel_all()
        self._waiting = []
        page, rest = list(ids[:_PAGE]), list(ids[_PAGE:])
        if not page:
            self.show_trials(())
            return

        def show(trials: tuple[TrialRow, ...]) -> None:
            self.show_trials(trials)
            self._waiting = rest

        self._errands.start(_LISTING, lambda: self._list(page), show, _raise)

    def canFetchMore(self, parent: Index = _NOWHERE) -> bool:  # noqa: N802 - Qt's name
        """Tell whether there are trials that were not looked at yet."""
        return not parent.isValid() and bool(self._waiting)

    def fetchMore(self, parent: Index = _NOWHERE) -> None:  # noqa: N802 - Qt's name
        """Read the next trials, in the background."""
        if not self.canFetchMore(parent) or _LISTING in self._errands:
            return
        page = self._waiting[:_PAGE]
        self._errands.start(_LISTING, lambda: self._list(page), self._append, _raise)

    def _append(self, trials: tuple[TrialRow, ...]) -> None:
        n = len(self._trials)
        self._waiting = self._waiting[_PAGE:]
        self.beginInsertRows(_NOWHERE, n, n + len(trials) - 1)
        self._trials += trials
        self.endInsertRows()

    def row_of(self, trial: int) -> int | None:
        """Return the row of a trial, None where it is not shown."""
        rows = (i for i, one in enumerate(self._trials) if one.trial == trial)
        return next(rows, None)

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of trials."""
        return 0 if parent.isValid() else len(self._trials)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a trial's outcome and cell, its picture or the whole story."""
        if not index.isValid():
            return None
        row = self._trials[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{glyph(row.score)} {row.score.answer}".rstrip()
        if role == Qt.ItemDataRole.DecorationRole:
            return self._picture(row)
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return self._story(row)
        return None

    def _story(self, row: TrialRow) -> str:
        told = f"{row.score.answer} {words(row.score)}\n{row.model}".strip()
        lines = [
            " · ".join((*filter(None, _place(row)), f"repeat {row.repeat}")),
            self._provenance.get(row, told),
            self._failures.get(row, ""),
        ]
        return "\n".join(filter(None, lines))

    def _picture(self, row: TrialRow) -> QPixmap | QColor:
        """Return the picture, or black while it is drawn or where it cannot be."""
        if row in self._pictures:
            return self._pictures[row]
        if row not in self._errands and row not in self._failures:
            self._errands.start(
                row,
                lambda: self._draw(row),
                lambda picture: self._keep(row, picture),
                lambda error: self._fail(row, error),
                priority=_PRIORITY,
            )
        return QColor(Qt.GlobalColor.black)

    def _keep(self, row: TrialRow, picture: FilmPicture) -> None:
        while len(self._pictures) >= _KEPT:
            oldest = next(iter(self._pictures))
            del self._pictures[oldest], self._provenance[oldest]
        self._pictures[row] = _pixmap(picture.raster)
        self._provenance[row] = picture.provenance
        self._tell(row.trial)

    def _fail(self, row: TrialRow, error: Exception) -> None:
        """Keep a picture that cannot be drawn as a sentence; a bug is raised."""
        if not isinstance(error, OverreadError):
            raise error
        self._failures[row] = str(error)
        self._tell(row.trial)

    def _tell(self, trial: int) -> None:
        row = self.row_of(trial)
        if row is not None:
            self.dataChanged.emit(self.index(row), self.index(row))


def _place(row: TrialRow) -> tuple[str, ...]:
    if row.places:
        return (row.item.replace("|", " · "), row.view)
    return (row.item.partition(TASK_MARK)[0], *row.called)


def _raise(error: Exception) -> None:
    raise error


def _pixmap(raster: Raster) -> QPixmap:
    rows, columns = raster.pixels.shape[:2]
    image = QImage(
        raster.pixels.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888
    )
    scaled = image.scaled(_SIDE, _SIDE, mode=Qt.TransformationMode.SmoothTransformation)
    return QPixmap.fromImage(scaled)


class _Strip(QListView):
    """A row of pictures; Enter chooses as a click does."""

    entered_with_key = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose with Enter, else move as lists do."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered_with_key.emit()
        else:
            super().keyPressEvent(event)


class Filmstrip(QWidget):
    """A title and a row of pictures under it."""

    trial_chosen = Signal(object)
    """TrialChosen"""
    words_wanted = Signal(object)
    """WordsWanted, of a trial whose answer is no place on an image"""

    def __init__(
        self, store: Path, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        pictures = FilmPictures(store, decoder)
        self._of: tuple[str, ...] = ()
        self._title = QLabel()
        self._title.setFont(theme.title_font(self.font()))
        self.model = FilmModel(
            lambda row: pictures.draw(row, _SIDE),
            self,
            lambda ids: trial_rows_at(store, ids),
        )
        self.view = _new_strip(self.model)
        self.view.clicked.connect(self._choose)
        self.view.entered_with_key.connect(
            lambda: self._choose(self.view.currentIndex())
        )
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self._title)
        box.addWidget(self.view)

    @property
    def title(self) -> str:
        """What stands over the pictures."""
        return self._title.text()

    def show_trials(self, title: str, trials: tuple[TrialRow, ...]) -> None:
        """Show the trials of a row; they come misses first."""
        self._of = ()
        self._title.setText(title)
        self.model.show_trials(trials)
        self.view.scrollToTop()

    def show_ids(self, title: str, ids: Sequence[int], of: tuple[str, ...]) -> None:
        """Show trials by their ids, however many; they are read as one scrolls.

        Where they are ``of`` the same number as before, nothing scrolls.
        """
        self._title.setText(title)
        self.model.show_ids(ids)
        if of != self._of:
            self.view.scrollToTop()
        self._of = of

    def enter(self) -> None:
        """Give the keyboard to the strip, on its first trial where none is current."""
        if not self.view.currentIndex().isValid():
            self.view.setCurrentIndex(self.model.index(0))
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def select(self, trial: int) -> None:
        """Make a trial the current one, where it is shown."""
        row = self.model.row_of(trial)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        row = self.model.trials[index.row()]
        if row.places:
            self.trial_chosen.emit(TrialChosen(row.trial))
        else:
            self.words_wanted.emit(WordsWanted(row.trial))


def _new_strip(model: FilmModel) -> _Strip:
    strip = _Strip()
    strip.setAccessibleName("Trials of the selected row, wrong ones first")
    strip.setModel(model)
    strip.setViewMode(QListView.ViewMode.IconMode)
    strip.setFlow(QListView.Flow.LeftToRight)
    strip.setMovement(QListView.Movement.Static)
    strip.setWrapping(False)
    strip.setUniformItemSizes(True)
    strip.setIconSize(QSize(_SIDE, _SIDE))
    caption = strip.fontMetrics().height()
    strip.setGridSize(QSize(_SIDE + 12, _SIDE + caption + 12))
    strip.setFixedHeight(_SIDE + caption + 26)
    strip.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return strip
