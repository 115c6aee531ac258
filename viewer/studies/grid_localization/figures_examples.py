"""Real items of a run as pictures: Fig. 1 and Fig. 5 of Gosai 2025 (E000-28)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.case import View
from viewer.domain.figure import (
    FigureHead,
    GalleryFigure,
    Picture,
    Step,
    StripFigure,
    Tile,
)
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.domain.result import Outcome
from viewer.domain.styles import looks_of, rgb_of
from viewer.imaging.answer_overlay import draw_marks
from viewer.studies.grid_localization.asked import spoken
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.packs import Pictures

_EACH: Final = 4
"""Examples of a class."""
_NATIVE: Final = 512
"""Pixels of the longer side of an uncropped image in the strip."""
_HITS: Final = {
    Outcome.FULL: "Full hit",
    Outcome.FULL_FALLBACK: "Full hit",
    Outcome.PARTIAL: "Partial hit",
}
_MISSES: Final = {
    "position": "Position error",
    "anatomy": "Anatomy error",
    "partial": "Partial hit",
    "unsure": "Reader unsure",
}
_UNREAD: Final = "Miss, not reviewed"
KINDS: Final = (
    *("Full hit", "Partial hit", "Position error", "Anatomy error"),
    *("Reader unsure", _UNREAD),
)
"""Classes of error, in the order of the figure's rows."""
GridOf = Callable[[str], Grid]


def method_strip(
    results: Sequence[PlacedTrial], seed: int, pictures: Pictures, grid_of: GridOf
) -> StripFigure | None:
    """Return Fig. 1 of the first grid with a frontal hit drawn by lot; None without."""
    first = next((r.condition for r in results), "")
    answered = [
        r
        for r in results
        if r.condition == first
        and r.placed.cell_index is not None
        and r.placed.reference_index
    ]
    if not answered:
        return None
    one = min(answered, key=lambda r: (_is_poor(r), _lot(r, seed)))
    plain = pictures.sent(one.image, one.condition)
    side = plain.shape[0]
    cover = f"{100 * (one.score.coverage or 0):.0f}"
    verdict = "a hit" if one.score.status is Status.SCORED_CORRECT else "a miss"
    steps = (
        Step("Image", pictures.native(one.image, _NATIVE), one.finding),
        Step("Crop and resize", plain, f"{side} × {side} pixels"),
        Step("Grid", pictures.gridded(one.image, one.condition), spoken(one.condition)),
        Step("Question", None, pictures.prompt(one)),
        Step("Answer", None, f"{one.score.answer}\n\n{one.model}"),
        Step(
            "Score",
            _drawn(one, pictures, grid_of),
            f"covers {cover} %: {verdict}",
        ),
    )
    caption = (
        f"An item of this run, drawn at random from the hits: {one.finding}, "
        f"{one.view}. Blue: the reference and its cells; in the model's colour: the "
        "answered cell."
    )
    head = FigureHead("fig1_method", "Figure 1", "Study overview", caption)
    return StripFigure(head, steps)


def gallery(
    results: Sequence[PlacedTrial],
    seed: int,
    pictures: Pictures,
    grid_of: GridOf,
    verdicts: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> GalleryFigure | None:
    """Return Fig. 5: examples of each class by lot, of different findings first.

    ``verdicts`` are what readers said of misses, by item and model.
    """
    first = next((r.condition for r in results), "")
    by_kind: dict[str, list[PlacedTrial]] = {kind: [] for kind in KINDS}
    for result in results:
        frontal = result.view == View.FRONTAL and result.condition == first
        if frontal and result.score.outcome is not None:
            by_kind[_kind_of(result, verdicts)].append(result)
    tiles = tuple(
        _tile(kind, result, pictures, grid_of)
        for kind, mine in by_kind.items()
        for result in _chosen(mine, seed)
    )
    if not tiles:
        return None
    caption = (
        f"{spoken(first)}, frontal views; examples drawn at random with seed {seed}, "
        "not picked. Blue: the reference and its cells; in the model's colour: the "
        "answered cell with the sign of its class."
    )
    head = FigureHead(
        "fig5_examples", "Figure 5", "Examples by class of error", caption
    )
    return GalleryFigure(head, tiles)


def _kind_of(result: PlacedTrial, verdicts: Mapping[tuple[str, str], str]) -> str:
    """Return the class of an answer; a miss has that which readers gave it."""
    if result.score.outcome in _HITS:
        return _HITS[result.score.outcome]
    return _MISSES.get(verdicts.get((result.item, result.model), ""), _UNREAD)


def _is_poor(result: PlacedTrial) -> bool:
    """Tell whether a result shows the method less well than a frontal full hit."""
    return result.view != View.FRONTAL or result.score.outcome is not Outcome.FULL


def _lot(result: PlacedTrial, seed: int) -> str:
    words = f"{seed}|{result.item}|{result.condition}|{result.model}|{result.repeat}"
    return hashlib.sha256(words.encode()).hexdigest()


def _chosen(results: Sequence[PlacedTrial], seed: int) -> tuple[PlacedTrial, ...]:
    """Return a few by lot: one of each finding in turn, then second ones."""
    seen: dict[str, int] = {}
    ranked = []
    for result in sorted(results, key=lambda r: _lot(r, seed)):
        seen[result.finding] = seen.get(result.finding, 0) + 1
        ranked.append((seen[result.finding], result))
    return tuple(result for _, result in sorted(ranked, key=lambda p: p[0])[:_EACH])


def _tile(kind: str, result: PlacedTrial, pictures: Pictures, grid_of: GridOf) -> Tile:
    return Tile(
        picture=_drawn(result, pictures, grid_of),
        kind=kind,
        item=result.item,
        finding=result.finding,
        model=result.model,
        cell=result.score.answer,
        outcome=str(result.score.outcome),
    )


def _drawn(result: PlacedTrial, pictures: Pictures, grid_of: GridOf) -> Picture:
    """Return the very image sent with the reference and the answer on it."""
    grid, met = grid_of(result.condition), result.placed
    cells = grid.cells()
    sent = pictures.gridded(result.image, result.condition)
    mask = pictures.mask(result.image, result.finding)
    times = sent.shape[0] // mask.shape[0]
    return draw_marks(
        Raster(sent),
        grid,
        mask.repeat(times, axis=0).repeat(times, axis=1),
        cells[met.cell_index] if met.cell_index is not None else None,
        [cells[i] for i in met.reference_index],
        result.score.outcome,
        color=rgb_of(looks_of([result.model])[result.model].colour),
    ).pixels
