"""Whether a model refrains where it should, and only there (E001-19).

A task may be unanswerable from its images, or a trick that names something that is not
so. To abstain is appropriate there and nowhere else. Readers say whether an output
abstained; where none did, it is not counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from viewer.domain.rubric import Grade
from viewer.domain.task_selection import Answerable
from viewer.metrics.rubric import Share


@dataclass(frozen=True, slots=True)
class Abstention:
    """A model's outputs on tasks of one kind.

    ``abstained`` counts those of whose readers more than half say so, ``appropriate``
    those that did as the task asks; ``unsaid`` outputs no reader spoke about, or as
    many for as against.
    """

    model: str
    answerable: Answerable
    abstained: Share
    appropriate: Share
    unsaid: int


def abstentions(
    grades: Iterable[Grade], kinds: Mapping[str, Answerable], models: Sequence[str]
) -> tuple[Abstention, ...]:
    """Return a row for each model and kind; ``kinds`` maps tasks, others are yes."""
    said: dict[tuple[str, str, int], list[bool]] = {}
    for grade in grades:
        if grade.image is None:
            votes = said.setdefault(grade.output, [])
            votes += [] if grade.abstained is None else [grade.abstained]
    return tuple(
        _of(model, kind, _verdicts(said, kinds, model, kind))
        for model in models
        for kind in Answerable
    )


def _verdicts(
    said: Mapping[tuple[str, str, int], Sequence[bool]],
    kinds: Mapping[str, Answerable],
    model: str,
    kind: Answerable,
) -> list[bool | None]:
    return [
        _majority(votes)
        for (by, item, _), votes in said.items()
        if by == model and kinds.get(item, Answerable.YES) is kind
    ]


def _majority(votes: Sequence[bool]) -> bool | None:
    """Return what more than half say, None for a tie or no word."""
    agree = 2 * sum(votes)
    return None if agree == len(votes) else agree > len(votes)


def _of(model: str, kind: Answerable, verdicts: Sequence[bool | None]) -> Abstention:
    told = [verdict for verdict in verdicts if verdict is not None]
    should = kind is not Answerable.YES
    return Abstention(
        model,
        kind,
        Share(sum(told), len(told)),
        Share(sum(verdict is should for verdict in told), len(told)),
        len(verdicts) - len(told),
    )
