"""Rows of perturbation tests and of their shams, worked out anew."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import fmean

import numpy as np

from tests.helpers.by_patient import ci_of, difference_by_patient
from tests.helpers.heal_pack import MODELS, Made, Verdict
from tests.helpers.heal_truth import Asked
from tests.helpers.sheets import Sheet

TPT = {"TPT anatomy": "tpt-anatomy", "TPT disease": "tpt-disease"}
AGAINST = {
    "TPT anatomy": ("tpt-anatomy", ("tpt-sham",)),
    "TPT disease": ("tpt-disease", ("tpt-sham",)),
    "VPT": ("vpt", ("vpt-sham-same",)),
    "VPT, own region": ("vpt", ("vpt-sham-own",)),
}
"""Each row of the sham control: its test, and what is taken off."""
Row = dict[str, object]
Rows = dict[tuple[str, ...], Row]


def of_way(made: Made, model: str, way: str, test: str | None = "") -> list[Verdict]:
    """Return the trials of a model in a way; ``test`` None for all perturbations."""
    return [
        v
        for v in made.verdicts
        if (v.model, v.way) == (model, way) and (test is None or v.perturbation == test)
    ]


def note_of(way: str) -> str:
    return "LobA-approximation" if way in {"contour", "crop"} else ""


def share(above: int, below: int) -> float | None:
    return above / below if below else None


def _true_positives(made: Made, model: str, way: str) -> list[Asked]:
    own = of_way(made, model, way)
    return [v.asked for v in own if v.asked.yes and v.yes is True]


def paper_row(made: Made, model: str, way: str, test: str) -> Row:
    """Return what a row of Tables 3 and 4 is."""
    base = _true_positives(made, model, way)
    edits = [v for v in of_way(made, model, way, test) if v.counts]
    assert {v.asked.key for v in edits} <= {q.key for q in base}
    k, n = sum(v.yes is False for v in edits), len(edits)
    return {
        "n_true_positives": len(base),
        "n_without_edit": len(base) - n,
        "n_edits": n,
        "n_flipped": k,
        "n_unread": sum(v.yes is None for v in edits),
        "score": share(k, n),
        **ci_of((v.yes is False, v.asked.patient, v.asked.key) for v in edits),
    }


def check_table_3(made: Made, sheet: Sheet) -> None:
    _tests(made, sheet, TPT)


def check_table_4(made: Made, sheet: Sheet) -> None:
    _tests(made, sheet, {"VPT": "vpt"})


def _tests(made: Made, sheet: Sheet, tests: Mapping[str, str]) -> None:
    sheet.pair(
        {
            (model, way, note_of(way), name): paper_row(made, model, way, test)
            for model, way in itertools.product(MODELS, made.ways)
            for name, test in tests.items()
        }
    )


def check_shams(made: Made, sheet: Sheet) -> None:
    _nets(made, sheet, lambda _name, _model, _way: None)


def check_shared(made: Made, sheet: Sheet) -> None:
    def shared(_name: str, _model: str, _way: str) -> frozenset[str]:
        sets = [
            frozenset(q.key for q in _true_positives(made, model, way))
            for model, way in itertools.product(MODELS, made.ways)
        ]
        return frozenset.intersection(*sets)

    _nets(made, sheet, shared)


def _nets(
    made: Made,
    sheet: Sheet,
    only: Callable[[str, str, str], frozenset[str] | None],
) -> None:
    found = sheet.keyed("model", "way", "note", "test")
    wanted = {
        (model, way, note_of(way), name)
        for model, way, name in itertools.product(MODELS, made.ways, AGAINST)
    }
    assert set(found) == wanted
    for (model, way, note, name), i in found.items():
        gaps = _gaps(made, model, way, name, only(name, model, way))
        row: Row = {"model": model, "way": way, "note": note, "test": name}
        flips = [flip for _, flip, _ in gaps]
        shams = [sham for _, _, sham in gaps]
        row |= {"n_items": len(gaps), "flip": _mean(flips), "sham_flip": _mean(shams)}
        clusters = _clusters(gaps)
        row |= {"net": _mean([f - s for _, f, s in gaps])}
        row |= _interval(clusters)
        row |= {
            "p_value": _sign_flips(
                sheet.rows[i], [sum(cluster) for cluster in clusters]
            )
        }
        sheet.check(i, row)


def _gaps(
    made: Made, model: str, way: str, name: str, only: frozenset[str] | None
) -> list[tuple[str, float, float]]:
    """Return patient, flips and sham flips of every item that has both."""
    test, shams = AGAINST[name]
    gaps = []
    for q in _true_positives(made, model, way):
        if only is not None and q.key not in only:
            continue
        own = [v for v in of_way(made, model, way, None) if v.asked is q and v.counts]
        flips = [v.yes is False for v in own if v.perturbation == test]
        sham = [v.yes is False for v in own if v.perturbation in shams]
        if flips and sham:
            gaps.append((q.patient, fmean(flips), fmean(sham)))
    return gaps


def _clusters(gaps: Sequence[tuple[str, float, float]]) -> list[list[float]]:
    found: dict[str, list[float]] = {}
    for patient, flip, sham in gaps:
        found.setdefault(patient, []).append(flip - sham)
    return list(found.values())


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _interval(clusters: Sequence[Sequence[float]]) -> Row:
    """Return an interval's cells."""
    if len(clusters) < 2:
        why = "not estimable from one patient" if clusters else "no trial"
        return {"net_low": None, "net_high": None, "method": f"{why}, 95 %"}
    _, low, high = difference_by_patient(clusters)
    return {
        "net_low": low,
        "net_high": high,
        "method": "Clopper-Pearson by patient, of differences, 95 %",
    }


def _sign_flips(row: Mapping[str, str], totals: Sequence[float]) -> float:
    """Return the share of all sign patterns at least as far from 0.

    Of more patients than whose patterns can be tried, not all of them whole numbers,
    it is the cell itself, once it is found to lie about the right share.
    """
    chances = {0: Fraction(1)}
    steps = [round(12 * total) for total in totals]
    assert np.allclose(np.array(steps) / 12, totals)
    for step in steps:
        after: dict[int, Fraction] = {}
        for at, chance in chances.items():
            for to in (at - step, at + step):
                after[to] = after.get(to, Fraction(0)) + chance / 2
        chances = after
    far = sum(c for at, c in chances.items() if abs(at) >= abs(sum(steps)))
    drawn = sum(map(bool, steps)) > 16 and any(step % 12 for step in steps)
    if not drawn:
        return float(far)
    got = float(row["p_value"])
    assert abs(got - far) < 5 * (float(far) / 10_000) ** 0.5 + 2e-4
    return got
