"""Folders that were opened, as data sets, and how far their reading is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.domain.case import ImageRef, ReadingState, View
from viewer.domain.escapes import path_of, path_text

if TYPE_CHECKING:
    from viewer.store.database import Row, Store


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """The data set of a folder; ``listing`` is None if it was imported, not opened."""

    name: str
    root: Path
    root_sha256: str
    restricted: bool
    listing: str | None


@dataclass(frozen=True)
class FolderSummary:
    """What an opened folder holds as a data set.

    ``references`` are pairs of an image and a finding, ``findings`` by name.
    """

    dataset: str
    images: int
    references: int
    findings: tuple[str, ...]
    views: Mapping[View, int]


def dataset_of_folder(store: "Store", folder: Path) -> KnownFolder | None:
    """Return the newest registered data set of a folder, or with images below it."""
    rows = store.rows(
        "SELECT d.name, d.root, d.root_sha256, d.restricted, f.listing FROM dataset d"
        " LEFT JOIN opened_folder f ON f.dataset_id = d.id"
        " WHERE d.adhoc = 0 AND d.complete = 1 AND (d.root = ?1 OR d.id IN"
        "  (SELECT dataset_id FROM image WHERE path >= ?2 AND path < ?3))"
        " ORDER BY d.root = ?1 DESC, d.id DESC LIMIT 1",
        (path_text(folder), *_paths_below(folder)),
    )
    if not rows:
        return None
    row = rows[0]
    return KnownFolder(
        row["name"],
        path_of(row["root"]),
        row["root_sha256"],
        bool(row["restricted"]),
        row["listing"],
    )


def free_name(store: "Store", folder: Path) -> str:
    """Return the folder's name, with a number if another data set has it.

    A data set of this folder is replaced unless something in the store refers to it.
    """
    taken = {
        row["name"]
        for row in store.rows("SELECT id, name, root, complete FROM dataset")
        if row["root"] != path_text(folder)
        or (row["complete"] and is_in_use(store, row["id"]))
    }
    names = (folder.name, *(f"{folder.name} ({n})" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def is_in_use(store: "Store", dataset: int) -> bool:
    """Tell whether a run, a reading or a consent refers to a data set."""
    tables = ("run", "reading_session", "consent")
    return any(
        store.rows(f"SELECT 1 FROM {t} WHERE dataset_id = ? LIMIT 1", (dataset,))  # noqa: S608 - our own table names
        for t in tables
    )


def discard(store: "Store", name: str) -> None:
    """Mark a data set as incomplete, so that it is replaced by the next of its name."""
    with store.transaction():
        rows = store.rows("SELECT id FROM dataset WHERE name = ?", (name,))
        for row in rows:
            store.execute("UPDATE dataset SET complete = 0 WHERE id = ?", (row["id"],))


def forget_opened(store: "Store", folder: Path) -> bool:
    """Discard what was registered by opening images below a folder, if nothing is lost.

    Returns False, and leaves everything, if runs, readings, consents, an import or
    marks refer to these images.
    """
    inside = _paths_below(folder)
    rows = store.rows(
        "SELECT d.id, d.name, f.listing FROM dataset d"
        " LEFT JOIN opened_folder f ON f.dataset_id = d.id"
        " WHERE d.complete = 1 AND (d.root >= ?1 AND d.root < ?2 OR d.id IN"
        "  (SELECT dataset_id FROM image WHERE path >= ?1 AND path < ?2))",
        inside,
    )
    marked = "SELECT 1 FROM image_mark WHERE path >= ? AND path < ? LIMIT 1"
    needed = any(row["listing"] is None or is_in_use(store, row["id"]) for row in rows)
    if needed or store.rows(marked, inside):
        return False
    for row in rows:
        discard(store, row["name"])
    return True


def _paths_below(folder: Path) -> tuple[str, str]:
    """Return between which texts the paths below a folder are, the second excluded."""
    first = path_text(folder / "_")[:-1]
    return first, first[:-1] + chr(ord(first[-1]) + 1)


def keep_listing(store: "Store", name: str, listing: str) -> None:
    """Store what the folder of a data set held when it was read."""
    with store.transaction():
        store.execute(
            "INSERT OR REPLACE INTO opened_folder (dataset_id, listing)"
            " SELECT id, ? FROM dataset WHERE name = ?",
            (listing, name),
        )


def summary_of(store: "Store", name: str) -> FolderSummary:
    """Return the counts of a registered data set."""
    images = store.rows(
        "SELECT i.id, i.view FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE d.name = ?",
        (name,),
    )
    references = _references(store, name)
    return FolderSummary(
        dataset=name,
        images=len(images),
        references=len(references),
        findings=tuple(sorted({row["name"] for row in references})),
        views=Counter(View(row["view"]) for row in images),
    )


def findings_of_dataset(store: "Store", name: str) -> tuple[str, ...]:
    """Return the findings that a data set has masks or boxes of, by name."""
    return tuple(sorted({row["name"] for row in _references(store, name)}))


def findings_told_of(store: "Store", name: str) -> tuple[str, ...]:
    """Return the findings that a data set has references or labels of, by name.

    None where it has questions of its own, which may be about any finding.
    """
    rows = store.rows(
        "SELECT DISTINCT l.finding AS name FROM dataset d JOIN image i"
        " ON i.dataset_id = d.id JOIN label l ON l.image_id = i.id WHERE d.name = ?",
        (name,),
    )
    asking = store.rows(
        "SELECT 1 FROM item q JOIN dataset d ON d.id = q.dataset_id WHERE d.name = ?"
        " LIMIT 1",
        (name,),
    )
    found = {*(row["name"] for row in rows), *findings_of_dataset(store, name)}
    return () if asking else tuple(sorted(found))


def _references(store: "Store", name: str) -> "Sequence[Row]":
    """Return a row for each image and finding with a mask or a box."""
    return store.rows(
        "SELECT i.id, r.name FROM dataset d JOIN image i ON i.dataset_id = d.id JOIN"
        " (SELECT image_id, name FROM mask WHERE kind = 'finding'"
        "  UNION SELECT image_id, finding FROM reference_box) r ON r.image_id = i.id"
        " WHERE d.name = ?",
        (name,),
    )


def view_of(store: "Store", ref: ImageRef) -> View:
    """Return an image's view in the newest registered data set."""
    rows = store.rows(
        "SELECT i.view FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE i.path = ? AND i.frame = ? AND d.adhoc = 0 AND d.complete = 1"
        " ORDER BY d.id DESC LIMIT 1",
        (path_text(ref.path), ref.frame),
    )
    return View(rows[0]["view"]) if rows else View.UNKNOWN


def views_of(store: "Store", name: str) -> Mapping[ImageRef, View]:
    """Return the view of each image of a data set."""
    rows = store.rows(
        "SELECT i.path, i.frame, i.view FROM image i JOIN dataset d"
        " ON d.id = i.dataset_id WHERE d.name = ?",
        (name,),
    )
    return {ImageRef(path_of(r["path"]), r["frame"]): View(r["view"]) for r in rows}


def correct_views(store: "Store", views: Mapping[ImageRef, View]) -> None:
    """Store the views that a person gives images."""
    with store.transaction():
        store.execute_many(
            "INSERT OR REPLACE INTO corrected_view (path, frame, view)"
            " VALUES (?, ?, ?)",
            [(path_text(r.path), r.frame, view.value) for r, view in views.items()],
        )


def corrected_views(store: "Store") -> Mapping[ImageRef, View]:
    """Return every view that a person gave."""
    rows = store.rows("SELECT path, frame, view FROM corrected_view")
    return {ImageRef(path_of(r["path"]), r["frame"]): View(r["view"]) for r in rows}


def reading_states(store: "Store") -> Mapping[str, ReadingState]:
    """Return how far each row of the case list is that was opened, by its key."""
    rows = store.rows("SELECT place, state FROM reading_state")
    return {row["place"]: ReadingState(row["state"]) for row in rows}


def keep_reading_states(store: "Store", states: Mapping[str, ReadingState]) -> None:
    """Store how far rows of the case list are; what is unread has no row."""
    with store.transaction():
        for place, state in states.items():
            store.execute("DELETE FROM reading_state WHERE place = ?", (place,))
            if state is not ReadingState.UNREAD:
                store.execute(
                    "INSERT INTO reading_state VALUES (?, ?)", (place, state.value)
                )
