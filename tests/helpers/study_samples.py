"""A small data set and a run of each study about items, for what holds of all of them.

A study that joins the catalogue adds a line here: how its sample is made in a folder,
and what a scripted model may answer to every question of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.heal_run import questions_dataset
from tests.helpers.item_datasets import (
    question_set_dataset,
    report_dataset,
    tiles_dataset,
)
from tests.helpers.quiz_study import quiz_dataset
from tests.helpers.tiny_study import a_spec, finish
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.services.running.plan_run import plan_run
from viewer.store import cases
from viewer.store.database import Store


@dataclass(frozen=True)
class Sample:
    """A data set, the parameters to ask it with, and answers that can be read.

    ``overrides`` name for each role the model "helper"; ``answer`` is what the studied
    model says and ``helps`` what the helper does.
    """

    make: Callable[[Path], Dataset]
    answer: str
    helps: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)


SAMPLES: Mapping[str, Sample] = {
    "evidence_diagnosis": Sample(
        cases_dataset,
        "A",
        "Score: 4\nRationale: Close to it.",
        {
            "judge": "helper",
            "tasks": ["ddx", "fdx", "open_fdx"],
            "arms": ["raw", "expert", "remove_text", "random_text", "refined"],
            "differential_arms": ["raw", "expert", "remove_text", "random_text"],
            "cyclic_orders": True,
        },
    ),
    "grounded_vqa": Sample(
        questions_dataset,
        "Yes [100, 100, 500, 500]",
        "Yes",
        {
            "arms": ["plain", "tpt", "vpt", "contour", "crop"],
            "perturb_regions": True,
            "extraction": "model",
            "extractor": "helper",
            "segmenter": "helper",
        },
    ),
    "quiz": Sample(quiz_dataset, "C", "4", {"judge": "helper"}),
    "pathology_mcq": Sample(
        tiles_dataset,
        "(A)",
        overrides={"arms": ["image", "text_only", "noise", "mismatch"]},
    ),
    "question_set": Sample(
        question_set_dataset, "(A)", "Yes", {"judge": "helper", "noise_sd": 20}
    ),
    "rubric_reading": Sample(report_dataset, "A small left effusion."),
}


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
    spec = a_spec(
        models,
        study=study,
        dataset=dataset,
        seed=1,
        params={**sample.overrides, **(overrides or {})},
        known={one.name: one for one in (*models, helper)},
    )
    run = plan_run(store, spec)
    if asked:
        finish(store, run)
    return run
