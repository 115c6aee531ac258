"""A store with one finished run of two models over four small images."""

from pathlib import Path

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, planned
from viewer.store.database import open_store


def finished_run(store_path: Path, folder: Path) -> int:
    """Ask everything of the run and return its number."""
    with open_store(store_path) as store:
        run = planned(store, folder, a_spec([D4, UNIFORM], repeats=3))
        finish(store, run)
    return run
