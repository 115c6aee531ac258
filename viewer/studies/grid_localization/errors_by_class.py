"""Answers about frontal views by class of error (Gosai 2025, Fig. 3; E000-24)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.case import View
from viewer.domain.report import Table
from viewer.domain.result import Outcome, TrialResult
from viewer.domain.study_words import capital, spoken
from viewer.results.estimators import Seen, estimator
from viewer.results.evaluate import evaluate
from viewer.results.records import records
from viewer.results.spec import TRIALS, Cell, Key, Shown, TableSpec
from viewer.studies.grid_localization.shown import N
from viewer.studies.packs import Reviewed, Reviews

CLASSES: Final = (
    *("full", "partial", "position", "anatomy", "unsure", "not_reviewed"),
    "no_answer",
)
"""``no_answer`` are refusals, failures and replies without a cell."""
REVIEW: Final = (
    *("n_misses", "n_reviewed", "position_low", "position_high"),
    *("anatomy_low", "anatomy_high", "review"),
)
"""What a review's counts stand on, ``review`` in a word."""
_UNREAD: Final = Reviewed(0.0, 0.0)


@estimator("extent of a review")
def extent_of_review(seen: Seen) -> Sequence[object]:
    """Return ``REVIEW``: misses, those reviewed, and 95 % intervals for all of them.

    The intervals are exact (hypergeometric) and count misses; without a review there
    are none. A review is finished once all misses that were drawn for it are read.
    """
    read = _read(seen)
    misses = Counter(seen.rows["outcome"])[Outcome.MISS]
    ends = (read.position_ends or (None,) * 2, read.anatomy_ends or (None,) * 2)
    state = "finished" if read.finished else "not finished"
    return misses, read.reviewed, *ends[0], *ends[1], state if read.reviewed else ""


def _read(seen: Seen) -> Reviewed:
    """Return readers' verdicts on the misses of a cell."""
    model, finding, grid = next(seen.rows.each("model", "finding", "grid"))
    reviews: Reviews = seen.options["reviews"] if grid == seen.options["first"] else {}
    return reviews.get((model, finding), _UNREAD)


@estimator("classes of error")
def classes_of_error(seen: Seen) -> Sequence[object]:
    """Return how many answers are in each of ``CLASSES``.

    Position and anatomy errors are whole numbers where every miss was read. A fallback
    hit is a full hit. Readers review the ``first`` grid of a run; the misses of the
    others are not reviewed.
    """
    read = _read(seen)
    n = Counter(seen.rows["outcome"])
    notes = (read.position, read.anatomy, read.unsure)
    left = max(0.0, n[Outcome.MISS] - sum(notes) - read.partial)
    full = n[Outcome.FULL] + n[Outcome.FULL_FALLBACK]
    return full, n[Outcome.PARTIAL] + read.partial, *notes, left, n[None]


def error_classes(results: Sequence[TrialResult], reviews: Reviews) -> Table:
    """Return a row for each grid, finding and model with a frontal trial."""
    trials = records(results).having(
        grid=[one.condition.removeprefix("grid=") for one in results],
        outcome=[one.score.outcome for one in results],
    )
    settled = trials.where({"counted": (True,), "view": (View.FRONTAL,)})
    first = next(iter(settled["grid"]), "")
    options = {"reviews": reviews, "first": first}
    classes = Cell("classes of error", CLASSES, options=options)
    extent = Cell("extent of a review", REVIEW, options=options)
    spec = replace(ERROR_CLASSES, cells=(_SIZE, classes, extent))
    return evaluate(spec, {TRIALS: settled})


_SIZE: Final = Cell("size", ("n",))
ERROR_CLASSES: Final = TableSpec(
    "error_classes",
    (Key("finding"), Key("grid"), Key("model")),
    (),
    "Classes of error",
    "Frontal views. Full: the cell is a hit; partial: it touches the mask. A complete "
    "miss is a position or an anatomy error once a reader has classified it. From a "
    "completed sample, all misses are estimated with exact 95 % intervals; an "
    "unfinished review shows what was found so far.",
    shown=(
        *("finding", "grid", "model", N),
        *(Shown(name, capital(spoken(name)), ".3g") for name in CLASSES),
        *(Shown("n_misses", "Misses"), Shown("n_reviewed", "Reviewed")),
        *(
            Shown(f"{kind}_low", f"{kind.title()}, 95 %", "g", also=f"{kind}_high")
            for kind in ("position", "anatomy")
        ),
        "review",
    ),
)
