"""Which images belong together."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viewer.services.viewing.view_image import ShownImage

STACKED: Final = frozenset({"CT", "MR", "PT", "NM"})
"""Modalities whose series is one stack of slices; others have one row per file."""


def is_stack(shown: "ShownImage") -> bool:
    """Tell whether the wheel scrolls from an image to the next."""
    return shown.header.frames > 1 or shown.header.modality in STACKED


def are_alike(a: "ShownImage", b: "ShownImage") -> bool:
    """Tell whether two images are from one series and have the same geometry."""
    return a.header.series_key == b.header.series_key and a.image.size == b.image.size
