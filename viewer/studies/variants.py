"""What a run tells of variants of its prompts: each beside the prompts of the run.

The tables of a study are of the run's own prompts alone. Here every variant is compared
with these, trial by trial: the same item, condition, repeat and model.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.conditions import name_without_variant, variant_of
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.domain.study_words import StudyWords
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame
from viewer.results.page import sections
from viewer.results.records import records
from viewer.results.spec import P_VALUE, PERCENT, Cell, Key, Shown, TableSpec
from viewer.studies.prompts import BASE
from viewer.studies.protocol import ReportContext
from viewer.studies.study import Study
from viewer.studies.tables import CI_CAPTION, MICRO, RATE, counts

VARIANTS: Final = "prompt_variants"
"""The table, and the frame that it is made of."""
_OWN: Final = {"variant": (BASE,)}
_DEFINITIONS: Final = {
    "difference": (
        "hit rate with the variant less that with the run's own prompts, over the "
        "trials settled with both; 95 % interval by patient"
    ),
    "difference_p": (
        "exact sign-flip test of those trials by patient; where every patient has one "
        "it is McNemar's exact test"
    ),
}


def report_with_variants(
    study: Study,
    results: Sequence[TrialResult],
    spec: RunSpec,
    context: ReportContext,
) -> ReportData:
    """Return a study's report of the run's own prompts, and of variants beside it."""
    own = [one for one in results if not variant_of(one.condition)]
    data = study.report(own, spec, context)
    if len(own) == len(results):
        return data
    table_spec = variants_spec(study.words)
    table = evaluate(table_spec, {VARIANTS: variants_frame(results)})
    return replace(
        data,
        tables=(*data.tables, table),
        specs=(*data.specs, table_spec),
        sections=(*sections([table_spec], [table]), *data.sections),
        metric_definitions={**data.metric_definitions, **_DEFINITIONS},
        incomplete=any(one.score.status is Status.PENDING for one in results),
    )


def variants_frame(results: Sequence[TrialResult]) -> Frame:
    """Return every trial with its variant, and with what the run's own prompts came to.

    ``right`` is 1 or 0 of a settled trial, and ``before`` the same with the prompts of
    the run, which these themselves have not; ``gained`` and ``lost`` tell how the two
    differ. ``asked`` is the condition without the variant.
    """
    trials = records(results)
    variants = [variant_of(one) or BASE for one in trials["condition"]]
    asked = [name_without_variant(one) for one in trials["condition"]]
    pairs = zip(trials["item"], asked, trials["repeat"], trials["model"], strict=True)
    right = [
        float(correct) if counted else None
        for counted, correct in trials.each("counted", "correct")
    ]
    told = list(zip(pairs, variants, right, strict=True))
    own = {pair: of for pair, variant, of in told if variant == BASE}
    before = [None if name == BASE else own.get(pair) for pair, name, _ in told]
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
