"""A small data set for each study about items, for what holds of all of them.

A study that joins the catalogue adds a line here: how its sample is made in a folder,
and what a scripted model may answer to every question of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.heal_run import questions_dataset
from tests.helpers.question_sets import question_set_dataset
from tests.helpers.quiz_study import quiz_dataset
from tests.helpers.report_folder import report_dataset
from tests.helpers.tissue_tiles import tiles_dataset
from viewer.domain.case import Dataset


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
