"""Images for which a reader has committed a reading; rows are never changed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_text
from viewer.domain.mark import Mark
from viewer.store.database import Store, utc_now
from viewer.store.marks import stored_parts


def commit_reading(
    store: Store, files: Mapping[Path, Mapping[int, Sequence[Mark]]], words: str
) -> None:
    """Store the marks by file and frame; files committed before are unchanged."""
    now = utc_now()
    rows = [
        (path_text(path), now, words, _text(frames)) for path, frames in files.items()
    ]
    with store.transaction():
        store.execute_many(
            "INSERT OR IGNORE INTO committed_reading VALUES (?, ?, ?, ?)", rows
        )


def is_committed(store: Store, ref: ImageRef) -> bool:
    """Tell whether the reading of an image's file is committed."""
    path = path_text(ref.path.absolute())
    rows = store.rows("SELECT 1 FROM committed_reading WHERE path = ?", (path,))
    return bool(rows)


def _text(frames: Mapping[int, Sequence[Mark]]) -> str:
    marks = [
        {"frame": frame, "kind": mark.kind.value, **stored_parts(mark)}
        for frame, drawn in sorted(frames.items())
        for mark in drawn
    ]
    return json.dumps(marks)
