"""Every cell of the medsyn2026 pack, computed the long way.

Nothing of the study is used: statuses follow from the scripts' rule, rates are added up
case by case, intervals are statsmodels', divergences scipy's and κ scikit-learn's. A
table that nobody computes here is an error, and so is a column, so that none is added
unnoticed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import hypot, isnan, nan
from statistics import fmean

import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import binomtest, rankdata

from tests.helpers.by_patient import ci_of, difference_by_patient
from tests.helpers.evidence_pack import (
    ARMS,
    PEOPLE,
    Made,
    labelled,
)
from tests.helpers.evidence_truth import SETTLED, Asked, Truth
from viewer.domain.evidence import EvidenceCase
from viewer.domain.specialties import GROUPS, SPECIALTIES

SIX = ("Laboratory", "CT", "Microscopy", "MRI", "Clinical Photography", "X-ray")
SUBSETS = ("en", "zh", "all")
COUNTS = ("k", "n", "n_planned", "n_failed", "n_refused", "n_unparsed", "n_excluded")
Cell = str | float | None
Row = Mapping[str, Cell]


def check_tables(made: Made) -> Mapping[str, int]:
    """Compare the paper's tables that a run fills; return how many cells each has."""
    truth = Truth(made)
    return {n: compare(made.table(n), rows(truth), n) for n, rows in TABLES.items()}


def compare(found: Sequence[Mapping[str, str]], wanted: Sequence[Row], of: str) -> int:
    """Compare a file's rows with those wanted, every column; return the cells."""
    assert len(found) == len(wanted), of
    ordered = sorted(found, key=_key), sorted(wanted, key=_key)
    for line, row in zip(*ordered, strict=True):
        assert set(line) == set(row), of
        for column, value in row.items():
            _same(line[column], value, f"{of}, {column}: {row}")
    return sum(map(len, found))


def _key(row: Mapping[str, Cell]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _KEYS if name in row)


_KEYS = (
    *("item", "case", "finding", "view", "condition", "evidence", "model", "task"),
    *("arm", "stratum", "repeat"),
)
"""Columns whose words name a row; the order of rows is that of the case's evidence."""


def _same(cell: str, wanted: Cell, where: str) -> None:
    if wanted is None or (isinstance(wanted, float) and isnan(wanted)):
        assert cell == "", where
    elif isinstance(wanted, str):
        assert cell == wanted, where
    else:
        assert float(cell) == pytest.approx(float(wanted), rel=1e-9, abs=1e-12), where


def _counts(trials: Sequence[Asked], prefix: str = "") -> dict[str, Cell]:
    of = Counter(one.status for one in trials)
    n = sum(of[status] for status in SETTLED)
    told = (of["scored_correct"], n, len(trials), of["provider_error"])
    values = (*told, of["refused"], of["unparsed"], of["excluded"], 0)
    names = (*COUNTS, "n_pending")
    return {f"{prefix}{x}": v for x, v in zip(names, values, strict=True)}


def _rate(trials: Sequence[Asked]) -> float | None:
    settled = [one.right for one in trials if one.status in SETTLED]
    return sum(settled) / len(settled) if settled else None


def _shared(trials: Sequence[Asked], name: str, ends: str = "") -> dict[str, Cell]:
    """Return a rate and its interval; every case is a patient of its own."""
    settled = [one for one in trials if one.status in SETTLED]
    found: dict[str, Cell] = {name: _rate(trials)}
    ci = ci_of((one.right, one.number, one.number) for one in settled)
    return found | {f"{ends or name}{n.removeprefix('ci')}": v for n, v in ci.items()}


def _apart(gaps: Sequence[Sequence[float]], name: str) -> dict[str, Cell]:
    """Return a mean of differences, by case, in points, with its interval."""
    why = "not estimable from one patient, 95 %" if gaps else "no trial, 95 %"
    method = "Clopper-Pearson by patient, of differences, 95 %"
    value, low, high = 100 * fmean(gaps[0]) if gaps else None, None, None
    if len(gaps) > 1:
        ends = difference_by_patient(gaps)
        value, low, high = (100 * one for one in ends)
    told = method if len(gaps) > 1 else why
    names = (name, *(f"{name}_{end}" for end in ("low", "high", "method")))
    return dict(zip(names, (value, low, high, told), strict=True))


def _chance(trials: Sequence[Asked]) -> float | None:
    """Return the chance of the settled choices, of which each has four options."""
    return 0.25 if any(one.status in SETTLED for one in trials) else None


def everybody(truth: Truth) -> Iterator[tuple[str, Callable[[str, str], list[Asked]]]]:
    """Yield people, then models, each with its trials by task and subset."""
    for person, name in enumerate(PEOPLE):
        yield name, partial(truth.people, person)
    yield "mean of individual readers", truth.all_people
    for model in truth.made.models:
        yield model, partial(truth.raw, model)


def table_2(truth: Truth) -> Sequence[Row]:
    lines: list[dict[str, Cell]] = []
    for name, of in everybody(truth):
        line: dict[str, Cell] = {"model": name}
        for subset in SUBSETS:
            for task in ("ddx", "fdx"):
                trials = of(task, subset)
                rate = f"{task}_{subset}"
                line.update(_shared(trials, rate, f"{rate}_ci"))
                line.update(_counts(trials, f"{rate}_"))
                if task == "fdx":
                    line[f"fdx_{subset}_chance"] = _chance(trials)
            line.update(_gap(of("ddx", subset), of("fdx", subset), f"gap_pp_{subset}"))
        lines.append(line)
    of_people, of_models = lines[: len(PEOPLE) + 1], lines[len(PEOPLE) + 1 :]
    for subset in SUBSETS:
        rates_of = [line[f"fdx_{subset}"] for line in of_models]
        ranks = rankdata([-float(x or 0) for x in rates_of], "min")
        for line in of_people:
            line[f"rank_{subset}"] = None
        known = zip(of_models, rates_of, ranks, strict=True)
        for line, of_it, rank in known:
            line[f"rank_{subset}"] = None if of_it is None else float(rank)
    return lines


def _gap(ddx: Sequence[Asked], fdx: Sequence[Asked], name: str) -> dict[str, Cell]:
    """Return how many points the first rate is ahead, with its interval by case."""
    one, other = (
        {(x.number, x.model): float(x.right) for x in of if x.status in SETTLED}
        for of in (ddx, fdx)
    )
    if set(one) == set(other):
        gaps = defaultdict[int, list[float]](list)
        for number, who in one:
            gaps[number].append(one[number, who] - other[number, who])
        return _apart([*gaps.values()], name)
    rates = _rate(ddx), _rate(fdx)
    gap = None if None in rates else 100 * (rates[0] - rates[1])  # type: ignore[operator]
    found: dict[str, Cell] = {name: gap, f"{name}_low": None, f"{name}_high": None}
    return found | {f"{name}_method": "not estimable: not the same cases in both, 95 %"}


def _arms(*arms: str, subset: str = "en") -> Callable[[Truth], Sequence[Row]]:
    def rows(truth: Truth) -> Sequence[Row]:
        return [
            _arm(truth, model, arm, arms[0], subset)
            for model in truth.made.models
            for arm in arms
        ]

    return rows


def _arm(truth: Truth, model: str, arm: str, first: str, subset: str) -> Row:
    trials = truth.of(model, "fdx", arm, subset)
    line: dict[str, Cell] = {"model": model, "arm": arm, **_shared(trials, "fdx", "ci")}
    line.update({**_counts(trials), "chance": _chance(trials)})
    nothing = dict.fromkeys(("gained", "lost", "p_value", "n_pairs"))
    if arm == first:
        return {**line, **dict.fromkeys(_apart([], "delta_pp")), **nothing}
    base = {
        one.number: one.right
        for one in truth.of(model, "fdx", first, subset)
        if one.status in SETTLED
    }
    pairs = [
        (one.right, base[one.number])
        for one in trials
        if one.status in SETTLED and one.number in base
    ]
    gained = sum(now and not then for now, then in pairs)
    lost = sum(then and not now for now, then in pairs)
    changed = gained + lost
    p = binomtest(gained, changed).pvalue if changed else 1.0
    change = _apart([[float(now) - then] for now, then in pairs], "delta_pp")
    if not pairs and not base and not line["n"]:
        return {**line, **dict.fromkeys(change), **nothing}
    line |= change
    if not pairs:
        return {**line, **nothing, "n_pairs": 0}
    line |= {"gained": gained, "lost": lost, "p_value": p}
    return {**line, "n_pairs": len(pairs)}


def table_5(truth: Truth, subset: str = "en") -> Sequence[Row]:
    lines: list[Row] = []
    for model in truth.made.models:
        trials = truth.of(model, "fdx", "raw", subset)
        errors = [
            nmse(truth, model, of, subset=subset)
            for of in SIX
            if of in _types(truth, subset)
        ]
        mean = _mean_of_known(errors)
        line: dict[str, Cell] = {"model": model, "nmse_mean": mean}
        line |= {**_shared(trials, "fdx", "ci"), "chance": _chance(trials)}
        lines.append({**line, **_counts(trials)})
    return lines


def table_8(truth: Truth) -> Sequence[Row]:
    lines: list[Row] = []
    for model in truth.made.models:
        line: dict[str, Cell] = {"model": model}
        for subset in SUBSETS:
            trials = truth.of(model, "ddx", "raw", subset)
            line.update(_score(trials, f"_{subset}"))
            for k in (1, 3, 5, 10):
                named = [_named_within(one, k) for one in trials]
                line.update(_shared(named, f"top_{k}_{subset}"))
        lines.append(line)
    return lines


def _named_within(one: Asked, k: int) -> Asked:
    """Return a differential as right if one of its first k is the diagnosis."""
    rank = one.number_of("first_match")
    right = "scored_correct" if rank and rank <= k else "scored_wrong"
    return replace(one, status=right) if one.status in SETTLED else one


def table_9(truth: Truth, subset: str = "en") -> Sequence[Row]:
    return [
        {"model": m, **_score(truth.of(m, "open_fdx", "raw", subset), "")}
        for m in truth.made.models
    ]


def _score(trials: Sequence[Asked], suffix: str) -> dict[str, Cell]:
    scores = [s for one in trials if (s := one.number_of("judge")) is not None]
    mean = sum(scores) / len(scores) if scores else None
    values = (mean, len(scores), len(trials))
    names = ("score", "n_judged", "n_planned")
    found = {f"{x}{suffix}": v for x, v in zip(names, values, strict=True)}
    return found | _score_ends(scores, f"score{suffix}")


def _score_ends(scores: Sequence[float], name: str) -> dict[str, Cell]:
    """Return the interval of a mean of scores from 0 to 5, each of its own case."""
    why = "not estimable from one patient, 95 %" if scores else "no trial, 95 %"
    low, high = None, None
    if len(scores) > 1:
        why = "Clopper-Pearson by patient, of scores 0 to 5, 95 %"
        scaled = [[(score - 2.5) / 2.5] for score in scores]
        low, high = (2.5 + 2.5 * end for end in difference_by_patient(scaled)[1:])
    return {f"{name}_low": low, f"{name}_high": high, f"{name}_method": why}


def _strata(
    strata: Sequence[str], of: Callable[[EvidenceCase], str], subset: str = "en"
) -> Callable[[Truth], Sequence[Row]]:
    def rows(truth: Truth) -> Sequence[Row]:
        lines: list[Row] = []
        for (name, trials_of), stratum in product(everybody(truth), strata):
            trials = [
                one
                for one in trials_of("fdx", subset)
                if of(truth.cases[one.number]) == stratum
            ]
            line: dict[str, Cell] = {"model": name, "stratum": stratum}
            line |= _shared(trials, "fdx", "ci")
            line["chance"] = _chance(trials)
            counts = _counts(trials)
            warning = "fewer than 10 cases" if int(counts["n"] or 0) < 10 else ""
            if trials:
                lines.append({**line, **counts, "warning": warning})
        return lines

    return rows


def _group(case: EvidenceCase) -> str:
    return next(group for group, of in GROUPS.items() if case.specialty in of)


def _types(truth: Truth, subset: str) -> list[str]:
    cases = [case for case in truth.cases if case.language == subset]
    return list(dict.fromkeys(str(t) for case in cases for t in case.types))


def sensitivity(truth: Truth, model: str, i: int, base: str, of: str) -> float:
    """Return the true sensitivity in bits; NaN where one answer is not there."""
    known = truth.beliefs(model)
    pair = [known.get((i, c)) for c in (base, f"{base} without {of}")]
    if None in pair:
        return nan
    return float(jensenshannon(*pair, 2.0)) ** 2


def _both(
    truth: Truth, model: str, of: str, bases: tuple[str, str], subset: str
) -> list[tuple[float, float]]:
    """Return image's and text's sensitivity of a language's cases with the evidence."""
    return [
        (
            sensitivity(truth, model, i, bases[0], of),
            sensitivity(truth, model, i, bases[1], of),
        )
        for i, case in enumerate(truth.cases)
        if of in map(str, case.types) and case.language == subset
    ]


RAW = ("raw", "expert")
REFINED = ("refined", "refined expert")


def nmse(
    truth: Truth,
    model: str,
    of: str,
    bases: tuple[str, str] = RAW,
    *,
    subset: str = "en",
    swapped: bool = False,
) -> float:
    every = _both(truth, model, of, bases, subset)
    pairs = [p for p in every if not isnan(sum(p))]
    power = sum(pair[0 if swapped else 1] ** 2 for pair in pairs)
    return sum((x - y) ** 2 for x, y in pairs) / power if power else nan


def _mean_of_known(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def _concordance(pairs: Sequence[tuple[float, float]]) -> float:
    if not pairs:
        return nan
    n = len(pairs)
    x, y = (sum(pair[side] for pair in pairs) / n for side in (0, 1))
    both = sum((a - x) * (b - y) for a, b in pairs) / n
    apart = sum((a - x) ** 2 + (b - y) ** 2 for a, b in pairs) / n + (x - y) ** 2
    return 2 * both / apart if apart else nan


def table_12(truth: Truth, subset: str = "en") -> Sequence[Row]:
    lines: list[Row] = []
    for model in truth.made.models:
        for of in sorted(_types(truth, subset), key=SIX.index):
            every = _both(truth, model, of, RAW, subset)
            pairs = [pair for pair in every if not isnan(sum(pair))]
            gaps = [x - y for x, y in pairs]
            line: dict[str, Cell] = {"evidence": of, "model": model}
            line["nmse"] = nmse(truth, model, of, subset=subset)
            line["nmse_swapped"] = nmse(truth, model, of, subset=subset, swapped=True)
            line["concordance"] = _concordance(pairs)
            line["image_above"] = sum(gap >= 1e-9 for gap in gaps)
            line["image_below"] = sum(gap <= -1e-9 for gap in gaps)
            line["tied"] = sum(abs(gap) < 1e-9 for gap in gaps)
            below = [gap <= -1e-9 for gap in gaps]
            rate = sum(below) / len(below) if below else None
            line |= {"below_k": sum(below), "below_n": len(below), "below": rate}
            line |= ci_of((less, i, i) for i, less in enumerate(below))
            lines.append(
                {**line, "cases": len(pairs), "missing": len(every) - len(pairs)}
            )
    return [*lines, *(_average(truth, m, subset) for m in truth.made.models)]


def _average(truth: Truth, model: str, subset: str) -> Row:
    there = [of for of in SIX if of in _types(truth, subset)]
    plain, other = (
        _mean_of_known(
            [nmse(truth, model, of, subset=subset, swapped=swapped) for of in there]
        )
        for swapped in (False, True)
    )
    empty = (
        *("concordance", "cases", "image_above", "image_below", "tied", "missing"),
        *("below_k", "below_n", "below", "ci_low", "ci_high", "ci_method"),
    )
    line: Row = {"evidence": "Average", "model": model, "nmse": plain}
    return {**line, "nmse_swapped": other, **dict.fromkeys(empty)}


def table_13(truth: Truth, subset: str = "en") -> Sequence[Row]:
    lines: list[Row] = []
    for model in truth.made.models:
        before = nmse(truth, model, "Microscopy", RAW, subset=subset)
        after = nmse(truth, model, "Microscopy", REFINED, subset=subset)
        change = {"baseline": before, "refined": after, "delta": after - before}
        lines.append({"model": model, **change})
    return lines


def calibration(truth: Truth) -> Sequence[Row]:
    lines: list[Row] = []
    for task, m in product(("ddx", "open_fdx"), range(len(truth.made.models))):
        trials = truth.of(truth.made.models[m], task)
        kept = [one for one in trials if one.number_of("judge") is not None]
        judge = [float(one.number_of("judge") or 0) for one in kept]
        human = [labelled(m, one.number, task) for one in kept]
        if all(score is None for score in human):
            continue
        line: dict[str, Cell] = {"model": truth.made.models[m], "task": task}
        line["n_first_judged"] = len(judge)
        line["n_labelled"] = sum(score is not None for score in human)
        line.update(_powered(judge, human, (0, 5), "first_score"))
        covered = [None if h is None else float(h >= 4) for h in human]
        judged = [float(j >= 4) for j in judge]
        line.update(_powered(judged, covered, (0, 1), "first_coverage"))
        lines.append({**line, **_agreement(judge, human)})
    return lines


def _powered(
    judge: Sequence[float],
    human: Sequence[float | None],
    ends: tuple[float, float],
    name: str,
) -> dict[str, Cell]:
    """Return the mean, and the one that people would give, with its interval.

    Labelled answers, less the judge's share of the others, and the others are two
    independent means between two ends; how far each reaches is added as squares.
    """
    pairs = [(j, h) for j, h in zip(judge, human, strict=True) if h is not None]
    mean, rest = sum(judge) / len(judge), 1 - len(pairs) / len(judge)
    value = mean + sum(h - j for j, h in pairs) / len(pairs)
    found: dict[str, Cell] = {name: mean, f"{name}_corrected": value}
    method = f"prediction-powered, {len(pairs)} labelled, 95 %"
    if len(pairs) < 2:
        method = f"not estimable from one labelled case, {method}"
        bounds = dict.fromkeys((f"{name}_low", f"{name}_high"))
        return {**found, **bounds, f"{name}_method": method}
    reach = ends[0] - rest * ends[1], ends[1] - rest * ends[0]
    own = _distances([h - rest * j for j, h in pairs], reach)
    others = [j for j, h in zip(judge, human, strict=True) if h is None]
    more = [rest * distance for distance in _distances(others, ends)]
    down, up = (hypot(*both) for both in zip(own, more, strict=True))
    return {
        **found,
        f"{name}_low": max(value - down, ends[0]),
        f"{name}_high": min(value + up, ends[1]),
        f"{name}_method": method,
    }


def _distances(
    scores: Sequence[float], ends: tuple[float, float]
) -> tuple[float, float]:
    """Return how far below and above their mean the interval of scores ends."""
    if not scores:
        return 0.0, 0.0
    if len(scores) == 1:
        return scores[0] - ends[0], ends[1] - scores[0]
    middle, half = sum(ends) / 2, (ends[1] - ends[0]) / 2
    scaled = [[(score - middle) / half] for score in scores]
    value, low, high = difference_by_patient(scaled)
    return half * (value - low), half * (high - value)


def _agreement(judge: Sequence[float], human: Sequence[int | None]) -> dict[str, Cell]:
    pairs = [(int(j), h) for j, h in zip(judge, human, strict=True) if h is not None]
    found: dict[str, Cell] = {
        "same": sum(j == h for j, h in pairs) / len(pairs),
        "kappa": _kappa(pairs, lambda a, b: float(a != b)),
        "kappa_quadratic": _kappa(pairs, lambda a, b: float((a - b) ** 2)),
    }
    for level in range(6):
        of = [(int(j == level), int(h == level)) for j, h in pairs]
        found[f"kappa_of_{level}"] = _kappa(of, lambda a, b: float(a != b))
    return found


def _kappa(
    pairs: Sequence[tuple[int, int]], apart: Callable[[int, int], float]
) -> float:
    """Return κ as one less observed over expected disagreement."""
    seen = sum(apart(a, b) for a, b in pairs) / len(pairs)
    chance = sum(apart(a, b) for (a, _), (_, b) in product(pairs, pairs))
    return 1 - seen / (chance / len(pairs) ** 2) if chance else nan


def _tables_in(subset: str) -> dict[str, Callable[[Truth], Sequence[Row]]]:
    """Return the tables that are of cases in one language, by their numbers."""
    return {
        "table_03": _arms(*ARMS[:2], subset=subset),
        "table_04": _arms(ARMS[0], *ARMS[2:4], subset=subset),
        "table_05": partial(table_5, subset=subset),
        "table_06": _arms(ARMS[0], ARMS[4], subset=subset),
        "table_09": partial(table_9, subset=subset),
        "table_10": _strata(SPECIALTIES, lambda case: case.specialty, subset),
        "table_11": _strata(tuple(GROUPS), _group, subset),
        "table_12": partial(table_12, subset=subset),
        "table_13": partial(table_13, subset=subset),
    }


TABLES: Mapping[str, Callable[[Truth], Sequence[Row]]] = {
    "table_02": table_2,
    "table_08": table_8,
    "judge_calibration": calibration,
    **_tables_in("en"),
    **{f"{name}_zh": rows for name, rows in _tables_in("zh").items()},
}
"""What each table must hold."""
