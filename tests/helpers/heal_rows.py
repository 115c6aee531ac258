"""Every trial of a pack, and the rates of its groups, worked out anew."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from tests.helpers.by_patient import ci_of
from tests.helpers.heal_flips import Row, Rows
from tests.helpers.heal_pack import MODELS, SHAMS, SWAPS, Made, Verdict
from tests.helpers.heal_truth import Asked, inside
from tests.helpers.sheets import Sheet, ledger_rows
from viewer.domain.image import Raster
from viewer.imaging.blending import Blend, Pasting, Region, composite
from viewer.store import trials
from viewer.store.database import open_store


def check_items(made: Made, sheet: Sheet) -> None:
    left = {(v.asked.key, v.condition, v.model): v for v in made.verdicts}
    with open_store(made.store) as store:
        ledger = ledger_rows(store, 1)
        for i, row in enumerate(sheet.rows):
            key, _, change = row["item"].partition("|")
            v = left.pop((key, row["condition"], row["model"]))
            assert _is_change(made, v, change), row
            wanted = _item(v, regions=len(made.ways) > 1)
            asked: Row = {"question": _asked(v, change), "truth": row["truth"]}
            assert {*row["truth"].split(", ")} == _truth(v)
            asked["outside_paste"] = _outside(made, v, change)
            sheet.check(i, {**wanted, **asked, "item": row["item"]})
            sha256 = row["request_sha256"]
            if v.status == "excluded" and v.reason != "not_true_positive":
                assert sha256 == ""
            else:
                told: Any = trials.sent_request(store, sha256).document["facts"]
                assert (told["item"], told["condition"]) == (row["item"], v.condition)
            assert _is_right(json.loads(row["gold"]), v, change), row
            trial = row["item"], row["condition"], 0, row["model"]
            sheet.check(i, {**ledger[trial], "gold": row["gold"]})
    assert not left


def _outside(made: Made, v: Verdict, change: str) -> float | None:
    """Return how much of a finding in an anatomy a donor's region leaves in sight."""
    if v.perturbation != "vpt" or v.status == "excluded":
        return None
    images = {image.key: image for image in made.truth.dataset.images}
    own, given = images[v.asked.image], images[change]
    mask, other = (i.anatomy[v.asked.anatomy].array() for i in (own, given))
    regions = [Region(Raster(m.astype(np.uint8)), m) for m in (mask, other)]
    pasted = composite(regions[0], regions[1], Pasting(Blend.HARD)).pasted
    boxed = np.zeros_like(mask)
    for box in own.boxes[v.asked.finding]:
        one = np.zeros_like(mask)
        one[inside(box.box, mask.shape)] = True
        boxed |= one if (one & mask).any() else False
    return float((boxed & ~pasted).sum() / boxed.sum())


def outside_of(made: Made) -> dict[tuple[str, str, str], float]:
    """Return that share of each trial that has one, as the items list it."""
    return {
        (row["item"].partition("|")[0], row["condition"], row["model"]): float(
            row["outside_paste"]
        )
        for row in made.sheets["run/items.csv"].rows
        if row["outside_paste"]
    }


CLOSED = (
    *("Does {} have {}", "Is there {1} present in {0}", "Does {} suffer from {}?"),
)
OPEN = (
    "Are there any abnormalities in the {}?",
    "List all abnormalities in the {}",
    "Are there any abnormalities at the {}?",
)


def _asked(v: Verdict, change: str) -> str:
    """Return the words of a trial's question after what was changed in it."""
    pair, template = (v.asked.anatomy, v.asked.finding), v.asked.template
    if v.perturbation in SWAPS and change != "none":
        anatomy, _, finding = change.partition(": ")
        pair = anatomy, finding
    if v.perturbation == "tpt-sham":
        template = int(change.removeprefix("wording ")) - 1
    return (CLOSED if v.asked.closed else OPEN)[template].format(*pair)


def _truth(v: Verdict) -> set[str]:
    """Return what is right of a trial after what was changed in it."""
    if not v.asked.closed:
        return {*v.asked.labels} or {"No finding"}
    yes = v.perturbation in SHAMS if v.perturbation else v.asked.yes
    return {"Yes" if yes else "No"}


def _is_right(gold: Mapping[str, Any], v: Verdict, change: str) -> bool:
    """Tell whether what is right, and the words asked, stand beside a trial."""
    if v.asked.closed:
        yes = v.perturbation in SHAMS if v.perturbation else v.asked.yes
        words: list[object] = [v.asked.anatomy, v.asked.finding, v.asked.template]
        if v.perturbation in SWAPS and change != "none":
            words[:2] = change.split(": ")
        if v.perturbation == "tpt-sham":
            words[2] = int(change.removeprefix("wording ")) - 1
        return gold == {"yes": yes, "words": words}
    return {*gold["labels"], "No finding"} == {*v.asked.labels, "No finding"}


def _item(v: Verdict, *, regions: bool) -> Row:
    q = v.asked
    found: Row = {
        "patient": q.patient,
        "image": q.image,
        "finding": q.told,
        "view": q.kind,
        "question_kind": q.kind,
        "anatomy": q.anatomy,
        "source": None,
        "condition": v.condition,
        "repeat": 0,
        "model": v.model,
        "status": v.status,
        "reason": v.reason,
        "answer": v.answer,
        "correct": v.status == "scored_correct" if v.counts else None,
        "chance": 0.5 if q.closed else None,
    }
    counts = _label_counts(q, v.labels) if v.labels is not None else (None,) * 3
    found |= dict(zip(("tp", "fp", "fn"), _floats(counts), strict=True))
    return {**found, "dice": v.dice, "region_iou": v.iou} if regions else found


def _floats(values: Iterable[int | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _is_change(made: Made, v: Verdict, change: str) -> bool:
    """Tell whether the name of a trial says a change that may be made."""
    q = v.asked
    if not v.perturbation:
        return change == ""
    if v.reason in {"no_valid_swap", "no_donor"}:
        return change == "none"
    if v.perturbation == "tpt-sham":
        number = int(change.removeprefix("wording ")) - 1
        return 0 <= number < 3 and number != q.template
    if v.perturbation in SWAPS:
        anatomy, _, finding = change.partition(": ")
        return (anatomy, finding) in made.truth.swaps(q, v.perturbation)
    kind = "vpt" if v.perturbation == "vpt-sham-own" else v.perturbation
    return change in made.truth.donors(q, kind)


def _label_counts(q: Asked, answer: frozenset[str]) -> tuple[int, int, int]:
    """Return TP, FP and FN with the label No finding."""
    truth, found = q.labels or {"No finding"}, answer or {"No finding"}
    return len(truth & found), len(found - truth), len(truth - found)


def check_results(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    left = outside_of(made)
    for model, condition in itertools.product(MODELS, _conditions(made)):
        own = [v for v in made.verdicts if (v.model, v.condition) == (model, condition)]
        groups: dict[tuple[str, str], Sequence[Verdict]] = {}
        for finding in dict.fromkeys(v.asked.told for v in own):
            groups[finding, "all"] = [v for v in own if v.asked.told == finding]
        for kind in dict.fromkeys(v.asked.kind for v in own):
            groups["(micro)", kind] = [v for v in own if v.asked.kind == kind]
        for (finding, view), of in groups.items():
            row = {**rates(of), **_means(sheet, of, left)}
            rows[finding, view, condition, model] = row
    sheet.pair(rows)


def _conditions(made: Made) -> list[str]:
    return list(dict.fromkeys(v.condition for v in made.verdicts))


def rates(of: Sequence[Verdict]) -> Row:
    status = Counter(v.status for v in of)
    k, n = status["scored_correct"], sum(v.counts for v in of)
    scored = k + status["scored_wrong"]
    return {
        "n_planned": len(of),
        "n_scored": scored,
        "n_failed": 0,
        "n_refused": status["refused"],
        "n_unparsed": status["unparsed"],
        "n_excluded": status["excluded"],
        "n_pending": 0,
        "k": k,
        "n": n,
        "hit_rate": k / n if n else None,
        **ci_of(
            (
                v.status == "scored_correct",
                v.asked.patient,
                (v.asked.key, v.perturbation),
            )
            for v in of
            if v.counts
        ),
        "answered_rate": k / scored if scored else None,
        "chance": 0.5 if n and all(v.asked.closed for v in of if v.counts) else None,
    }


def _means(
    sheet: Sheet,
    of: Sequence[Verdict],
    left: Mapping[tuple[str, str, str], float],
) -> Row:
    counts = [_label_counts(v.asked, v.labels) for v in of if v.labels is not None]
    every: Mapping[str, Sequence[float]] = {
        **{name: [c[i] for c in counts] for i, name in enumerate(("tp", "fp", "fn"))},
        "dice": [v.dice for v in of if v.dice is not None],
        "region_iou": [v.iou for v in of if v.iou is not None],
        "outside_paste": [
            left[v.asked.key, v.condition, v.model]
            for v in of
            if (v.asked.key, v.condition, v.model) in left
        ],
    }
    named = [name.removeprefix("mean_") for name in sheet.header if "mean_" in name]
    return {
        f"mean_{name}": fmean(every[name]) if every[name] else None for name in named
    }
