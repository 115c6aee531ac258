"""Estimators of grid answers: draws of items and patients, gains, and replicates.

Rows stand as ``by_row`` gives them. Draws shared by several rows of a table are made
once; they depend only on the seed and the row's name, so that models and grids are
compared on the same draws.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import nan
from statistics import fmean
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.metrics.cluster_bootstrap import (
    ClusterEstimate,
    Resampling,
    cluster_bootstrap,
)
from viewer.metrics.intervals import resampling_weights
from viewer.metrics.localization import random_hit_rate
from viewer.metrics.location_prior import (
    Stratum,
    gain_over_prior,
    mean_of_findings,
    stratum,
)
from viewer.metrics.proportions import macro_interval, patient_interval
from viewer.metrics.replicates import answer_spread, replicate_agreement
from viewer.metrics.seeding import generator
from viewer.results.estimators import Seen, estimator
from viewer.results.frame import Frame
from viewer.studies.grid_localization.asked import MACRO
from viewer.studies.tables import MICRO

ITEM_SD: Final = "sd over items"
RANDOM_CELL: Final = "random cell"
GAIN: Final = "gain"
PATIENT_SD: Final = "sd over patients"
ANSWERS: Final = "spread of answers"
AGREEMENT: Final = "agreement of replicates"
OF_ITEMS: Final = "rate of items"
_ARM: Final = ["condition", "model"]
_TRIAL: Final = ("item", "correct")
_Floats = npt.NDArray[np.float64]
_Items = Counter[tuple[str, bool]]
"""Trials by item and whether they are hits."""


@estimator(ITEM_SD)
def sd_over_items(seen: Seen) -> Sequence[object]:
    """Return the SD (n - 1) of a rate when each finding's items are drawn (E000-20).

    The repeats of an item stay together. One item of each finding tells no spread.
    """
    parts: dict[str, dict[str, _Items]] = defaultdict(lambda: defaultdict(Counter))
    for part, finding, item, right in seen.rows.each("part", "of_finding", *_TRIAL):
        parts[part][finding][item, right] += 1
    drawn_of = [items for findings in parts.values() for items in findings.values()]
    if all(len({item for item, _ in items}) < 2 for items in drawn_of):
        return (nan,)
    view, *arm = next(seen.rows.each("view", *_ARM))
    rates = []
    for findings in parts.values():
        drawn = [
            seen.once(
                ("items", finding, view, *arm),
                partial(_drawn_items, seen, items, finding, view),
            )
            for finding, items in findings.items()
        ]
        hits, trials = (np.sum(counts, axis=0) for counts in zip(*drawn, strict=True))
        rates.append(hits / trials)
    return (float(np.std(mean_of_findings(rates), ddof=1)),)


def _drawn_items(
    seen: Seen, counts: _Items, finding: str, view: str
) -> tuple[_Floats, _Floats]:
    """Return a finding's hits and trials in each draw of its items, (replicates,)."""
    items = dict.fromkeys(item for item, _ in counts)
    hits = np.array([counts[item, True] for item in items])
    trials = hits + np.array([counts[item, False] for item in items])
    rng = generator(seen.options["seed"], "hit rate", finding, view)
    weights = resampling_weights(len(items), seen.options["replicates"], rng)
    return (weights @ hits).astype(np.float64), (weights @ trials).astype(np.float64)


@estimator(RANDOM_CELL)
def random_cell(seen: Seen) -> Sequence[object]:
    """Return the exact expected rate of a random cell, counting each item once."""
    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    cells: Counter[str] = Counter()
    for part, item, hits, n in seen.rows.each("part", "item", "hits", "n_cells"):
        sizes[part][item] = len(hits)
        cells[part] = max(cells[part], n)
    rates = [
        random_hit_rate(np.array([*of.values()]), cells[part])
        for part, of in sizes.items()
    ]
    return (fmean(rates) if rates else nan,)


@estimator(GAIN)
def gain(seen: Seen) -> Sequence[object]:
    """Return the location prior, the gain over it, and the gain's interval (X-04)."""
    patients = _numbered(dict.fromkeys(seen.rows["patient"]))
    findings = [
        [_stratum(of, patients) for of in rows.groups("of_view").values()]
        for rows in seen.rows.groups("of_finding").values()
        if rows
    ]
    is_mean = MACRO in seen.rows["finding"]
    gained = gain_over_prior(
        findings if is_mean else [[*chain.from_iterable(findings)]]
    )
    return gained.prior, gained.gain, gained.interval.low, gained.interval.high


def _stratum(rows: Frame, patients: Mapping[str, int]) -> Stratum:
    who = np.array([patients[one] for one in rows["patient"]])
    places = np.array(rows["place"])
    return stratum(who, max(rows["n_cells"]), places, rows["hits"])


@estimator(PATIENT_SD)
def sd_over_patients(seen: Seen) -> Sequence[object]:
    """Return the SD (n - 1) of a rate when patients are drawn (E000-20).

    Patients are drawn with all that is theirs in the rows it is compared with: all
    findings of a view and arm.
    """
    finding, *where = next(seen.rows.each("finding", "view", *_ARM))
    found = seen.once(("patients", *where), lambda: _over_patients(seen))
    return (found[finding].standard_deviation,)


def _over_patients(seen: Seen) -> dict[str, ClusterEstimate]:
    others = seen.rows if seen.others is None else seen.others
    # Sorted: draws go by number, and the order of the rows must not change them.
    patients = _numbered(sorted(set(others["patient"])))
    findings = _numbered(dict.fromkeys(others["of_finding"]))
    counts = np.zeros((2, len(patients), len(findings)), np.int64)
    for patient, finding, right in others.each("patient", "of_finding", "correct"):
        counts[:, patients[patient], findings[finding]] += right, 1
    estimate = cluster_bootstrap(counts[0], counts[1], _resampling(seen))
    rows = (*findings, MACRO, MICRO)
    return dict(
        zip(rows, (*estimate.cells, estimate.macro, estimate.micro), strict=True)
    )


@estimator(ANSWERS)
def spread_of_answers(seen: Seen) -> Sequence[object]:
    """Return an item's number of answers, the mode, its share, ties and entropy."""
    spread = answer_spread(seen.values())
    return spread.replicates, spread.mode, spread.share, spread.tied, spread.entropy


@estimator(AGREEMENT)
def agreement_of_replicates(seen: Seen) -> Sequence[object]:
    """Return the mean entropy of items' answers, how many have one, and agreement.

    That is the share of pairs of replicates with one verdict, and ICC(1).
    """
    answers_by_item: dict[str, list[str]] = defaultdict(list)
    right: dict[str, list[float]] = defaultdict(list)
    for item, hit, answer in seen.rows.each(*_TRIAL, "said"):
        answers_by_item[item].append(answer)
        right[item].append(float(hit))
    spreads = [answer_spread(answers) for answers in answers_by_item.values()]
    agreement = replicate_agreement([*right.values()])
    unanimous = sum(one.share == 1 for one in spreads)
    return (
        fmean(one.entropy for one in spreads),
        unanimous,
        agreement.pairs,
        agreement.icc,
    )


@estimator(OF_ITEMS)
def rate_of_items(seen: Seen) -> Sequence[object]:
    """Return the mean of findings and the pooled rate, intervals by patient, how.

    An item counts once, with the mean of its replicates.
    """
    items: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for *item, right in seen.rows.each("item", "patient", "finding", "correct"):
        items[tuple(item)].append(right)
    patients = _numbered(dict.fromkeys(patient for _, patient, _ in items))
    findings = _numbered(dict.fromkeys(finding for *_, finding in items))
    hits, trials = np.zeros((2, len(patients), len(findings)))
    for (_, patient, finding), of in items.items():
        at = patients[patient], findings[finding]
        hits[at], trials[at] = hits[at] + fmean(of), trials[at] + 1
    pooled = patient_interval(hits.sum(axis=1), trials.sum(axis=1), len(items))
    several = len(findings) > 1
    macro = macro_interval(hits, trials, len(items)) if several else pooled
    return (
        *(macro.value, macro.interval.low, macro.interval.high, macro.method),
        *(pooled.value, pooled.interval.low, pooled.interval.high, pooled.method),
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _resampling(seen: Seen) -> Resampling:
    return Resampling(seen.options["replicates"], seen.options["seed"])
