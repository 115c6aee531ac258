"""Estimators that only this study's tables ask for, by name."""

from collections import defaultdict
from collections.abc import Sequence
from math import nan
from typing import Final

from viewer.domain.evidence import OPTIONS
from viewer.metrics.posterior import cyclic_orders
from viewer.metrics.sensitivity import CrossModal, cross_modal, unweighted_mean
from viewer.results.estimators import Seen, estimator
from viewer.results.frame import Frame

CROSS_MODAL: Final = "cross-modal"
MEAN_CROSS_MODAL: Final = "mean cross-modal"
CHANGE_IN_NMSE: Final = "change in nmse"
AGREEMENT: Final = "agreement over orders"
FEW: Final = "warning of few"


@estimator(CROSS_MODAL)
def of_both_modalities(seen: Seen) -> Sequence[object]:
    """Return NMSE, that with the modalities swapped, Lin's concordance, and counts.

    The columns are the sensitivities to images and to text. The counts are all cases,
    those with images above and below text, ties and those that lack one of the two
    (E004-19).
    """
    c = _compared(seen.rows, seen.of)
    counts = (c.cases, c.above, c.below, c.tied, c.missing)
    return (c.nmse, c.swapped, c.concordance, *counts)


@estimator(MEAN_CROSS_MODAL)
def mean_of_types(seen: Seen) -> Sequence[object]:
    """Return the unweighted means of both NMSE over the types ``among``, no counts."""
    by, among = seen.options["by"], seen.options["among"]
    parts = (seen.rows.where({by: (one,)}) for one in among)
    of_types = [_compared(rows, seen.of) for rows in parts if rows]
    mean = unweighted_mean([c.nmse for c in of_types])
    swapped = unweighted_mean([c.swapped for c in of_types])
    return (mean, swapped, *(nan,) * 6)


@estimator(CHANGE_IN_NMSE)
def change_in_nmse(seen: Seen) -> Sequence[object]:
    """Return NMSE of rows whose column ``by`` does not hold, of the others, the change.

    There is no change where one of them is missing.
    """
    by = seen.options["by"]
    before, after = (
        _compared(seen.rows.where({by: (one,)}), seen.of) for one in (False, True)
    )
    return before.nmse, after.nmse, after.nmse - before.nmse


@estimator(AGREEMENT)
def agreement_over_orders(seen: Seen) -> Sequence[object]:
    """Return the cases asked in every cyclic order, and the agreement of choices.

    The columns are the case with its repeat, the order, the chosen and the right
    option. Then follow the number with a choice in every order, with the same choice in
    all, and with the right choice in all (E004-07).
    """
    of_case: dict[str, dict[int, float]] = defaultdict(dict)
    answers: dict[str, float] = {}
    for case, order, chosen, answer in seen.rows.each(*seen.of):
        of_case[case][order] = chosen
        answers[case] = answer
    orders = len(cyclic_orders(OPTIONS))
    asked = {
        case: set(of.values()) for case, of in of_case.items() if len(of) == orders
    }
    complete = {case: of for case, of in asked.items() if None not in of}
    same = sum(len(of) == 1 for of in complete.values())
    right = sum(of == {answers[case]} for case, of in complete.items())
    return len(asked), len(complete), same, right


@estimator(FEW)
def warning_of_few(seen: Seen) -> Sequence[object]:
    """Return a warning if there are ``fewer_than`` this many rows, else ""."""
    least = seen.options["fewer_than"]
    return (f"fewer than {least} cases" if len(seen.rows) < least else "",)


def _compared(rows: Frame, of: Sequence[str]) -> CrossModal:
    return cross_modal(*(rows[name] for name in of))
