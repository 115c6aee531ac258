"""The part of an image that a question is about: of a slide, what is seen or marked."""

from dataclasses import dataclass

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.mark import REGIONS
from viewer.domain.slide import SlideMap, SlideRegion
from viewer.services.viewing.view_image import field_of
from viewer.ui.panels.read.viewport import Viewport


@dataclass(frozen=True, slots=True)
class AskedPart:
    """An image that can be asked about, and where it lies on the one that is shown.

    ``field`` is the rectangle of the image shown, in its native pixels, that the square
    sent covers; ``words`` say which part it is, "" for the whole image.
    """

    ref: ImageRef
    field: BoxPx
    words: str = ""


def asked_part(viewport: Viewport) -> AskedPart | None:
    """Return what a question would be about now, None without an image.

    Of a whole slide that is a chosen rectangle, ellipse or polygon; without one what is
    seen of it, unless all is.
    """
    shown = viewport.shown
    if shown is None or viewport.field is None:
        return None
    slide, box = shown.slide, _marked(viewport)
    if slide is None or shown.ref.frame or (box is None and viewport.view.fitted):
        return AskedPart(shown.ref, viewport.field)
    region = slide.region(slide.to_scan(0).apply_box(box or viewport.view.seen))
    geometry = slide.geometry(region.frame)
    sent = field_of(geometry)
    what = "the marked region" if box else "the field of view"
    words = f"Asks about {what}: {_size_words(geometry, sent, slide, region)}"
    field = slide.to_whole(region.frame).apply_box(sent)
    return AskedPart(ImageRef(shown.ref.path, region.frame), field, words)


def _marked(viewport: Viewport) -> BoxPx | None:
    mark = viewport.view.marks.chosen
    if mark is None or mark.kind not in REGIONS or not mark.complete:
        return None
    return mark.box


def _size_words(
    geometry: ImageGeometry, sent: BoxPx, slide: SlideMap, region: SlideRegion
) -> str:
    """Return the size on the specimen, as far as it is known, and the magnification."""
    at = f"from {slide.name_at(2**region.halving)}"
    width, height, spacing = sent.x1 - sent.x0, sent.y1 - sent.y0, geometry.spacing
    if spacing is None:
        return f"{width:.0f} × {height:.0f} px {at}"
    across, down = width * spacing.column_mm * 1000, height * spacing.row_mm * 1000
    return f"{across:.0f} × {down:.0f} µm {at}"
