"""What questions are asked with: the study's conditions."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from viewer.domain.question_kinds import AnswerKind
from viewer.domain.run import Condition
from viewer.metrics.seeding import generator
from viewer.studies.controls import exchanged
from viewer.studies.question_set.params import Arm, Params
from viewer.studies.question_set.questions import Asked

PLAIN: Final = Arm.IMAGE.value
"""The condition of a question asked as it is."""
BLIND: Final = (Arm.NO_IMAGE.value, Arm.GUESS.value, Arm.OPTIONS_ONLY.value)
"""The conditions that send no image."""
CONTROLS: Final = tuple(arm.value for arm in Arm if arm is not Arm.IMAGE)
_OF_OPTIONS: Final = frozenset({Arm.OPTIONS_ONLY, Arm.SHUFFLED_OPTIONS})


def conditions(params: Params, seed: int = 0) -> tuple[Condition, ...]:
    """Return the conditions that are wanted, of a run of a seed."""
    told = (("seed", seed),)
    return tuple(Condition(arm.value, told) for arm in Arm if arm.value in params.arms)


def asked_in(asked: Asked, arm: Arm) -> bool:
    """Tell whether an arm asks a question: some are for options alone."""
    return asked.kind is AnswerKind.CHOICE or arm not in _OF_OPTIONS


def shows_image(arm: Arm) -> bool:
    """Tell whether an arm sends something in the place of an item's images."""
    return arm.value not in BLIND


def option_order(asked: Asked, condition: Condition) -> tuple[int, ...]:
    """Return the options in the order shown; a shuffled one is another than theirs."""
    n = len(asked.options)
    own = tuple(range(n))
    if condition.name != Arm.SHUFFLED_OPTIONS or n < 2:
        return own
    seed = int(dict(condition.params)["seed"])
    rng = generator(seed, "shuffled options", asked.key)
    while (order := tuple(rng.permutation(n).tolist())) == own:
        pass
    return order


def other_images(every: Iterable[Asked], seed: int) -> Mapping[str, str]:
    """Return the donor of each item's images: an item of another patient.

    Questions with the same number of images exchange them at random, each once. If one
    patient has more than half of them, those without a counterpart get "".
    """
    named = tuple((a.key, a.patient, len(a.images)) for a in every if a.images)
    return _other_images(named, seed)


@lru_cache(maxsize=4)
def _other_images(
    named: tuple[tuple[str, str, int], ...], seed: int
) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for count in sorted({n for *_, n in named}):
        patients = {key: patient for key, patient, n in named if n == count}
        rng = generator(seed, "another patient's images", str(count))
        found |= exchanged(patients, rng)
    return found
