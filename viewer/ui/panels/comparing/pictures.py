"""One picture of two answers on the same image, each in its model's colour."""

from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import BoxesAnswer
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell
from viewer.domain.image import Raster
from viewer.imaging.answer_overlay import SECOND, draw_marks
from viewer.services.answer_mask import answer_mask
from viewer.services.answers import StoredAnswer, answer_of_trial
from viewer.services.comparing.sides import Pair
from viewer.services.decoding import Decoder
from viewer.services.field_raster import field_mask
from viewer.services.told_trial import is_placed, told_trial
from viewer.services.view_image import reference_masks
from viewer.ui.panels.measure.film_picture import FilmPicture, of_words

_KEPT: Final = 1024
_Region = npt.NDArray[np.bool_]


class PairPictures:
    """Draws pairs of answers; each image is decoded once, however many ask about it."""

    def __init__(self, store: Path, decoder: Decoder) -> None:
        self._store = store
        self._plain = lru_cache(maxsize=_KEPT)(decoder.field_raster)

    def draw(self, pair: Pair, ref: ImageRef | None, side: int) -> FilmPicture:
        """Return a square of ``side`` pixels with the reference and both answers.

        Answers in words have what was sent to the first side, and both replies told.
        Reads files and the store; meant for a background thread. An image that cannot
        be read raises.
        """
        if ref is None or not is_placed(self._store, pair.first.id):
            told = [told_trial(self._store, one.id) for one in pair]
            pictures = [of_words(told[0], side, told[1]), of_words(told[1], side)]
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
        )
        both = _with_second(marked, first, second, side)
        return FilmPicture(both, f"{_told(first)}\n{_told(second)}")


def _with_second(
    raster: Raster, first: StoredAnswer, second: StoredAnswer, side: int
) -> Raster:
    """Draw the second answer; the same cell as the first's is drawn inside it."""
    same_place = (first.grid, first.field) == (second.grid, second.field)
    cell = _cell(second)
    if same_place and cell is not None and cell != _cell(first):
        return draw_marks(
            raster, second.grid, None, cell, (), second.score.outcome,
            answer_mask(second.answer, first.field, side), SECOND,
        )  # fmt: skip
    region = _region(second, first.field, side, inset=same_place)
    return draw_marks(raster, first.grid, None, None, (), None, region, SECOND)


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


def _told(answer: StoredAnswer) -> str:
    said = answer.score.answer or answer.score.status.value.replace("_", " ")
    reply = " ".join(answer.reply_text.split())[:160]
    return f"{answer.model}, run {answer.run}: {said}{f' · {reply}' if reply else ''}"
