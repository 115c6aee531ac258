"""What a run of the study reports: tables at full precision, and what is printed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from viewer.domain.evidence import Language
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.records import number_names
from viewer.studies.evidence_diagnosis.frames import ANSWERS, frames
from viewer.studies.evidence_diagnosis.judge_tables import judge_spec
from viewer.studies.evidence_diagnosis.makers import judges_of
from viewer.studies.evidence_diagnosis.params import read_params
from viewer.studies.evidence_diagnosis.printed_rows import printed_tables
from viewer.studies.evidence_diagnosis.sensitivities import untold_models
from viewer.studies.evidence_diagnosis.tables import (
    PREPARING_SPECS,
    specs,
    strata_pages,
)
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import CI_DEFINITION, Sets, reported, results_spec

if TYPE_CHECKING:
    from viewer.results.spec import Spec

DEFINITIONS: Final[Mapping[str, str]] = {
    "ddx": (
        "differentials whose judge score reaches the coverage score, over all trials "
        "that are neither excluded nor pending; unscored ones count as not covered"
    ),
    "fdx": "correct options over all trials that are neither excluded nor pending",
    "chance": "expected accuracy of a random option on the same trials",
    "score": (
        "mean of the judge's scores over the n_judged trials that have one; refused, "
        "failed and unparsed ones, included in n_planned, have none"
    ),
    "first_score": "the same, for first repeats on raw images only",
    "first_coverage": "share of those whose score reaches the coverage score",
    "top_k": "differentials that name the diagnosis among the first k",
    "same_score, same_verdict": (
        "share of answers that two judges score alike, or both find covered or not"
    ),
    "kappa, kappa_quadratic": (
        "agreement of two raters beyond chance: Cohen's kappa of covered or not, and "
        "the quadratic-weighted one of scores; 95 % interval by jackknife over patients"
    ),
    "gap_pp": "ddx minus fdx, in percentage points; its interval pairs the two by case",
    "rank": "competition rank by fdx within the subset, excluding people",
    "delta_pp": "fdx of the arm minus that of the first, over the cases settled in "
    "both",
    "p_value": (
        "exact sign-flip test over those cases' patients, each with the mean change of "
        "its cases and their repeats; of cases asked once, one a patient, it is "
        "McNemar's exact test"
    ),
    "ci": f"of rates: {CI_DEFINITION}",
    "low, high": (
        "95 % interval by patient of a mean score or of a difference, which is mapped "
        "to a rate; method names it"
    ),
    "sensitivity": (
        "Jensen-Shannon divergence of the options' probabilities with and without a "
        "type of evidence"
    ),
    "corrected": (
        "prediction-powered: the judge's mean plus its mean error on the answers that "
        "people scored; 95 % interval of two means of bounded scores, by case"
    ),
    "nmse": "sum of (image - text) squared over sum of text squared; not symmetric",
    "concordance": "Lin's concordance correlation",
}

OF_TASKS: Final[Sets] = (("finding",), ("finding", "view"))
"""A differential, an option and an open diagnosis are not answers to one question."""


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only trials and rates."""
    params = read_params(spec.preset, spec.params)
    made = frames(results, spec, params, context.dataset)
    rates = results_spec(number_names(results), means=False, sets=OF_TASKS)
    every: list[Spec] = [rates, *PREPARING_SPECS]
    only_printed: list[Spec] = []
    warnings: tuple[str, ...] = ()
    if ANSWERS in made:
        warnings = untold_models(made[ANSWERS].where({"person": (False,)}), params)
        asked = set(made[ANSWERS]["language"])
        languages = [one for one in Language if str(one) in asked]
        every += specs(params, languages)
        for one in languages:
            cases = made[ANSWERS].where({"language": (one,)})
            only_printed += strata_pages(one, {*cases["specialty"], *cases["group"]})
        if judges := judges_of(spec, params):
            only_printed.append(judge_spec(*judges, decided_by=params.decided_by))
    found = reported(
        *(results, every, made, DEFINITIONS),
        only_printed=only_printed,
        paper=printed_tables(),
    )
    return replace(found, warnings=warnings)
