"""Estimators: item and patient draws, gains over others, replicates."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from statistics import fmean
from typing import Any

from viewer.writers.verify.by_patient import macro_interval, rate_interval
from viewer.writers.verify.draws import named_entropy
from viewer.writers.verify.estimators import Cell, Cells, Later, Rows
from viewer.writers.verify.location_prior import gain_over_prior, over_words, units_of
from viewer.writers.verify.place_frames import MACRO, MICRO
from viewer.writers.verify.resampling import (
    PatientTask,
    SumsTask,
    mean_of_present,
)
from viewer.writers.verify.sums import deviation

_ARM = ("condition", "model")


def _grouped(rows: Rows, *columns: str) -> dict[Any, Any]:
    """Return rows grouped by columns, each nested in the one before."""
    if not columns:
        return dict[Any, Any](rows=rows)
    parts: dict[Any, Rows] = {}
    for row in rows:
        parts.setdefault(row[columns[0]], []).append(row)
    if len(columns) == 1:
        return parts
    return {value: _grouped(of, *columns[1:]) for value, of in parts.items()}


def _hits(rows: Rows) -> tuple[int, int]:
    return sum(row["correct"] for row in rows), len(rows)


def _sd_over_items(s: Cell) -> Cells | Later:
    """Return the SD of a rate over draws of each finding's items with repeats."""
    grouped = _grouped(s.rows, "part", "of_finding").values()
    if all(len(_grouped(of, "item")) < 2 for by in grouped for of in by.values()):
        return (None,)
    view, *arm = (s.rows[0][name] for name in ("view", *_ARM))
    parts = [
        [_drawn_items(s, of, finding, view, arm) for finding, of in findings.items()]
        for findings in grouped
    ]

    def spread() -> Cells:
        rates = [
            [
                sum(k for k, _ in one) / sum(n for _, n in one)
                for one in zip(*(drawn() for drawn in findings), strict=True)
            ]
            for findings in parts
        ]
        means = [mean_of_present(one) for one in zip(*rates, strict=True)]
        return (deviation(means),)

    return spread


def _drawn_items(
    s: Cell, rows: Rows, finding: str, view: str, arm: Sequence[str]
) -> Callable[[], list[list[int]]]:
    """Return a function for hits and trials of each draw of a finding's items."""

    def task() -> SumsTask:
        entropy = named_entropy(s.options["seed"], "hit rate", finding, view)
        units = [_hits(of) for of in _grouped(rows, "item").values()]
        return SumsTask(entropy, s.options["replicates"], units)

    return s.shared.ask(("items", finding, view, *arm), task)


def _random_cell(s: Cell) -> Cells:
    """Return the expected rate of a cell drawn at random, each item once."""
    rates = []
    for rows in _grouped(s.rows, "part").values():
        sizes = {row["item"]: len(row["hits"]) for row in rows}
        n_cells = max(row["n_cells"] for row in rows)
        rates.append(sum(sizes.values()) / (len(sizes) * n_cells))
    return (fmean(rates) if rates else None,)


def _gain(s: Cell) -> Cells:
    """Return the location prior, the gain over it, and the gain's interval."""
    own = _grouped(s.rows, "of_finding", "of_view").values()
    findings: list[list[Rows]] = [[*views.values()] for views in own]
    if s.rows and s.rows[0]["finding"] != MACRO:
        findings = [[rows for views in findings for rows in views]]
    found = gain_over_prior([[*map(units_of, views)] for views in findings])
    return found.prior, found.gain, found.low, found.high


def _sd_over_patients(s: Cell) -> Cells | Later:
    """Return the SD of a rate over draws of patients."""
    about, others = s.rows[0], s.rows if s.others is None else s.others

    def task() -> PatientTask:
        names = list(dict.fromkeys(row["of_finding"] for row in others))
        by = _grouped(others, "patient", "of_finding")
        units = [
            [count for name in names for count in _hits(by[patient].get(name, []))]
            for patient in sorted(by)
        ]
        entropy = named_entropy(s.options["seed"], "patients")
        return PatientTask(
            entropy, s.options["replicates"], units, (*names, MACRO, MICRO)
        )

    key: tuple[Hashable, ...] = (*(about[name] for name in ("view", *_ARM)),)
    drawn = s.shared.ask(("patients", *key), task)
    return lambda: (drawn()[about["finding"]],)


def _answer_spread(answers: Sequence[Any]) -> tuple[int, Any, float, bool, float]:
    """Return the number of answers, the mode, its share, any tie, and the entropy."""
    counts, n = Counter(answers), len(answers)
    (mode, most), *others = counts.most_common()
    entropy = math.fsum(k / n * math.log2(n / k) for k in counts.values())
    return n, mode, most / n, any(k == most for _, k in others), entropy


def _agreement(s: Cell) -> Cells:
    """Return mean entropy, unanimous items, pairs of one verdict, and ICC(1)."""
    items = _grouped(s.rows, "item").values()
    spreads = [_answer_spread([row["said"] for row in rows]) for rows in items]
    twice = [_hits(rows) for rows in items if len(rows) > 1]
    pairs = [1 - 2 * k * (n - k) / (n * (n - 1)) for k, n in twice]
    return (
        fmean(entropy for *_, entropy in spreads),
        sum(share == 1 for _, _, share, *_ in spreads),
        fmean(pairs) if pairs else None,
        _icc(twice),
    )


def _icc(items: Sequence[tuple[int, int]]) -> float | None:
    """Return ICC(1) (Shrout and Fleiss 1979) for groups of unequal size."""
    if len(items) < 2:
        return None
    n, trials = len(items), sum(of for _, of in items)
    mean = sum(k for k, _ in items) / trials
    within = sum(k * (of - k) / of for k, of in items) / (trials - n)
    between = sum(of * (k / of - mean) ** 2 for k, of in items) / (n - 1)
    size = (trials - sum(of * of for _, of in items) / trials) / (n - 1)
    below = between + (size - 1) * within
    return (between - within) / below if below else None


def _rate_of_items(s: Cell) -> Cells:
    """Return the mean of findings and pooled rate by patient, and the method."""
    shares = [
        (k / n, 1, finding, patient, item)
        for finding, patients in _grouped(s.rows, "finding", "patient", "item").items()
        for patient, items in patients.items()
        for item, (k, n) in zip(items, map(_hits, items.values()), strict=True)
    ]
    by_finding: dict[str, list[float]] = {}
    for share, _, finding, *_ in shares:
        by_finding.setdefault(finding, []).append(share)
    pooled = rate_interval((share, n, *whose) for share, n, _, *whose in shares)
    mean = macro_interval(shares) if len(by_finding) > 1 else pooled
    return (
        *(fmean(map(fmean, by_finding.values())), *mean),
        *(fmean(share for share, *_ in shares), *pooled),
    )


PLACED: dict[str, Callable[[Cell], Cells | Later]] = {
    "sd over items": _sd_over_items,
    "random cell": _random_cell,
    "gain": _gain,
    "gain over words": over_words,
    "sd over patients": _sd_over_patients,
    "spread of answers": lambda s: _answer_spread(s.values()),
    "agreement of replicates": _agreement,
    "rate of items": _rate_of_items,
}
