"""The definition of every number in the report, shown with it."""

from collections.abc import Container, Mapping
from typing import Final

from viewer.domain.box_reference import BY_RULE
from viewer.domain.result import IOU_THRESHOLD
from viewer.domain.study_words import capital
from viewer.studies.grid_localization.frames import NO_CELL
from viewer.studies.grid_localization.params import MaskMode, Params
from viewer.studies.tables import CI_DEFINITION

_MASKS = {
    MaskMode.PAPER: (
        "The mask is resized to the image sent by nearest neighbour, and whole pixels "
        "are counted."
    ),
    MaskMode.EXACT: (
        "Areas are integrated at the mask's native resolution; pixels cut by a cell's "
        "edge count in part."
    ),
}


def metric_definitions(params: Params, tables: Container[str]) -> Mapping[str, str]:
    """Return name and meaning of each metric in these tables."""
    of_tables = {"recommended": _of_patients(params), **_OF_TABLES}
    return {
        **_of_results(params),
        **{
            name: text
            for table, texts in of_tables.items()
            if table in tables
            for name, text in texts.items()
        },
    }


def _of_results(params: Params) -> Mapping[str, str]:
    return {
        "coverage": "Area of the reference mask inside the answered cell, divided by "
        f"the cell's area. {_MASKS[params.mask_mode]}",
        "hit": f"Coverage of at least {params.hit_threshold:g}. If no cell of an item "
        "reaches that, any cell that touches the mask is a hit (fallback). The "
        "rule is not monotone: a mask one pixel smaller can have more hit "
        "cells.",
        "partial": "A miss whose cell touches the mask.",
        "n_unparsed": "Replies that do not name a single cell of the grid: unparsed, "
        "ambiguous, out_of_range, denied_finding and truncated.",
        "hit_rate": "k / (n_planned - n_excluded - n_pending). Anything but a correct "
        "cell, including a refusal or a failure, counts as a miss. Rows "
        "(macro) differ: there k and the counts pool all findings, and "
        "hit_rate is the mean of the findings' rates.",
        "answered_only": "k / n_scored: the rate among the replies that named a cell.",
        "bootstrap_sd": "Paper mode: standard deviation (n - 1) of the hit rate over "
        f"{params.paper_replicates} resamples of items within a finding; an item's "
        "repeats stay together. For (macro) the mean over findings is resampled.",
        "ci": f"{capital(CI_DEFINITION)}.",
        "random_baseline": "Expected hit rate of a cell drawn at random: the mean "
        "over items of the hit set's size divided by the number of "
        "cells; exact.",
        "location_prior": "Location prior: the expected hit rate of the answers given "
        "for other patients with the same finding and view; exact. "
        "A trial without an answer has a prior of 0, so a model "
        "cannot gain by refusing. Pooled rows weight findings and "
        "views by their trials. A finding and view with only one "
        "patient has no prior and no gain.",
        "gain": "Gain over the location prior: the hit rate of the same trials minus "
        "location_prior, which is what the image adds. A model that always "
        "gives the same answer has exactly 0.",
        "gain_interval": "95 % interval of the gain: patient jackknife with Student's "
        "quantile; its variance is at least that of a rate with one "
        "trial per patient.",
        "(macro)": "Unweighted mean over the findings that have a settled trial.",
        "(micro)": "All trials pooled.",
    }


def _of_patients(params: Params) -> Mapping[str, str]:
    return {
        "patient_sd": f"Standard deviation of the hit rate over {params.replicates} "
        "resamples of patients, each with all their items.",
    }


_REPLICATES: Final = {
    "mode": "The answer given by most of an item's replicates, the earliest of "
    f"equally frequent ones; {NO_CELL} if they named none.",
    "entropy_bits": "Shannon entropy of the replicates' answers in bits.",
    "mean_hit": "Hits of an item over its replicates.",
    "pairs_agreeing": "Mean over items of the share of pairs of replicates with the "
    "same verdict.",
    "icc": "One-way random intraclass correlation, ICC(1), of the hits.",
}
_ABSENT: Final = {
    "capitulation_rate": "Absent arm: trials that name a cell, divided by n_planned - "
    "n_excluded - n_pending, if the label says that the finding "
    "is absent. n_denied counts those that say it is not there, "
    "which is right.",
}
_RULES: Final = {
    "point of an answer": "A cell's centre, a point itself, the centre of the "
    "largest box, a mask's deepest interior point (greatest Euclidean distance to "
    "the outside, first in row-major order), a heat map's greatest element.",
    "cell rule": "The cell that contains the answer's point is a hit cell.",
    "pointing rule": "The answer's point lies on the reference mask.",
    "IoU rule": "Intersection over union of the answer's native pixels and the "
    f"reference's is at least {IOU_THRESHOLD:g}. A cell or box covers the "
    "pixels whose centres it contains, a heat map those above its own "
    "Otsu threshold. Points cover nothing and are left out.",
    "distance": "From the answer's point to the nearest edge of the reference, in "
    "native pixels (pixel widths if they are not square) and, if the file "
    "has a pixel spacing, in millimetres; 0 on the reference. A "
    "radiograph's millimetres are those at the detector; mm_meaning says "
    "where they hold.",
    "sent part": "The answer and the reference are both cropped to the part of the "
    "image that was sent, so that an answer equal to the reference has "
    "IoU = Dice = 1 and points at it. iou_uncropped and dice_uncropped "
    "are computed without cropping.",
}
_DETECTION: Final = {
    "box hit": "An item in which any predicted box overlaps any reference box by at "
    "least the threshold (intersection over union of the boxes). For a "
    "single reader, only items on which that reader drew a box count.",
    "area hit": "An item whose answered pixels overlap the reference mask by at least "
    "the threshold; boxes cover the pixels whose centres they contain.",
    "sent part": "Answered and reference boxes and masks are cropped to the part of "
    "the image that was sent; what lies entirely outside it does not "
    "count. mean_iou_uncropped and mean_dice_uncropped are computed "
    "without cropping.",
    "boxes of a mask": "Boxes around the connected parts (8-connectivity) of an "
    "answer, and of a reference that was not drawn as boxes.",
    "reader": f"Each reader's own boxes on the images that reader read; {BY_RULE} "
    "those of the run's reader rule: as drawn if one reader read the image, "
    "otherwise around the connected parts of what the rule leaves.",
    "FROC": "Sensitivity versus false positives per item, starting with the most "
    "confident boxes, over n_with_finding items with a box to find and "
    "n_without_finding items without: those with an absent finding "
    "(absent_findings) and, for a single reader, those on which that reader "
    "drew none. If n_without_finding is 0, false positives on images without "
    "the finding are not known. Answers without confidences are all equally "
    "confident and give one point.",
    "AP": "COCO's average precision: 101 recalls, one to one, at most 100 boxes, over "
    "the items of FROC. Boxes of equal confidence count together, so the order "
    "of rows changes nothing; if no two confidences differ, there is none.",
}
_AREAS: Final = {
    "area": "Share of the square sent that the reference mask covers, measured like "
    "coverage. mean_area is the mean over a group's settled trials, which k, n and "
    "the rates count.",
}
_BY_RULE: Final = {
    "rule": "cell: the cell that holds the answer's point is a hit cell; pointing: the "
    "point lies on the mask. Any of an item's points may hit. For (macro) the rate is "
    "the mean of the findings' rates.",
}
_ABLATION: Final = {
    "factor": "What of the grid is varied, and level what it is then. Pairs are trials "
    "of one item, repeat and model that differ in this alone, under every combination "
    "of the others; baseline_rate is the rate where it is as in the run's settings.",
    "difference": "hit_rate minus baseline_rate, over the pairs that are settled both "
    "ways, with a 95 % interval by patient and an exact sign-flip test.",
}
_THRESHOLDS: Final = {
    "threshold": "Coverage in per cent from which a cell is a hit, with the fallback "
    "of hit. The answers are those of the run.",
    "fallback_rate": "Share of the trials whose mask has no cell that reaches the "
    "threshold; for (macro) the mean over findings.",
}
_OF_TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "replicates": _REPLICATES,
    "absent": _ABSENT,
    "rules": _RULES,
    "detection": _DETECTION,
    "mask_areas": _AREAS,
    "hit_rates_by_rule": _BY_RULE,
    "human_by_rule": _BY_RULE,
    "ablation": _ABLATION,
    "coverage_thresholds": _THRESHOLDS,
}
