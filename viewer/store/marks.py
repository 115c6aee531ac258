"""Measurements and drawings on images, in their current state."""

import json
from collections.abc import Collection, Mapping, Sequence

from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_of, path_text
from viewer.domain.geometry import PointPx
from viewer.domain.mark import EditStep, Mark, MarkEdit, MarkKind
from viewer.store.database import Row, Store


def keep_marks(store: Store, ref: ImageRef, marks: tuple[Mark, ...]) -> None:
    """Store an image's marks in place of the previous ones."""
    keep_edits(store, {ref: marks}, ())


def _replace_marks(store: Store, ref: ImageRef, marks: tuple[Mark, ...]) -> None:
    path = path_text(ref.path)
    rows = [
        (path, ref.frame, position, mark.kind.value, _points_text(mark))
        for position, mark in enumerate(marks)
    ]
    store.execute(
        "DELETE FROM image_mark WHERE path = ? AND frame = ?", (path, ref.frame)
    )
    store.execute_many("INSERT INTO image_mark VALUES (?, ?, ?, ?, ?)", rows)


def keep_edits(
    store: Store,
    marks: Mapping[ImageRef, tuple[Mark, ...]],
    edits: Sequence[MarkEdit],
) -> None:
    """Store images' marks and the edits that led to them, all or nothing."""
    with store.transaction():
        for ref, drawn in marks.items():
            _replace_marks(store, ref, drawn)
        for edit in edits:
            _keep_edit(store, edit)


def all_edits(store: Store) -> tuple[MarkEdit, ...]:
    """Return the edits of every case, those of each in the order made."""
    return tuple(
        MarkEdit(
            row["place"],
            ImageRef(path_of(row["path"]), row["frame"]),
            row["words"],
            _marks_of(row["before"]),
            _marks_of(row["after"]),
            EditStep.UNDONE if row["undone"] else EditStep.DONE,
        )
        for row in store.rows("SELECT * FROM mark_edit ORDER BY id")
    )


def forget_edits(store: Store, places: Collection[str]) -> None:
    """Delete the edits of some cases; their marks stay."""
    with store.transaction():
        for place in places:
            store.execute("DELETE FROM mark_edit WHERE place = ?", (place,))


def _keep_edit(store: Store, edit: MarkEdit) -> None:
    place = (edit.place,)
    if edit.step is EditStep.UNDONE:
        store.execute(
            "UPDATE mark_edit SET undone = 1 WHERE id = "
            "(SELECT max(id) FROM mark_edit WHERE place = ? AND undone = 0)",
            place,
        )
    elif edit.step is EditStep.REDONE:
        store.execute(
            "UPDATE mark_edit SET undone = 0 WHERE id = "
            "(SELECT min(id) FROM mark_edit WHERE place = ? AND undone = 1)",
            place,
        )
    else:
        store.execute("DELETE FROM mark_edit WHERE place = ? AND undone = 1", place)
        store.execute(
            "INSERT INTO mark_edit (place, path, frame, words, before, after)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                edit.place,
                path_text(edit.ref.path),
                edit.ref.frame,
                edit.words,
                _marks_text(edit.before),
                _marks_text(edit.after),
            ),
        )


def _marks_text(marks: tuple[Mark, ...]) -> str:
    return json.dumps([(mark.kind.value, _points_text(mark)) for mark in marks])


def _marks_of(text: str) -> tuple[Mark, ...]:
    return tuple(_mark_of(kind, points) for kind, points in json.loads(text))


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
    return _mark_of(row["kind"], row["points"])


def _mark_of(kind: str, text: str) -> Mark:
    stored = json.loads(text)
    labelled = isinstance(stored, dict)
    points = stored["points"] if labelled else stored
    words = stored["text"] if labelled else ""
    return Mark(MarkKind(kind), tuple(PointPx(x, y) for x, y in points), words)
