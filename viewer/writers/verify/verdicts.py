"""The verdict on a trial, and the trials that were planned."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from viewer.writers.verify.measuring import Drawn

STATUSES = frozenset(
    {
        *("pending", "scored_correct", "scored_wrong", "unparsed", "ambiguous"),
        *("out_of_range", "refused", "denied_finding", "truncated"),
        *("provider_error", "excluded"),
    }
)
RIGHT, WRONG, LEFT_OUT = "scored_correct", "scored_wrong", "excluded"


@dataclass(frozen=True)
class Placed:
    """How an answer lies on its reference.

    ``cell`` is the answered cell's row-major index, -1 without one; ``hits`` the
    qualifying cells, ``other_hits`` those in the mask mode that was not chosen, None if
    there is no usable mask. ``share`` of the square is covered by the mask, and
    ``at_thresholds`` are the cells that qualify at each threshold of a curve, and
    whether by fallback. ``outside_crop`` of the mask is cut off by the crop, 0-1, None
    without a mask. In a run with answers other than cells, ``measures`` tell
    how this one meets its mask, and ``drawn`` are its boxes and those to find.
    """

    outcome: str = ""
    coverage: float | None = None
    n_cells: int = 0
    cell: int = -1
    hits: tuple[int, ...] = ()
    other_hits: tuple[int, ...] | None = None
    share: float | None = None
    at_thresholds: tuple[tuple[tuple[int, ...], bool], ...] = ()
    outside_crop: float | None = None
    measures: Mapping[str, Any] | None = None
    drawn: Drawn | None = None


@dataclass(frozen=True)
class Verdict:
    """A trial with the recomputed verdict, as tables count it.

    ``parsed`` is the answer as stored, {} for none; ``gold`` what is right;
    ``listed`` what a list of trials has besides: what its item falls into, the reply,
    tokens, time, cost and the prompt.
    """

    item: str
    patient: str
    image: str
    finding: str
    view: str
    condition: str
    repeat: int
    model: str
    status: str
    reason: str
    answer: str
    request: str
    numbers: Mapping[str, float]
    parsed: Mapping[str, Any]
    gold: Mapping[str, Any]
    placed: Placed = Placed()
    listed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        """Whether it counts in the denominator of the primary rate."""
        return self.status not in (LEFT_OUT, "pending")

    @property
    def is_right(self) -> bool:
        """Whether it counts as right."""
        return self.status == RIGHT


def name_of(trial: Mapping[str, Any]) -> str:
    """Return the name of a trial in a sentence."""
    repeat = f", repeat {trial['repeat']}" if trial["repeat"] else ""
    return f"{trial['item']}, {trial['condition']}, {trial['model']}{repeat}"


def plan_departures(
    plan: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a sentence for each planned trial that is missing or repeated."""
    key = ("item", "condition", "repeat", "model")
    there = Counter(tuple(trial[name] for name in key) for trial in trials)
    planned = {tuple(one[:4]): one[4] for one in plan["trials"]}
    for one in planned:
        if there[one] != 1:
            what = "is missing" if not there[one] else f"is there {there[one]} times"
            yield f"trials.jsonl: the planned trial {_spelled(one)} {what}."
    for one in there:
        if one not in planned:
            yield f"trials.jsonl: the trial {_spelled(one)} was not planned."
    for trial in trials:
        why = planned.get(tuple(trial[name] for name in key), "")
        if why and (trial["status"], trial["reason"]) != (LEFT_OUT, why):
            yield f"trials.jsonl, {name_of(trial)}: it was planned as left out: {why}."


def _spelled(key: Sequence[object]) -> str:
    return ", ".join(map(str, key))
