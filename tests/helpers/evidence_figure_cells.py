"""The numbers behind every figure of the medsyn2026 pack, counted the long way."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import isnan
from textwrap import fill

from tests.helpers.by_patient import ci_of
from tests.helpers.evidence_cells import (
    RAW,
    REFINED,
    SIX,
    Cell,
    compare,
    everybody,
    sensitivity,
)
from tests.helpers.evidence_truth import SETTLED, Truth
from viewer.domain.evidence import EvidenceCase, EvidenceType
from viewer.domain.specialties import GROUPS, SPECIALTIES

LANGUAGES = {"English": "en", "Chinese": "zh"}
CLASSES = {
    "Proprietary": "GPT-5.2",
    "Medical": "Lingshu (7B)",
    "Large": "Qwen2.5-VL (72B)",
}
"""The class of each of the pack's models (Chen 2026, Figure 4)."""
ABOVE, BELOW, ALIKE = "image above text", "image below text", "alike"
STEM = "Which of the following is the most likely final diagnosis?"


def check_figures(truth: Truth) -> Mapping[str, int]:
    """Compare the table beside every figure; one that is not computed here fails."""
    folder = truth.made.folder / "figures"
    wanted = dict(_figures(truth))
    assert {path.stem for path in folder.glob("*.csv")} == set(wanted)
    cells = {}
    for name, rows in wanted.items():
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            found = list(csv.DictReader(stream))
        places = [{**row, "item": str(n)} for n, row in enumerate(found)]
        told = [{**row, "item": str(n)} for n, row in enumerate(rows)]
        compare(places, told, name)
        cells[f"figures/{name}"] = sum(map(len, found))
    return cells


def _figures(truth: Truth) -> Iterator[tuple[str, list[dict[str, Cell]]]]:
    cases = truth.cases
    yield "fig_02", _example(truth)
    types = [str(of) for of in EvidenceType if any(of in c.types for c in cases)]
    yield "fig_03a", _counted(cases, types, lambda c: [str(t) for t in c.types])
    most = max(len(case.types) for case in cases)
    numbers = [str(n) for n in range(1, most + 1)]
    yield "fig_03b", _counted(cases, numbers, lambda c: [str(len(c.types))])
    for name, strata, of in (
        ("a", SPECIALTIES, _specialty),
        ("b", tuple(GROUPS), _group),
    ):
        there = [x for x in strata if x in set(map(of, cases))]
        yield f"fig_09{name}", _counted(cases, there, partial(_alone, of))
    yield "fig_01b", _gaps(truth)
    yield "fig_04", _classes(truth)
    yield "fig_10", _scores(truth, "ddx")
    yield "fig_11", _scores(truth, "open_fdx")
    for place, model in enumerate(truth.made.models, start=1):
        yield f"fig_13_{place}", _points(truth, model)
    english = [case for case in cases if case.language == "en"]
    asked = {str(of) for case in english for of in case.types}
    of_all = [of for of in SIX if of in asked]
    stacks = [
        (of, model, _shares(truth, model, of, RAW))
        for of, model in product(of_all, truth.made.models)
    ]
    yield "fig_14", _stacked(stacks)
    both = product(truth.made.models, (("baseline", RAW), ("refined", REFINED)))
    slides = [(m, name, _shares(truth, m, "Microscopy", b)) for m, (name, b) in both]
    yield "fig_15", _stacked(slides)


def _alone(of: Callable[[EvidenceCase], str], case: EvidenceCase) -> list[str]:
    return [of(case)]


def _specialty(case: EvidenceCase) -> str:
    return case.specialty


def _group(case: EvidenceCase) -> str:
    return next(group for group, of in GROUPS.items() if case.specialty in of)


def _types_in_order(truth: Truth) -> list[str]:
    return list(dict.fromkeys(str(of) for case in truth.cases for of in case.types))


def _example(truth: Truth) -> list[dict[str, Cell]]:
    spoilt = truth.cases[truth.made.spoilt]
    case = next(c for c in truth.cases if c.language == "en" and c is not spoilt)
    asked = [f"{'ABCD'[i]}. {option}" for i, option in enumerate(case.options)]
    words = "\n".join((f"{case.history} {case.examination} {STEM}", *asked))
    shown = [(one.title, fill(one.finding, 30)) for one in case.evidence[:4]]
    return [{"step": s, "words": w} for s, w in (("Question", words), *shown)]


def _counted(
    cases: Sequence[EvidenceCase],
    strata: Sequence[str],
    of: Callable[[EvidenceCase], Sequence[str]],
) -> list[dict[str, Cell]]:
    found: list[dict[str, Cell]] = []
    for stratum in strata:
        own = [str(case.language) for case in cases if stratum in of(case)]
        for name, language in LANGUAGES.items():
            count = own.count(language)
            share = count / len(own) if own else None
            row: dict[str, Cell] = {"group": stratum, "bar": "", "segment": name}
            found.append({**row, "count": count, "share": share, "n": ""})
    return found


def _gaps(truth: Truth) -> list[dict[str, Cell]]:
    """Return Figure 1(b): lists and final diagnoses of people, then of models."""
    names = {"ddx": "Differential", "fdx": "Final diagnosis"}
    found: list[dict[str, Cell]] = []
    for kind, (who, of), task in product(("bar", "baseline"), everybody(truth), names):
        trials = [one for one in of(task, "en") if one.status in SETTLED]
        right = sum(one.right for one in trials)
        row: dict[str, Cell] = {"panel": "English cases", "group": who}
        row |= {"series": names[task], "error": "", "kind": kind}
        ci = ci_of((one.right, one.number, one.number) for one in trials)
        told = (right / len(trials), len(trials), ci["ci_low"], ci["ci_high"])
        heads = ("rate", "n", "low", "high")
        of_it = told if kind == "bar" else (None,) * len(heads)
        found.append({**row, **dict(zip(heads, of_it, strict=True))})
    return found


def _classes(truth: Truth) -> list[dict[str, Cell]]:
    english = {_group(case) for case in truth.cases if case.language == "en"}
    groups = [group for group in GROUPS if group in english]
    models = {c: m for c, m in CLASSES.items() if m in truth.made.models}
    found: list[dict[str, Cell]] = []
    for kind, group, (name, model) in product(
        ("bar", "baseline"), groups, models.items()
    ):
        trials = [
            one
            for one in truth.of(model, "fdx", "raw", "en")
            if _group(truth.cases[one.number]) == group and one.status in SETTLED
        ]
        told = kind == "bar"
        rate = sum(one.right for one in trials) / len(trials) if trials else None
        row: dict[str, Cell] = {"panel": "Final diagnosis", "group": group}
        row |= {"series": name, "rate": rate if told else None, "error": ""}
        found.append({**row, "n": len(trials) if told else None, "kind": kind})
    return found


def _scores(truth: Truth, task: str) -> list[dict[str, Cell]]:
    stacks = []
    for (name, subset), model in product(LANGUAGES.items(), truth.made.models):
        scores = [
            int(score)
            for one in truth.of(model, task, "raw", subset)
            if (score := one.number_of("judge")) is not None
        ]
        counts = {str(x): scores.count(x) for x in (5, 4, 3, 2, 1, 0)}
        if scores:
            stacks.append((name, model, counts))
    return _stacked(stacks)


def _shares(
    truth: Truth, model: str, of: str, bases: tuple[str, str]
) -> dict[str, int]:
    every = _pairs(truth, model, of, bases, languages=("en",))
    gaps = [x - y for x, y in every]
    return {
        ABOVE: sum(gap >= 1e-9 for gap in gaps),
        BELOW: sum(gap <= -1e-9 for gap in gaps),
        ALIKE: sum(abs(gap) < 1e-9 for gap in gaps),
    }


def _stacked(
    stacks: Sequence[tuple[str, str, Mapping[str, int]]],
) -> list[dict[str, Cell]]:
    found: list[dict[str, Cell]] = []
    for group, bar, counts in stacks:
        n = sum(counts.values())
        for segment, count in counts.items():
            row: dict[str, Cell] = {"group": group, "bar": bar, "segment": segment}
            share = count / n if n else None
            found.append({**row, "count": count, "share": share, "n": n})
    return found


def _pairs(
    truth: Truth,
    model: str,
    of: str,
    bases: tuple[str, str],
    languages: Sequence[str] = ("en", "zh"),
) -> list[tuple[float, float]]:
    both = [
        (
            sensitivity(truth, model, i, bases[0], of),
            sensitivity(truth, model, i, bases[1], of),
        )
        for i, case in enumerate(truth.cases)
        if of in map(str, case.types) and case.language in languages
    ]
    return [pair for pair in both if not isnan(sum(pair))]


def _points(truth: Truth, model: str) -> list[dict[str, Cell]]:
    found: list[dict[str, Cell]] = []
    for of in _types_in_order(truth):
        pairs = _pairs(truth, model, of, RAW)
        for name, kept in (
            (ABOVE, [p for p in pairs if p[0] - p[1] >= 1e-9]),
            (BELOW, [p for p in pairs if p[1] - p[0] >= 1e-9]),
            (ALIKE, [p for p in pairs if abs(p[0] - p[1]) < 1e-9]),
        ):
            for x, y in kept:
                row: dict[str, Cell] = {"panel": of, "series": name}
                found.append({**row, "x": y, "y": x})
    return found
