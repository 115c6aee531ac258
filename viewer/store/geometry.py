"""The geometry of an image as stored in a row."""

import json
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import made, plain
from viewer.store.database import Row

_UNSAID: Final = plain(ImageGeometry(SizePx(0, 0)))
_NOTHING: Final = "{}"


def geometry_text(geometry: ImageGeometry) -> str:
    """Return the content of column ``geometry``: everything but the size."""
    fields = plain(geometry)
    del fields["size"]
    known = {name: value for name, value in fields.items() if value != _UNSAID[name]}
    return json.dumps(known, sort_keys=True) if known else _NOTHING


def geometry_of(row: Row) -> ImageGeometry:
    """Return the geometry in columns ``rows``, ``columns`` and ``geometry``."""
    size = SizePx(row["rows"], row["columns"])
    if row["geometry"] == _NOTHING:
        return ImageGeometry(size)
    fields = {**json.loads(row["geometry"]), "size": plain(size)}
    return made(ImageGeometry, fields, where="the stored geometry")
