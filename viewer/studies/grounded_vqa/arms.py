"""The conditions of the study, and how a trial's name encodes its change.

A perturbed trial is named after its item, followed by the change: the pair asked about
instead, the number of the other wording, or the image that provides its region.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from viewer.domain.item import TASK_MARK
from viewer.domain.run import Condition
from viewer.imaging.blending import Blend
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.relations import Pair
from viewer.studies.grounded_vqa.textual import Swapped
from viewer.studies.grounded_vqa.visual import Arm

PLAIN: Final = "plain"
TEXT_SWAPS: Final = {f"tpt-{swapped.value}": swapped for swapped in Swapped}
TEXT_SHAM: Final = "tpt-sham"
IMAGE_ARMS: Final = {arm.value: arm for arm in Arm}
SHAMS: Final = frozenset({TEXT_SHAM, Arm.OWN.value, Arm.SAME.value})
PERTURBED: Final = frozenset({*TEXT_SWAPS, TEXT_SHAM, *IMAGE_ARMS})
"""The conditions that follow the model's own true positives."""
CONTOUR: Final = "contour"
CROP: Final = "crop"
LOCATED: Final = "located"
"""LobA without self-prompting: the region is named first, and not highlighted."""
APPROXIMATE: Final = (CONTOUR, CROP, LOCATED)
"""The ways that only approximate LobA (E002-15)."""
LOBA: Final = "loba-"
"""What the name of a condition with a highlighted region begins with."""
NONE: Final = "none"
"""The change in the name of a trial for which there is none to make."""
_BETWEEN: Final = ": "
_IN: Final = "/"
"""What stands between a perturbation and the way in which it is asked."""


def conditions(params: Params) -> tuple[Condition, ...]:
    """Return the conditions of the selected arms, the plain one first."""
    return tuple(Condition(name) for name in _names(params))


def _names(params: Params) -> Iterator[str]:
    if "plain" in params.arms:
        yield PLAIN
    tests, ways = tuple(_tests(params)), tuple(_ways(params))
    yield from (*tests, *ways)
    if params.perturb_regions:
        yield from (f"{test}{_IN}{way}" for way in ways for test in tests)


def _tests(params: Params) -> Iterator[str]:
    if "tpt" in params.arms:
        yield from TEXT_SWAPS
    if "tpt" in params.arms and params.sham:
        yield TEXT_SHAM
    if "vpt" in params.arms:
        without = SHAMS if not params.sham else _without_seam(params)
        yield from (name for name in IMAGE_ARMS if name not in without)


def _without_seam(params: Params) -> frozenset[str]:
    """Return the shams that would leave an image unchanged."""
    return frozenset({Arm.OWN.value} if params.blend is Blend.POISSON else ())


def _ways(params: Params) -> Iterator[str]:
    yield from (name for name in APPROXIMATE if name in params.arms)
    if "loba" in params.arms:
        yield from (f"{LOBA}{weight}" for weight in params.weights)


def perturbation_of(condition: str) -> str:
    """Return the perturbation of a condition, else the condition itself."""
    return condition.partition(_IN)[0]


def way_of(condition: str) -> str:
    """Return how a condition asks: plainly, or with a region marked."""
    test, _, way = condition.partition(_IN)
    return way or (PLAIN if test in PERTURBED else test)


def is_perturbed(condition: str) -> bool:
    """Tell whether a condition depends on the model's own true positives."""
    return perturbation_of(condition) in PERTURBED


def is_sham(condition: str) -> bool:
    """Tell whether a condition makes only an irrelevant change."""
    return perturbation_of(condition) in SHAMS


def shows_region(condition: str) -> bool:
    """Tell whether a condition marks a region."""
    return way_of(condition) in APPROXIMATE or highlights(condition)


def highlights(condition: str) -> bool:
    """Tell whether a condition highlights a region in the model's attention (LobA)."""
    return way_of(condition).startswith(LOBA)


@dataclass(frozen=True, slots=True)
class Change:
    """The change in a trial's name; each field is "" or None if it does not apply."""

    pair: Pair | None = None
    template: int | None = None
    donor: str = ""


def pair_change(pair: Pair) -> str:
    """Return the suffix that names a swapped question."""
    return _BETWEEN.join(pair)


def wording_change(template: int) -> str:
    """Return the suffix that names a question in other words."""
    return f"wording {template + 1}"


def change_of(name: str, condition: str) -> Change:
    """Return the change that a trial's name encodes for its condition."""
    test, task = perturbation_of(condition), name.rpartition(TASK_MARK)[2]
    if test not in PERTURBED or task == NONE:
        return Change()
    if test in TEXT_SWAPS:
        anatomy, _, finding = task.partition(_BETWEEN)
        return Change(pair=(anatomy, finding))
    if test == TEXT_SHAM:
        return Change(template=int(task.rpartition(" ")[2]) - 1)
    return Change(donor=task)
