"""What the answers of a run are compared with on their images, and how they met it."""

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
from viewer.metrics.parts import boxes_around
from viewer.metrics.regions import mask_of_boxes
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import condition_named
from viewer.studies.places import GridReference, measured

Spacings = Callable[[str], Spacing | None]
"""The pixel spacing of an image by its key, None if nothing says it."""
_ByReader = tuple[tuple[str, tuple[BoxPx, ...]], ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """An answer's boxes and those that they should find, in native pixels.

    ``predicted`` is empty where nothing was answered that has a box, ``confidence`` as
    long, or empty where the answer names none. ``reference`` are the boxes by the run's
    rule of readers, none if the finding is absent, ``by_reader`` each reader's own,
    also none, where several read the image.
    """

    predicted: tuple[BoxPx, ...]
    confidence: tuple[float, ...]
    reference: tuple[BoxPx, ...]
    by_reader: _ByReader = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """What a trial was compared with, and how its answer met it.

    ``cell_index`` is the answered cell's row-major index, None without an answer;
    ``reference_index`` the qualifying cells' row-major indices with the fallback
    applied. ``fallback`` tells that no cell of the item reached the threshold,
    ``fraction_outside`` how much of its mask the crop cut off, ``alternate_index`` the
    qualifying cells in the mask mode that was not chosen; None if the item has no
    usable mask. ``measures`` compares the answer under every rule in a run with answers
    other than cells, and ``detection`` has its boxes there, None for answers that have
    none.
    """

    n_cells: int = 0
    cell_index: int | None = None
    reference_index: tuple[int, ...] = ()
    fallback: bool = False
    fraction_outside: float = 0.0
    alternate_index: tuple[int, ...] | None = None
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
    """Return trials with what they were compared with; placed ones stay as they are.

    Without the data set nothing is known of it.
    """
    if _are_placed(results):
        return list(results)
    images = {one.key: one for one in dataset.images} if dataset else {}
    found = _Placing(params, images)
    told = any(isinstance(one.said, PlacedAnswer) for one in results)
    return [
        PlacedTrial(
            **{name: getattr(one, name) for name in _NAMES},
            placed=found.placed(one, told),
        )
        for one in results
    ]


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
        """Return what a trial was compared with, with measures where ``told``."""
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
            )
        if not told:
            return found
        answered = self._answer(one)
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

    def _answer(self, one: TrialResult) -> Answer | None:
        """Return what a reply was understood as; None if no answer was."""
        if isinstance(one.said, PlacedAnswer):
            return one.said
        grid = self.places.grid(condition_named(one.condition, self.params))
        cell = grid.cell(one.score.answer) if one.score.answer else None
        return None if cell is None else CellAnswer(cell)

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
        """Return a trial's boxes and those to find, all cut to what was sent.

        What lies wholly beside it is neither a box nor to be found. There are none to
        find where the finding is absent. None if the answer is of a kind that has no
        box: a cell, a point or a heat map.
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
        sure = compress(answer.confidences, cut)
        return tuple(box for box in cut if box), tuple(sure)
    return (_around(answer.mask, field) if isinstance(answer, MaskAnswer) else ()), ()


def _sent(boxes: Iterable[BoxPx], field: BoxPx) -> tuple[BoxPx, ...]:
    return tuple(cut for box in boxes if (cut := cut_to(box, field)))


@lru_cache(maxsize=4096)
def _around(mask: Mask, field: BoxPx) -> tuple[BoxPx, ...]:
    return boxes_around(mask.array() & mask_of_boxes((field,), mask.size))
