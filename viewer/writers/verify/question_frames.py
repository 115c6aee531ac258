"""The frames of a question set, and of the image-dependence card of any study."""

import json
from collections.abc import Sequence

from viewer.writers.verify.estimators import Rows
from viewer.writers.verify.frames import Source, trial_rows

_WITHOUT_IMAGE = ("no_image", "guess", "options_only")
_QUESTION_CONTROLS = (
    *("no_image", "guess", "noise", "other_image", "options_only"),
    "shuffled_options",
)


def question_frames(source: Source) -> dict[str, Rows]:
    """Return trials, trials by each column that they are tabulated by, and the card."""
    trials = trial_rows(source.verdicts)
    groups = [
        {**row, "group": group, "value": value}
        for one, row in zip(source.verdicts, trials, strict=True)
        for group, value in json.loads(one.listed.get("groups") or "{}").items()
    ]
    card = dependence_frames(trials, "image", _QUESTION_CONTROLS, _WITHOUT_IMAGE)
    return {"trials": trials, "groups": groups, **card}


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
    key = ("model", *by, "item", "repeat")
    seen = {
        tuple(row[name] for name in key): row["correct"]
        for row in trials
        if row["condition"] == plain and row["counted"]
    }
    found = []
    for row in trials:
        if row["condition"] in controls:
            before = seen.get(tuple(row[name] for name in key))
            paired = bool(row["counted"] and before is not None)
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
