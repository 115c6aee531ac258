"""Which part of an image each patch of a vision tower represents."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine, PointPx, SizePx
from viewer.imaging.patch_cover import patch_cover
from viewer.models.transformers_local.engine import Engine
from viewer.models.transformers_local.layouts import PatchLayout, layouts


@dataclass(frozen=True)
class View:
    """One picture given to the vision tower, in patches.

    ``to_sent`` maps patch coordinates (x in columns, y in rows) to pixels of the image
    as sent.
    """

    rows: int
    columns: int
    to_sent: Affine

    def cover(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Return (rows, columns) the fraction of each patch that a mask covers."""
        return patch_cover(mask, self.rows, self.columns, self.to_sent)


def views(engine: Engine, sizes: list[SizePx]) -> list[list[View]]:
    """Return the views of each image, of the sizes sent, given to the vision tower.

    One view, or the tiles row by row and then the whole image.

    Raises
    ------
    WrongUseError
        If the layout of this model family is unknown.
    """
    return [_views(plan, _fineness(engine, plan)) for plan in layouts(engine, sizes)]


def _fineness(engine: Engine, plan: PatchLayout) -> int:
    """Return how many patches of the vision tower form the side of an image token."""
    merged = getattr(engine.encoder.image_processor, "merge_size", None)
    if merged is not None:
        return int(merged)
    vision = engine.model.config.vision_config
    side = int(vision.image_size) // int(vision.patch_size)
    return side // (plan.columns // max(plan.tiles[1], 1))


def _views(plan: PatchLayout, fineness: int) -> list[View]:
    down, across = (max(n, 1) for n in plan.tiles)
    rows, columns = plan.rows * fineness // down, plan.columns * fineness // across
    tiles = [
        View(
            rows,
            columns,
            _part(plan.to_sent, fineness, PointPx(c * columns, r * rows), 1, 1),
        )
        for r in range(down)
        for c in range(across)
    ]
    if not plan.tiles[0]:
        return tiles
    whole = _part(plan.to_sent, fineness, PointPx(0, 0), across, down)
    return [*tiles, View(rows, columns, whole)]


def _part(
    tokens: Affine, fineness: int, corner: PointPx, wide: int, high: int
) -> Affine:
    """Return the affine map of patches from that of tokens, ``fineness`` per side.

    They begin at ``corner``, in patches, and each is ``wide`` × ``high``.
    """
    at = tokens.apply(PointPx(corner.x / fineness, corner.y / fineness))
    a, e = tokens.a * wide / fineness, tokens.e * high / fineness
    return Affine(a, 0.0, at.x, 0.0, e, at.y)
