"""An image for display: pixels, corner text, tags, thumbnail and reference masks.

The window imports this module before its first image, and a decoding process imports no
more than it needs: resampling, readers, store and studies are imported where they are
used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.annotation import CornerText, StudyReport, Tag
from viewer.domain.box_reference import ANY, with_masks
from viewer.domain.case import ImageHeader, ImageRef, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.finding_names import ByFinding
from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage, Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.slide import SlideMap
from viewer.imaging.luts import to_raster

if TYPE_CHECKING:
    from viewer.domain.presentation import PresentationState
    from viewer.domain.slide_objects import SlideObjects

__all__ = [
    "CornerText",
    "ShownImage",
    "Tag",
    "field_of",
    "load_shown_image",
    "overlay_planes",
    "reference_boxes",
    "reference_masks",
    "study_reports",
    "tags_of",
    "thumbnail",
]

_PRESET: Final = "gosai2025"


@dataclass(frozen=True, eq=False)
class ShownImage:
    """An image with everything needed to paint it without further requests."""

    ref: ImageRef
    header: ImageHeader
    image: PixelImage
    corners: CornerText
    slide: SlideMap | None = None
    """All frames of the whole slide that the image is a field of."""
    state: "PresentationState | None" = None
    """The presentation state that it is shown by."""


def load_shown_image(ref: ImageRef) -> ShownImage:
    """Decode an image and read its annotation; raises if it cannot be read."""
    from viewer.readers.annotation import corner_text
    from viewer.readers.headers import read_file_header
    from viewer.readers.pixels import load_pixels

    header = read_file_header(ref.path)
    if ref.frame not in header:
        raise WrongUseError(
            f"'{ref.path.name}' has {header.frames} frame(s).", "Choose one of them."
        )
    return ShownImage(
        ref, header.image(ref.frame), load_pixels(ref), corner_text(ref), header.slide
    )


def slide_pixels(ref: ImageRef, *, as_scanned: bool) -> npt.NDArray[np.uint8]:
    """Return a frame or region of a slide as RGB, (rows, columns, 3).

    ``as_scanned`` leaves out the ICC profile of the file.
    """
    from viewer.readers.slides.slide import load_field

    return load_field(ref.path, ref.frame, as_scanned=as_scanned).values


def slide_objects(path: Path) -> "SlideObjects":
    """Return the objects of a file of another program; raises if it has none."""
    from viewer.readers.slide_objects import read_objects

    return read_objects(path)


def tags_of(ref: ImageRef) -> tuple[Tag, ...]:
    """Return every data element of a DICOM file, file meta first; else none."""
    from viewer.readers import annotation

    return annotation.tags_of(ref)


def study_reports(
    ref: ImageRef, files: Sequence[Path]
) -> tuple[tuple[StudyReport, ...], tuple[UnreadableInputError, ...]]:
    """Return the reports among files about an image's study, and what is damaged."""
    from viewer.readers.report_texts import is_report, report_of

    found, damaged = list[StudyReport](), list[UnreadableInputError]()
    for path in filter(is_report, files):
        try:
            report = report_of(path, ref)
        except UnreadableInputError as error:
            damaged.append(error)
        else:
            found += [report] if report is not None else []
    return tuple(found), tuple(damaged)


def overlay_planes(ref: ImageRef) -> npt.NDArray[np.bool_] | None:
    """Return the pixels that the file's overlay planes cover, None without any."""
    from viewer.readers import overlay_planes

    return overlay_planes.overlay_planes(ref)


def thumbnail(ref: ImageRef, side: int) -> Raster:
    """Return an image in its own window as a square of ``side`` pixels, letterboxed.

    Every n-th pixel is looked at, such that twice as many as wanted remain.
    """
    from viewer.imaging.resample import FitMode, fit
    from viewer.readers.pixels import load_pixels

    image = load_pixels(ref)
    step = max(1, min(image.size.rows, image.size.columns) // (2 * side))
    thinned = replace(
        image,
        # A view would keep the whole image in memory.
        values=image.values[::step, ::step].copy(),
        padding=None if image.padding is None else image.padding[::step, ::step],
    )
    return fit(to_raster(thinned), side, FitMode.LETTERBOX)


def reference_masks(store: Path, ref: ImageRef) -> Mapping[str, Mask]:
    """Return an image's reference masks by finding, in native pixels.

    They come from the newest registered data set with the image, else from the masks
    beside the file. Boxes are converted to masks of what any reader marked.
    """
    from viewer.store import cases
    from viewer.store.database import open_store

    with open_store(store) as opened:
        known = cases.image_with_reference(opened, ref)
    if known is not None:
        return with_masks(known, ANY).masks
    from viewer.readers.datasets.folder import read_image

    try:
        images = read_image(ref.path).images
    except UnreadableInputError:
        return {}  # an image that cannot be read says so where it is opened
    return images[ref.frame].masks if ref.frame < len(images) else {}


def registered_view(store: Path, ref: ImageRef) -> View:
    """Return the view that the newest data set with the image gives it."""
    from viewer.store import folders
    from viewer.store.database import open_store

    with open_store(store) as opened:
        return folders.view_of(opened, ref)


def reference_boxes(
    store: Path, ref: ImageRef
) -> Mapping[str, tuple[ReferenceBox, ...]]:
    """Return the boxes of an image's findings whose reference was drawn as boxes."""
    from viewer.store import cases
    from viewer.store.database import open_store

    with open_store(store) as opened:
        known = cases.image_with_reference(opened, ref)
    if known is None:
        return {}
    boxes = {name: of for name, of in known.boxes.items() if name not in known.masks}
    return ByFinding(boxes)


def field_of(geometry: ImageGeometry) -> BoxPx:
    """Return the native rectangle that the square sent covers with the paper's preset.

    It is what a grid lies on, and may reach beyond the image where it is letterboxed.
    """
    from viewer.studies.catalog import PLACING, places_of

    return places_of(PLACING, _PRESET, {}).field(geometry)
