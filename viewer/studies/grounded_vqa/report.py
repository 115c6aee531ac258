"""What a run of the study reports: the paper's tables, and the sham controls."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.frame import Frame
from viewer.results.records import number_names
from viewer.results.spec import TRIALS
from viewer.studies.grounded_vqa.frames import PASSES, frames
from viewer.studies.grounded_vqa.params import Extraction, read_params
from viewer.studies.grounded_vqa.printed_rows import PRINTED
from viewer.studies.grounded_vqa.tables import specs
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import CI_DEFINITION, Sets, reported, results_spec

DEFINITIONS: Final = {
    "yes_no_f1": "2TP / (2TP + FP + FN) of Yes over closed questions",
    "macro_f1": "mean of the F1 of Yes and the F1 of No",
    "specificity": "hallucinated questions answered No over all hallucinated ones",
    "open_f1": (
        "micro F1 over (item, label); an item without a finding has the label No "
        "finding, and no label in the columns named dropped"
    ),
    "score": (
        "TPT and VPT: among the model's true positives, the share of edits answered "
        "No; unreadable replies count as unchanged, and what a reader rejected of the "
        "edited images (n_rejected) does not count"
    ),
    "net": (
        "VPT: mean over true positives of the share of edits answered No minus that of "
        "sham edits, which change nothing that matters; 95 % interval by patient as "
        "for a rate, its variance at least that with two more differences, one of each "
        "extreme. TPT: the share of swapped questions answered No (denied) minus how "
        "often the same model says No to the same words, template included, for other "
        "patients who have the finding there (word_prior); such a patient exists for "
        "n_compared questions; 95 % interval of a jackknife by patient"
    ),
    "chance": "one half for closed questions; none if open ones are included",
    "other_words": "mean share of the same questions in other words answered No",
    "ci": CI_DEFINITION,
}

OF_KINDS: Final[Sets] = (("finding",), ("view",))
"""Open questions and those of yes or no are not counted together."""


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only what trials tell."""
    params = read_params(spec.preset, spec.params)
    dataset = context.dataset
    images = dataset.images if dataset else ()
    made = frames(results, spec, params, dataset)
    every = [
        results_spec(number_names(results), sets=OF_KINDS),
        *specs(
            has_dataset=dataset is not None,
            has_boxes=any(image.boxes for image in images),
            extracted=params.extraction is Extraction.MODEL,
            passes=made[PASSES].columns,
            datasets=_first_two(made[TRIALS]),
        ),
    ]
    return reported(results, every, made, DEFINITIONS, paper=PRINTED)


def _first_two(trials: Frame) -> tuple[str, str]:
    """Return the names of the first two data sets, "" where there are none."""
    names = (*dict.fromkeys(map(str, trials["dataset"])), "", "")
    return names[0], names[1]
