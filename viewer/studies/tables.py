"""The two tables that every study about items has: its trials, and its rates."""

from collections.abc import Sequence
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.results.spec import Cell, Key, ListSpec, Spec, TableSpec

MICRO: Final = "(micro)"
"""The finding of rows that count trials of all findings."""
ALL_VIEWS: Final = "all"
"""The view of rows that count trials of all views."""
ITEMS_HEADER: Final = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("status", "reason", "answer", "gold", "request_sha256"),
)
_STATUSES: Final = {
    "n_scored": (Status.SCORED_CORRECT, Status.SCORED_WRONG),
    "n_failed": (Status.PROVIDER_ERROR,),
    "n_refused": (Status.REFUSED,),
    "n_unparsed": tuple(sorted(UNREADABLE)),
    "n_excluded": (Status.EXCLUDED,),
    "n_pending": (Status.PENDING,),
}
"""The statuses that each column counts."""
COUNTS: Final = ("n_planned", *_STATUSES)
RATE: Final = (
    Cell(
        "rate",
        ("k", "n", "hit_rate", "wilson_low", "wilson_high"),
        ("right",),
        {"counted": (True,)},
    ),
    Cell("share", ("answered_rate",), ("right",), {"answered": (True,)}),
)
"""The primary rate, of all settled trials, and that of those with an answer."""


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
            where={**where, **({"status": _values(name)} if name in _STATUSES else {})},
        )
        for name in names
    )


def _values(name: str) -> tuple[str, ...]:
    return tuple(status.value for status in _STATUSES[name])


def trial_specs(numbers: Sequence[str], *, means: bool = True) -> tuple[Spec, ...]:
    """Return the two tables of trials whose verdicts have some named numbers.

    ``items`` lists every trial in the order planned. ``results`` has hit rates by
    finding, view, condition and model: each condition and model has a row for all its
    trials, one for each finding, and, where there are several views, one for each of
    those. The primary rate counts every settled trial that is not right as wrong.
    Without ``means`` it tells no mean of the numbers.
    """
    items = ListSpec("items", (*ITEMS_HEADER, *numbers))
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
        sets=((), ("finding",), ("view",)),
        only_several=("view",),
    )
    return items, results
