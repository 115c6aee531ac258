"""An image prepared for display, outside the window."""

from dataclasses import dataclass

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.view_image import ShownImage, field_of, load_shown_image


@dataclass(frozen=True, eq=False)
class OpenedImage:
    """An image, the native rectangle that a question covers, and its pyramid."""

    shown: ShownImage
    field: BoxPx
    pyramid: Pyramid


def open_image(ref: ImageRef) -> OpenedImage:
    """Decode an image and build its pyramid; raises if it cannot be read."""
    shown = load_shown_image(ref)
    field = field_of(shown.image.geometry)
    return OpenedImage(shown, field, Pyramid(shown.image).build())
