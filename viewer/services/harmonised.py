"""How stored answers meet their references under every rule, on screen and in tables.

Both ask here, so that they cannot differ.
"""

from functools import lru_cache
from typing import Any, Final

from viewer.domain.answer import Answer, CellAnswer
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Spacing
from viewer.domain.reference import Mask
from viewer.domain.result import Measures, Score
from viewer.domain.run import Condition
from viewer.metrics.harmonised import Target, measures, target
from viewer.readers.spacing import load_spacing
from viewer.studies.protocol import Study

_TARGETS_KEPT: Final = 4


def measured(
    study: Study,
    params: Any,  # noqa: ANN401 - the study's own type
    condition: Condition,
    mask: Mask,
    answer: Answer,
    ref: ImageRef,
) -> Measures | None:
    """Return how an answer about an image meets a reference mask of it.

    None where nothing of the reference was sent. Millimetres are left out where the
    image's file has no spacing or is gone.
    """
    reference = study.reference(mask, condition, params)
    field = study.field(mask.size, params)
    goal = _target(mask, reference.grid, field, reference.hits)
    return measures(answer, goal, _spacing(ref))


def named_cell(score: Score, grid: Grid) -> CellAnswer | None:
    """Return the cell that a verdict names, None where it names none."""
    cell = grid.cell(score.answer) if score.answer else None
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
