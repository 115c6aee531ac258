"""The items of data sets, each with its facts and its reference as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from viewer.domain.case import Dataset, ImageRef
from viewer.domain.escapes import path_text
from viewer.domain.item import TASK_MARK, Item, item_of
from viewer.store.database import Row, Store

_OF_RUN: Final = (
    "SELECT item.* FROM item JOIN run ON run.dataset_id = item.dataset_id"
    " WHERE run.id = ? AND item.key = ?"
)

_SHOWING: Final = (
    "SELECT t.id FROM image i JOIN item q ON q.dataset_id = i.dataset_id"
    " AND EXISTS (SELECT 1 FROM json_each(q.images) e WHERE e.value = i.key)"
    " JOIN run r ON r.dataset_id = i.dataset_id"
    " JOIN trial t ON t.run_id = r.id AND"
    "   (t.item = q.key OR substr(t.item, 1, length(q.key) + 1) = q.key || '|')"
    " JOIN score s ON s.id = t.score_id JOIN parse p ON p.id = s.parse_id"
    " WHERE i.path = ? AND i.frame = ? AND p.reply_id IS NOT NULL"
    " ORDER BY t.run_id DESC, t.id DESC LIMIT ?"
)


def add_items(store: Store, dataset_id: int, dataset: Dataset) -> Iterator[None]:
    """Insert a data set's items; a transaction may end at each yield."""
    for position, item in enumerate(dataset.items):
        store.execute(
            "INSERT INTO item (dataset_id, position, key, patient, kind, images, facts,"
            " reference) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                dataset_id,
                position,
                item.key,
                item.patient,
                item.kind,
                json.dumps(item.images, ensure_ascii=False),
                _json(item.facts),
                _json(item.reference),
            ),
        )
        yield


def items_of_dataset(store: Store, dataset_id: int) -> tuple[Item, ...]:
    """Return a data set's items in the order they were listed."""
    rows = store.rows(
        "SELECT * FROM item WHERE dataset_id = ? ORDER BY position", (dataset_id,)
    )
    return tuple(map(_item, rows))


def item_of_run(store: Store, run: int, name: str) -> Item:
    """Return the item of a run's data set that a trial's ``name`` refers to.

    A name that belongs to none of them raises WrongUseError.
    """
    parts = name.split(TASK_MARK)
    keys = (TASK_MARK.join(parts[: n + 1]) for n in range(len(parts)))
    rows = [row for key in keys for row in store.rows(_OF_RUN, (run, key))]
    return item_of({row["key"]: _item(row) for row in rows}, name)


def trials_showing(store: Store, ref: ImageRef, most: int) -> tuple[int, ...]:
    """Return the newest answered trials about items with an image, newest first.

    At most ``most`` of them.
    """
    rows = store.rows(_SHOWING, (path_text(ref.path), ref.frame, most))
    return tuple(int(row["id"]) for row in rows)


def _item(row: Row) -> Item:
    return Item(
        key=row["key"],
        patient=row["patient"],
        kind=row["kind"],
        images=tuple(json.loads(row["images"])),
        facts=json.loads(row["facts"]),
        reference=json.loads(row["reference"]),
    )


def _json(values: Mapping[str, object]) -> str:
    return json.dumps(dict(values), ensure_ascii=False)
