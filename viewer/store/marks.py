"""Measurements and drawings on images, in their current state."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_of, path_text
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.mark import EditStep, Mark, MarkEdit, MarkKind, repainted
from viewer.domain.reference import Mask, Patch
from viewer.store.database import Row, Store


def keep_marks(store: Store, ref: ImageRef, marks: tuple[Mark, ...]) -> None:
    """Store an image's marks in place of the previous ones."""
    keep_edits(store, {ref: marks}, ())


def keep_edits(
    store: Store,
    marks: Mapping[ImageRef, tuple[Mark, ...]],
    edits: Sequence[MarkEdit],
) -> None:
    """Store images' marks in place of the previous ones, then edits; all or nothing.

    An edit writes what it changes and nothing else, so that the thousandth mark of a
    case costs no more than the first.
    """
    with store.transaction():
        for ref, drawn in marks.items():
            store.execute(
                "DELETE FROM image_mark WHERE path = ? AND frame = ?", _key(ref)
            )
            _insert_marks(store, ref, 0, drawn)
        for edit in edits:
            _change_marks(store, edit)
            _keep_edit(store, edit)


def _change_marks(store: Store, edit: MarkEdit) -> None:
    if edit.repainted is not None:
        _repaint(store, edit, edit.repainted)
        return
    gone, come = edit.exchanged
    behind, further = edit.at + len(gone), len(come) - len(gone)
    store.execute(
        "DELETE FROM image_mark WHERE path = ? AND frame = ?"
        " AND position >= ? AND position < ?",
        (*_key(edit.ref), edit.at, behind),
    )
    if further:
        # By way of negative positions: no two rows may have one, not even meanwhile.
        store.execute(
            "UPDATE image_mark SET position = -position - ?"
            " WHERE path = ? AND frame = ? AND position >= ?",
            (further, *_key(edit.ref), behind),
        )
        store.execute(
            "UPDATE image_mark SET position = -position"
            " WHERE path = ? AND frame = ? AND position < 0",
            _key(edit.ref),
        )
    _insert_marks(store, edit.ref, edit.at, come)


def _repaint(store: Store, edit: MarkEdit, changed: Patch) -> None:
    place = (*_key(edit.ref), edit.at)
    (row,) = store.rows(
        "SELECT kind, points FROM image_mark"
        " WHERE path = ? AND frame = ? AND position = ?",
        place,
    )
    store.execute(
        "UPDATE image_mark SET points = ?"
        " WHERE path = ? AND frame = ? AND position = ?",
        (_points_text(repainted(_mark(row), changed)), *place),
    )


def _insert_marks(
    store: Store, ref: ImageRef, first: int, marks: tuple[Mark, ...]
) -> None:
    rows = [
        (*_key(ref), position, mark.kind.value, _points_text(mark))
        for position, mark in enumerate(marks, first)
    ]
    store.execute_many("INSERT INTO image_mark VALUES (?, ?, ?, ?, ?)", rows)


def _key(ref: ImageRef) -> tuple[str, int]:
    return path_text(ref.path), ref.frame


def all_edits(store: Store) -> tuple[MarkEdit, ...]:
    """Return the edits of every case, those of each in the order made."""
    return tuple(
        MarkEdit(
            row["place"],
            ImageRef(path_of(row["path"]), row["frame"]),
            row["words"],
            row["at"],
            _marks_of(row["removed"]),
            _marks_of(row["added"]),
            EditStep.UNDONE if row["undone"] else EditStep.DONE,
            _patch(json.loads(row["repainted"])),
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
            "INSERT INTO mark_edit"
            " (place, path, frame, words, at, removed, added, repainted)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                edit.place,
                *_key(edit.ref),
                edit.words,
                edit.at,
                _marks_text(edit.removed),
                _marks_text(edit.added),
                json.dumps(_numbers(edit.repainted)),
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
    """Return the mark as JSON: a list if it has only points, else an object."""
    stored = stored_parts(mark)
    return json.dumps(stored if len(stored) > 1 else stored["points"])


def stored_parts(mark: Mark) -> dict[str, object]:
    """Return points, text and painted pixels by name, without those it has not."""
    points = [(point.x, point.y) for point in mark.points]
    more = {"text": mark.text, "painted": _numbers(mark.painted)}
    return {"points": points, **{name: part for name, part in more.items() if part}}


def _numbers(patch: Patch | None) -> list[object] | None:
    """Return left, top, rows, columns and run-length code of a patch."""
    if patch is None:
        return None
    size = patch.mask.size
    return [patch.left, patch.top, size.rows, size.columns, patch.mask.counts]


def _patch(stored: list[Any] | None) -> Patch | None:
    if stored is None:
        return None
    left, top, rows, columns, counts = stored
    return Patch(left, top, Mask(SizePx(rows, columns), counts))


def _mark(row: Row) -> Mark:
    return _mark_of(row["kind"], row["points"])


def _mark_of(kind: str, text: str) -> Mark:
    read = json.loads(text)
    stored = read if isinstance(read, dict) else {"points": read}
    return Mark(
        MarkKind(kind),
        tuple(PointPx(x, y) for x, y in stored["points"]),
        stored.get("text", ""),
        _patch(stored.get("painted")),
    )
