"""A finished run of each study about items, or one that is only planned."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.helpers.study_samples import SAMPLES
from tests.helpers.tiny_study import finish
from viewer.domain.exchange import ModelProfile
from viewer.services.configuring.study_file import make_spec
from viewer.services.running.plan_run import plan_run
from viewer.store import cases
from viewer.store.database import Store
from viewer.studies.catalog import study_named

STUDIES = (
    *("evidence_diagnosis", "grounded_vqa", "pathology_mcq", "question_set"),
    "rubric_reading",
)
"""The studies about items of the catalogue."""


def item_run(
    store: Store,
    folder: Path,
    study: str,
    overrides: Mapping[str, object] | None = None,
    dataset: str = "sample",
    *,
    asked: bool = True,
    **others: str,
) -> int:
    """Ask everything of a study's sample, or only plan it; return the run's number.

    ``studied`` answers as the sample says, every other model what ``others`` say.
    """
    sample = SAMPLES[study]
    cases.add_dataset(store, replace(sample.make(folder), name=dataset))
    said = {"studied": sample.answer, **others}
    models = [ModelProfile(n, "scripted", {"answer": text}) for n, text in said.items()]
    helper = ModelProfile("helper", "scripted", {"answer": sample.helps})
    spec = make_spec(
        study=study,
        dataset=dataset,
        preset=study_named(study).presets()[0],
        seed=1,
        repeats=1,
        models=models,
        overrides={**sample.overrides, **(overrides or {})},
        known={one.name: one for one in (*models, helper)},
    )
    run = plan_run(store, spec)
    if asked:
        finish(store, run)
    return run
