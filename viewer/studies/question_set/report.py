"""What a run of the study reports: its tables at full precision."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.results.records import number_names, records
from viewer.results.spec import TRIALS, Spec
from viewer.studies.image_dependence import DEFINITIONS as OF_CARD
from viewer.studies.protocol import ReportContext
from viewer.studies.question_set.frames import frames
from viewer.studies.question_set.tables import SPECS
from viewer.studies.tables import CI_DEFINITION, reported, results_spec

DEFINITIONS: Final = {
    "accuracy": (
        "right answers over all trials that are neither excluded nor pending; "
        "unreadable replies count as wrong"
    ),
    "answered_rate": "right answers over trials with an answer",
    "chance": (
        "mean over the trials of 1 / number of options, of yes or no a half; none "
        "where any asks for something else"
    ),
    "ci": CI_DEFINITION,
    **OF_CARD,
    "absolute_error": "how far a number is from the right one",
    "distance_px": "how many pixels of the image a point is from the right one",
    "iou": "greatest intersection over union of a box with a right one",
    "score": (
        "of a box its intersection over union with the right one, of boxes the F1 of "
        "those found, one to one, of words 1 if the judge accepts them; 0 for what "
        "cannot be read"
    ),
    "boxes_found": (
        "right boxes that an answered one overlaps by at least answer.iou, one to one; "
        "boxes_extra and boxes_missed are those left over on either side"
    ),
}


def report(results: Sequence[TrialResult], context: ReportContext) -> ReportData:
    """Return the tables of a run; without its data set only trials and rates."""
    every: list[Spec] = [results_spec(number_names(results))]
    made = {TRIALS: records(results)}
    if context.dataset is not None:
        every += SPECS
        made = frames(results, {item.key: item for item in context.dataset.items})
    return reported(results, every, made, DEFINITIONS)
