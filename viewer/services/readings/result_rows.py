"""How far the readers of a session's work agree, and what a model did to them."""

from math import isnan
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
from viewer.services.readings.who_read import sessions_of_work, who_read
from viewer.store import readings
from viewer.store.database import open_store

Row = dict[str, object]


def result_rows(store: Path, session: int) -> dict[str, list[Row]]:
    """Return the tables of a session's work by name; those without a row are empty.

    ``agreement`` is of scores and choices, ``criteria`` of what cases are validated by,
    ``masks`` of outlines, and ``aided`` the effects of a model's answers on each reader
    in each arm; ``readers`` are the sessions of each reader. The command line prints
    them and the window shows them.
    """
    return {
        "agreement": [_rating_row(one) for one in rating_agreement(store, session)],
        "criteria": [_criterion_row(one) for one in criteria_agreement(store, session)],
        "masks": [_mask_row(one) for one in mask_agreement(store, session)],
        "aided": [_effect_row(one) for one in effects(store, session)],
        "readers": _reader_rows(store, session),
    }


def _reader_rows(store: Path, session: int) -> list[Row]:
    with open_store(store) as opened:
        of = sessions_of_work(opened, readings.session_row(opened, session))
        table = who_read(opened, of)
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def _mask_row(one: MaskAgreement) -> Row:
    return {
        "question": one.question,
        "readers": f"{one.first} and {one.second}",
        "masks": one.masks,
        "dice": estimated(one.dice),
        "method": one.dice.method,
    }


def _criterion_row(one: CriterionAgreement) -> Row:
    return {
        "criterion": one.criterion,
        "readers": f"{one.first} and {one.second}",
        "cases": one.cases,
        "judged": one.judged,
        "same": estimated(one.same),
        "kappa": estimated(one.kappa),
        "ac": estimated(one.ac),
        "methods": f"{one.same.method}; {one.kappa.method}; {one.ac.method}",
    }


def _effect_row(one: Effect) -> Row:
    return {
        "reader": one.reader,
        "arm": one.arm.value,
        "cases": one.cases,
        "shown_wrong": one.wrong,
        "gain": estimated(one.gain),
        "automation_bias": estimated(one.automation_bias),
        "over_trust": estimated(one.over_trust),
        "over_trust_n": one.tempted,
        "under_trust": estimated(one.under_trust),
        "under_trust_n": one.helped,
        "method": one.gain.method,
    }


def estimated(estimate: Estimate | Agreement) -> str:
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
        "alpha": estimated(one.alpha),
        "ac": estimated(one.ac),
        "kappas": "; ".join(
            f"{a} and {b} {estimated(kappa)}" for (a, b), kappa in one.kappas.items()
        ),
        "methods": "; ".join((one.alpha.method, one.ac.method, *_methods(one))),
    }


def _methods(one: RatingAgreement) -> set[str]:
    return {kappa.method for kappa in one.kappas.values()}


def with_ends(name: str, found: Agreement) -> dict[str, float | None]:
    """Return a coefficient and the ends of its interval, None if undefined.

    JSON has no NaN.
    """
    numbers = {
        name: found.value,
        f"{name}_low": found.interval.low,
        f"{name}_high": found.interval.high,
    }
    return {key: None if isnan(one) else one for key, one in numbers.items()}
