"""What every number of the report means, in words that stand beside it."""

from collections.abc import Mapping

from viewer.studies.grid_localization.params import MaskMode, Params

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


def metric_definitions(params: Params) -> Mapping[str, str]:
    """Return each metric's name and meaning under these parameters."""
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
        "correct cell, a refusal or a failure included, counts as a miss.",
        "answered_only": "k / n_scored: the rate among the replies that named a cell.",
        "bootstrap_sd": "Paper mode: standard deviation (n - 1) of the hit rate over "
        f"{params.paper_replicates} resamples of items within a finding; an item's "
        "repeats stay together. For (macro) the mean over findings is resampled.",
        "wilson": "Wilson's 95 % score interval of k / n, trials taken as independent.",
        "random_baseline": "Expected hit rate of a cell drawn at random: the mean over "
        "items of the hit set's size over the number of cells; exact.",
        "prior_baseline": "Prior-only rate: the expected hit rate of the same answers "
        "handed at random to the images of the same finding and view. Every answer "
        "meets every reference, its own included; exact. Pooled rows weigh the "
        "findings and views by their trials.",
        "skill": "hit_rate - prior_baseline: what the image adds. A model that always "
        "gives the same answer has exactly 0.",
        "skill_interval": "95 % percentile interval of the skill over "
        f"{params.replicates} resamples of patients; all of a patient's items stay "
        "together. A finding that a resample lacks is left out of its macro mean.",
        "(macro)": "Unweighted mean over the findings that have a settled trial.",
        "(micro)": "All trials pooled.",
    }
