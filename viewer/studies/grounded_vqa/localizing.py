"""The region that a model localizes before it answers (LobA's first pass, E002-14).

A model without a segmentation token names a box, which a promptable segmenter turns
into a mask; without a segmenter the box itself is the region.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.documents import read_json
from viewer.domain.geometry import BoxPx, SizePx
from viewer.imaging.resample import shrunk_mask
from viewer.metrics.regions import mask_of_boxes
from viewer.studies.grounded_vqa.params import Params, RegionSource
from viewer.studies.grounded_vqa.templates import LOCATE
from viewer.studies.reply_text import answering_text
from viewer.studies.steps import Turn

_Bools = npt.NDArray[np.bool_]
_LIST = re.compile(r"\[[^\[\]]{1,200}\]")
_WHOLE = 1000
OUTLINE = "outline"
EDITED = " edited"
"""What the steps of an edited image or question are called besides."""
SEGMENTER = "segmenter"


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The overlap of a located region with the reference's mask, each 0 to 1."""

    dice: float
    iou: float


def located_box(text: str, size: SizePx) -> BoxPx | None:
    """Return the box in a first pass's reply, in native pixels; None without one.

    Of several lists the last one with four numbers counts. A box without a pixel is
    none.
    """
    for written in reversed(_LIST.findall(answering_text(text))):
        try:
            numbers = read_json(written)
        except ValueError:
            continue
        box = _box(numbers, size)
        if box:
            return box
    return None


def box_in_words(mask: _Bools) -> str:
    """Return the box around a mask as a first pass writes it: in thousandths."""
    places = (np.flatnonzero(mask.any(axis=axis)) for axis in (0, 1))
    (x0, x1), (y0, y1) = ((int(at[0]), int(at[-1]) + 1) for at in places)
    rows, columns = mask.shape
    ends = (x0 / columns, y0 / rows, x1 / columns, y1 / rows)
    return str([round(_WHOLE * end) for end in ends])


def region_of_turn(turn: Turn, size: SizePx, suffix: str = "") -> _Bools | None:
    """Return the region from a turn's passes, (rows, columns) native.

    ``suffix`` is EDITED for passes about an edited image or question.

    None if the model named none; the box replaces a segmenter's empty mask.
    """
    first = turn.reply_to(LOCATE + suffix)
    box = located_box(first.text, size) if first else None
    outlined = turn.reply_to(OUTLINE + suffix)
    if outlined and outlined.mask and not outlined.mask.is_empty:
        return shrunk_mask(outlined.mask.array(), size)
    return _region_of_box(box, size) if box else None


def _region_of_box(box: BoxPx, size: SizePx) -> _Bools:
    """Return the pixels whose centres a box holds, else those that it touches.

    A box of a thousandth may lie between two centres; it is a region all the same.
    """
    region = mask_of_boxes((box,), size)
    if region.any():
        return region
    whole = (math.floor(box.x0), math.floor(box.y0))
    ends = (math.ceil(box.x1), math.ceil(box.y1))
    return mask_of_boxes((BoxPx(*whole, *ends),), size)


def locates(params: Params) -> bool:
    """Tell whether regions come of a first pass."""
    return params.region_source is RegionSource.MODEL


def overlaps(region: _Bools, reference: _Bools) -> Overlaps:
    """Return Dice and IoU of two (rows, columns) masks, of which one has a pixel."""
    both = int(np.count_nonzero(region & reference))
    total = int(np.count_nonzero(region)) + int(np.count_nonzero(reference))
    return Overlaps(2 * both / total, both / (total - both))


def _box(numbers: object, size: SizePx) -> BoxPx | None:
    if not isinstance(numbers, list) or len(numbers) != 4:
        return None
    if not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers):
        return None
    x0, y0, x1, y1 = (min(max(n / _WHOLE, 0.0), 1.0) for n in numbers)
    if x1 <= x0 or y1 <= y0:
        return None
    columns, rows = size.columns, size.rows
    return BoxPx(x0 * columns, y0 * rows, x1 * columns, y1 * rows)
