"""Rows of perturbation tests and of their shams, worked out anew."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from statistics import fmean

import numpy as np
from scipy.stats import t

from tests.helpers.by_patient import (
    ci_of,
    difference_by_patient,
    named_ends,
    unit_ci_of,
)
from tests.helpers.heal_pack import MODELS, Made, Verdict
from tests.helpers.heal_truth import Asked
from tests.helpers.sheets import Sheet

TPT = {"TPT anatomy": "tpt-anatomy", "TPT disease": "tpt-disease"}
AGAINST = {
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
    words = _words_of_items(made)
    sheet.pair(
        {
            (model, way, note_of(way), name): {
                **paper_row(made, model, way, test),
                **_over_words(made, words, model, way, test),
                **_other_words(made, model, way),
            }
            for model, way in itertools.product(MODELS, made.ways)
            for name, test in TPT.items()
        }
    )


def check_table_4(made: Made, sheet: Sheet) -> None:
    sheet.pair(
        {
            (model, way, note_of(way), "VPT"): {
                **paper_row(made, model, way, "vpt"),
                "n_rejected": 0,
            }
            for model, way in itertools.product(MODELS, made.ways)
        }
    )


def check_common_textual(made: Made, sheet: Sheet) -> None:
    words, shared = _words_of_items(made), _shared(made)
    sheet.pair(
        {
            (model, way, note_of(way), name): _over_words(
                made, words, model, way, test, shared
            )
            for model, way in itertools.product(MODELS, made.ways)
            for name, test in TPT.items()
        }
    )


Words = tuple[str, str, int]


def _words_of_items(made: Made) -> dict[tuple[str, str, str], Words]:
    """Return what swapped trials ask, from their names in the run's items."""
    words: dict[tuple[str, str, str], Words] = {}
    by_key = {q.key: q for q in made.truth.asked}
    for row in made.sheets["run/items.csv"].rows:
        key, _, change = row["item"].partition("|")
        if row["condition"].startswith(tuple(TPT.values())) and change != "none":
            anatomy, _, finding = change.partition(": ")
            asked = (anatomy, finding, by_key[key].template)
            words[key, row["condition"], row["model"]] = asked
    return words


def _other_words(made: Made, model: str, way: str) -> Row:
    said = [v for v in of_way(made, model, way, "tpt-sham") if v.counts]
    scores = [(float(v.yes is False), v.asked.patient) for v in said]
    mean = _mean([one for one, _ in scores])
    return {"other_words": mean, **named_ends("other_words", unit_ci_of(scores))}


def _over_words(
    made: Made,
    words: Mapping[tuple[str, str, str], Words],
    model: str,
    way: str,
    test: str,
    only: frozenset[str] | None = None,
) -> Row:
    """Hold each swapped question against the same words about other patients."""
    swapped = [
        (words[v.asked.key, v.condition, model], v.asked.patient, v.yes)
        for v in of_way(made, model, way, test)
        if v.counts and (only is None or v.asked.key in only)
    ]
    there = [
        ((v.asked.anatomy, v.asked.finding, v.asked.template), v.asked.patient, v.yes)
        for v in of_way(made, model, way)
        if v.asked.yes and v.yes is not None
    ]
    full = _compared(swapped, there)
    row: Row = dict.fromkeys(
        ("n_compared", "denied", "word_prior", "net", "net_low", "net_high")
    )
    row |= {"n_compared": full[2]}
    if not full[2]:
        why = "the same words were asked of no other patient who has it"
        none = f"not estimable: {why}, 95 %" if swapped else "no trial, 95 %"
        return {**row, "net_method": none}
    k, prior, n = full
    row |= {"denied": k / n, "word_prior": prior / n, "net": (k - prior) / n}
    asked = {w for w, *_ in swapped} & {w for w, *_ in there}
    who: dict[Words, set[str]] = {w: set() for w in asked}
    for w, patient, _ in (*swapped, *there):
        if w in asked:
            who[w].add(patient)
    several = {w for w, patients in who.items() if len(patients) > 1}
    left = []
    for patient in sorted(set().union(*(who[w] for w in several))):
        some = [[one for one in of if one[1] != patient] for of in (swapped, there)]
        hits, of_prior, m = _compared(*some)
        if not m:
            why = "without one of the patients nothing is left to compare"
            return {**row, "net_method": f"not estimable: {why}, 95 %"}
        left.append((hits - of_prior) / m)
    least = 0.0
    for rate, of in ((k / n, swapped), (prior / n, there)):
        m = len({patient for w, patient, _ in of if w in several})
        near = (rate * m + 2) / (m + 4)
        least += near * (1 - near) / m
    m = len(left)
    half = t.ppf(0.975, m - 1) * max((m - 1) * float(np.var(left)), least) ** 0.5
    net = (k - prior) / n
    ends = {"net_low": max(net - half, -1.0), "net_high": min(net + half, 1.0)}
    return {**row, **ends, "net_method": "jackknife by patient, 95 %"}


_Asked = Sequence[tuple[Words, str, bool | None]]


def _compared(swapped: _Asked, there: _Asked) -> tuple[int, float, int]:
    """Return denials, their word prior, and how many questions can be compared."""
    hits, prior, n = 0, 0.0, 0
    for words, patient, yes in swapped:
        same = [(p, said) for w, p, said in there if w == words]
        others = [said is False for p, said in same if p != patient]
        everyone = {p for p, _ in same} | {p for w, p, _ in swapped if w == words}
        is_held = any(
            (w, p) == (words, patient) and said is not None for w, p, said in swapped
        )
        if not same or len(everyone) < 2 or (is_held and not others):
            continue
        hits, n = hits + (yes is False), n + 1
        prior += sum(others) / len(others) if yes is not None else 0.0
    return hits, prior, n


def check_shams(made: Made, sheet: Sheet) -> None:
    _nets(made, sheet, lambda _name, _model, _way: None)


def check_shared(made: Made, sheet: Sheet) -> None:
    shared = _shared(made)
    _nets(made, sheet, lambda _name, _model, _way: shared)


def _shared(made: Made) -> frozenset[str]:
    """Return the true positives that all models have in all ways."""
    sets = [
        frozenset(q.key for q in _true_positives(made, model, way))
        for model, way in itertools.product(MODELS, made.ways)
    ]
    return frozenset.intersection(*filter(None, sets))


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
        totals = [sum(cluster) for cluster in clusters]
        row |= {"p_value": _sign_flips(sheet.rows[i], totals) if totals else None}
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
