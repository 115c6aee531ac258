"""Figure 4, left: what corrupted images look like, as they were sent (E003-06)."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from viewer.domain.figure import FigureHead, GalleryFigure, Picture, Tile
from viewer.domain.image import Raster
from viewer.domain.result import TrialResult
from viewer.imaging.corruptions import gallery, pixels_sha256
from viewer.studies.asking import Sources
from viewer.studies.packs import PackInput
from viewer.studies.pathology_mcq.arms import arm_of
from viewer.studies.pathology_mcq.params import Arm, Params, read_params

_MOST: Final = 192
"""Pixels of the middle of the image that are shown, across and down."""


def gallery_figure(given: PackInput) -> GalleryFigure | None:
    """Return one image of the run under every kind and level, None where none was.

    Over each picture stands the beginning of the hash of the whole image's pixels.
    """
    shown = next((r for r in given.results if _is_shown(r)), None)
    if shown is None or given.sources is None:
        return None
    params = read_params(given.spec.preset, given.spec.params)
    head = FigureHead(
        "corruptions",
        "Figure 4",
        "Corrupted images",
        f"The middle of {shown.image} as it was sent; level 0 is the image itself.",
    )
    tiles = tuple(_tiles(shown, given.sources, params))
    return GalleryFigure(head, tiles)


def _is_shown(result: TrialResult) -> bool:
    corrupted = arm_of(result.condition) is Arm.CORRUPTION
    return corrupted and bool(result.image and result.request_sha256)


def _tiles(shown: TrialResult, sources: Sources, params: Params) -> Iterator[Tile]:
    raster, side = sources.raster(shown.image), int(params.blur_table)
    for kind, levels in gallery(raster, sources.seed, side).items():
        for level, made in enumerate(levels) if kind in params.corruptions else ():
            yield Tile(
                picture=_middle(made),
                kind=kind.value,
                item=shown.item,
                finding=f"level {level}",
                model="SHA-256",
                cell=pixels_sha256(made)[:8],
                outcome="",
            )


def _middle(raster: Raster) -> Picture:
    rows, columns = raster.size.rows, raster.size.columns
    top, left = max(0, (rows - _MOST) // 2), max(0, (columns - _MOST) // 2)
    part = raster.pixels[top : top + _MOST, left : left + _MOST]
    return np.ascontiguousarray(part if part.ndim == 3 else np.stack([part] * 3, 2))
