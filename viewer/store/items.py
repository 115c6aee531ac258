"""The items of data sets, each with its facts and its reference as JSON."""

import json
from collections.abc import Mapping
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.item import TASK_MARK, Item, item_of
from viewer.store.database import Row, Store

_OF_RUN: Final = (
    "SELECT item.* FROM item JOIN run ON run.dataset_id = item.dataset_id"
    " WHERE run.id = ? AND item.key = ?"
)


def add_items(store: Store, dataset_id: int, dataset: Dataset) -> None:
    """Insert a data set's items, inside a transaction."""
    store.execute_many(
        "INSERT INTO item (dataset_id, position, key, patient, kind, images, facts,"
        " reference) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                dataset_id,
                position,
                item.key,
                item.patient,
                item.kind,
                json.dumps(item.images, ensure_ascii=False),
                _json(item.facts),
                _json(item.reference),
            )
            for position, item in enumerate(dataset.items)
        ],
    )


def items_of_dataset(store: Store, dataset_id: int) -> tuple[Item, ...]:
    """Return a data set's items in the order they were listed."""
    rows = store.rows(
        "SELECT * FROM item WHERE dataset_id = ? ORDER BY position", (dataset_id,)
    )
    return tuple(map(_item, rows))


def item_of_run(store: Store, run: int, name: str) -> Item:
    """Return the item of a run's data set that a trial called ``name`` asks about.

    A name that belongs to none of them raises WrongUseError.
    """
    parts = name.split(TASK_MARK)
    keys = (TASK_MARK.join(parts[: n + 1]) for n in range(len(parts)))
    rows = [row for key in keys for row in store.rows(_OF_RUN, (run, key))]
    return item_of({row["key"]: _item(row) for row in rows}, name)


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
