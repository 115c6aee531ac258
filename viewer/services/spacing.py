"""The pixel spacing of images of a data set, read once for each file."""

from functools import lru_cache

from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.image import Spacing
from viewer.readers.spacing import load_spacing


def spacing_of(ref: ImageRef) -> Spacing | None:
    """Return an image's spacing, None where its file has none or is gone."""
    try:
        return _spacing_at(ref, ref.path.stat().st_mtime_ns)
    except (OverreadError, OSError):
        return None


@lru_cache(maxsize=1024)
def _spacing_at(ref: ImageRef, _changed: int) -> Spacing | None:
    return load_spacing(ref)
