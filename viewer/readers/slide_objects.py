"""Objects on a slide from other programs: GeoJSON as QuPath writes it, or a table.

Coordinates are pixels of the scan from its upper left corner. GeoJSON (RFC 7946) has
features of Polygon, MultiPolygon or Point, each with its class under
``classification.name``; a table has a box in each row, by the columns ``x1, y1, x2,
y2`` or ``x, y, width, height``, and its class under ``class``, ``label`` or
``finding``.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.slide_objects import SlideObjects
from viewer.readers.datasets.csv_boxes import CORNERS, SIZES
from viewer.readers.datasets.csv_tables import (
    CsvRow,
    corner_and_size,
    corners,
    header_of,
    rows_of,
)
from viewer.readers.files.text_files import whole_text

_CLASSES: Final = ("class", "label", "finding")
_UNNAMED: Final = "Object"
_KINDS: Final = "Polygon, MultiPolygon or Point"
_Ring = Sequence[Any]
_Object = tuple[str, list[_Ring]]


def read_objects(path: Path) -> SlideObjects:
    """Return the objects of a file.

    Raises
    ------
    UnreadableInputError
        If it is neither GeoJSON nor a table of boxes, or one object cannot be read;
        the message says which.
    """
    table = path.suffix.lower() == ".csv"
    found = list(_of_table(path) if table else _of_geojson(path))
    if not found:
        raise UnreadableInputError(
            f"'{path.name}' contains no objects.",
            "Export the objects once more, as GeoJSON or as a CSV table of boxes.",
        )
    names = tuple(dict.fromkeys(name for name, _ in found))
    number = {name: n for n, name in enumerate(names)}
    rings = [
        (_points(path, n, ring), number[name])
        for n, (name, of_object) in enumerate(found, start=1)
        for ring in of_object
    ]
    lengths = [len(points) for points, _ in rings]
    return SlideObjects(
        np.concatenate([points for points, _ in rings]),
        np.concatenate(([0], np.cumsum(lengths))),
        np.array([kind for _, kind in rings]),
        names,
        len(found),
    )


def _points(path: Path, number: int, ring: _Ring) -> npt.NDArray[np.float32]:
    try:
        points = np.array(ring, np.float32)
    except (TypeError, ValueError):
        points = np.empty(0, np.float32)
    if points.ndim != 2 or points.shape[1] < 2 or not np.isfinite(points).all():
        raise UnreadableInputError(
            f"Object {number} of '{path.name}' has coordinates that are not numbers.",
            "Export the objects once more, in pixels of the scan.",
        )
    return points[:, :2]


def _of_geojson(path: Path) -> Iterator[_Object]:
    try:
        document = json.loads(whole_text(path))
    except (ValueError, RecursionError) as error:
        raise UnreadableInputError(
            f"'{path.name}' is not GeoJSON.",
            "Choose objects as GeoJSON, or as a CSV table of boxes.",
        ) from error
    if isinstance(document, dict):
        document = document.get("features", [document])
    if not isinstance(document, list):
        document = []
    for number, feature in enumerate(document, start=1):
        yield _of_feature(path, number, feature)


def _of_feature(path: Path, number: int, feature: object) -> _Object:
    parts = feature if isinstance(feature, dict) else {}
    geometry, properties = parts.get("geometry"), parts.get("properties")
    form = geometry if isinstance(geometry, dict) else {}
    kind, at = form.get("type"), form.get("coordinates")
    if kind == "Polygon" and isinstance(at, list):
        return _class_of(properties), at
    if kind == "MultiPolygon" and isinstance(at, list):
        return _class_of(properties), [ring for part in at for ring in part]
    if kind == "Point":
        return _class_of(properties), [[at]]
    raise UnreadableInputError(
        f"Object {number} of '{path.name}' is not a {_KINDS}.",
        "Export only objects of these types.",
    )


def _class_of(properties: object) -> str:
    named = properties if isinstance(properties, dict) else {}
    found = named.get("classification")
    name = found.get("name") if isinstance(found, dict) else named.get("name")
    return str(name or _UNNAMED)


def _of_table(path: Path) -> Iterator[_Object]:
    columns = header_of(path)
    form = next((f for f in (CORNERS, SIZES) if set(f) <= set(columns)), None)
    if form is None:
        raise UnreadableInputError(
            f"'{path.name}' has neither the columns x1, y1, x2, y2 nor x, y, width, "
            "height.",
            "Name the columns of its boxes so, in pixels of the scan.",
        )
    kind = next((name for name in _CLASSES if name in columns), "")
    for row in rows_of(path):
        yield row.cells.get(kind) or _UNNAMED, [_corners(path, row, form)]


def _corners(path: Path, row: CsvRow, form: tuple[str, ...]) -> _Ring:
    numbers = [row.cells.get(name, "") for name in form]
    box = corners(*numbers) if form is CORNERS else corner_and_size(*numbers)
    if box is None:
        raise UnreadableInputError(
            f"Line {row.line} of '{path.name}' has no box with a width and a height.",
            "Correct its numbers, or leave the line out.",
        )
    return [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]
