"""One picture of the filmstrip: the image sent, its reference and its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status
from viewer.domain.image import Raster
from viewer.domain.reference import Mask
from viewer.domain.styles import rgb_of, sides_of
from viewer.imaging.answer_overlay import draw_marks, draw_regions
from viewer.imaging.png import decode_png
from viewer.imaging.resample import FitMode, fit
from viewer.services.inspecting.answers import StoredAnswer, answer_of_trial
from viewer.services.inspecting.marked_images import MarkedImage
from viewer.services.inspecting.runs import TrialRow
from viewer.services.inspecting.trial_detail import TrialDetail, trial_detail
from viewer.services.viewing.answer_mask import answer_mask
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.field_raster import field_mask
from viewer.services.viewing.view_image import reference_masks
from viewer.ui.canvas.overlays.answer_item import provenance

_KEPT: Final = 1024
_TOLD: Final = 600
"""Letters of a reply that a tile's story holds at most."""
_ASKED: Final = 220
"""Letters of a question that a tile without an image holds at most."""


@dataclass(frozen=True, eq=False)
class FilmPicture:
    """A trial's picture, and where its answer comes from, a line each.

    ``asked`` stands in the place of a picture where no image was sent, "" else.
    """

    raster: Raster
    provenance: str
    asked: str = ""


class FilmPictures:
    """Draws trials' pictures; each image is decoded once, however many ask about it.

    Parameters
    ----------
    store : Path
        The store's file.
    decoder : Decoder
        Reads the images.
    """

    def __init__(self, store: Path, decoder: Decoder) -> None:
        self._store = store
        self._plain = lru_cache(maxsize=_KEPT)(decoder.field_raster)

    def forget(self) -> None:
        """Drop every decoded image."""
        self._plain.cache_clear()

    def draw(self, row: TrialRow, side: int) -> FilmPicture:
        """Return a trial's image as a square of ``side`` pixels, answer and reference.

        Reads files and the store; meant for a background thread. An image that cannot
        be read raises.
        """
        if row.ref is None or not row.places:
            return of_words(trial_detail(self._store, row.trial), side)
        answer = answer_of_trial(self._store, row.trial)
        plain = self._plain(row.ref, answer.field, side)
        mask = reference_masks(self._store, row.ref).get(row.finding)
        raster = _marked(mask, row, answer, plain)
        return FilmPicture(raster, provenance(answer))


def of_words(told: TrialDetail, side: int, *others: TrialDetail) -> FilmPicture:
    """Return the image that a trial's answer is about, and the last reply.

    That is the image on which the answer is drawn, otherwise the first one; without any
    image, the words of the question. The answers of ``others`` about the same image are
    drawn as well, each in its own colour.
    """
    chosen = _most_telling(told.looked_at)
    raster = _of_image(chosen, side)
    drawn = (told, *others)
    looks = sides_of([one.trial.model for one in drawn])
    for look, one in zip(looks, drawn, strict=True):
        regions = _regions(one, chosen, side)
        raster = draw_regions(raster, regions, rgb_of(look.colour))
    reply = told.steps[0].reply if told.steps else ""
    asked = "" if chosen else _question(told)
    return FilmPicture(raster, f"{told.trial.model}\n{reply[:_TOLD]}".strip(), asked)


def _question(told: TrialDetail) -> str:
    """Return the last question of the first step, cut to fit a tile."""
    if not told.steps:
        excluded = told.score.status is Status.EXCLUDED
        return "Excluded, not asked" if excluded else "Not asked yet"
    sent = told.steps[0].sent
    return " ".join(sent[-1][1].split())[:_ASKED] if sent else ""


def _most_telling(images: Sequence[MarkedImage]) -> MarkedImage | None:
    marked = (image for image in images if image.is_marked)
    return next(marked, next(iter(images), None))


def _of_image(chosen: MarkedImage | None, side: int) -> Raster:
    if chosen is None:
        return Raster(np.zeros((side, side, 3), np.uint8))
    return fit(decode_png(chosen.png), side, FitMode.LETTERBOX)


def _regions(
    told: TrialDetail, chosen: MarkedImage | None, side: int
) -> list[npt.NDArray[np.bool_]]:
    """Return a trial's regions on an image, on its square; none on another image."""
    here = [one for one in told.looked_at if chosen and one.png == chosen.png]
    return [region for one in here for region in one.regions(side)]


def _marked(
    mask: Mask | None, row: TrialRow, answer: StoredAnswer, plain: Raster
) -> Raster:
    side, (look,) = plain.size.rows, sides_of([answer.model])
    cells = tuple(answer.grid.cell(label) for label in answer.reference_cells)
    return draw_marks(
        plain,
        answer.grid,
        None if mask is None else field_mask(mask.array(), answer.field, side),
        answer.grid.cell(row.score.answer) if row.score.answer else None,
        tuple(cell for cell in cells if cell is not None),
        row.score.outcome,
        answer_mask(answer.answer, answer.field, side),
        rgb_of(look.colour),
    )
