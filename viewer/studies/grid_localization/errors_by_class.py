"""Answers about frontal views by class of error (Gosai 2025, Fig. 3; E000-24)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.case import View
from viewer.domain.report import Table
from viewer.domain.result import Outcome, TrialResult
from viewer.results.estimators import Seen, estimator
from viewer.results.evaluate import evaluate
from viewer.results.spec import TRIALS, Cell, Key, Shown, TableSpec
from viewer.studies.grid_localization.frames import trial_frame
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.shown import N
from viewer.studies.packs import Reviewed, Reviews

CLASSES: Final = (
    *("full", "partial", "position", "anatomy", "unsure", "not_reviewed"),
    "no_answer",
)
"""``no_answer`` are refusals, failures and replies without a cell."""
_UNREAD: Final = Reviewed(0.0, 0.0)


@estimator("classes of error")
def classes_of_error(seen: Seen) -> Sequence[object]:
    """Return how many answers are in each of ``CLASSES``.

    Position and anatomy errors are whole numbers where every miss was read. A fallback
    hit is a full hit. Readers review the ``first`` grid of a run; the misses of the
    others are not reviewed.
    """
    model, finding, grid = next(seen.rows.each("model", "finding", "grid"))
    reviews: Reviews = seen.options["reviews"] if grid == seen.options["first"] else {}
    read = reviews.get((model, finding), _UNREAD)
    n = Counter(seen.rows["outcome"])
    told = (read.position, read.anatomy, read.unsure)
    left = max(0.0, n[Outcome.MISS] - sum(told) - read.partial)
    full = n[Outcome.FULL] + n[Outcome.FULL_FALLBACK]
    return full, n[Outcome.PARTIAL] + read.partial, *told, left, n[None]


def error_classes(
    results: Sequence[TrialResult], reviews: Reviews, params: Params
) -> Table:
    """Return a row for each grid, finding and model with a frontal trial."""
    trials = trial_frame(results, params)
    settled = trials.where({"counted": (True,), "view": (View.FRONTAL,)})
    first = next(iter(settled["grid"]), "")
    options = {"reviews": reviews, "first": first}
    classes = Cell("classes of error", CLASSES, options=options)
    return evaluate(replace(ERROR_CLASSES, cells=(_SIZE, classes)), {TRIALS: settled})


_SIZE: Final = Cell("size", ("n",))
ERROR_CLASSES: Final = TableSpec(
    "error_classes",
    (Key("finding"), Key("grid"), Key("model")),
    (),
    "Classes of error",
    "Frontal views. Full: the cell qualifies; partial: it touches the mask. A complete "
    "miss is a position or an anatomy error once a reader has said so.",
    shown=(
        *("finding", "grid", "model", N),
        *(Shown(name, name.replace("_", " "), "g") for name in CLASSES),
    ),
)
