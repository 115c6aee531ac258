"""The geometry of images of a data set, read once for each file."""

from functools import lru_cache

from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.image_geometry import ImageGeometry, Spacing
from viewer.readers.geometry import load_geometry


def spacing_of(ref: ImageRef) -> Spacing | None:
    """Return an image's spacing, None where its file has none or is gone."""
    try:
        return _geometry_at(ref, ref.path.stat().st_mtime_ns).spacing
    except (OverreadError, OSError):
        return None


@lru_cache(maxsize=1024)
def _geometry_at(ref: ImageRef, _changed: int) -> ImageGeometry:
    return load_geometry(ref)
