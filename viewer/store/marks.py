"""Measurements and drawings on images, in their current state."""

import json

from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_of, path_text
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.store.database import Row, Store


def keep_marks(store: Store, ref: ImageRef, marks: tuple[Mark, ...]) -> None:
    """Store an image's marks in place of the previous ones."""
    path = path_text(ref.path)
    rows = [
        (path, ref.frame, position, mark.kind.value, _points_text(mark))
        for position, mark in enumerate(marks)
    ]
    with store.transaction():
        store.execute(
            "DELETE FROM image_mark WHERE path = ? AND frame = ?", (path, ref.frame)
        )
        store.execute_many("INSERT INTO image_mark VALUES (?, ?, ?, ?, ?)", rows)


def all_marks(store: Store) -> dict[ImageRef, tuple[Mark, ...]]:
    """Return the marks of every image that has some, in the order drawn."""
    marks: dict[ImageRef, tuple[Mark, ...]] = {}
    for row in store.rows("SELECT * FROM image_mark ORDER BY path, frame, position"):
        ref = ImageRef(path_of(row["path"]), row["frame"])
        marks[ref] = (*marks.get(ref, ()), _mark(row))
    return marks


def _points_text(mark: Mark) -> str:
    """Return the points as a list; with a label, as an object that has both."""
    points = [(point.x, point.y) for point in mark.points]
    labelled = {"points": points, "text": mark.text}
    return json.dumps(labelled if mark.text else points)


def _mark(row: Row) -> Mark:
    stored = json.loads(row["points"])
    labelled = isinstance(stored, dict)
    points = stored["points"] if labelled else stored
    text = stored["text"] if labelled else ""
    return Mark(MarkKind(row["kind"]), tuple(PointPx(x, y) for x, y in points), text)
