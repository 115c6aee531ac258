"""Copies of a whole store: out of it as a backup, and back into its place."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from viewer.domain.errors import RunHeldError
from viewer.private_files import open_private
from viewer.store.database import Store, open_store
from viewer.store.locks import is_run_held
from viewer.store.store_errors import sentences

_COUNTED: Final = (
    "SELECT count(*) FROM dataset WHERE adhoc = 0 AND complete = 1",
    "SELECT count(*) FROM image",
    "SELECT count(*) FROM run WHERE adhoc = 0",
    "SELECT count(*) FROM reply",
)


def counts(store: Store) -> tuple[int, int, int, int]:
    """Return how many data sets, images, runs and replies a store holds."""
    datasets, images, runs, replies = (
        int(store.rows(query)[0][0]) for query in _COUNTED
    )
    return datasets, images, runs, replies


def copy_to(store: Store, path: Path) -> None:
    """Write a copy to a new private file; what fails leaves no file.

    The copy has no free pages, so that nothing deleted is in it.
    """
    with open_private(path, "xb"):
        pass
    try:
        store.rows("VACUUM INTO ?", (str(path),))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def copy_from(store: Store, backup: Path) -> None:
    """Replace everything in a store by a copy of it, in one transaction.

    The copy is the current store from then on, however old it is.
    """
    for row in store.rows("SELECT id FROM run"):
        if is_run_held(store.path, row["id"]):
            raise RunHeldError(
                f"Run {row['id']} is being worked on.",
                "Cancel it or wait for its end, then restore the backup.",
            )
    with sentences(store.path), contextlib.closing(sqlite3.connect(backup)) as source:
        store.replace_content(source)
    with open_store(store.path) as restored:
        restored.keep_older_copy()
