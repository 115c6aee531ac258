"""Why trials of any study are excluded, in words."""

from collections.abc import Mapping
from typing import Final

NO_REFERENCE: Final = "no_gt"
"""Why a trial is excluded whose answer nothing judges."""
NO_ATTENTION: Final = "no_attention"
"""Why a trial is excluded whose model gives no access to its attention."""
NO_OTHER_PATIENT: Final = "no_other_patient"
"""Why a trial is excluded in whose images' place no other patient's can be shown."""
NEEDS_IMAGE: Final = "needs_image"
"""Why a trial is excluded whose model works on an image alone and is sent none."""
REASONS: Final[Mapping[str, str]] = {
    NO_REFERENCE: "The label is positive, but there is no reference mask.",
    "mask_size": "The mask is not the size of its image.",
    "mask_unreadable": "The mask cannot be decoded.",
    "reference_unreadable": "A box or a mask of it in the tables cannot be read.",
    "box_outside": "A box of it lies outside the image.",
    "not_by_reader": "The chosen reader did not mark it.",
    "no_majority": "No pixel was marked by half of the image's readers.",
    "unknown_view": "The image does not say whether it is frontal or lateral.",
    "gt_outside_crop": "The whole mask lies outside the part of the image sent.",
    "gt_too_small": "The mask is too small to leave a pixel at the size sent.",
    "unreadable": "The image cannot be read.",
    "missing_file": "The image file is missing.",
    "no_image": "The question names no image.",
    NO_OTHER_PATIENT: "No other patient has an image to show instead.",
    "no_other_question": "No other item has a different question to combine with its "
    "options.",
    "answerable_without_image": "A reviewer can answer the question without its image.",
    "inferable": "A reviewer cannot infer the answer from the question and its image.",
    "wrong_answer": "A reviewer finds the answer wrong, or none or several right.",
    "atypical": "A reviewer finds the question atypical of examinations.",
    "no_prior": "The task compares with a prior study, but the study has none.",
    "prior_too_old": "The prior study is older than is allowed, or of no known date.",
    "no_frontal": "The model is shown one frontal image, but the study has none.",
    "no_report": "The study has neither indication nor findings to take tasks from.",
    "no_valid_swap": "No other pair of the data set can replace the one in its "
    "question.",
    "no_donor": "No other image has a region that can replace its own.",
    "no_anatomy_mask": "The anatomy it points out has no mask in its image.",
    NEEDS_IMAGE: "Its model works on an image alone, and a control sends none.",
    NO_ATTENTION: (
        "Its model gives no access to its attention; a contour or an enlarged region "
        "approximates that."
    ),
    "not_true_positive": "The model did not say yes to the question itself.",
    "ungraded": "No reader has graded the output.",
    "not_judged": "Nobody judged the answer.",
    "not_validated": "A reader found that the case is not fit for use.",
    "no_diagnosis": "The report has no confirmed diagnosis, so no wrong options.",
    "prepared": "A report was prepared, which is neither right nor wrong.",
    "built": "Questions were made, which is neither right nor wrong.",
    "proposed": "Tasks were proposed, which is neither right nor wrong.",
    "cannot_be_asked": "Its model or its image lacks what the question points out.",
    "unreadable_image": "The image could not be read when the question was due.",
}
"""By the reason that a plan gives; a study with reasons of its own adds a line."""


def reason_words(exclusion: str) -> str:
    """Return why trials are excluded as a sentence, "" if that is shown elsewhere."""
    return REASONS.get(exclusion, "")
