"""A store with one small data set and runs on it, built without any image file."""

import sqlite3
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from viewer.domain.case import Dataset, DatasetImage, ImageRef, Notice, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.store import cases, database, runs
from viewer.store.database import Store
from viewer.store.schema import MIGRATIONS

SIZE = SizePx(40, 50)
GRID_8 = Condition("grid=8", (("rows", 8), ("columns", 8)))

_DRAWN = (
    "UPDATE store_mark SET name = lower(hex(randomblob(16)))",
    # REPLACE, as its rows are never updated
    "INSERT OR REPLACE INTO signing_key VALUES (1, lower(hex(randomblob(32))))",
)
"""What is drawn for each store anew."""

_migrate = database._migrate
_filling = Lock()


@cache
def _migrated() -> sqlite3.Connection:
    """Return a store in memory that every migration was run on."""
    store = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _migrate(Path("memory"), store, 0, writable=True)
    return store


def migrate(
    path: Path, connection: sqlite3.Connection, version: int, *, writable: bool
) -> None:
    """Bring a store up to date; fill a new one by a copy, in a tenth of the time.

    The copy is of a store made by the program's own migrations; its name and key are
    new.
    """
    if version or not writable or vars(database)["MIGRATIONS"] is not MIGRATIONS:
        _migrate(path, connection, version, writable=writable)
        return
    with _filling:
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            for drawn in _DRAWN:
                _migrated().execute(drawn)
            _migrated().backup(connection)


def a_mask(rows: slice, columns: slice) -> Mask:
    """Return a mask of SIZE that is set in one rectangle."""
    array = np.zeros((SIZE.rows, SIZE.columns), dtype=bool)
    array[rows, columns] = True
    return Mask.of_array(array)


def a_dataset(name: str = "small", n: int = 2) -> Dataset:
    """Return a data set of ``n`` patients with one image and two findings each."""
    images = tuple(
        DatasetImage(
            key=f"patient{i}_study1_view1_frontal",
            patient=f"patient{i}",
            study=f"patient{i}_study1",
            view=View.FRONTAL,
            ref=ImageRef(Path(f"/nowhere/{i}.png")),
            geometry=ImageGeometry(SIZE),
            sha256=f"{i:064x}",
            labels={"Edema": True, "Fracture": False},
            masks={"Edema": a_mask(slice(3, 9), slice(4, 20))},
            zero_masks=frozenset({"Cardiomegaly"}),
            anatomy={"heart": a_mask(slice(20, 30), slice(20, 35))},
            defects={"Atelectasis": "mask_size"},
        )
        for i in range(n)
    )
    notice = Notice("mask_size", images[0].key, "Its mask has another size.")
    return Dataset(name, "folder", Path("/nowhere"), images, (notice,), "f" * 64)


def a_spec(dataset: str = "small") -> RunSpec:
    """Return a run's settings with one scripted model."""
    model = ModelProfile("says-d4", "scripted", {"answer": "D4"})
    return RunSpec("grid_localization", dataset, "gosai2025", 0, 1, (model,), {})


def some_trials(n: int = 3, *, excluded: int = 0) -> list[Trial]:
    """Return ``n`` trials of which the last ``excluded`` have no reference."""
    return [
        Trial(
            item=f"image{i}|Edema",
            patient=f"patient{i}",
            image=f"image{i}",
            view="frontal",
            finding="Edema",
            condition=GRID_8,
            repeat=0,
            model="says-d4",
            exclusion="no_gt" if i >= n - excluded else "",
        )
        for i in range(n)
    ]


def a_run(store: Store, trials: list[Trial]) -> int:
    """Plan trials on the small data set; return the run's id."""
    return runs.create_run(
        store,
        a_spec(),
        cases.add_dataset(store, a_dataset()),
        trials,
        study_version="1",
        scorer_version="1",
        plan_sha256="a" * 64,
    )
