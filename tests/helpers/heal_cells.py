"""Every cell of the tables of a heal2025 pack, held against its closed form."""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean

from tests.helpers.by_patient import ci_of, macro_ci_of, named_ends, unit_ci_of
from tests.helpers.heal_flips import (
    TPT,
    Row,
    Rows,
    check_common_textual,
    check_shams,
    check_shared,
    check_table_3,
    check_table_4,
    note_of,
    of_way,
    paper_row,
    share,
)
from tests.helpers.heal_pack import MODELS, SHAMS, Made, Verdict
from tests.helpers.heal_rows import check_items, check_results, outside_of, rates
from tests.helpers.sheets import Sheet
from viewer.studies.grounded_vqa.published import ROWS


def check_every_cell(made: Made) -> int:
    """Compare every cell of every table; one that is left over fails. Return all."""
    for name, check in CHECKS.items():
        for path in (f"tables/{name}.csv", f"run/{name}.csv", f"figures/{name}.csv"):
            if path in made.sheets:
                check(made, made.sheets[path])
    left = [
        (path, *cell)
        for path, sheet in made.sheets.items()
        for cell in itertools.islice(sheet.unchecked, 3)
    ]
    assert not left, left
    return sum(sheet.cells for sheet in made.sheets.values())


def _table_2(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways):
        own = of_way(made, model, way)
        closed = [v for v in own if v.asked.closed]
        opened = [v for v in own if not v.asked.closed]
        row: Row = {}
        for name, of in (("yes_no", closed), ("open", opened)):
            counts = list(rates(of).items())[:5]
            row |= {f"{name}_{count}": value for count, value in counts}
        row |= _f1s(_answers(closed, "Yes"), "yes_no_")
        row |= _f1s(_labels(opened, dropped=False), "open_")
        row |= _f1s(_labels(opened, dropped=True), "open_", "_dropped")
        rows["q", model, way, note_of(way)] = row
    sheet.pair(rows)


Decision = tuple[str, str, tuple[str, str]]
"""Whether a label is a hit, extra or missed, whose it is, and of what."""


def _decisions(
    v: Verdict, found: AbstractSet[str], true: AbstractSet[str]
) -> list[Decision]:
    kinds = {"hit": found & true, "extra": found - true, "missed": true - found}
    return [
        (kind, v.asked.patient, (v.asked.key, label))
        for kind, labels in kinds.items()
        for label in labels
    ]


def _answers(closed: Sequence[Verdict], answer: str) -> list[Decision]:
    """Return the decisions of one of the answers Yes and No."""
    decided = []
    for v in closed:
        said = {"Yes" if v.yes else "No"} if v.yes is not None else set()
        right = {"Yes" if v.asked.yes else "No"}
        decided += _decisions(v, said & {answer}, right & {answer})
    return decided


def _labels(opened: Sequence[Verdict], *, dropped: bool) -> list[Decision]:
    """Return the decisions of open questions; of no answer every label is missed."""
    none = frozenset[str]() if dropped else frozenset({"No finding"})
    decided = []
    for v in opened:
        found = frozenset() if v.labels is None else v.labels or none
        decided += _decisions(v, found, v.asked.labels or none)
    return decided


def _f1(name: str, decided: Sequence[Decision]) -> Row:
    """Return F1 and its interval: that of the share of hits, as F1 = 2J / (1 + J)."""
    n = Counter(kind for kind, *_ in decided)
    ci = ci_of((kind == "hit", who, what) for kind, who, what in decided)
    for end in ("ci_low", "ci_high"):
        ci[end] = None if ci[end] is None else 2 / (1 + 1 / ci[end]) if ci[end] else 0.0
    f1 = share(2 * n["hit"], 2 * n["hit"] + n["extra"] + n["missed"])
    return {name: f1, **named_ends(name, ci)}


def _f1s(decided: Sequence[Decision], prefix: str, end: str = "") -> Row:
    row = _f1(f"{prefix}f1{end}", decided)
    for name, other in (("precision", "extra"), ("recall", "missed")):
        own = [
            (kind == "hit", who, what)
            for kind, who, what in decided
            if kind in ("hit", other)
        ]
        column = f"{prefix}{name}{end}"
        row[column] = share(sum(hit for hit, *_ in own), len(own))
        row |= named_ends(column, ci_of(own))
    return row


def _closed_scores(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways):
        closed = [v for v in of_way(made, model, way) if v.asked.closed]
        told = Counter((v.yes, v.asked.yes) for v in closed)
        tp, fp, fn, tn = (
            told[pair]
            for pair in ((True, True), (True, False), (False, True), (False, False))
        )
        missed, unknown = told[None, True], told[None, False]
        negative = [v for v in closed if not v.asked.yes]
        yes, no = (_answers(closed, answer) for answer in ("Yes", "No"))
        three = {
            name.removesuffix("_yes") if "_yes_" in name else name: value
            for name, value in _f1s(yes, "", "_yes").items()
        }
        f1_no = _f1("f1_no", no)
        rows[model, way] = {
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "tn": tn,
            "unread_yes": missed,
            "unread_no": unknown,
            **three,
            **f1_no,
            **_macro(three, f1_no),
            "n": len(closed),
            **_right("accuracy", closed),
            "chance": 0.5 if closed else None,
            **_right("specificity", negative),
        }
    sheet.pair(rows)


def _macro(yes: Row, no: Row) -> Row:
    """Return the mean F1 of Yes and No, with the means of the intervals' ends."""
    names = {"macro_f1": "f1", "macro_f1_low": "low", "macro_f1_high": "high"}
    row: Row = {}
    for name, end in names.items():
        pair = [
            of[f"f1_{key}{'' if end == 'f1' else f'_{end}'}"]
            for key, of in (("yes", yes), ("no", no))
        ]
        row[name] = None if None in pair else fmean(map(float, map(str, pair)))
    missing = [
        of
        for of in (yes["f1_yes_method"], no["f1_no_method"])
        if not str(of).startswith("Clopper-Pearson")
    ]
    method = "Clopper-Pearson by patient, mean of ends, 95 %"
    return {**row, "macro_f1_method": missing[0] if missing else method}


def _right(name: str, own: Sequence[Verdict]) -> Row:
    """Return the share of right answers, and its interval."""
    told = [(v.status == "scored_correct", v.asked.patient, v.asked.key) for v in own]
    value = share(sum(hit for hit, *_ in told), len(told))
    return {name: value, **named_ends(name, ci_of(told))}


def _table_5(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways):
        own = of_way(made, model, way)
        edits = {
            test: [v for v in of_way(made, model, way, test) if v.counts]
            for test in (*TPT.values(), "vpt")
        }
        rows[model, way, note_of(way)] = {
            "localization": way != "plain",
            "self_prompt": way.startswith("loba"),
            **_flipped("tpt", [edits[test] for test in TPT.values()]),
            **_flipped("vpt", [edits["vpt"]]),
            **_both_f1(own),
        }
    sheet.pair(rows)


def _flipped(name: str, tests: Sequence[Sequence[Verdict]]) -> Row:
    """Return the mean of tests' shares that became No, and its interval."""
    told = {
        i: [(v.yes is False, v.asked.patient, v.asked.key) for v in of]
        for i, of in enumerate(tests)
    }
    shares = [share(sum(no for no, *_ in of), len(of)) for of in told.values()]
    value = None if None in shares else fmean(one or 0.0 for one in shares)
    ci = macro_ci_of(told)
    if len(told) > 1 and value is None:
        why = "not estimable: a rate of the mean has no trial, 95 %"
        ci = {"ci_low": None, "ci_high": None, "ci_method": why}
    return {name: value, **named_ends(name, ci)}


def _both_f1(own: Sequence[Verdict]) -> Row:
    closed = _answers([v for v in own if v.asked.closed], "Yes")
    opened = _labels([v for v in own if not v.asked.closed], dropped=False)
    return {**_f1("yes_no_f1", closed), **_f1("open_f1", opened)}


def _table_8(made: Made, sheet: Sheet) -> None:
    sheet.pair(
        {
            (model, str(float(way.removeprefix("loba-")))): _both_f1(
                of_way(made, model, way)
            )
            for model, way in itertools.product(MODELS, made.ways)
            if way.startswith("loba-")
        }
    )


PRINTED = {
    "MIMIC Yes/No": (0.722, 0.752),
    "MIMIC Open": (0.551, 0.581),
    "VinDr Yes/No": (0.703, 0.728),
    "VinDr Open": (0.523, 0.542),
}
"""LLaVA-Med's and LobA's F1 in Table 2."""


def _gain(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways[1:]):
        before, after = (_both_f1(of_way(made, model, w)) for w in ("plain", way))
        for words, name in (("Yes/No", "yes_no_f1"), ("Open", "open_f1")):
            key = ("this run", model, way, note_of(way), words)
            rows[key] = _gained(before[name], after[name])
    source = "HEAL-MedVQA, IJCAI 2025, arXiv 2505.00744"
    for words, pair in PRINTED.items():
        rows[source, "LobA", "loba", "over LLaVA-Med", words] = _gained(*pair)
    sheet.pair(rows)


def _gained(before: object, after: object) -> Row:
    gain = None
    if isinstance(before, float) and isinstance(after, float) and before:
        gain = 100 * (after / before - 1)
    return {"f1_plain": before, "f1": after, "gain_percent": gain}


def _passes(made: Made, sheet: Sheet) -> None:
    answers = {
        (v.asked.key, v.model, v.condition): v
        for v in made.verdicts
        if not v.perturbation
    }
    rows: Rows = {}
    for q, model in itertools.product(made.truth.asked, MODELS):
        own = [answers[q.key, model, way] for way in made.ways]
        row: Row = {f"answer_{v.condition}": v.answer for v in own}
        row["dice"] = next((v.dice for v in own if v.dice is not None), None)
        rows[q.key, model, "0"] = row
    sheet.pair(rows)


def _figure_7(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways[1:]):
        told = [v for v in of_way(made, model, way) if v.dice is not None]
        tenths = [min(int(10 * float(str(v.dice))), 9) for v in told]
        for tenth in sorted(set(tenths)):
            own = [v for v, t in zip(told, tenths, strict=True) if t == tenth]
            k = sum(v.status == "scored_correct" for v in own)
            rows[model, way, str(tenth / 10)] = {
                "n": len(own),
                "share": len(own) / len(told),
                "k": k,
                "accuracy": k / len(own),
                "chance": 0.5 if all(v.asked.closed for v in own) else None,
                **ci_of(
                    (v.status == "scored_correct", v.asked.patient, v.asked.key)
                    for v in own
                ),
            }
    sheet.pair(rows)


def _by_anatomy(made: Made, sheet: Sheet) -> None:
    rows: Rows = {}
    for model, way in itertools.product(MODELS, made.ways):
        own = of_way(made, model, way)
        tests = {t: of_way(made, model, way, t) for t in (*TPT.values(), "vpt")}
        for anatomy, finding in {(v.asked.anatomy, v.asked.told) for v in own}:
            here = [v for v in own if _is_about(v, anatomy, finding) and v.counts]
            edits = {
                t: [v for v in of if _is_about(v, anatomy, finding) and v.counts]
                for t, of in tests.items()
            }
            k = sum(v.status == "scored_correct" for v in here)
            rows[model, way, note_of(way), anatomy, finding] = {
                "k": k,
                "n": len(here),
                "accuracy": share(k, len(here)),
                **ci_of(
                    (v.status == "scored_correct", v.asked.patient, v.asked.key)
                    for v in here
                ),
                "chance": 0.5 if here and all(v.asked.closed for v in here) else None,
                "tpt_edits": sum(len(edits[test]) for test in TPT.values()),
                **_flipped("tpt", [edits[test] for test in TPT.values()]),
                "vpt_edits": len(edits["vpt"]),
                **_flipped("vpt", [edits["vpt"]]),
            }
    sheet.pair(rows)
    told = [tuple(row[name] for name in sheet.header[:5]) for row in sheet.rows]
    assert [t[3:] for t in told if t[0] == MODELS[0] and t[1] == "plain"] == sorted(
        t[3:] for t in told if t[0] == MODELS[0] and t[1] == "plain"
    )


def _outside_paste(made: Made, sheet: Sheet) -> None:
    left, rows = outside_of(made), {}
    for model, way in itertools.product(MODELS, made.ways):
        own = [
            (left[v.asked.key, v.condition, v.model], v)
            for v in of_way(made, model, way, "vpt")
            if (v.asked.key, v.condition, v.model) in left
        ]
        row: Row = {
            "n_edits": len(own),
            "mean_outside": sum(of for of, _ in own) / len(own) if own else None,
            **named_ends(
                "mean_outside", unit_ci_of((of, v.asked.patient) for of, v in own)
            ),
            "most_outside": max((of for of, _ in own), default=None),
        }
        for name, some in (("covered", False), ("remaining", True)):
            half = [v for of, v in own if (of > 0) is some]
            row[f"n_{name}"] = len(half)
            row |= _flipped(f"score_{name}", [half])
        rows[model, way, note_of(way)] = row
    sheet.pair({key: row for key, row in rows.items() if row["n_edits"]})


def _is_about(v: Verdict, anatomy: str, finding: str) -> bool:
    return (v.asked.anatomy, v.asked.told) == (anatomy, finding)


def _benchmark(made: Made, sheet: Sheet) -> None:
    kinds = ("positive", "hallucinated", "abnormality", "normal")
    told = Counter(q.kind for q in made.truth.asked)
    rows: Rows = {
        ("q", kind): {"n": told[kind], "share": told[kind] / len(made.truth.asked)}
        for kind in kinds
    }
    source = "HEAL-MedVQA, IJCAI 2025, arXiv 2505.00744"
    for form, n in (("closed", 45_331), ("open", 22_573)):
        rows[source, form] = {"n": n, "share": n / 67_904}
    sheet.pair(rows)


def _mask_origins(made: Made, sheet: Sheet) -> None:
    """The run does not say who made the masks."""
    masks = Counter(
        name
        for image in made.truth.dataset.images
        for name, mask in image.anatomy.items()
        if name != "Trachea" and mask.array().any()
    )
    unknown = "not stated (setting masks_by)"
    rows: Rows = {
        (f"mask of {name}",): {"images": n, "made_by": unknown}
        for name, n in masks.items()
    }
    if len(made.ways) > 1:
        where = "the box in the model's first pass"
        rows["region pointed out",] = {"images": None, "made_by": where}
    sheet.pair(rows)


def _curve_iou(made: Made, sheet: Sheet) -> None:
    _curve(made, sheet, "iou", lambda iou, _ioa, at: iou > at)


def _curve_ioa(made: Made, sheet: Sheet) -> None:
    _curve(made, sheet, "ioa", lambda _iou, ioa, at: ioa >= at)


def _curve(
    made: Made, sheet: Sheet, rule: str, is_in: Callable[[float, float, float], bool]
) -> None:
    every = [pair for of in made.truth.overlaps.values() for pair in of.values()]
    sheet.pair(
        {
            (rule, str(n / 100)): {"relations": sum(is_in(*p, n / 100) for p in every)}
            for n in range(100)
        }
    )


def _published(made: Made, sheet: Sheet) -> None:
    """Compare the paper's numbers; its F1 are checked again here, in whole numbers."""
    del made
    assert len(sheet.rows) == len(ROWS)
    printed = {(r.table, r.measure, r.subject, r.who): r.value for r in ROWS}
    badges: Counter[str] = Counter()
    for i, row in enumerate(ROWS):
        wanted: Row = {
            "source": row.source,
            "table": row.table,
            "measure": row.measure,
            "subject": row.subject,
            "who": row.who,
            "value": row.value,
            "decimals": row.decimals,
            "n_claimed": None,
            "n_is": "",
        }
        told = {"badge": "not checkable", "reason": row.note, "tolerance": ""}
        if (row.table, row.measure) == ("Table 2", "F1"):
            told = _harmonic(printed, row.subject, row.who, row.value, row.note)
        elif row.table == "section 5":
            got = sheet.rows[i]
            assert got["badge"] == "inconsistent"
            assert "6" in got["reason"]
            told = {name: got[name] for name in told}
        sheet.check(i, {**wanted, **told})
        badges[told["badge"]] += row.table == "Table 2"
    assert (badges["consistent"], badges["inconsistent"]) == (9, 43)


def _harmonic(
    printed: Mapping[tuple[str, str, str, str], float],
    subject: str,
    who: str,
    f1: float,
    note: str,
) -> dict[str, str]:
    p, r = (printed["Table 2", m, subject, who] for m in ("precision", "recall"))
    tolerance = "half of the last printed decimal of each of the three"
    ends = [
        2 * (p + a) * (r + a) / (p + r + 2 * a) for a in (-0.0005, 0.0005)
    ]  # rises with both
    if ends[0] <= f1 + 0.0005 and f1 - 0.0005 <= ends[1]:
        return {"badge": "consistent", "reason": note, "tolerance": tolerance}
    why = f"2PR / (P + R) is {2 * p * r / (p + r):.3f}, not {f1:.3f}"
    if f1 + 0.001 < min(p, r) or f1 - 0.001 > max(p, r):
        why += "; beyond P and R"
    return {
        "badge": "inconsistent",
        "reason": f"{why}; {note}",
        "tolerance": tolerance,
    }


def _perturbation_tests(made: Made, sheet: Sheet) -> None:
    """A panel for each way, named after it where there are several."""
    rows: Rows = {}
    for way in made.ways:
        panel = way if len(made.ways) > 1 else ""
        for model, (name, test) in itertools.product(MODELS, FIGURED.items()):
            got = paper_row(made, model, way, test)
            row: Row = {"rate": got["score"], "error": None, "n": got["n_edits"]}
            row |= {"low": got["ci_low"], "high": got["ci_high"]}
            rows[panel, name, model, "bar"] = row
            rows[panel, name, model, "baseline"] = _NO_BAR
    _marks(sheet, rows)


FIGURED = {**TPT, "VPT": "vpt"}
_NO_BAR: Row = dict.fromkeys(("rate", "error", "n", "low", "high"))


def _marks(sheet: Sheet, rows: Rows) -> None:
    """Compare the marks of a figure of bars; there are no others."""
    names = ("panel", "group", "series", "kind")
    found = sheet.keyed(*names)
    assert set(found) == set(rows)
    for key, row in rows.items():
        sheet.check(found[key], {**dict(zip(names, key, strict=True)), **row})


def _right_by_dice(made: Made, sheet: Sheet) -> None:
    table = made.sheets["tables/figure_7_dice.csv"]
    told = {(r["condition"], r["dice_from"], r["model"]): r for r in table.rows}
    tenths = {tenth for _, tenth, _ in told}
    rows: Rows = {}
    panels = {way: way if len(made.ways) > 2 else "" for way in made.ways[1:]}
    for way, tenth, model in itertools.product(made.ways[1:], tenths, MODELS):
        rows[panels[way], tenth, model, "baseline"] = _NO_BAR
        rows[panels[way], tenth, model, "bar"] = {**_NO_BAR, "n": 0}
        if found := told.get((way, tenth, model)):
            k, n = int(found["k"]), int(found["n"])
            bar: Row = {"rate": k / n, "n": n}
            for end in ("low", "high"):
                told_end = found[f"ci_{end}"]
                bar[end] = float(told_end) if told_end else None
            rows[panels[way], tenth, model, "bar"] = {**_NO_BAR, **bar}
    _marks(sheet, rows)


def _composites(made: Made, sheet: Sheet) -> None:
    """The first four true positives' images, in the order of their trials."""
    kinds = {
        "vpt": "healthy donor",
        "vpt-sham-own": "own region",
        "vpt-sham-same": "same finding",
    }
    by_key = {q.key: q for q in made.truth.asked}
    first = [
        r
        for r in made.sheets["run/items.csv"].rows
        if r["condition"] in kinds
        and r["model"] == MODELS[0]
        and not r["item"].endswith("|none")
    ]
    keys = list(dict.fromkeys(r["item"].partition("|")[0] for r in first))[:4]
    wanted = []
    for row in first:
        key, _, donor = row["item"].partition("|")
        if key not in keys:
            continue
        q = by_key[key]
        about = {"item": key, "finding": f"{q.finding}, {q.anatomy}"}
        about["model"] = MODELS[0]
        if row["condition"] == "vpt":
            wanted.append({"class": "as it is", **about, "cell": "Yes", "outcome": ""})
        said = "Yes" if row["condition"] in SHAMS else "No"
        wanted.append(
            {
                "class": kinds[row["condition"]],
                **about,
                "cell": f"{said}, of {donor}",
                "outcome": "",
            }
        )
    assert len(wanted) == len(sheet.rows)
    assert keys
    for i, row in enumerate(wanted):
        sheet.check(i, row)


CHECKS: Mapping[str, Callable[[Made, Sheet], None]] = {
    "items": check_items,
    "results": check_results,
    "benchmark": _benchmark,
    "mask_origins": _mask_origins,
    "table_2_accuracy": _table_2,
    "closed_scores": _closed_scores,
    "by_anatomy_and_finding": _by_anatomy,
    "table_3_textual": check_table_3,
    "table_4_visual": check_table_4,
    "vpt_outside_paste": _outside_paste,
    "sham_control": check_shams,
    "common_true_positives": check_shared,
    "common_textual": check_common_textual,
    "table_5_ablation": _table_5,
    "table_8_weights": _table_8,
    "relative_gain": _gain,
    "passes": _passes,
    "figure_7_dice": _figure_7,
    "threshold_curve_iou": _curve_iou,
    "threshold_curve_ioa": _curve_ioa,
    "published": _published,
    "perturbation_tests": _perturbation_tests,
    "figure_7": _right_by_dice,
    "composites": _composites,
}
"""By the name of a table; one without a line here is found to be unchecked."""
