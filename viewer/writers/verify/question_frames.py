"""The frames of a question set, and of the image-dependence card of any study."""

import json
from collections.abc import Collection, Sequence

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import Source, add_comparable, trial_rows
from viewer.writers.verify.verdicts import RIGHT, Verdict

_WITHOUT_IMAGE = ("no_image", "guess", "options_only")
_QUESTION_CONTROLS = (
    *("no_image", "guess", "noise", "other_image", "options_only"),
    "shuffled_options",
)
_MEASURE_OF = {"box": "iou", "boxes": "boxes_found"}
"""What a run measures of the kinds of answers that have a score for it."""


def question_frames(source: Source) -> dict[str, Rows]:
    """Return trials, trials by each column that they are tabulated by, and the card."""
    trials = _scored_trials(source.verdicts)
    groups = [
        {**row, "group": group, "value": value}
        for one, row in zip(source.verdicts, trials, strict=True)
        for group, value in json.loads(one.listed.get("groups") or "{}").items()
    ]
    card = dependence_frames(trials, "image", _QUESTION_CONTROLS, _WITHOUT_IMAGE)
    scored = scored_frame(trials, "image", _QUESTION_CONTROLS, ("task",))
    return {"trials": trials, "groups": groups, **card, "scored_dependence": scored}


def _scored_trials(verdicts: Sequence[Verdict]) -> Rows:
    """Return trials with their kind of answer, and how good it is from 0 to 1."""
    measured = {v.view for v in verdicts if _MEASURE_OF.get(v.view) in v.numbers}
    trials = trial_rows(verdicts)
    for one, row in zip(verdicts, trials, strict=True):
        row["task"], row["score"] = one.view, _score(one, measured)
    return trials


def _score(one: Verdict, measured: Collection[str]) -> float | None:
    """Return an answer's score, 0 if it cannot be read, None for kinds without one."""
    right = float(one.status == RIGHT)
    if one.view == "text":
        judged = one.gold.get("match") == "judged" and one.reason != "judge_unparsed"
        return right if judged else None
    if one.view not in measured:
        return None
    if one.view == "box":
        return one.numbers.get("iou", right)
    found, extra, missed = (
        one.numbers.get(f"boxes_{name}", 0.0) for name in ("found", "extra", "missed")
    )
    every = 2 * found + extra + missed
    return 2 * found / every if every else right


def scored_frame(
    trials: Rows, plain: str, controls: Sequence[str], by: Sequence[str]
) -> Rows:
    """Return trials under controls with the score of the same with the image.

    Questions of a kind that has no score are left out.
    """
    key = ("model", *by, "item", "repeat")
    add_comparable(trials, "model", *by, "condition")
    tasks = {row["task"] for row in trials if row["score"] is not None}
    scores = {
        tuple(row[name] for name in key): row["score"]
        for row in trials
        if row["condition"] == plain and row["comparable"]
    }
    return [
        {
            **row,
            "score_with_image": scores.get(tuple(row[name] for name in key))
            if row["comparable"]
            else None,
        }
        for row in trials
        if row["condition"] in controls and row["task"] in tasks
    ]


def dependence_frames(
    trials: Rows,
    plain: str,
    controls: Sequence[str],
    hiding: Sequence[str],
    by: Sequence[str] = (),
) -> dict[str, Rows]:
    """Return trials under controls with what was right with the image, and items.

    Both answers of a pair agree in the columns ``by``.
    """
    add_comparable(trials, "model", *by, "condition")
    key = ("model", *by, "item", "repeat")
    seen = {
        tuple(row[name] for name in key): row["correct"]
        for row in trials
        if row["condition"] == plain and row["comparable"]
    }
    found = []
    for row in trials:
        if row["condition"] in controls:
            before = seen.get(tuple(row[name] for name in key))
            paired = bool(row["comparable"] and before is not None)
            found.append({**row, "with_image": before, "paired": paired})
    return {"dependence": found, "needs": _needing(found, hiding, by)}


def _needing(found: Rows, hiding: Sequence[str], by: Sequence[str]) -> Rows:
    """Return whether a model needs an item's image: right with it, wrong without."""
    about = ("condition", "model", *by, "item", "patient", "image", "finding")
    items: dict[tuple[object, ...], Rows] = {}
    for row in found:
        if row["paired"]:
            items.setdefault(tuple(row[name] for name in about), []).append(row)
    return [
        {
            **dict(zip(about, named, strict=True)),
            "control": named[0],
            "hides": named[0] in hiding,
            "needs": 2 * sum(r["with_image"] for r in of) > len(of)
            and 2 * sum(r["correct"] for r in of) <= len(of),
        }
        for named, of in items.items()
    ]
