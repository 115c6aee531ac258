"""Data sets, their images and references."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, ImageRef, Notice, View
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import path_of, path_text
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.store.database import Row, Store, utc_now
from viewer.store.geometry import geometry_of, geometry_text
from viewer.store.items import add_items, items_of_dataset
from viewer.store.locks import import_lock
from viewer.store.reference_boxes import (
    NO_BOXES,
    Boxes,
    add_boxes,
    boxes_of_dataset,
    boxes_of_image,
)

MADE: Final = "made"
"""The format of images that were made for readers' sessions."""
_OF_IMAGES: Final = ("label", "mask", "defect", "reference_box", "image_reader")


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """A data set as shown in lists; ``items`` counts its references and questions."""

    name: str
    format: str
    root: str
    images: int
    patients: int
    items: int
    notices: int
    imported_at: str


def add_dataset(
    store: Store,
    dataset: Dataset,
    *,
    adhoc: bool = False,
    restricted: bool | None = None,
) -> int:
    """Register a data set and return its row id.

    Registering the same name and content again only updates the root and the split; the
    same name with other content raises WrongUseError, because runs refer to what was
    registered. A large data set is written in many short transactions: its images
    become known one after the other, and runs can use it once it is complete. An
    incomplete one left by a kill is replaced. ``restricted`` is whether its images stay
    on this machine, effective from the first image; None leaves it unchanged.
    """
    known = _known(store, dataset)
    if known is None or not known["complete"]:
        with import_lock(store.path, dataset.name, utc_now()):
            store.in_short_transactions(_add(store, dataset, adhoc, restricted))
    else:
        store.in_short_transactions(_move(store, known["id"], dataset))
        if restricted is not None:
            with store.transaction():
                _restrict(store, known["id"], restricted)
    return _id_of(store, dataset.name)


def _known(store: Store, dataset: Dataset) -> Row | None:
    """Return the row of a data set of this name; raises if it has other content."""
    rows = store.rows(
        "SELECT id, root_sha256, complete FROM dataset WHERE name = ?", (dataset.name,)
    )
    if not rows:
        return None
    if rows[0]["complete"] and rows[0]["root_sha256"] != dataset.root_sha256:
        raise WrongUseError(
            f"A data set named '{dataset.name}' with other content is already "
            "registered.",
            "Choose another name with --name.",
        )
    return rows[0]


def _id_of(store: Store, name: str) -> int:
    return int(store.rows("SELECT id FROM dataset WHERE name = ?", (name,))[0][0])


def _add(
    store: Store, dataset: Dataset, adhoc: bool, restricted: bool | None
) -> Iterator[None]:
    """Insert a data set; a transaction may end at each yield."""
    # Asked again under the lock: another process may have completed it meanwhile.
    known = _known(store, dataset)
    if known is not None and known["complete"]:
        yield from _move(store, known["id"], dataset)
        return
    if known is not None:
        yield from _empty(store, known["id"])
    dataset_id = _begin(store, dataset, adhoc, restricted)
    for position, image in enumerate(dataset.images):
        _add_image(store, dataset_id, position, image)
        yield
    yield from add_items(store, dataset_id, dataset)
    for notice in dataset.notices:
        _add_notice(store, dataset_id, notice)
        yield
    # Last, because runs may use a complete data set at once.
    store.execute("UPDATE dataset SET complete = 1 WHERE id = ?", (dataset_id,))


def _begin(store: Store, dataset: Dataset, adhoc: bool, restricted: bool | None) -> int:
    """Insert an incomplete data set, or reuse one; decisions about it are kept."""
    store.execute(
        "INSERT INTO dataset (name, format, root, root_sha256, adhoc, split,"
        " restricted, imported_at, complete)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ifnull(?7, 0), ?8, 0)"
        # The row stays, because consents refer to its id.
        " ON CONFLICT (name) DO UPDATE SET format = ?2, root = ?3, root_sha256 = ?4,"
        " adhoc = ?5, split = ?6, restricted = ifnull(?7, restricted),"
        " imported_at = ?8",
        (
            dataset.name,
            dataset.format,
            path_text(dataset.root),
            dataset.root_sha256,
            int(adhoc),
            dataset.split,
            restricted,
            utc_now(),
        ),
    )
    return _id_of(store, dataset.name)


def _empty(store: Store, dataset_id: int) -> Iterator[None]:
    """Delete the contents of a half-imported data set; no run can refer to it."""
    for row in store.rows("SELECT id FROM image WHERE dataset_id = ?", (dataset_id,)):
        for table in _OF_IMAGES:
            store.execute(f"DELETE FROM {table} WHERE image_id = ?", (row["id"],))  # noqa: S608 - our own table names
        store.execute("DELETE FROM image WHERE id = ?", (row["id"],))
        yield
    for table in ("item", "notice"):
        store.execute(f"DELETE FROM {table} WHERE dataset_id = ?", (dataset_id,))  # noqa: S608 - our own table names
        yield


def _restrict(store: Store, dataset_id: int, restricted: bool) -> None:
    store.execute(
        "UPDATE dataset SET restricted = ? WHERE id = ?", (int(restricted), dataset_id)
    )


def _move(store: Store, dataset_id: int, dataset: Dataset) -> Iterator[None]:
    store.execute(
        "UPDATE dataset SET root = ?, split = ifnull(nullif(?, ''), split)"
        " WHERE id = ?",
        (path_text(dataset.root), dataset.split, dataset_id),
    )
    for image in dataset.images:
        store.execute(
            "UPDATE image SET path = ?, frame = ? WHERE dataset_id = ? AND key = ?"
            # A row that stays the same is not written: of a re-import most do.
            " AND (path, frame) IS NOT (?1, ?2)",
            (path_text(image.ref.path), image.ref.frame, dataset_id, image.key),
        )
        yield


def _add_image(
    store: Store, dataset_id: int, position: int, image: DatasetImage
) -> None:
    image_id = store.execute(
        "INSERT INTO image (dataset_id, position, key, patient, study, view, path,"
        " frame, rows, columns, geometry, sha256)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            dataset_id,
            position,
            image.key,
            image.patient,
            image.study,
            image.view.value,
            path_text(image.ref.path),
            image.ref.frame,
            image.size.rows,
            image.size.columns,
            geometry_text(image.geometry),
            image.sha256,
        ),
    )
    store.execute_many(
        "INSERT INTO label (image_id, finding, positive) VALUES (?, ?, ?)",
        [(image_id, name, int(positive)) for name, positive in image.labels.items()],
    )
    store.execute_many(
        "INSERT INTO mask (image_id, kind, name, rows, columns, counts)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            *_mask_rows(image_id, "finding", image.masks.items()),
            *_mask_rows(image_id, "anatomy", image.anatomy.items()),
            *(
                (image_id, "zero", name, image.size.rows, image.size.columns, "")
                for name in sorted(image.zero_masks)
            ),
        ],
    )
    store.execute_many(
        "INSERT INTO defect (image_id, finding, reason) VALUES (?, ?, ?)",
        [(image_id, name, reason) for name, reason in image.defects.items()],
    )
    add_boxes(store, image_id, image)


def _mask_rows(
    image_id: int, kind: str, masks: Iterable[tuple[str, Mask]]
) -> list[tuple[object, ...]]:
    return [
        (image_id, kind, name, mask.size.rows, mask.size.columns, mask.counts)
        for name, mask in masks
    ]


def _add_notice(store: Store, dataset_id: int, notice: Notice) -> None:
    store.execute(
        "INSERT INTO notice (dataset_id, kind, subject, text) VALUES (?, ?, ?, ?)",
        (dataset_id, notice.kind, notice.subject, notice.text),
    )


def datasets_of_split(store: Store, format_: str, split: str) -> tuple[str, ...]:
    """Return the registered data sets of a format and a split, the newest first."""
    rows = store.rows(
        "SELECT name FROM dataset WHERE format = ? AND split = ? AND adhoc = 0"
        " AND complete = 1 ORDER BY id DESC",
        (format_, split),
    )
    return tuple(str(row["name"]) for row in rows)


def dataset_summaries(store: Store) -> tuple[DatasetSummary, ...]:
    """Return every data set a person registered, oldest first."""
    rows = store.rows(
        "SELECT d.name, d.format, d.root, d.imported_at,"
        " (SELECT count(*) FROM image i WHERE i.dataset_id = d.id) AS images,"
        " (SELECT count(*) FROM (SELECT patient FROM image WHERE dataset_id = d.id"
        "   UNION SELECT patient FROM item WHERE dataset_id = d.id)) AS patients,"
        " (SELECT count(*) FROM image i JOIN"
        "   (SELECT image_id, name FROM mask WHERE kind = 'finding'"
        "    UNION SELECT image_id, finding FROM reference_box) r ON r.image_id = i.id"
        "   WHERE i.dataset_id = d.id)"
        " + (SELECT count(*) FROM item q WHERE q.dataset_id = d.id) AS items,"
        " (SELECT count(*) FROM notice n WHERE n.dataset_id = d.id) AS notices"
        " FROM dataset d WHERE d.adhoc = 0 AND d.complete = 1 ORDER BY d.id"
    )
    return tuple(
        DatasetSummary(
            r["name"],
            r["format"],
            r["root"],
            r["images"],
            r["patients"],
            r["items"],
            r["notices"],
            r["imported_at"],
        )
        for r in rows
    )


def dataset_named(store: Store, name: str) -> Dataset:
    """Return a registered data set with all its contents."""
    rows = store.rows("SELECT * FROM dataset WHERE name = ?", (name,))
    if not rows:
        names = ", ".join(f"'{d.name}'" for d in dataset_summaries(store)) or "none yet"
        raise WrongUseError(
            f"No data set is named '{name}'.",
            f"Registered: {names}; register one with overread import.",
        )
    if not rows[0]["complete"]:
        raise WrongUseError(
            f"The import of the data set '{name}' is not complete.",
            "Wait for it. If it was stopped, import the same folder again.",
        )
    return _dataset(store, int(rows[0]["id"]))


def dataset_of_run(store: Store, run: int) -> Dataset:
    """Return the data set of a run; an unknown run raises IndexError."""
    rows = store.rows("SELECT dataset_id FROM run WHERE id = ?", (run,))
    return _dataset(store, int(rows[0]["dataset_id"]))


def image_refs_of_run(store: Store, run: int) -> dict[str, ImageRef]:
    """Return the location of each image in a run's data set, by key, without masks."""
    rows = store.rows(
        "SELECT i.key, i.path, i.frame FROM image i JOIN run r"
        " ON r.dataset_id = i.dataset_id WHERE r.id = ?",
        (run,),
    )
    return {row["key"]: ImageRef(path_of(row["path"]), row["frame"]) for row in rows}


def dataset_with_image(store: Store, ref: ImageRef) -> tuple[Dataset, str] | None:
    """Return the newest registered data set that holds an image, and its key there."""
    rows = store.rows(
        "SELECT i.dataset_id, i.key FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE i.path = ? AND i.frame = ? AND d.adhoc = 0 AND d.complete = 1"
        " ORDER BY i.dataset_id DESC LIMIT 1",
        (path_text(ref.path), ref.frame),
    )
    if not rows:
        return None
    return _dataset(store, int(rows[0]["dataset_id"])), str(rows[0]["key"])


def image_with_reference(store: Store, ref: ImageRef) -> DatasetImage | None:
    """Return an image with only its masks, boxes and readers.

    They are those of the newest registered data set that contains it; None without one.
    """
    rows = store.rows(
        "SELECT i.* FROM image i JOIN dataset d ON d.id = i.dataset_id"
        " WHERE i.path = ? AND i.frame = ? AND d.adhoc = 0"
        " ORDER BY i.dataset_id DESC LIMIT 1",
        (path_text(ref.path), ref.frame),
    )
    if not rows:
        return None
    masks = store.rows(
        "SELECT * FROM mask WHERE image_id = ? AND kind = 'finding' ORDER BY name",
        (rows[0]["id"],),
    )
    return _image(rows[0], [], masks, [], boxes_of_image(store, rows[0]["id"]))


def _mask(row: Row) -> Mask:
    return Mask(SizePx(row["rows"], row["columns"]), row["counts"])


def _dataset(store: Store, dataset_id: int) -> Dataset:
    row = store.rows("SELECT * FROM dataset WHERE id = ?", (dataset_id,))[0]
    notices = store.rows(
        "SELECT kind, subject, text FROM notice WHERE dataset_id = ? ORDER BY id",
        (dataset_id,),
    )
    return Dataset(
        name=row["name"],
        format=row["format"],
        root=path_of(row["root"]),
        images=_images(store, dataset_id),
        notices=tuple(Notice(n["kind"], n["subject"], n["text"]) for n in notices),
        root_sha256=row["root_sha256"],
        split=row["split"],
        items=items_of_dataset(store, dataset_id),
    )


def _images(store: Store, dataset_id: int) -> tuple[DatasetImage, ...]:
    labels = _by_image(store, "label", dataset_id)
    masks = _by_image(store, "mask", dataset_id)
    defects = _by_image(store, "defect", dataset_id)
    boxes = boxes_of_dataset(store, dataset_id)
    rows = store.rows(
        "SELECT * FROM image WHERE dataset_id = ? ORDER BY position", (dataset_id,)
    )
    return tuple(
        _image(
            row,
            labels.get(row["id"], []),
            masks.get(row["id"], []),
            defects.get(row["id"], []),
            boxes.get(row["id"], NO_BOXES),
        )
        for row in rows
    )


def _by_image(store: Store, table: str, dataset_id: int) -> dict[int, list[Row]]:
    grouped: dict[int, list[Row]] = {}
    for row in store.rows(
        f"SELECT t.* FROM {table} t JOIN image i ON i.id = t.image_id"  # noqa: S608 - our own table names
        " WHERE i.dataset_id = ?",
        (dataset_id,),
    ):
        grouped.setdefault(row["image_id"], []).append(row)
    return grouped


def _image(
    row: Row, labels: list[Row], masks: list[Row], defects: list[Row], boxes: Boxes
) -> DatasetImage:
    def of_kind(kind: str) -> dict[str, Mask]:
        return {m["name"]: _mask(m) for m in masks if m["kind"] == kind}

    return DatasetImage(
        key=row["key"],
        patient=row["patient"],
        study=row["study"],
        view=View(row["view"]),
        ref=ImageRef(path_of(row["path"]), row["frame"]),
        geometry=geometry_of(row),
        sha256=row["sha256"],
        labels={r["finding"]: bool(r["positive"]) for r in labels},
        masks=of_kind("finding"),
        zero_masks=frozenset(m["name"] for m in masks if m["kind"] == "zero"),
        anatomy=of_kind("anatomy"),
        defects={r["finding"]: r["reason"] for r in defects},
        boxes=boxes.boxes,
        readers=boxes.readers,
    )
