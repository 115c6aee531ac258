"""What studies about items report, and the two tables that each of them has."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.results.evaluate import evaluate_all
from viewer.results.frame import Frames
from viewer.results.page import sections
from viewer.results.spec import OF_WHOM, Cell, Key, ListSpec, Spec, TableSpec

MICRO: Final = "(micro)"
"""The finding of rows that count trials of all findings."""
ALL_VIEWS: Final = "all"
"""The view of rows that count trials of all views."""
ITEMS_HEADER: Final = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("status", "reason", "answer", "gold", "chance", "request_sha256"),
)
STATUSES: Final[Mapping[str, tuple[Status, ...]]] = {
    "n_scored": (Status.SCORED_CORRECT, Status.SCORED_WRONG),
    "n_failed": (Status.PROVIDER_ERROR,),
    "n_refused": (Status.REFUSED,),
    "n_unparsed": tuple(sorted(UNREADABLE)),
    "n_excluded": (Status.EXCLUDED,),
    "n_pending": (Status.PENDING,),
}
"""The statuses that each column counts."""
COUNTS: Final = ("n_planned", *STATUSES)
INTERVAL: Final = ("ci_low", "ci_high", "ci_method")
CI_DEFINITION: Final = (
    "exact 95 % interval of Clopper and Pearson, by patient where any has several "
    "trials: for as many independent trials as vary like the patients do, at most two "
    "a patient and one an item; ci_method names it"
)
CI_CAPTION: Final = "Clopper-Pearson by patient, 95 %"
RATE: Final = (
    Cell(
        "rate",
        ("k", "n", "hit_rate", *INTERVAL),
        ("correct", *OF_WHOM),
        {"counted": (True,)},
    ),
    Cell("share", ("answered_rate",), ("correct",), {"answered": (True,)}),
    Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
)
"""The primary rate, of all settled trials, that of those with an answer, and chance."""

_OF_TRIALS: Final = ("items", "results")


def reported(
    results: Sequence[TrialResult],
    specs: Sequence[Spec],
    frames: Frames,
    definitions: Mapping[str, str],
    *,
    always: Collection[str] = _OF_TRIALS,
    only_printed: Sequence[Spec] = (),
) -> ReportData:
    """Return the tables of specifications, and what a page shows of them.

    Tables without a row are left out but for those ``always`` there; those
    ``only_printed`` stand on the page alone.
    """
    tables = evaluate_all(specs, frames)
    full = tuple(table for table in tables if table.rows or table.name in always)
    printed = (*full, *evaluate_all(only_printed, frames))
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=definitions,
        incomplete=any(one.score.status is Status.PENDING for one in results),
        sections=tuple(sections([*specs, *only_printed], printed)),
        specs=tuple(specs),
    )


def counts(
    names: Sequence[str] = COUNTS,
    prefix: str = "",
    where: dict[str, tuple[object, ...]] | None = None,
) -> tuple[Cell, ...]:
    """Return cells that count trials by how they ended (X-01)."""
    where = where or {}
    return tuple(
        Cell(
            "size",
            (f"{prefix}{name}",),
            where={**where, **({"status": _values(name)} if name in STATUSES else {})},
        )
        for name in names
    )


def _values(name: str) -> tuple[str, ...]:
    return tuple(status.value for status in STATUSES[name])


Sets = tuple[tuple[str, ...], ...]
"""What rows of one table are about, each a set of its columns."""
OF_ALL: Final[Sets] = ((), ("finding",), ("view",))


def trial_specs(
    numbers: Sequence[str], *, means: bool = True, sets: Sets = OF_ALL
) -> tuple[Spec, ...]:
    """Return the two tables of trials whose verdicts have some named numbers.

    ``items`` lists every trial in the order planned. ``results`` has hit rates by
    finding, view, condition and model: each condition and model has a row for all its
    trials, one for each finding, and, where there are several views, one for each of
    those; other ``sets`` where trials of several tasks may not be counted as one. The
    primary rate counts every settled trial that is not right as wrong. Without
    ``means`` it tells no mean of the numbers.
    """
    items = ListSpec("items", (*ITEMS_HEADER, *numbers))
    # a single view's row would say what the row of all views says, where there is one
    is_said = all(tuple(n for n in one if n != "view") in sets for one in sets)
    of_numbers = (Cell("mean", (f"mean_{name}",), (name,)) for name in numbers)
    results = TableSpec(
        "results",
        (
            *(Key("finding", total=MICRO), Key("view", total=ALL_VIEWS)),
            *(Key("condition"), Key("model")),
        ),
        (*counts(), *RATE, *(of_numbers if means else ())),
        outer=("condition", "model"),
        every=True,
        sets=sets,
        only_several=("view",) if is_said else (),
    )
    return items, results
