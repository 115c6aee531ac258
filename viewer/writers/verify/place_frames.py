"""The frames of the grid study: its trials, and each under every row that counts it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.finding_boxes import best_overlap
from viewer.writers.verify.frames import Source, Verdicts, add_comparable, item_rows
from viewer.writers.verify.measuring import BY_RULE, MEASURES, SHARES, Drawn
from viewer.writers.verify.pieces import region_holds, region_of_mask
from viewer.writers.verify.placing import (
    ABSENT,
    THRESHOLDS,
    cell_name,
    ground_of,
    letters_of,
    varied_in,
)
from viewer.writers.verify.verdicts import Verdict

ALL, MACRO, MICRO = "all", "(macro)", "(micro)"
_VIEWS = ("frontal", "lateral", "other")
_STATUSES = {
    "n_scored": {"scored_correct", "scored_wrong"},
    "n_failed": {"provider_error"},
    "n_refused": {"refused"},
    "n_unparsed": {
        *("unparsed", "ambiguous", "out_of_range", "denied_finding", "truncated"),
    },
    "n_excluded": {"excluded"},
    "n_pending": {"pending"},
}
_OF_TABLES = ("", MACRO, MICRO)
"""Single findings come first, then means over findings, then all pooled."""
_SAME = ("item", "patient", "view", "finding", "repeat", "model", "answer")
_OF_TRIALS = {"repeat", "answer", "said"}
"""Columns that rows of rates do without."""
_OF_BOXES = ("finding", "model", "item", "patient")
_AREAS = (
    (0.01, "under 1 %"),
    (0.025, "1 to 2.5 %"),
    (0.05, "2.5 to 5 %"),
    (0.1, "5 to 10 %"),
)
"""Where groups of masks by area end, and what they are called."""
_LARGEST = "10 % and over"
_OVERLAPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75)
Asked = Mapping[str, list[Any]]


def asked_of(plan: Mapping[str, Any], judged: Verdicts) -> Asked:
    """Return the values of columns in the order in which the run's tables have them."""
    grids = dict.fromkeys(name.removesuffix(ABSENT) for name in plan["conditions"])
    findings = _in_order(plan["params"]["findings"], (one.finding for one in judged))
    return {
        "finding": [*findings, MACRO, MICRO],
        "view": [*_in_order(_VIEWS, (one.view for one in judged)), ALL],
        "condition": _in_order([*grids], map(_grid, judged)),
        "model": _in_order(plan["models"], (one.model for one in judged)),
        "repeat": sorted({one.repeat for one in judged if not _is_absent(one)}),
    }


def _in_order(first: Sequence[str], there: Iterable[str]) -> list[str]:
    """Return the values present, the expected ones first."""
    present = set(there)
    expected = [name for name in first if name in present]
    return [*expected, *sorted(present - set(first))]


def _grid(one: Verdict) -> str:
    return one.condition.removesuffix(ABSENT)


def _is_absent(one: Verdict) -> bool:
    return one.condition.endswith(ABSENT)


def place_frames(source: Source) -> dict[str, Rows]:
    """Return the frames of every trial, and of it under every row that counts it."""
    order = ("item", "condition", "repeat", "model")
    ordered = sorted(source.verdicts, key=attrgetter(*order))
    paper = source.params["mask_mode"] == "paper"
    both = [(one, _trial(one, paper=paper)) for one in ordered]
    there = [row for one, row in both if not _is_absent(one)]
    return {
        "trials": there,
        "items": _items(source),
        "asked": by_row(there, source.asked),
        "absent": by_row([row for o, row in both if _is_absent(o)], source.asked),
        "measured": [_measured(o, row) for o, row in both if not _is_absent(o)],
        "thresholds": [
            one for o, row in both if not _is_absent(o) for one in _at_each(o, row)
        ],
        **_ablation(there, source),
        "boxes": list(_box_rows(source.verdicts)),
        "human pairs": [_pointed_pair(one, source) for one in _points(source)],
        "human by rule": list(_by_rule(source)),
    }


def _trial(one: Verdict, *, paper: bool) -> dict[str, Any]:
    """Return a trial; an unknown verdict in the other mode counts as a miss."""
    placed = one.placed
    modes = [placed.cell in of for of in (placed.hits, placed.other_hits or ())]
    hit_paper, hit_exact = modes if paper else modes[::-1]
    return {
        **{name: getattr(one, name) for name in _SAME},
        "condition": _grid(one),
        **{name: one.status in of for name, of in _STATUSES.items()},
        "status": one.status,
        "counted": one.counted,
        "correct": one.is_right,
        "partial": placed.outcome == "partial",
        "capitulated": one.reason == "capitulated",
        "said": one.answer or "(no cell)",
        "place": placed.cell,
        "n_cells": placed.n_cells,
        "hits": placed.hits,
        "random": len(placed.hits) / placed.n_cells if placed.n_cells else None,
        "share": placed.share,
        "area": _area_of(placed.share),
        "in_both_modes": placed.other_hits is not None,
        "hit_paper": hit_paper,
        "hit_exact": hit_exact,
        "differs": hit_paper != hit_exact,
    }


def _area_of(share: float | None) -> str:
    if share is None:
        return ""
    return next((name for edge, name in _AREAS if share < edge), _LARGEST)


def _at_each(one: Verdict, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a settled trial at each threshold of coverage."""
    met = zip(THRESHOLDS, one.placed.at_thresholds, strict=False)
    for at, (hits, fallback) in met if one.counted else ():
        yield {
            **row,
            "threshold": at,
            "correct": one.placed.cell in hits,
            "random": len(hits) / one.placed.n_cells,
            "fallback": fallback,
        }


def _ablation(trials: Rows, source: Source) -> dict[str, Rows]:
    """Return comparable trials beside those with one part, or none, varied."""
    params, names = source.params, source.params.get("ablation") or []
    base = {"grid": params["grids"][0], **{n: str(params[n]) for n in names}}
    key = ("item", "repeat", "model")
    add_comparable(trials, "model", "condition")
    settled = [
        ({**base, **varied_in(row["condition"])}, row)
        for row in trials
        if names and row["comparable"]
    ]
    order = source.plan["conditions"]
    settled.sort(key=lambda one: order.index(one[1]["condition"]))
    told = {(*(row[n] for n in key), *of.items()): row for of, row in settled}
    parts: Rows = []
    whole: Rows = []
    for of, row in settled:
        who = [row[name] for name in key]
        for factor, level in of.items():
            other = told.get((*who, *{**of, factor: base[factor]}.items()))
            if level != base[factor] and other:
                parts.append({**_paired(row, other), "factor": factor, "level": level})
        first = told.get((*who, *base.items()))
        if of != base and first:
            whole.append(_paired(row, first))
    return {"ablation": parts, "ablation_conditions": whole}


def _paired(row: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    right, before = float(row["correct"]), float(other["correct"])
    gained, lost = int(right > before), int(right < before)
    return {**row, "right": right, "before": before, "gained": gained, "lost": lost}


def _measured(one: Verdict, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial with the measures of its answer; a point has no area."""
    found = one.placed.measures
    measures = found or dict.fromkeys(MEASURES)
    has_area = found is None or found["iou"] is not None
    beside = {"cell": one.answer, "measured": found is not None, "has_area": has_area}
    beside["pointed"] = bool(found and found["pointing_hit"])
    return {**row, **measures, **beside}


def _box_rows(judged: Verdicts) -> Iterator[dict[str, Any]]:
    """Yield each item with its boxes and those to find, by the rule and each reader.

    Items of models without any box are left out.
    """
    drawn = [(one, one.placed.drawn) for one in judged if one.placed.drawn]
    boxed = {_arm(one) for one, of in drawn if of.predicted}
    for one, of in drawn:
        to_find = of.to_find[BY_RULE] or _is_absent(one)
        if one.counted and to_find and _arm(one) in boxed:
            yield from (_box_row(one, of, reader) for reader in of.to_find)


def _arm(one: Verdict) -> tuple[str, str]:
    return _grid(one), one.model


def _box_row(one: Verdict, of: Drawn, reader: str) -> dict[str, Any]:
    """Return an item's boxes against a reader's, but pixels against the rule's."""
    reference = of.to_find[reader]
    measures = one.placed.measures if reference and reader == BY_RULE else None
    found = {name: (measures and measures[name]) or 0.0 for name in SHARES}
    overlap = best_overlap(of.predicted, reference)
    mm = measures and measures["distance_mm"]
    return {
        **{name: getattr(one, name) for name in _OF_BOXES},
        "condition": _grid(one),
        "reader": reader,
        "having": bool(reference),
        "predicted": of.predicted,
        "confidence": of.confidence,
        "reference": reference,
        **found,
        "distance_mm": mm,
        "calibrated": mm is not None,
        **{f"box_hit_{at}": overlap >= at for at in _OVERLAPS},
        **{f"area_hit_{at}": found["iou"] >= at for at in _OVERLAPS},
    }


def _points(source: Source) -> Rows:
    """Return where readers pointed: a row per finding and image that has its mask."""
    names = ("finding", "image", "mask", "points")
    listed = source.people.get("points", ())
    return [dict(zip(names, one, strict=True)) for one in listed]


def _pointed_pair(one: Mapping[str, Any], source: Source) -> dict[str, Any]:
    hit = any(_is_on(one["image"], one["mask"], p, source) for p in one["points"])
    return {
        "finding": one["finding"],
        "without_points": not one["points"],
        "hit": hit,
    }


def _is_on(image: str, mask: str, point: Sequence[float], source: Source) -> bool:
    """Tell whether the pixel that contains a point is set; none is outside."""
    (rows, columns), x, y = source.images[image]["size"], *point
    region = region_of_mask(rows, source.images[image]["masks"][mask]["counts"])
    inside = x < columns and y < rows
    return inside and region_holds(region, x, y, (rows, columns))


def _by_rule(source: Source) -> Iterator[dict[str, Any]]:
    """Yield each item that counts, and whether a reader's point hits under a rule."""
    pointed = {(one["image"], one["mask"]): one["points"] for one in _points(source)}
    counted = {
        (one.item, one.condition): one
        for one in source.verdicts
        if pointed and one.counted and not _is_absent(one)
        if set(varied_in(one.condition)) == {"grid"}
    }
    for one in counted.values():
        points = pointed[one.image, one.finding]
        rows, columns = one.gold["grid"]
        ground = ground_of(source.images[one.image], (rows, columns), source.params)
        yield {
            **{n: getattr(one, n) for n in ("finding", "condition", "patient", "item")},
            "counted": True,
            "correct": any(
                ground.cell_at((x, y)) in one.placed.hits for x, y in points
            ),
            "pointed": any(
                _is_on(one.image, one.finding, point, source) for point in points
            ),
        }


def _items(source: Source) -> Rows:
    """Return every trial as it is listed, with the names of its right cells."""
    rows = item_rows(source.every)
    for one, row in zip(source.every, rows, strict=True):
        columns = one.gold["grid"][1]
        letters = letters_of(one.condition, source.params)
        names = [cell_name(i, columns, letters) for i in one.placed.hits]
        row["gold"] = json.dumps({"cells": names}) if "cells" in one.gold else ""
    return rows


def by_row(trials: Rows, asked: Asked) -> Rows:
    """Return trials once for each row that counts them, row by row.

    Within a row they stand in the order of the findings, then by view and item.
    """
    names = ("finding", "view", "condition", "model")
    places = [{value: i for i, value in enumerate(asked[name])} for name in names]
    copies = []
    for i, trial in enumerate(trials):
        pairs = zip(places, names, strict=True)
        finding, view, grid, model = (place[trial[name]] for place, name in pairs)
        copies += [
            (of, finding, shown, grid, model, trial["view"], i)
            for of in range(len(_OF_TABLES))
            for shown in (view, len(asked["view"]) - 1)
        ]
    return [
        _copy(trials[i], _OF_TABLES[of], asked["view"][shown])
        for of, _, shown, *_, i in sorted(copies)
    ]


def _copy(trial: Mapping[str, Any], row: str, view: str) -> dict[str, Any]:
    """Return a trial as a row of rates counts it."""
    finding = trial["finding"]
    return {
        **{name: value for name, value in trial.items() if name not in _OF_TRIALS},
        "of_finding": finding,
        "of_view": trial["view"],
        "finding": row or finding,
        "view": view,
        "part": finding if row == MACRO else "",
    }
