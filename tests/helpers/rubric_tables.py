"""The tables of numbers of a rexecution2025 pack, worked out the long way."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import isnan, nan
from statistics import mean, stdev
from typing import Any

import numpy as np
from scipy.stats import rankdata
from statsmodels.stats.multitest import multipletests

from tests.helpers.by_patient import ci_of, mean_ends
from tests.helpers.rubric_agreement import (
    LEVELS,
    ac2,
    ac2_ends,
    ac2_of_all,
    alpha,
    alpha_ends,
    alpha_of_all,
    by_level,
    kappa,
    kappa_ends,
    mad,
)
from tests.helpers.rubric_truth import (
    IMAGE,
    KNOWS,
    MODELS,
    TEXT,
    Task,
    Truth,
    abstains,
    cut,
    images,
)

Rows = list[tuple[Any, ...]]
TESTED = ("Content", "Language", "Process", "Execution", "Synthesis")
METRICS = (*TESTED, *IMAGE)
CODES = {
    "left_right_swap": "left and right mixed up",
    "wrong_abnormality": "right region, wrong abnormality",
    "hallucinated_checklist": "every sign of a checklist claimed to be there",
    "box_too_large": "box too large to be useful",
    "box_misses_structure": "box does not meet the structure it names",
    "non_discriminating_differential": "differential without discriminating arguments",
    "verbose": "so long that it is unclear",
    "under_reported": "secondary findings not reported",
    "box_instruction_ignored": "request for boxes ignored",
    "asked_what_to_draw": "asked what to draw",
}


def tables(truth: Truth) -> dict[str, Rows]:
    """Return every table of numbers by name, its header first."""
    return {
        "table_1": _means(truth, ("Content", "Language")),
        "table_2": _means(truth, TEXT[:3]),
        "table_3": _table_3(truth),
        "tests": list(_tests(truth)),
        "shares": list(_shares(truth)),
        "images": list(_images(truth)),
        "content_orders": list(_orders(truth)),
        "agreement": list(_agreement(truth)),
        "agreement_of_all": list(_of_all(truth)),
        "figure_3": list(_figure_3(truth)),
        "figure_5": list(_figure_5(truth)),
        "style_by_content": list(_style(truth)),
        "abstention": list(_abstention(truth)),
        "failure_codes": list(_codes(truth)),
        "outputs": list(_outputs(truth)),
        "results": list(_results(truth)),
    }


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation, NaN where there are too few."""
    return (
        mean(values) if values else nan,
        stdev(values) if len(values) > 1 else nan,
    )


def _means(truth: Truth, metrics: Sequence[str]) -> Rows:
    rows: Rows = [("metric", "model", "n", "mean", "sd", "p_adjusted")]
    for model, metric in product(MODELS, metrics):
        values = truth.finals(model, metric)
        rows.append((metric, model, len(values), *spread(values), None))
    return rows


def _tests(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("metric", "first", "second", "n", "n_zero", "rank_sum_plus"),
        *("rank_sum_minus", "p", "p_adjusted", "effect", "mean_difference", "method"),
    )
    for first, second in combinations(MODELS, 2):
        tasks = [t for t in truth.delivered(first) if not cut(second, t)]
        found = [_test(truth, tasks, first, second, metric) for metric in TESTED]
        family = [1.0 if isnan(row[3]) else row[3] for row in found]
        adjusted = multipletests(family, method="fdr_bh")[1]
        for metric, row, q in zip(TESTED, found, adjusted, strict=True):
            zeros, plus, minus, p, effect, gap = row
            yield (
                *(metric, first, second, len(tasks), zeros, plus, minus, p),
                *(nan if isnan(p) else float(q), effect, gap),
                (
                    f"Wilcoxon signed-rank, two-sided, zeros wilcox ({zeros}), "
                    f"{_how(truth, tasks, first, second, metric)}; "
                    "Benjamini-Hochberg over the declared five"
                ),
            )


def _test(
    truth: Truth, tasks: Sequence[Task], first: str, second: str, metric: str
) -> tuple[int, float, float, float, float, float]:
    one = np.array([truth.final(first, task, metric) for task in tasks])
    two = np.array([truth.final(second, task, metric) for task in tasks])
    moved = (one - two)[one != two]
    gap = float(one.mean() - two.mean())
    if not moved.size:
        return len(tasks), 0.0, 0.0, nan, nan, gap
    ranks = rankdata(np.abs(moved))
    plus, minus = float(ranks[moved > 0].sum()), float(ranks[moved < 0].sum())
    effect = (plus - minus) / (plus + minus)
    whose = [task.patient for task, a, b in zip(tasks, one, two, strict=True) if a != b]
    signed = np.sign(moved) * ranks
    return len(tasks) - moved.size, plus, minus, _flipped(whose, signed), effect, gap


def _flipped(whose: Sequence[str], signed: Sequence[float]) -> float:
    """Return the share of all sign patterns as far out; a patient has one sign."""
    sums: Counter[str] = Counter()
    for patient, rank in zip(whose, signed, strict=True):
        sums[patient] += round(2 * rank)
    ways = Counter({0: 1})
    for step in sums.values():
        flipped: Counter[int] = Counter()
        for total, n in ways.items():
            flipped[total + step] += n
            flipped[total - step] += n
        ways = flipped
    reached = abs(sum(sums.values()))
    far = sum(n for total, n in ways.items() if abs(total) >= reached)
    return float(Fraction(far, 2 ** len(sums)))


def _how(
    truth: Truth, tasks: Sequence[Task], first: str, second: str, metric: str
) -> str:
    """Return what the p value is of: pairs, or patients with several of them."""
    whose = [
        task.patient
        for task in tasks
        if truth.final(first, task, metric) != truth.final(second, task, metric)
    ]
    if not whose:
        return "no pair differs"
    if len(set(whose)) == len(whose):
        return f"exact, {len(whose)} pairs"
    return f"sign flips by patient, all 2^{len(set(whose))} patterns"


def _shares(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("metric", "model", "n", "n_5", "share_5", "n_below_3", "share_below_3")
    for model, metric in product(MODELS, METRICS):
        values = truth.finals(model, metric)
        fives, low = sum(v == 5 for v in values), sum(v < 3 for v in values)
        n = len(values)
        yield metric, model, n, fives, _share(fives, n), low, _share(low, n)


def _share(k: int, n: int) -> float:
    return k / n if n else nan


def _images(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("metric", "model", "tasks", "images", "mean", "sd", "n_5", "share_5")
    for model, metric in product(MODELS, IMAGE):
        values = truth.finals(model, metric)
        tasks = sum(images(model, task) > 0 for task in truth.tasks)
        fives = sum(value == 5 for value in values)
        share = _share(fives, len(values))
        yield metric, model, tasks, len(values), *spread(values), fives, share


def _orders(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("model", "order", "n", "mean", "sd")
    orders = {"mean": "average_then_minimum", "min": "minimum_then_average"}
    for (first, name), model in product(orders.items(), MODELS):
        values = truth.finals(model, "Content", first)
        yield model, name, len(values), *spread(values)


def _table_3(truth: Truth) -> Rows:
    rows: Rows = [
        (
            *("category", "n", "qwk", "mad"),
            *("main_mean", "main_sd", "second_mean", "second_sd"),
        )
    ]
    for metric in (*TEXT, *IMAGE):
        pairs = [(a, b) for a, b, _ in truth.both(metric)]
        one, two = zip(*pairs, strict=True)
        of = (*spread(one), *spread(two))
        rows.append((metric, len(pairs), kappa(pairs), mad(pairs), *of))
    return rows


_COEFFICIENTS = (
    *("ac2", "ac2_low", "ac2_high", "ac2_method"),
    *("alpha", "alpha_low", "alpha_high", "alpha_method"),
)
_AC2 = "Gwet's AC2, quadratic, 5 labels, jackknife by patient, 95 %"
_ALPHA = "Krippendorff's α, ordinal, jackknife by patient, 95 %"


def _agreement(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("category", "n", "qwk", "qwk_low", "qwk_high", "qwk_method"),
        *("mad", "mad_low", "mad_high", "mad_method", *_COEFFICIENTS),
        *(f"agreement_on_{n}" for n in LEVELS),
    )
    for metric in (*TEXT, *IMAGE):
        pairs = [(a, b) for a, b, _ in truth.both(metric)]
        whose = [task.patient for *_, task in truth.both(metric)]
        gaps: dict[str, list[int]] = {}
        for patient, (a, b) in zip(whose, pairs, strict=True):
            gaps.setdefault(patient, []).append(abs(a - b))
        yield (
            *(metric, len(pairs), kappa(pairs), *kappa_ends(pairs, whose)),
            "quadratic κ, 5 labels, jackknife by patient, 95 %",
            *(mad(pairs), *mean_ends([*gaps.values()], 4)),
            "Clopper-Pearson by patient, of scores 0 to 4, 95 %",
            *(ac2(pairs), *ac2_ends(pairs, whose), _AC2),
            *(alpha(pairs), *alpha_ends(pairs, whose), _ALPHA, *by_level(pairs)),
        )


def _of_all(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("category", "readers", "n", *_COEFFICIENTS)
    for metric in (*TEXT, *IMAGE):
        found: dict[tuple[str, int, int], list[int]] = {}
        whose: dict[tuple[str, int, int], str] = {}
        for one in truth.given:
            if metric in one.scores:
                key = (one.model, one.task.place, one.image)
                found.setdefault(key, []).append(one.scores[metric])
                whose[key] = one.task.patient
        units, patients = list(found.values()), list(whose.values())
        twice = sum(len(unit) > 1 for unit in units)
        yield (
            *(metric, 2, twice),
            *(ac2_of_all(units), *ac2_ends(units, patients), _AC2),
            *(alpha_of_all(units), *alpha_ends(units, patients), _ALPHA),
        )


def _figure_3(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("model", "metric", "score", "count")
    for model, metric, half in product(MODELS, METRICS, range(2, 11)):
        values = truth.finals(model, metric)
        yield model, metric, half / 2, values.count(half / 2)


def _figure_5(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("category", "main", "second", "count")
    for metric, one, two in product((*TEXT, *IMAGE), LEVELS, LEVELS):
        pairs = [(a, b) for a, b, _ in truth.both(metric)]
        yield metric, one, two, pairs.count((one, two))


def _style(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("model", "images", "high_style_low_content", "share"),
        *("high_style_other", "low_content_other", "neither"),
    )
    for model in MODELS:
        content, style = (truth.finals(model, metric) for metric in IMAGE)
        cells = [(s >= 4, c <= 3) for c, s in zip(content, style, strict=True)]
        wrong = cells.count((True, True))
        share = wrong / len(cells) if cells else None
        others = [(True, False), (False, True), (False, False)]
        yield model, len(cells), wrong, share, *map(cells.count, others)


def _abstention(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("model", "answerable", "n", "abstained", "appropriate"),
        *("share_appropriate", "unsaid"),
    )
    for model, kind in product(MODELS, ("yes", "no", "trick")):
        tasks = [
            task
            for task in truth.delivered(model)
            if kind == ("yes" if task.answerable else "no")
        ]
        refrained = sum(abstains(model, task) for task in tasks)
        right = len(tasks) - refrained if kind == "yes" else refrained
        n = len(tasks)
        yield model, kind, n, refrained, right, _share(right, n), 0


def _codes(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield ("model", "code", "meaning", "outputs")
    for model, (code, meaning) in product(MODELS, CODES.items()):
        places = {
            one.task.place
            for one in truth.given
            if one.model == model and one.codes == code
        }
        yield model, code, meaning, len(places)


def _outputs(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("model", "n_planned", "n_delivered", "n_token_limit", "n_refused"),
        *("n_unparsed", "n_failed", "n_excluded", "n_pending"),
        *("n_with_boxes", "n_annotated_images", "n_boxes"),
    )
    for model in MODELS:
        there = truth.delivered(model)
        drawn = [images(model, task) for task in there]
        limit = len(truth.tasks) - len(there)
        boxes = (sum(n > 0 for n in drawn), sum(drawn), sum(drawn))
        yield (model, len(truth.tasks), len(there), limit, 0, 0, 0, 0, 0, *boxes)


def _results(truth: Truth) -> Iterator[tuple[Any, ...]]:
    yield (
        *("finding", "view", "condition", "model", "n_planned", "n_scored", "n_failed"),
        *("n_refused", "n_unparsed", "n_excluded", "n_pending", "k", "n", "hit_rate"),
        *("ci_low", "ci_high", "ci_method", "answered_rate", "chance"),
    )
    groups = [("(micro)", "all", list(truth.tasks))]
    for category in dict.fromkeys(task.category for task in truth.tasks):
        own = [task for task in truth.tasks if task.category == category]
        groups.append((category, "all", own))
    views = dict.fromkeys(task.view for task in truth.tasks)
    groups += [("(micro)", v, [t for t in truth.tasks if t.view == v]) for v in views]
    for model, (finding, view, tasks) in product(MODELS, groups):
        scored = [task for task in tasks if not cut(model, task)]
        k, n = len(scored) * (model == KNOWS), len(tasks)
        yield (
            *(finding, view, "plain", model, n, len(scored), 0, 0, n - len(scored)),
            *(0, 0, k, n, k / n),
            *ci_of(
                (task in scored and model == KNOWS, task.patient, task.name)
                for task in tasks
            ).values(),
            _share(k, len(scored)),
            None,
        )
