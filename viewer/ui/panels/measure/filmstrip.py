"""The trials behind a row of the results as thumbnails, errors first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.item import TASK_MARK
from viewer.services.inspecting.runs import TrialRow, trial_rows_at
from viewer.services.viewing.decoding import Decoder
from viewer.ui.panels.measure.film_picture import FilmPicture, FilmPictures
from viewer.ui.panels.measure.outcome_words import glyph, words
from viewer.ui.panels.measure.picture_strip import (
    NOWHERE,
    SIDE,
    Index,
    PicturesModel,
    PictureStrip,
)
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label

_PAGE: Final = 200
"""Trials read at once."""
_LISTING: Final = "listing"


@dataclass(frozen=True, slots=True)
class TrialChosen:
    """The user wants to see a trial's case with its answer, and others ``beside``."""

    trial: int
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WordsWanted:
    """The user wants to read what was asked and answered in a trial."""

    trial: int


@dataclass(frozen=True, eq=False)
class _TrialLook:
    """How a trial is shown."""

    drawn: Callable[[TrialRow], FilmPicture]

    def trial_of(self, item: TrialRow) -> int:
        """Return the trial itself."""
        return item.trial

    def key_of(self, item: TrialRow) -> TrialRow:
        """Return the whole row: its picture changes with the verdict."""
        return item

    def caption_of(self, item: TrialRow) -> str:
        """Return a trial's outcome and answer."""
        return f"{glyph(item.score)} {item.score.answer}".rstrip()

    def story_of(self, item: TrialRow, provenance: str, failure: str) -> str:
        """Return the question, the outcome and the model."""
        caption = f"{item.score.answer} {words(item.score)}\n{item.model}".strip()
        asked = " · ".join((*filter(None, _place(item)), f"repeat {item.repeat}"))
        return "\n".join(filter(None, (asked, provenance or caption, failure)))

    def draw(self, item: TrialRow) -> FilmPicture:
        """Return what was sent, with the answer drawn if it is a location."""
        return self.drawn(item)


class FilmModel(PicturesModel[TrialRow]):
    """Trials with their pictures; of many, a page at a time is read."""

    def __init__(
        self,
        draw: Callable[[TrialRow], FilmPicture],
        parent: QObject | None = None,
        list_: Callable[[Sequence[int]], tuple[TrialRow, ...]] = lambda _: (),
    ) -> None:
        super().__init__(_TrialLook(draw), parent)
        self._list = list_
        self._waiting: list[int] = []

    @property
    def trials(self) -> tuple[TrialRow, ...]:
        """The trials in the order shown."""
        return self.items

    def show_trials(self, trials: tuple[TrialRow, ...]) -> None:
        """Replace the trials; pictures not yet drawn of the old ones are dropped."""
        self._waiting = []
        self.show_items(trials)

    def show_ids(self, ids: Sequence[int]) -> None:
        """Replace the trials by those with some ids, read as they come into view.

        Trials that are shown already stay until the first of the new ones are read.
        """
        self._background_tasks.cancel_all()
        self._waiting = []
        page, rest = list(ids[:_PAGE]), list(ids[_PAGE:])
        if not page:
            self.show_trials(())
            return

        def show(trials: tuple[TrialRow, ...]) -> None:
            self.show_trials(trials)
            self._waiting = rest

        self._background_tasks.start(_LISTING, lambda: self._list(page), show, _raise)

    def canFetchMore(self, parent: Index = NOWHERE) -> bool:  # noqa: N802 - Qt's name
        """Tell whether there are trials that were not read yet."""
        return not parent.isValid() and bool(self._waiting)

    def fetchMore(self, parent: Index = NOWHERE) -> None:  # noqa: N802 - Qt's name
        """Read the next trials, in the background."""
        if not self.canFetchMore(parent) or _LISTING in self._background_tasks:
            return
        page = self._waiting[:_PAGE]
        self._background_tasks.start(
            _LISTING, lambda: self._list(page), self._append, _raise
        )

    def _append(self, trials: tuple[TrialRow, ...]) -> None:
        n = len(self.items)
        self._waiting = self._waiting[_PAGE:]
        self.beginInsertRows(NOWHERE, n, n + len(trials) - 1)
        self.items += trials
        self.endInsertRows()


def _place(row: TrialRow) -> tuple[str, ...]:
    if row.places:
        return (row.item.replace(TASK_MARK, " · "), row.view)
    return (row.item.partition(TASK_MARK)[0], *row.called)


def _raise(error: Exception) -> None:
    raise error


class Filmstrip(QWidget):
    """A title and a row of pictures under it."""

    trial_chosen = Signal(object)
    """TrialChosen"""
    words_wanted = Signal(object)
    """WordsWanted, of a trial whose answer is not a place on an image"""

    def __init__(
        self, store: Path, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._pictures = FilmPictures(store, decoder)
        self._of: tuple[str, ...] = ()
        self._title = Label()
        self._title.setFont(theme.title_font(self.font()))
        self.model = FilmModel(
            lambda row: self._pictures.draw(row, SIDE),
            self,
            lambda ids: trial_rows_at(store, ids),
        )
        named = "Trials of the selected row, wrong ones first"
        self.view = PictureStrip(self.model, named)
        self.view.chosen.connect(self._choose)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self._title)
        box.addWidget(self.view)

    @property
    def current(self) -> int | None:
        """The trial that is selected."""
        index = self.view.currentIndex()
        return self.model.trials[index.row()].trial if index.isValid() else None

    def forget(self, *_: object) -> None:
        """Keep no picture, because images were deleted."""
        self._pictures.forget()
        self.model.forget()

    @property
    def title(self) -> str:
        """The title over the pictures."""
        return self._title.text()

    def show_trials(self, title: str, trials: tuple[TrialRow, ...]) -> None:
        """Show the trials of a row, wrong ones first.

        Of the same trials, in another order or with new answers, nothing scrolls and
        the current one stays so.
        """
        self._of = ()
        self._title.setText(title)
        before, current = self.model.trials, self.view.currentIndex()
        chosen = before[current.row()].trial if current.isValid() else None
        place = self.view.horizontalScrollBar().value()
        self.model.show_trials(trials)
        self.view.scrollToTop()
        if {one.trial for one in before} == {one.trial for one in trials}:
            if chosen is not None:
                self.select(chosen)
            self.view.horizontalScrollBar().setValue(place)

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
        """Focus the strip, on its first trial if none is current."""
        if not self.view.currentIndex().isValid():
            self.view.setCurrentIndex(self.model.index(0))
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def select(self, trial: int) -> None:
        """Make a trial the current one, if it is shown."""
        row = self.model.row_of(trial)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _choose(self, place: int) -> None:
        row = self.model.trials[place]
        if row.places:
            self.trial_chosen.emit(TrialChosen(row.trial))
        else:
            self.words_wanted.emit(WordsWanted(row.trial))
