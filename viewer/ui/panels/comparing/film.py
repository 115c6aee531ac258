"""The items behind the chosen cells of a comparison, both answers on each picture."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.answer import BoxesAnswer
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell
from viewer.domain.image import Raster
from viewer.domain.item import TASK_MARK
from viewer.domain.result import Score
from viewer.domain.styles import rgb_of, sides_of
from viewer.imaging.answer_overlay import draw_marks
from viewer.services.comparing.causes import Why
from viewer.services.comparing.sides import Pair
from viewer.services.inspecting.answers import StoredAnswer, answer_of_trial
from viewer.services.inspecting.trial_detail import is_placed, trial_detail
from viewer.services.viewing.answer_mask import answer_mask
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.field_raster import field_mask
from viewer.services.viewing.view_image import reference_masks
from viewer.ui.panels.measure.film_picture import FilmPicture, of_words
from viewer.ui.panels.measure.outcome_words import glyph, words
from viewer.ui.panels.measure.picture_strip import SIDE, PicturesModel, PictureStrip
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label


@dataclass(frozen=True, slots=True)
class PairShown:
    """An item of the strip; ``why`` is None if both verdicts are the same.

    ``called`` is what its study calls its finding, view and condition, nothing if the
    item says all of that itself.
    """

    pair: Pair
    ref: ImageRef | None
    why: Why | None
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairChosen:
    """The user wants to see an item's case with both answers."""

    trial: int
    beside: tuple[int, ...]


Draw = Callable[[Pair, ImageRef | None, int], FilmPicture]


@dataclass(frozen=True, eq=False)
class _PairLook:
    """How an item that two sides answered is shown."""

    drawn: Draw

    def trial_of(self, item: PairShown) -> int:
        """Return the first side's trial."""
        return item.pair.first.id

    def key_of(self, item: PairShown) -> int:
        """Return the first side's trial."""
        return item.pair.first.id

    def caption_of(self, item: PairShown) -> str:
        """Return both verdicts with their answers, words on a line each."""
        between = "\n" if item.called else " → "
        return between.join(map(_short, item.pair.scores))

    def story_of(self, item: PairShown, provenance: str, failure: str) -> str:
        """Return the item, both verdicts, why they differ, and the replies."""
        first, verdicts = item.pair.first, map(words, item.pair.scores)
        place: tuple[str, ...] = (first.item.replace(TASK_MARK, " · "), first.view)
        if item.called:
            place = (first.item.partition(TASK_MARK)[0], *item.called)
        lines = (
            " · ".join((*filter(None, place), f"repeat {first.repeat}")),
            " → ".join(verdicts),
            f"Why: {item.why}" if item.why else "",
            provenance,
            failure,
        )
        return "\n".join(filter(None, lines))

    def draw(self, item: PairShown) -> FilmPicture:
        """Return the reference and both answers on what was sent."""
        return self.drawn(item.pair, item.ref, SIDE)


class PairModel(PicturesModel[PairShown]):
    """Items with both answers drawn on their pictures."""

    def __init__(self, draw: Draw, parent: QObject | None = None) -> None:
        super().__init__(_PairLook(draw), parent)


def _short(score: Score) -> str:
    return f"{glyph(score)} {score.answer}".strip()


class CompareFilm(QWidget):
    """A title and a row of pictures under it."""

    pair_chosen = Signal(object)
    """PairChosen"""

    def __init__(
        self, store: Path, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.title = Label()
        self.title.setFont(theme.title_font(self.font()))
        self._pictures = PairPictures(store, decoder)
        self.model = PairModel(self._pictures.draw, self)
        named = "Items of the chosen cells, both answers drawn"
        self.view = PictureStrip(self.model, named, lines=2)
        self.view.chosen.connect(self._choose)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.title)
        box.addWidget(self.view)

    def forget(self, *_: object) -> None:
        """Keep no picture, because images were deleted."""
        self._pictures.forget()
        self.model.forget()

    def show_items(self, title: str, items: tuple[PairShown, ...]) -> None:
        """Show items under a title, scrolled to the first."""
        self.title.setText(title)
        self.model.show_items(items)
        self.view.scrollToTop()

    def select(self, trial: int) -> None:
        """Make the item of a first side's trial the current one, where it is shown."""
        row = self.model.row_of(trial)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _choose(self, place: int) -> None:
        first, second = self.model.items[place].pair
        self.pair_chosen.emit(PairChosen(first.id, (second.id,)))


_KEPT: Final = 1024
_Region = npt.NDArray[np.bool_]


class PairPictures:
    """Draws pairs of answers; each image is decoded once, however many ask about it."""

    def __init__(self, store: Path, decoder: Decoder) -> None:
        self._store = store
        self._plain = lru_cache(maxsize=_KEPT)(decoder.field_raster)

    def forget(self) -> None:
        """Drop every decoded image."""
        self._plain.cache_clear()

    def draw(self, pair: Pair, ref: ImageRef | None, side: int) -> FilmPicture:
        """Return a square of ``side`` pixels with the reference and both answers.

        Answers in words have what was sent to the first side, and both replies told.
        Reads files and the store; meant for a background thread. An image that cannot
        be read raises.
        """
        if ref is None or not is_placed(self._store, pair.first.id):
            details = [trial_detail(self._store, one.id) for one in pair]
            pictures = [
                of_words(details[0], side, details[1]),
                of_words(details[1], side),
            ]
            story = "\n".join(picture.provenance for picture in pictures)
            return FilmPicture(pictures[0].raster, story)
        first, second = (answer_of_trial(self._store, one.id) for one in pair)
        plain = self._plain(ref, first.field, side)
        mask = reference_masks(self._store, ref).get(first.finding)
        marked = draw_marks(
            plain,
            first.grid,
            None if mask is None else field_mask(mask.array(), first.field, side),
            _cell(first),
            (),
            first.score.outcome,
            answer_mask(first.answer, first.field, side),
            rgb_of(sides_of([first.model, second.model])[0].colour),
        )
        both = _with_second(marked, first, second, side)
        return FilmPicture(both, f"{_answer_text(first)}\n{_answer_text(second)}")


def _with_second(
    raster: Raster, first: StoredAnswer, second: StoredAnswer, side: int
) -> Raster:
    """Draw the second answer; inside the first if both name the same cell."""
    same_place = (first.grid, first.field) == (second.grid, second.field)
    cell = _cell(second)
    color = rgb_of(sides_of([first.model, second.model])[1].colour)
    if same_place and cell is not None and cell != _cell(first):
        return draw_marks(
            raster, second.grid, None, cell, (), second.score.outcome,
            answer_mask(second.answer, first.field, side), color,
        )  # fmt: skip
    region = _region(second, first.field, side, inset=same_place)
    return draw_marks(raster, first.grid, None, None, (), None, region, color)


def _region(
    answer: StoredAnswer, field: BoxPx, side: int, *, inset: bool
) -> _Region | None:
    """Return what an answer covers on another's field, a cell a little smaller."""
    placed = answer_mask(answer.answer, field, side)
    cell = _cell(answer)
    if placed is not None or cell is None:
        return placed
    own, grid = answer.field, answer.grid
    width = (own.x1 - own.x0) / grid.columns
    height = (own.y1 - own.y0) / grid.rows
    margin = 0.16 if inset else 0.0
    box = BoxPx(
        own.x0 + (cell.column + margin) * width,
        own.y0 + (cell.row + margin) * height,
        own.x0 + (cell.column + 1 - margin) * width,
        own.y0 + (cell.row + 1 - margin) * height,
    )
    return answer_mask(BoxesAnswer((box,)), field, side)


def _cell(answer: StoredAnswer) -> Cell | None:
    return answer.grid.cell(answer.score.answer) if answer.score.answer else None


def _answer_text(answer: StoredAnswer) -> str:
    outcome = answer.score.answer or answer.score.status.value.replace("_", " ")
    reply = " ".join(answer.reply_text.split())[:160]
    return (
        f"{answer.model}, run {answer.run}: {outcome}{f' · {reply}' if reply else ''}"
    )
