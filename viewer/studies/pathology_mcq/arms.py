"""What is done to a question before it is asked: the study's conditions."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from viewer.domain.run import Condition
from viewer.metrics.seeding import generator
from viewer.studies.controls import exchanged
from viewer.studies.pathology_mcq.params import Arm, MismatchScope, Params, Work
from viewer.studies.pathology_mcq.questions import Asked

PLAIN: Final = "plain"
"""The condition of a question asked as it is."""
BUILDING: Final = Condition("building")
"""The condition of an image of which questions are made."""
CONTROLS: Final = (Arm.TEXT_ONLY.value, Arm.NOISE.value)
"""The conditions that the unchanged image is compared with."""
_WITH_IMAGE: Final = frozenset({Arm.IMAGE, Arm.NOISE, Arm.CORRUPTION})


def conditions(params: Params) -> tuple[Condition, ...]:
    """Return the conditions of every arm that is wanted, in the order of the arms.

    A run that makes questions has one of its own.
    """
    if params.work is Work.BUILDING:
        return (BUILDING,)
    return tuple(
        condition
        for arm in Arm
        if arm in params.arms
        for condition in _conditions(arm, params)
    )


def arm_of(condition: str) -> Arm:
    """Return the arm that a condition's name belongs to."""
    if condition == PLAIN:
        return Arm.IMAGE
    single = {arm.value for arm in Arm} - {Arm.IMAGE, Arm.CORRUPTION}
    return Arm(condition) if condition in single else Arm.CORRUPTION


def shows_image(arm: Arm) -> bool:
    """Tell whether an arm sends something in place of an item's images."""
    return arm in _WITH_IMAGE


def corruption_name(kind: str, level: int | str) -> str:
    """Return the name of the condition of a kind at a level."""
    return f"{kind}-{level}"


def corruption_of(condition: str) -> tuple[str, int]:
    """Return the kind and the level of a corruption's condition."""
    kind, _, level = condition.rpartition("-")
    return kind, int(level)


def asked_in(mcq: Asked, arm: Arm, donors: Mapping[str, str], params: Params) -> bool:
    """Tell whether an arm asks a question at all.

    Corruptions are asked of some splits only, mismatches of the items drawn for them.
    """
    if arm is Arm.CORRUPTION:
        return mcq.split in params.corruption_splits
    return arm is not Arm.MISMATCH or mcq.key in donors


def donors(mcqs: Iterable[Asked], params: Params, seed: int) -> Mapping[str, str]:
    """Return the donor of each drawn item's swapped question (E003-09).

    A number of items is drawn from each included subset; within one subset, or across
    all, questions are permuted at random so that none gets its own text, from whichever
    item. If more than half ask the same, those without a counterpart get "", and are
    not asked.

    Parameters
    ----------
    mcqs : iterable of Asked
        The questions asked, of all subsets.
    params : Params
        How many are drawn, from where, and among which they are exchanged.
    seed : int
        The run's seed, of the draw and the order.
    """
    left_out = params.unmatched_subsets
    named = tuple(
        (m.subset, m.key, _words(m)) for m in mcqs if m.subset not in left_out
    )
    within = params.mismatch_scope is MismatchScope.SUBSET
    return _donors(named, params.mismatch_per_subset, seed, within=within)


def _words(mcq: Asked) -> str:
    """Return a question's words as they compare."""
    return " ".join(mcq.question.casefold().split())


@lru_cache(maxsize=4)
def _donors(
    named: tuple[tuple[str, str, str], ...], most: int, seed: int, *, within: bool
) -> Mapping[str, str]:
    words = {key: text for _, key, text in named}
    drawn: dict[str, list[str]] = {}
    for subset in dict.fromkeys(subset for subset, *_ in named):
        keys = sorted(key for other, key, _ in named if other == subset)
        order = generator(seed, "mismatch", "draw", subset).permutation(len(keys))
        drawn[subset] = [keys[i] for i in sorted(order[:most].tolist())]
    groups = drawn if within else {"": [key for keys in drawn.values() for key in keys]}
    found: dict[str, str] = {}
    for name, keys in groups.items():
        rng = generator(seed, "mismatch", "order", name)
        found |= exchanged({key: words[key] for key in keys}, rng)
    return found


def _conditions(arm: Arm, params: Params) -> tuple[Condition, ...]:
    if arm is Arm.IMAGE:
        return (Condition(PLAIN),)
    if arm is not Arm.CORRUPTION:
        return (Condition(arm.value),)
    return tuple(
        Condition(corruption_name(kind, level), (("kind", kind), ("level", int(level))))
        for kind in params.corruptions
        for level in params.levels
    )
