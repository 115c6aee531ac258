"""Segmentation of the contents of boxes, as masks in native pixels."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import MaskAnswer
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.models.segmenter import Segmented, Segmenter
from viewer.readers.pixels import load_pixels
from viewer.writers.files import write_atomically

_SET: Final = np.uint8(255)


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A segmenter's result for some boxes of an image, and which segmenter it was.

    ``whole`` (rows, columns) bool is the union of the parts.
    """

    parts: tuple[Segmented, ...]
    whole: npt.NDArray[np.bool_]
    provenance: Mapping[str, str]

    @property
    def answer(self) -> MaskAnswer:
        """The union as an answer, which is drawn and scored like any other.

        Raises
        ------
        WrongUseError
            If the segmenter found nothing in any box.
        """
        if not self.whole.any():
            raise WrongUseError(
                "The segmenter found nothing in the box.", "Draw a larger box."
            )
        return MaskAnswer(Mask.of_array(self.whole))


def segment(
    ref: ImageRef, boxes: Sequence[BoxPx], folder: Path, device: str = "auto"
) -> Segmentation:
    """Segment the object in boxes of an image, shown with the file's own window.

    Parameters
    ----------
    ref : ImageRef
        The image and its frame.
    boxes : sequence of BoxPx
        At least one, in native pixels: a reader's, or those of a model's answer.
    folder : Path
        The folder of a SAM or MedSAM model; it stays loaded for the next image.
    device : str
        ``cpu``, ``cuda`` or ``auto``.

    Raises
    ------
    OverreadError
        If the image or model cannot be read, or a box is outside the image.
    """
    if not boxes:
        raise WrongUseError("There is no box to segment.", "Give a box: x0,y0,x1,y1.")
    segmenter = segmenter_of(folder.absolute(), device)
    raster = to_raster(load_pixels(ref))
    parts = segmenter.segment(raster, boxes)
    whole = np.logical_or.reduce([part.mask for part in parts])
    return Segmentation(parts, whole, segmenter.provenance())


@functools.lru_cache(maxsize=4)
def segmenter_of(folder: Path, device: str) -> Segmenter:
    """Return the process-wide segmenter of a folder, which can be unloaded."""
    return Segmenter(folder, device)


def segmentation_row(segmentation: Segmentation) -> dict[str, object]:
    """Return a segmentation as JSON; masks are COCO compressed run lengths."""
    return {
        **segmentation.provenance,
        "size": list(segmentation.whole.shape),
        "counts": Mask.of_array(segmentation.whole).counts,
        "pixels": int(segmentation.whole.sum()),
        "parts": [_part_row(part) for part in segmentation.parts],
    }


def _part_row(part: Segmented) -> dict[str, object]:
    return {
        "box": plain(part.box),
        "counts": Mask.of_array(part.mask).counts,
        "pixels": int(part.mask.sum()),
        "expected_iou": round(part.quality, 6),
    }


def write_segmentation(segmentation: Segmentation, path: Path) -> None:
    """Write a mask: .json with its provenance, .png as 0 and 255 in native pixels.

    Another ending raises WrongUseError.
    """
    ending = path.suffix.lower()
    if ending == ".json":
        row = segmentation_row(segmentation)
        write_atomically(path, json.dumps(row, indent=1, sort_keys=True).encode())
    elif ending == ".png":
        pixels = np.where(segmentation.whole, _SET, np.uint8(0))
        write_atomically(path, encode_png(Raster(pixels)))
    else:
        raise WrongUseError(
            f"A mask cannot be saved as '{path.suffix}'.",
            "Use a name that ends in .png or .json.",
        )
