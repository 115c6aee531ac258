"""The demo's main job: register the collection, run a batch, write the report."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset
from viewer.models.catalog import builtin_profiles
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_merged
from viewer.services.reporting.figures import write_report
from viewer.services.running.plan_run import plan_run
from viewer.services.synthetic.demo import NAME, prepare_demo
from viewer.store.database import Store
from viewer.studies.catalog import PLACING

BASELINES: Final = ("uniform", "frequent_cell", "asymmetry")
"""The models that the demo asks, whatever else needs no settings."""

__all__ = ["NAME", "demo_report", "register_demo", "run_demo_spec"]


def register_demo(
    store: Store, home: Path, progress: Callable[[int, int], None]
) -> Dataset:
    """Make the collection in the data folder unless it is there; register it."""
    collection = prepare_demo(home, progress)
    return import_merged(
        store,
        NAME,
        [("folder", collection.radiograph), ("chexlocalize", collection.phantom)],
    )


def run_demo_spec(store: Store) -> int:
    """Plan the three baselines at 8 × 8 and 16 × 16 over the collection."""
    spec = make_spec(
        study=PLACING,
        dataset=NAME,
        preset="gosai2025",
        seed=0,
        repeats=1,
        models=[one for one in builtin_profiles() if one.name in BASELINES],
        overrides={"grids": [8, 16]},
    )
    return plan_run(store, spec)


def demo_report(store: Store, run: int, home: Path) -> Path:
    """Write the run's report into the data folder; return its page."""
    folder = home / "demo" / "report"
    write_report(store, run, folder)
    return folder / "report.html"
