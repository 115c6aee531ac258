"""What every number of the report means, in words that stand beside it."""

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
        "The mask is fitted to the image sent by nearest neighbour and whole pixels "
        "are counted."
    ),
    MaskMode.EXACT: (
        "Areas are integrated at the mask's native resolution, pixels cut by a cell's "
        "edge counted in part."
    ),
}


def metric_definitions(params: Params, tables: Container[str]) -> Mapping[str, str]:
    """Return each metric's name and meaning in the tables of these names."""
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
        "coverage": "Area of the reference mask inside the answered cell over the "
        f"cell's area. {_MASKS[params.mask_mode]}",
        "hit": f"Coverage of at least {params.hit_threshold:g}. Where no cell of an "
        "item reaches that, any cell that touches the mask is a hit (fallback). The "
        "rule is not monotone: a mask one pixel smaller can have more winning cells.",
        "partial": "A miss whose cell touches the mask.",
        "n_unparsed": "Replies that name no single cell of the grid: unparsed, "
        "ambiguous, out_of_range, denied_finding and truncated.",
        "hit_rate": "k / (n_planned - n_excluded - n_pending). Whatever is not a "
        "correct cell, a refusal or a failure included, counts as a miss. Not so in "
        "rows (macro): there k and the counts are of all findings together and "
        "hit_rate is the mean of the findings' rates.",
        "answered_only": "k / n_scored: the rate among the replies that named a cell.",
        "bootstrap_sd": "Paper mode: standard deviation (n - 1) of the hit rate over "
        f"{params.paper_replicates} resamples of items within a finding; an item's "
        "repeats stay together. For (macro) the mean over findings is resampled.",
        "ci": f"{capital(CI_DEFINITION)}.",
        "random_baseline": "Expected hit rate of a cell drawn at random: the mean over "
        "items of the hit set's size over the number of cells; exact.",
        "location_prior": "Location prior: the expected hit rate of the answers given "
        "for other patients with the same finding and view; exact. A trial without an "
        "answer has a prior of 0, so that a model cannot gain by refusing. Pooled rows "
        "weigh the findings and views by their trials. A finding and view of one "
        "patient has none, and no gain.",
        "gain": "Gain over the location prior: the hit rate of the same trials less "
        "location_prior, what the image adds. A model that always gives the same "
        "answer has exactly 0.",
        "gain_interval": "95 % interval of the gain: patient jackknife with Student's "
        "quantile, its variance at least that of a rate of one trial a patient.",
        "(macro)": "Unweighted mean over the findings that have a settled trial.",
        "(micro)": "All trials pooled.",
    }


def _of_patients(params: Params) -> Mapping[str, str]:
    return {
        "patient_sd": f"Standard deviation of the hit rate over {params.replicates} "
        "resamples of patients, each with all their items.",
    }


_REPLICATES: Final = {
    "mode": "The answer most of an item's replicates gave, the earliest of equally "
    f"frequent ones; {NO_CELL} where they named none.",
    "entropy_bits": "Shannon entropy of the replicates' answers in bits.",
    "mean_hit": "Hits of an item over its replicates.",
    "pairs_agreeing": "Mean over items of the share of pairs of replicates with the "
    "same verdict.",
    "icc": "One-way random intraclass correlation, ICC(1), of the hits.",
}
_ABSENT: Final = {
    "capitulation_rate": "Absent arm: trials that name a cell over n_planned - "
    "n_excluded - n_pending, where the label says that the finding is absent. n_denied "
    "says that it is not there, which is right.",
}
_RULES: Final = {
    "point of an answer": "A cell's centre, a point itself, the centre of the "
    "largest box, a mask's deepest interior point (greatest Euclidean distance to "
    "the outside, first in row-major order), a heat map's greatest element.",
    "cell rule": "The cell that holds the answer's point qualifies as a hit cell.",
    "pointing rule": "The answer's point lies on the reference mask.",
    "IoU rule": "Intersection over union of the answer's native pixels and the "
    f"reference's is at least {IOU_THRESHOLD:g}. A cell or box covers the pixels "
    "whose centres it holds, a heat map those above its own Otsu threshold. Points "
    "cover nothing and are left out.",
    "distance": "From the answer's point to the nearest edge of the reference, in "
    "native pixels (widths of one where they are not square) and, where the file has "
    "a pixel spacing, in millimetres; 0 on the reference. A radiograph's millimetres "
    "are those at the detector; mm_meaning says where they are.",
    "sent part": "The answer and the reference are both cropped to the part of the "
    "image that was sent, so that the reference itself as the answer has IoU = Dice = "
    "1 and points at itself. iou_uncropped and dice_uncropped compare all of both.",
}
_DETECTION: Final = {
    "box hit": "An item of which any predicted box overlaps any reference box by at "
    "least the threshold (intersection over union of the boxes). Of one reader only "
    "the items count on which he drew one.",
    "area hit": "An item whose answered pixels overlap those of the reference mask by "
    "at least the threshold; boxes cover the pixels whose centres they hold.",
    "sent part": "Boxes and masks, answered and to be found, are cut to the part of "
    "the image that was sent; what lies wholly beside it counts neither way. "
    "mean_iou_uncropped and mean_dice_uncropped compare all pixels of both.",
    "boxes of a mask": "Those around its connected parts (8-connectivity), of an "
    "answer and of a reference that was not drawn as boxes.",
    "reader": f"Each reader's own boxes on the images that he read; {BY_RULE} those "
    "that the run's rule of readers leaves: as drawn where one reader read the image, "
    "else around the connected parts of what the rule leaves.",
    "FROC": "Sensitivity against false positives per item, boxes from the surest on, "
    "over n_with_finding items with a box to find and n_without_finding items without: "
    "those asked about a finding that is absent (absent_findings) and, of one reader, "
    "those on which he drew none. With n_without_finding 0 no false positive outside "
    "the images that show the finding is known. Answers without confidences are all "
    "equally sure and have one point.",
    "AP": "COCO's average precision: 101 recalls, one to one, at most 100 boxes, over "
    "the items of FROC. Equally sure boxes count together, so that the order of rows "
    "changes nothing; where no two confidences differ there is none.",
}
_OF_TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "replicates": _REPLICATES,
    "absent": _ABSENT,
    "rules": _RULES,
    "detection": _DETECTION,
}
