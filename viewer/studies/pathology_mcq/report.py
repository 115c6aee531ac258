"""What a run of the study reports: its tables at full precision."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.records import number_names, records
from viewer.results.spec import TRIALS
from viewer.studies.image_dependence import DEFINITIONS as OF_CARD
from viewer.studies.pathology_mcq.frames import frames
from viewer.studies.pathology_mcq.making import BUILT_SPECS, built_frames
from viewer.studies.pathology_mcq.params import Work, read_params
from viewer.studies.pathology_mcq.questions import mcqs_of
from viewer.studies.pathology_mcq.tables import specs
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import CI_DEFINITION, reported, results_spec

DEFINITIONS: Final = {
    "accuracy": (
        "correct answers over all trials that are neither excluded nor pending; "
        "unreadable replies count as wrong"
    ),
    "answered_rate": "correct answers over trials with an answer",
    "random": "mean over the items of 1 / number of options",
    "chance": "the same over exactly the trials of the rate, each as often as it "
    "counts",
    "n_pairs": (
        "trials with a changed image whose item counts with its image as it is; both "
        "rates are of these"
    ),
    "frequent": "share of items whose correct letter is the most frequent one",
    "ci": CI_DEFINITION,
    **OF_CARD,
    "official": (
        "the authors' script: unreadable replies are answered at random, failed ones "
        "left out"
    ),
}


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only items and results."""
    params = read_params(spec.preset, spec.params)
    if params.work is Work.BUILDING:
        every = [results_spec(number_names(results)), *BUILT_SPECS]
        always = [one.name for one in every]
        return reported(results, every, built_frames(results), {}, always=always)
    every = [results_spec(number_names(results), means=False)]
    made = {TRIALS: records(results)}
    if context.dataset is not None:
        items = context.dataset.items
        every += specs(params, tuple(mcqs_of(items).values()))
        made = frames(results, items, params)
    return reported(results, every, made, DEFINITIONS)
