"""The references of a run's answers on their images, and how they compare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import compress
from typing import Final, TypeGuard

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PlacedAnswer,
)
from viewer.domain.box_reference import BY_RULE, boxes_to_find
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.geometry import BoxPx
from viewer.domain.image_geometry import Spacing
from viewer.domain.reference import Mask
from viewer.domain.result import Measures, TrialResult
from viewer.metrics.boxes import cut_to
from viewer.metrics.localization import HitSet
from viewer.metrics.parts import boxes_around
from viewer.metrics.regions import mask_of_boxes
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import condition_named
from viewer.studies.grid_localization.reference import hits_at_thresholds
from viewer.studies.places import GridReference, measured

Spacings = Callable[[str], Spacing | None]
"""The pixel spacing of an image by its key, None if nothing says it."""
_ByReader = tuple[tuple[str, tuple[BoxPx, ...]], ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """An answer's boxes and those that they should find, in native pixels.

    ``predicted`` is empty if the answer has no box, ``confidence`` has the same length,
    or is empty if none are given. ``reference`` are the boxes by the run's rule for
    readers, none if the finding is absent, ``by_reader`` each reader's, possibly none,
    if several read the image.
    """

    predicted: tuple[BoxPx, ...]
    confidence: tuple[float, ...]
    reference: tuple[BoxPx, ...]
    by_reader: _ByReader = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """The reference of a trial, and how its answer compares with it.

    ``cell_index`` is the answered cell's row-major index, None without an answer;
    ``reference_index`` the qualifying cells' row-major indices with the fallback
    applied. ``fallback`` is True if no cell of the item reached the threshold,
    ``fraction_outside`` is the fraction of its mask that was cropped off,
    ``alternate_index`` has the qualifying cells in the other mask mode; None if the
    item has no usable mask. ``share`` of the square sent is covered by the mask;
    ``at_thresholds`` are the qualifying cells at each of ``THRESHOLDS``. In a run with
    answers other than cells, ``measures`` compares the answer under every rule, and
    ``detection`` has its boxes, None for answers without any.
    """

    n_cells: int = 0
    cell_index: int | None = None
    reference_index: tuple[int, ...] = ()
    fallback: bool = False
    fraction_outside: float = 0.0
    alternate_index: tuple[int, ...] | None = None
    share: float | None = None
    at_thresholds: tuple[HitSet, ...] = ()
    measures: Measures | None = None
    detection: Detection | None = None


NOWHERE: Final = Placed()
"""Of a trial without a reference."""


@dataclass(frozen=True, slots=True)
class PlacedTrial(TrialResult):
    """A trial with the reference that it was compared with."""

    placed: Placed = NOWHERE


_NAMES: Final = tuple(one.name for one in fields(TrialResult))


def placed_trials(
    results: Sequence[TrialResult],
    params: Params,
    dataset: Dataset | None,
) -> list[PlacedTrial]:
    """Return trials with their references; placed trials are unchanged.

    Without the data set no references are known.
    """
    if _are_placed(results):
        return list(results)
    images = {one.key: one for one in dataset.images} if dataset else {}
    placing = _Placing(params, images)
    any_placed = any(isinstance(one.said, PlacedAnswer) for one in results)
    return [
        PlacedTrial(
            **{name: getattr(one, name) for name in _NAMES},
            placed=placing.placed(one, any_placed),
        )
        for one in results
    ]


def located_answer(one: TrialResult, params: Params) -> Answer | None:
    """Return the parsed answer in a trial's reply; None if there is none."""
    if isinstance(one.said, PlacedAnswer):
        return one.said
    grid = GridPlaces(params).grid(condition_named(one.condition, params))
    cell = grid.cell(one.score.answer) if one.score.answer else None
    return None if cell is None else CellAnswer(cell)


def _are_placed(results: Sequence[TrialResult]) -> TypeGuard[Sequence[PlacedTrial]]:
    return all(isinstance(one, PlacedTrial) for one in results)


@dataclass(frozen=True)
class _Placing:
    """Compares the answers of a run with the references on its images."""

    params: Params
    images: Mapping[str, DatasetImage]

    @property
    def places(self) -> GridPlaces:
        """How answers lie on images."""
        return GridPlaces(self.params)

    def placed(self, one: TrialResult, told: bool) -> Placed:
        """Return a trial with its reference, with measures if ``told``."""
        image = self.images.get(one.image)
        if image is None:
            return NOWHERE
        found, reference = NOWHERE, self._reference(one, image)
        if reference is not None:
            answer, grid = one.score.answer, reference.grid
            cell = grid.cell(answer) if answer else None
            found = Placed(
                n_cells=grid.rows * grid.columns,
                cell_index=cell.row * grid.columns + cell.column if cell else None,
                reference_index=reference.hits,
                fallback=reference.fallback,
                fraction_outside=reference.fraction_outside,
                alternate_index=reference.alternate_hits,
                share=reference.share,
                at_thresholds=hits_at_thresholds(reference, self.params),
            )
        if not told:
            return found
        answered = located_answer(one, self.params)
        return replace(
            found,
            measures=self._measures(one, image, answered),
            detection=self._detection(one, image, answered),
        )

    def _reference(self, one: TrialResult, image: DatasetImage) -> GridReference | None:
        mask = image.masks.get(one.finding)
        if mask is None:
            return None
        condition = condition_named(one.condition, self.params)
        return self.places.reference(mask, image.geometry, condition)

    def _measures(
        self, one: TrialResult, image: DatasetImage, answer: Answer | None
    ) -> Measures | None:
        mask = image.masks.get(one.finding)
        if answer is None or mask is None:
            return None
        condition = condition_named(one.condition, self.params)
        return measured(self.places, condition, mask, answer, image.geometry)

    def _detection(
        self, one: TrialResult, image: DatasetImage, answer: Answer | None
    ) -> Detection | None:
        """Return a trial's boxes and those to find, all cropped to what was sent.

        Boxes wholly outside are ignored on both sides. There are none to find if the
        finding is absent. None if the answer is of a kind without boxes: a cell, a
        point or a heat map.
        """
        if answer is not None and not isinstance(answer, BoxesAnswer | MaskAnswer):
            return None
        field = self.places.field(image.geometry)
        predicted, confidences = _predicted(answer, field)
        reference, by_reader = self._to_find(one.finding, image, field)
        return Detection(predicted, confidences, reference, by_reader)

    def _to_find(
        self, finding: str, image: DatasetImage, field: BoxPx
    ) -> tuple[tuple[BoxPx, ...], _ByReader]:
        """Return the boxes by the rule, else around the mask's parts, and by reader."""
        drawn = boxes_to_find(image, finding, self.params.reader_rule)
        by_rule = drawn.pop(BY_RULE)
        found, mask = _sent(by_rule, field), image.masks.get(finding)
        if mask is not None and not by_rule:
            found = _around(mask, field)
        return found, tuple((name, _sent(of, field)) for name, of in drawn.items())


def _predicted(
    answer: Answer | None, field: BoxPx
) -> tuple[tuple[BoxPx, ...], tuple[float, ...]]:
    """Return predicted boxes clipped to the part sent, with confidences if any."""
    if isinstance(answer, BoxesAnswer):
        cut = [cut_to(box, field) for box in answer.boxes]
        # A box that is cut off wholly takes its confidence with it.
        sure = compress(answer.confidences, cut)
        return tuple(box for box in cut if box), tuple(sure)
    return (_around(answer.mask, field) if isinstance(answer, MaskAnswer) else ()), ()


def _sent(boxes: Iterable[BoxPx], field: BoxPx) -> tuple[BoxPx, ...]:
    return tuple(cut for box in boxes if (cut := cut_to(box, field)))


@lru_cache(maxsize=4096)
def _around(mask: Mask, field: BoxPx) -> tuple[BoxPx, ...]:
    return boxes_around(mask.array() & mask_of_boxes((field,), mask.size))
