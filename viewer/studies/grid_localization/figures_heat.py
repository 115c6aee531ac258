"""Where findings are, and where models see them: Fig. 4, 7 and 8 of Gosai 2025."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import View
from viewer.domain.figure import FigureHead, HeatFigure, HeatPanel
from viewer.results.records import NOT_COUNTED
from viewer.studies.grid_localization.asked import spoken
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.packs import Pictures

_Floats = npt.NDArray[np.float64]
FIRST: Final = ("Cardiomegaly", "Edema")
"""What the paper's Fig. 4 shows; the other findings follow in Fig. 7 and 8."""
_FINE: Final = 64
"""Elements a side of the mean mask, each the mean of the pixels in it."""


class ReferenceHeat(StrEnum):
    """The content of the reference's panel."""

    MASKS = "masks"
    """The mean of the masks as they were sent."""
    CELLS = "cells"
    """How often each cell qualifies, the fallback applied."""


def heat_maps(
    results: Sequence[PlacedTrial],
    pictures: Pictures,
    reference: ReferenceHeat = ReferenceHeat.MASKS,
) -> tuple[HeatFigure, ...]:
    """Return Fig. 4, 7 and 8 of a run's first grid, frontal views alone.

    The mean image is over all frontal images of settled trials, each stretched from
    its least to its greatest value before. All panels of all three figures share one
    background, each figure one colour scale.
    """
    frontal = [
        r
        for r in results
        if r.view == View.FRONTAL and r.score.status not in NOT_COUNTED
    ]
    if not frontal:
        return ()
    first = frontal[0].condition
    mine = [result for result in frontal if result.condition == first]
    background = mean_image([r.image for r in mine], first, pictures)
    findings = tuple(dict.fromkeys(result.finding for result in mine))
    return tuple(
        HeatFigure(
            FigureHead(
                name, number, "Reference and answers", _caption(mine, reference)
            ),
            background,
            tuple(_panels(mine, chosen, pictures, reference)),
        )
        for (name, number), chosen in zip(_NAMES, _parts(findings), strict=True)
        if chosen
    )


_NAMES: Final = (
    ("fig4_heat_maps", "Figure 4"),
    ("fig7_heat_maps", "Figure 7"),
    ("fig8_heat_maps", "Figure 8"),
)


def mean_image(images: Sequence[str], condition: str, pictures: Pictures) -> _Floats:
    """Return the mean of images as sent, each from 0 to 1; (side, side)."""
    names = tuple(dict.fromkeys(images))
    total = _stretched(pictures.sent(names[0], condition))
    for name in names[1:]:
        total = total + _stretched(pictures.sent(name, condition))
    return total / len(names)


def _stretched(pixels: npt.NDArray[np.uint8]) -> _Floats:
    """Return an image from its least value, 0, to its greatest, 1; flat is 0."""
    low, high = int(pixels.min()), int(pixels.max())
    return (pixels.astype(np.float64) - low) / max(1, high - low)


def _parts(findings: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the findings of each figure: two, then the rest in two halves."""
    shown = tuple(f for f in FIRST if f in findings) or tuple(findings[:2])
    rest = tuple(f for f in findings if f not in shown)
    half = (len(rest) + 1) // 2
    return shown, rest[:half], rest[half:]


def _panels(
    results: Sequence[PlacedTrial],
    findings: Sequence[str],
    pictures: Pictures,
    reference: ReferenceHeat,
) -> Iterator[HeatPanel]:
    models = tuple(dict.fromkeys(result.model for result in results))
    for finding in findings:
        mine = [result for result in results if result.finding == finding]
        by_item = {result.item: result for result in mine}
        yield _reference_panel(finding, tuple(by_item.values()), pictures, reference)
        for model in models:
            yield _answer_panel(finding, model, [r for r in mine if r.model == model])


def _reference_panel(
    finding: str,
    items: Sequence[PlacedTrial],
    pictures: Pictures,
    reference: ReferenceHeat,
) -> HeatPanel:
    if reference is ReferenceHeat.CELLS:
        values = sum(_cells(r, r.placed.reference_index) for r in items) / len(items)
    else:
        values = sum(_coarse(pictures.mask(r.image, finding)) for r in items)
        values = values / len(items)
    return HeatPanel(finding, "Reference", np.asarray(values), len(items))


def _coarse(mask: npt.NDArray[np.bool_]) -> _Floats:
    """Return the mean of a square mask in each of its ``_FINE`` × ``_FINE`` parts."""
    edges = np.arange(_FINE + 1) * mask.shape[0] // _FINE
    starts = edges[:-1]
    sums = np.add.reduceat(
        np.add.reduceat(mask.astype(np.float64), starts, axis=0), starts, axis=1
    )
    sizes = np.diff(edges)
    return np.asarray(sums / np.outer(sizes, sizes))


def _answer_panel(
    finding: str, model: str, results: Sequence[PlacedTrial]
) -> HeatPanel:
    """Return how often each cell was answered; n are the trials with an answer."""
    answered = [r for r in results if r.placed.cell_index is not None]
    side = _side(results[0]) if results else 1
    values = np.zeros((side, side))
    for result in answered:
        values += _cells(result, (result.placed.cell_index or 0,))
    return HeatPanel(finding, model, values / max(1, len(answered)), len(answered))


def _cells(result: PlacedTrial, indices: Sequence[int]) -> _Floats:
    """Return 1 in the cells numbered, 0 elsewhere; (rows, columns)."""
    side = _side(result)
    values = np.zeros(result.placed.n_cells)
    values[list(indices)] = 1
    return values.reshape(-1, side)


def _side(result: PlacedTrial) -> int:
    """Return the columns of a result's grid."""
    _, _, columns = result.condition.removeprefix("grid=").partition("x")
    return int(columns) if columns else round(result.placed.n_cells**0.5)


def _caption(results: Sequence[PlacedTrial], reference: ReferenceHeat) -> str:
    images = len({result.image for result in results})
    shown = {
        ReferenceHeat.MASKS: "the mean reference mask",
        ReferenceHeat.CELLS: "how often each cell qualifies",
    }[reference]
    return (
        f"{spoken(results[0].condition)}, frontal views, over the mean of {images} "
        f"images, each stretched from its minimum to its maximum. Left: {shown}; "
        "right: how often each model named each cell. One colour scale for all."
    )
