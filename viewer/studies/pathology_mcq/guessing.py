"""Which items are guessed right without their image (Sun 2024, 3.2; E003-08)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult
from viewer.studies.pathology_mcq.params import Arm
from viewer.studies.pathology_mcq.questions import Mcq

_UNHEARD: Final = frozenset({Status.PENDING, Status.PROVIDER_ERROR})


@dataclass(frozen=True, slots=True)
class Guessed:
    """An item and the models that guess it right; ``asked`` is how many answered."""

    item: str
    by: tuple[str, ...]
    asked: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Every item that was asked without its image.

    An item is guessable if at least ``threshold`` models guess it, and unsuitable for a
    benchmark of vision. It is unknown if ``models`` without an answer could still
    change it, or if fewer answered than must guess.
    """

    items: tuple[Guessed, ...]
    threshold: int
    models: int

    @property
    def guessable(self) -> tuple[str, ...]:
        """The items that are removed."""
        return tuple(one.item for one in self.items if self.verdict(one) is True)

    @property
    def kept(self) -> tuple[str, ...]:
        """The items that stay."""
        return tuple(one.item for one in self.items if self.verdict(one) is False)

    def verdict(self, one: Guessed) -> bool | None:
        """Tell whether an item is guessable, None if it is not known."""
        if len(one.by) >= self.threshold:
            return True
        could = len(one.by) + self.models - one.asked
        told = one.asked >= self.threshold and could < self.threshold
        return False if told else None


def audit(results: Sequence[TrialResult], threshold: int) -> Audit:
    """Return the audit of a run's trials without an image.

    Of repeats of one question by one model, more than half must be right. A model
    without a reply is not counted as a wrong guess. Excluded trials are left out.
    """
    blind = [
        one
        for one in results
        if one.condition == Arm.TEXT_ONLY and one.score.status is not Status.EXCLUDED
    ]
    right: dict[str, dict[str, list[bool]]] = {one.item: {} for one in blind}
    for one in blind:
        if one.score.status not in _UNHEARD:
            by_model = right[one.item].setdefault(one.model, [])
            by_model.append(one.score.status is Status.SCORED_CORRECT)
    items = (
        Guessed(
            item,
            tuple(m for m, found in models.items() if 2 * sum(found) > len(found)),
            len(models),
        )
        for item, models in right.items()
    )
    return Audit(tuple(items), threshold, len({one.model for one in blind}))


def filtered(found: Audit, mcqs: Mapping[str, Mcq]) -> dict[str, object]:
    """Return the items that stay in the layout of data.json, to be imported again."""
    table: dict[str, dict[str, list[object]]] = {}
    for key in found.kept:
        mcq = mcqs[key]
        entry: dict[str, object] = {
            "No": key.removeprefix(f"{mcq.subset}-{mcq.split}-"),
            "img": list(mcq.images) if len(mcq.images) > 1 else "".join(mcq.images),
            "question": mcq.question,
            "options": list(mcq.written),
            "answer": mcq.answer,
        }
        if mcq.explanation:
            entry["explanation"] = mcq.explanation
        if mcq.explanations:
            entry["explanations"] = list(mcq.explanations)
        table.setdefault(mcq.subset, {}).setdefault(mcq.split, []).append(entry)
    return {subset: dict(splits) for subset, splits in table.items()}
