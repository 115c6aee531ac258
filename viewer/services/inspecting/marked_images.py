"""The images of a trial, with the locations that its replies name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import LabelledBox
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import Affine, BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.interpretability import Highlight
from viewer.domain.plain import made
from viewer.domain.reference import Mask
from viewer.imaging.png import decode_png
from viewer.imaging.resample import FitMode, fit_affine, fit_mask, shrunk_mask
from viewer.metrics.regions import mask_of_boxes
from viewer.studies.steps import PredictedBoxes

NOWHERE: Final = BoxPx(0, 0, 1, 1)


@dataclass(frozen=True)
class MarkedImage:
    """An image as it was sent, PNG bytes, and what to draw on it.

    ``field`` is the native rectangle it covers; ``boxes`` are in native pixels.
    ``region`` is stretched over the whole image: what was highlighted, or a segmenter's
    mask. ``key`` is the data set's image that the boxes refer to, "" if there is none.
    """

    png: bytes
    field: BoxPx = NOWHERE
    boxes: tuple[LabelledBox, ...] = ()
    region: Mask | None = None
    key: str = ""

    @property
    def is_marked(self) -> bool:
        """Whether anything is drawn on it."""
        return bool(self.boxes) or self.region is not None

    def regions(self, side: int) -> list[npt.NDArray[np.bool_]]:
        """Return the pixels that each box and the region cover, on a square.

        Each is (side, side); the image is letterboxed into it, as its thumbnails are.
        """
        size = decode_png(self.png).size
        place = fit_affine(ImageGeometry(size), side, FitMode.LETTERBOX)
        boxes = [self._box_on(place, one.box, size) for one in self.boxes]
        masks = [mask_of_boxes((box,), SizePx(side, side)) for box in boxes]
        if self.region is not None:
            whole = shrunk_mask(self.region.array(), size)
            masks.append(fit_mask(whole, 1.0, side, FitMode.LETTERBOX))
        return masks

    def _box_on(self, place: Affine, box: BoxPx, size: SizePx) -> BoxPx:
        sent = self.on_picture(box, size)
        first = place.apply(PointPx(sent.x0, sent.y0))
        last = place.apply(PointPx(sent.x1, sent.y1))
        return BoxPx(first.x, first.y, last.x, last.y)

    def on_picture(self, box: BoxPx, size: SizePx) -> BoxPx:
        """Convert a native box to pixels of a picture of the whole image.

        ``size`` is the picture's; pixels are those of :class:`BoxPx`.
        """
        field = self.field
        width, height = field.x1 - field.x0, field.y1 - field.y0
        return BoxPx(
            (box.x0 - field.x0) * size.columns / width,
            (box.y0 - field.y0) * size.rows / height,
            (box.x1 - field.x0) * size.columns / width,
            (box.y1 - field.y0) * size.rows / height,
        )


def marked_images(
    images: Sequence[bytes],
    document: Mapping[str, Any],
    reply: ModelReply | None,
    pointed: Sequence[PredictedBoxes] = (),
    before: MarkedImage | None = None,
) -> tuple[MarkedImage, ...]:
    """Return the images of a step with highlights, masks and named boxes.

    ``document`` is what the request's key hashes. A segmenter is sent no message: its
    mask is shown on ``before``, the previous image, or the trial's first.
    """
    outlined = reply.mask if reply else None
    if not images and before and outlined and not outlined.is_empty:
        return (MarkedImage(before.png, region=outlined),)
    lit = _highlighted(document)
    named = {one.image: one for one in pointed}
    return tuple(
        MarkedImage(png, one.field, one.boxes, lit.get(i), one.key)
        if (one := named.get(i))
        else MarkedImage(png, region=lit.get(i))
        for i, png in enumerate(images)
    )


def _highlighted(document: Mapping[str, Any]) -> dict[int, Mask]:
    if "highlight" not in document:
        return {}
    light = made(Highlight, document["highlight"], where="the request")
    return {light.image: light.mask}
