"""The two sides of a comparison: a model of a run each, and their trials in pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from viewer.domain.answer import Status
from viewer.domain.conditions import name_without_variant, variant_of
from viewer.domain.errors import WrongUseError
from viewer.domain.result import Outcome, Score
from viewer.services.reporting.records import some_records
from viewer.store import comparing, runs
from viewer.store.comparing import TrialLine
from viewer.store.database import Store

BETWEEN: Final = " / "
"""What stands between two conditions where the sides' differ."""
HIT: Final = Status.SCORED_CORRECT.value
_EXCLUDED: Final = Status.EXCLUDED.value
_PENDING: Final = Status.PENDING.value


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """One model of a run, asked with the run's own prompts or with a ``variant``."""

    run: int
    model: str
    variant: str = ""

    @property
    def name(self) -> str:
        """Its display name within the run."""
        return f"{self.model}@{self.variant}" if self.variant else self.model

    @property
    def key(self) -> tuple[int, str]:
        """The run and the name, under which looks at it are stored."""
        return self.run, self.name

    def __str__(self) -> str:
        return f"{self.name} (run {self.run})"


class Pair(NamedTuple):
    """The same item asked of both sides."""

    first: TrialLine
    second: TrialLine

    @property
    def condition(self) -> str:
        """The condition, or both if they differ."""
        mine, theirs = self.first.condition, self.second.condition
        return mine if mine == theirs else f"{mine}{BETWEEN}{theirs}"

    @property
    def scores(self) -> tuple[Score, Score]:
        """Both verdicts, without details specific to their run."""
        return _score(self.first), _score(self.second)

    @property
    def is_one_reply(self) -> bool:
        """Whether both verdicts come from the same stored reply."""
        return self.first.reply_id is not None and (
            self.first.reply_id == self.second.reply_id
        )

    @property
    def hits(self) -> tuple[bool, bool]:
        """Whether each side hits it, the first side first."""
        return self.first.status == HIT, self.second.status == HIT


def _score(line: TrialLine) -> Score:
    outcome = Outcome(line.outcome) if line.outcome else None
    return Score(Status(line.status), answer=line.answer, outcome=outcome)


@dataclass(frozen=True)
class Pairing:
    """Every trial of both sides, each counted once.

    ``scored`` pairs have a verdict on both sides and are compared; in an ``excluded``
    pair one was excluded, in a ``pending`` pair one is not asked yet, and the rest is
    ``only`` planned on one side.
    """

    scored: tuple[Pair, ...]
    excluded: tuple[Pair, ...]
    pending: tuple[Pair, ...]
    only_first: tuple[TrialLine, ...]
    only_second: tuple[TrialLine, ...]

    @property
    def incomplete(self) -> bool:
        """Whether any trial is pending, paired or not."""
        alone = (*self.only_first, *self.only_second)
        return bool(self.pending) or any(one.status == _PENDING for one in alone)


def side_of(store: Store, run: int, model: str = "") -> Side:
    """Return the side that the user named: MODEL, MODEL@VARIANT or @VARIANT.

    A run with several models needs the model's name. An unknown run, model or variant
    raises WrongUseError.
    """
    runs.run_summary(store, run)
    sides = {side.name: side for side in sides_of_run(store, run)}
    models = comparing.models_of_run(store, run)
    if (not model or model.startswith("@")) and len(models) == 1:
        model = f"{models[0]}{model}"
    if model in sides:
        return sides[model]
    names = ", ".join(f"{run}:{name}" for name in sides)
    if model:
        raise WrongUseError(f"Run {run} has no model '{model}'.", f"It has: {names}.")
    raise WrongUseError(
        f"Run {run} has {len(models)} models.", f"Name one of them: {names}."
    )


def sides_of_run(store: Store, run: int) -> tuple[Side, ...]:
    """Return a side for each model of a run, and for each variant of its prompts."""
    variants = runs.run_spec(store, run).params.get("prompt_variants")
    names = ["", *(variants if isinstance(variants, Mapping) else ())]
    models = comparing.models_of_run(store, run)
    return tuple(Side(run, model, name) for model in models for name in names)


def paired_sides(store: Store, first: Side, second: Side) -> Pairing:
    """Return the trials of two sides in pairs: same item, condition and repeat."""
    return paired(trial_lines(store, first), trial_lines(store, second))


def trial_lines(store: Store, side: Side) -> list[TrialLine]:
    """Return every trial of a side, in the order planned.

    The variant's name is removed from its condition, so that it can be paired with the
    other side.
    """
    rows = some_records(store, side.run, TrialLine._fields, side.model)
    lines = map(TrialLine._make, rows.each(*TrialLine._fields))
    return [
        one._replace(condition=name_without_variant(one.condition))
        for one in lines
        if variant_of(one.condition) == side.variant
    ]


def paired(first: Sequence[TrialLine], second: Sequence[TrialLine]) -> Pairing:
    """Pair trials by item, condition and repeat, in the order of the first side.

    If each side has a single condition, they are paired even if they differ, such as 8
    × 8 and 16 × 16 cells.
    """
    other = _renamed(first, second)
    theirs = {(t.item, other.get(t.condition), t.repeat): t for t in second}
    scored, excluded, pending, alone = [], [], [], []
    for mine in first:
        match = theirs.pop((mine.item, mine.condition, mine.repeat), None)
        if match is None:
            alone.append(mine)
            continue
        pair = Pair(mine, match)
        statuses = (mine.status, match.status)
        if _EXCLUDED in statuses:
            excluded.append(pair)
        elif _PENDING in statuses:
            pending.append(pair)
        else:
            scored.append(pair)
    return Pairing(
        tuple(scored),
        tuple(excluded),
        tuple(pending),
        tuple(alone),
        tuple(theirs.values()),
    )


def _renamed(
    first: Sequence[TrialLine], second: Sequence[TrialLine]
) -> Mapping[str, str]:
    """Return the first side's condition for each of the second's."""
    mine, theirs = _conditions(first), _conditions(second)
    if len(mine) == len(theirs) == 1:
        return {theirs[0]: mine[0]}
    return {name: name for name in theirs}


def _conditions(lines: Iterable[TrialLine]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.condition for line in lines))


def answers_of(pair: Pair) -> str:
    """Return both answers in short, such as "D4 → B2"."""
    return " → ".join(line.answer or line.status.replace("_", " ") for line in pair)
