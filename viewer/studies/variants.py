"""Reports of prompt variants, each compared with the run's own prompts.

The tables of a study only use the run's own prompts. Here every variant is compared
with these, trial by trial: the same item, condition, repeat and model.
"""

from collections.abc import Sequence
from typing import Final

from viewer.domain.conditions import control_of, name_without_variant, variant_of
from viewer.domain.result import TrialResult
from viewer.domain.study_words import StudyWords
from viewer.results.frame import Frame
from viewer.results.records import comparable, records
from viewer.results.spec import P_VALUE, PERCENT, Cell, Key, Shown, TableSpec
from viewer.studies.prompts import BASE
from viewer.studies.tables import CI_CAPTION, MICRO, RATE, counts

VARIANTS: Final = "prompt_variants"
"""The table, and the frame that it is made of."""
_OWN: Final = {"variant": (BASE,)}
OF_VARIANTS: Final = {
    "difference": (
        "hit rate with the variant less that with the run's own prompts, over the "
        "trials settled with both; 95 % interval by patient"
    ),
    "difference_p": (
        "exact sign-flip test of those trials by patient; where every patient has one "
        "it is McNemar's exact test"
    ),
}


def variants_frame(results: Sequence[TrialResult]) -> Frame:
    """Return every trial with its variant, and the result with the run's own prompts.

    ``right`` is 1 or 0 of a comparable trial, and ``before`` the same with the prompts
    of the run, which these themselves have not; ``gained`` and ``lost`` tell how the
    two differ. ``asked`` is the condition without the variant.
    """
    own = [one for one in results if not control_of(one.condition)]
    trials = comparable(records(own), "model", "condition")
    variants = [variant_of(one) or BASE for one in trials["condition"]]
    asked = [name_without_variant(one) for one in trials["condition"]]
    pairs = zip(trials["item"], asked, trials["repeat"], trials["model"], strict=True)
    right = [
        float(correct) if settled else None
        for settled, correct in trials.each("comparable", "correct")
    ]
    told = list(zip(pairs, variants, right, strict=True))
    base = {pair: of for pair, variant, of in told if variant == BASE}
    before = [None if name == BASE else base.get(pair) for pair, name, _ in told]
    both = [None not in of for of in zip(right, before, strict=True)]
    changes = zip(both, right, before, strict=True)
    moved = [float(is_both) * ((a or 0) - (b or 0)) for is_both, a, b in changes]
    return trials.having(
        variant=variants,
        asked=asked,
        right=right,
        before=before,
        gained=[int(one > 0) for one in moved],
        lost=[int(one < 0) for one in moved],
    )


def variants_spec(words: StudyWords) -> TableSpec:
    """Return the table of variants; findings of several tasks are not pooled."""
    apart = ("n_pairs", "rate_here", "rate_base", "difference")
    difference = Cell(
        "paired difference",
        (*apart, "difference_low", "difference_high", "difference_p", "method"),
        ("right", "before"),
        options={"cluster": "patient"},
    )
    pooled = (("variant",),) if words.task("") == MICRO else ()
    finding = Key("finding", total=MICRO)
    return TableSpec(
        VARIANTS,
        (finding, Key("asked", "condition"), Key("model"), Key("variant")),
        (
            *(*counts(), *RATE),
            Cell("sum", ("gained",), ("gained",)),
            Cell("sum", ("lost",), ("lost",)),
            difference,
        ),
        "Prompt variants",
        "Each variant beside the run's own prompts, over the trials settled with both: "
        "how many became right (gained) and wrong (lost). p: exact sign-flip test by "
        "patient, McNemar's where every patient has one trial.",
        frame=VARIANTS,
        outer=("asked", "model"),
        sets=(*pooled, ("finding", "variant")),
        shown=(
            *("finding", "condition", "model", "variant"),
            Shown("hit_rate", words.rate.capitalize(), PERCENT, counts=("k", "n")),
            Shown("ci_low", CI_CAPTION, PERCENT, also="ci_high"),
            Shown("n_pairs", "Pairs", but=_OWN),
            *(Shown("gained", "Gained", but=_OWN), Shown("lost", "Lost", but=_OWN)),
            Shown("difference", "Change", "+.1f", 100, " pp", but=_OWN),
            Shown("difference_low", "95 %", "+.1f", 100, also="difference_high"),
            Shown("difference_p", "p", P_VALUE, but=_OWN),
        ),
    )
