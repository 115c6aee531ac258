"""What a run was to ask about and cannot, told before it starts."""

from viewer.domain.case import Dataset
from viewer.domain.run import RunSpec
from viewer.store import cases, runs
from viewer.store.database import Store
from viewer.studies.catalog import study_named


def unasked_words(spec: RunSpec, dataset: Dataset) -> str:
    """Return what a run will not ask about, and why; "" for nothing."""
    study = study_named(spec.study)
    return study.unasked(dataset, study.read_params(spec.preset, dict(spec.params)))


def unasked_of_run(store: Store, run: int) -> str:
    """Return :func:`unasked_words` of a planned run."""
    return unasked_words(runs.run_spec(store, run), cases.dataset_of_run(store, run))
