"""Questions about a synthetic chest radiograph, with answers known from its truth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.geometry import BoxPx, SizePx
from viewer.services.synthetic.phantom.patient import Finding, PhantomPatient

Boxes = Mapping[str, tuple[BoxPx, ...]]
PER_PATIENT: Final = 4
"""Questions about each radiograph."""
NOTHING: Final = "none of these"
SIDES: Final = ("left half", "right half", "both halves", "it does not show it")
_OPTIONS: Final = 4


@dataclass(frozen=True, slots=True)
class ChestQuestion:
    """A question; ``options`` is empty for yes/no questions."""

    topic: str
    finding: str
    text: str
    options: tuple[str, ...]
    answer: str


def chest_questions(
    patient: PhantomPatient, boxes: Boxes, size: SizePx
) -> Iterator[ChestQuestion]:
    """Yield the questions about a patient's radiograph, always in the same order."""
    rng = patient.stream("questions")

    def drawn(names: Sequence[str], n: int) -> list[str]:
        return [names[i] for i in rng.permutation(len(names))[:n].tolist()]

    there = [name for name in map(str, Finding) if name in boxes]
    absent = [name for name in map(str, Finding) if name not in boxes]
    yield _which(there, absent, drawn)
    there = drawn(there, len(there)) or drawn(absent, 1)
    yield _shows(there[0], boxes)
    yield _where(there[-1], boxes, size)
    yield _shows(drawn(absent, 1)[0], boxes)


def _which(
    there: Sequence[str],
    absent: Sequence[str],
    drawn: Callable[[Sequence[str], int], list[str]],
) -> ChestQuestion:
    right = drawn(there, 1) or [NOTHING]
    others = drawn(absent, _OPTIONS - 1)
    if there:
        others[-1:] = drawn([others[-1], NOTHING], 1)
    options = tuple(drawn([*right, *others], _OPTIONS))
    text = "Which of these does the radiograph show?"
    return ChestQuestion("which", right[0], text, options, right[0])


def _shows(finding: str, boxes: Boxes) -> ChestQuestion:
    answer = "yes" if finding in boxes else "no"
    text = f"Does the radiograph show {finding.lower()}?"
    return ChestQuestion("presence", finding, text, (), answer)


def _where(finding: str, boxes: Boxes, size: SizePx) -> ChestQuestion:
    text = f"In which half of the image does the radiograph show {finding.lower()}?"
    answer = _half(boxes.get(finding, ()), size)
    return ChestQuestion("side", finding, text, SIDES, answer)


def _half(boxes: Sequence[BoxPx], size: SizePx) -> str:
    middle = size.columns / 2
    left = any(box.x0 < middle for box in boxes)
    right = any(box.x1 > middle for box in boxes)
    if left and right:
        return SIDES[2]
    return SIDES[0] if left else SIDES[1] if right else SIDES[3]
