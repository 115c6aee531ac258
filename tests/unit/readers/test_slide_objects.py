"""Objects on a slide, read from what other programs write."""

import json
from pathlib import Path

import numpy as np
import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.readers.slide_objects import read_objects

SQUARE = [[10, 20], [30, 20], [30, 50], [10, 50], [10, 20]]
HOLE = [[15, 25], [20, 25], [20, 30], [15, 25]]


def _feature(kind: str, at: object, name: str | None = "Tumor") -> dict[str, object]:
    properties = {"classification": {"name": name}} if name else {}
    geometry = {"type": kind, "coordinates": at}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_that_what_qupath_exports_is_read(tmp_path: Path) -> None:
    features = [
        _feature("Polygon", [SQUARE, HOLE]),
        _feature("MultiPolygon", [[SQUARE], [HOLE]], "Stroma"),
        _feature("Point", [7, 8], None),
    ]
    whole = {"type": "FeatureCollection", "features": features}
    for document in (whole, features):
        found = read_objects(_write(tmp_path / "a.geojson", document))
        assert found.names == ("Tumor", "Stroma", "Object")
        assert found.kinds.tolist() == [0, 0, 1, 1, 2]
        assert found.starts.tolist() == [0, 5, 9, 14, 18, 19]
        assert found.count == 3
        np.testing.assert_array_equal(found.points[5:9], HOLE)
        np.testing.assert_array_equal(found.boxes[0], [10, 20, 30, 50])
    alone = read_objects(_write(tmp_path / "b.json", features[0]))
    assert (alone.count, alone.names) == (1, ("Tumor",))


@pytest.mark.parametrize(
    "table",
    [
        "x1,y1,x2,y2,class\n10,20,30,50,Tumor\n",
        "x,y,width,height,label\n10,20,20,30,Tumor\n",
    ],
)
def test_that_a_table_of_boxes_is_read(tmp_path: Path, table: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table, encoding="utf-8")
    found = read_objects(path)
    assert (found.names, found.count) == (("Tumor",), 1)
    np.testing.assert_array_equal(found.boxes, [[10, 20, 30, 50]])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.geojson", "no json", "'a.geojson' is not GeoJSON"),
        ("a.geojson", "[]", "'a.geojson' contains no objects"),
        ("a.geojson", "7", "'a.geojson' contains no objects"),
        (
            "a.geojson",
            '[{"geometry": {"type": "LineString"}}]',
            "Object 1 of 'a.geojson' is not",
        ),
        ("a.geojson", "[1]", "Object 1 of 'a.geojson' is not a Polygon"),
        (
            "a.geojson",
            '[{"geometry": {"type": "Point", "coordinates": ["x", 1]}}]',
            "Object 1 of 'a.geojson' has coordinates that are not numbers",
        ),
        (
            "a.geojson",
            '[{"geometry": {"type": "Point", "coordinates": [NaN, 1]}}]',
            "Object 1 of 'a.geojson' has coordinates that are not numbers",
        ),
        (
            "a.geojson",
            '[{"geometry": {"type": "Polygon", "coordinates": [[]]}}]',
            "Object 1 of 'a.geojson' has coordinates that are not numbers",
        ),
        ("a.csv", "a,b\n1,2\n", "neither the columns x1, y1, x2, y2 nor"),
        ("a.csv", "x1,y1,x2,y2\n1,2,3,4\n9,2,3,4\n", "Line 3 of 'a.csv' has no box"),
        ("a.csv", "x1,y1,x2,y2\n", "'a.csv' contains no objects"),
    ],
)
def test_that_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=says):
        read_objects(path)
