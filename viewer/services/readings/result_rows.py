"""How far the readers of a session's work agree, and what a model did to them."""

from pathlib import Path

from viewer.metrics.agreement import Agreement
from viewer.metrics.estimate import Estimate
from viewer.services.readings.aiding import Effect, effects
from viewer.services.readings.criteria import CriterionAgreement, criteria_agreement
from viewer.services.readings.rating_agreement import (
    MaskAgreement,
    RatingAgreement,
    mask_agreement,
    rating_agreement,
)

Row = dict[str, object]


def result_rows(store: Path, session: int) -> dict[str, list[Row]]:
    """Return the tables of a session's work by name; those without a row are empty.

    ``agreement`` is of scores and choices, ``criteria`` of what cases are validated by,
    ``masks`` of outlines, and ``aided`` the effects of a model's answers on each reader
    in each arm. The command line prints them and the window shows them.
    """
    return {
        "agreement": [_rating_row(one) for one in rating_agreement(store, session)],
        "criteria": [_criterion_row(one) for one in criteria_agreement(store, session)],
        "masks": [_mask_row(one) for one in mask_agreement(store, session)],
        "aided": [_effect_row(one) for one in effects(store, session)],
    }


def _mask_row(one: MaskAgreement) -> Row:
    return {
        "question": one.question,
        "readers": f"{one.first} and {one.second}",
        "masks": one.masks,
        "dice": _estimated(one.dice),
        "method": one.dice.method,
    }


def _criterion_row(one: CriterionAgreement) -> Row:
    return {
        "criterion": one.criterion,
        "readers": f"{one.first} and {one.second}",
        "cases": one.cases,
        "judged": one.judged,
        "same": _estimated(one.same),
        "kappa": _estimated(one.kappa),
        "ac": number_of(one.ac),
        "methods": f"{one.same.method}; {one.kappa.method}; {one.ac.method}",
    }


def _effect_row(one: Effect) -> Row:
    return {
        "reader": one.reader,
        "arm": one.arm.value,
        "cases": one.cases,
        "shown_wrong": one.wrong,
        "gain": _estimated(one.gain),
        "automation_bias": _estimated(one.automation_bias),
        "over_trust": _estimated(one.over_trust),
        "over_trust_n": one.tempted,
        "under_trust": _estimated(one.under_trust),
        "under_trust_n": one.helped,
        "method": one.gain.method,
    }


def _estimated(estimate: Estimate) -> str:
    """Return a value with its interval, "-" if it is undefined."""
    value, interval = estimate.value, estimate.interval
    if value != value:
        return "-"
    if interval.low != interval.low:
        return f"{value:.3f}"
    return f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _rating_row(one: RatingAgreement) -> Row:
    return {
        "question": one.question,
        "readers": ", ".join(one.readers),
        "rated_twice": one.alpha.units,
        "alpha": number_of(one.alpha),
        "ac": number_of(one.ac),
        "kappas": "; ".join(
            f"{a} and {b} {_printed(kappa)}" for (a, b), kappa in one.kappas.items()
        ),
        "methods": "; ".join((one.alpha.method, one.ac.method, *_methods(one))),
    }


def _printed(agreement: Agreement) -> str:
    value = number_of(agreement)
    return "-" if value is None else f"{value:.3f}"


def _methods(one: RatingAgreement) -> set[str]:
    return {kappa.method for kappa in one.kappas.values()}


def number_of(agreement: Agreement) -> float | None:
    """Return a coefficient, None if it is undefined: JSON has no NaN."""
    return None if agreement.value != agreement.value else agreement.value
