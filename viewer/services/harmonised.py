"""How stored answers meet their references under every rule, on screen and in tables.

Both ask here, so that they cannot differ.
"""

from functools import lru_cache
from typing import Final

from viewer.domain.answer import Answer, CellAnswer, Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Spacing
from viewer.domain.reference import Mask
from viewer.domain.result import Measures
from viewer.domain.run import Condition
from viewer.metrics.harmonised import Target, measures, target
from viewer.readers.spacing import load_spacing
from viewer.services.bench import Bench
from viewer.store.trials import ScoredTrial
from viewer.studies.places import Places

_TARGETS_KEPT: Final = 4


def measured(
    places: Places,
    condition: Condition,
    mask: Mask,
    answer: Answer,
    ref: ImageRef,
) -> Measures | None:
    """Return how an answer about an image meets a reference mask of it.

    None where nothing of the reference was sent. Millimetres are left out where the
    image's file has no spacing or is gone.
    """
    reference, field = places.reference(mask, condition), places.field(mask.size)
    goal = _target(mask, reference.grid, field, reference.hits)
    return measures(answer, goal, _spacing(ref))


def measures_of(bench: Bench, scored: ScoredTrial) -> Measures | None:
    """Return how a trial's answer meets its reference; None without either."""
    trial, image = scored.trial, bench.images[scored.trial.image]
    answer = answer_of(bench, scored)
    if answer is None or bench.reference(trial) is None:
        return None
    mask = image.masks[trial.finding]
    return measured(bench.places, trial.condition, mask, answer, image.ref)


def answer_of(bench: Bench, scored: ScoredTrial) -> Answer | None:
    """Return what a trial's reply was understood as; None where no answer was."""
    if scored.placed:
        answer = answer_of_json(scored.parsed)
        return None if isinstance(answer, Unparsed) else answer
    grid = bench.places.grid(scored.trial.condition)
    cell = grid.cell(scored.score.answer) if scored.score.answer else None
    return None if cell is None else CellAnswer(cell)


@lru_cache(maxsize=_TARGETS_KEPT)
def _target(mask: Mask, grid: Grid, field: BoxPx, hits: tuple[int, ...]) -> Target:
    return target(mask, grid, field, hits)


def _spacing(ref: ImageRef) -> Spacing | None:
    try:
        return _spacing_at(ref, ref.path.stat().st_mtime_ns)
    except (OverreadError, OSError):
        return None


@lru_cache(maxsize=1024)
def _spacing_at(ref: ImageRef, _changed: int) -> Spacing | None:
    return load_spacing(ref)
