"""Which cases are solved from their options alone, and what may replace those.

The paper removes shortcuts round by round: it finds how models tell the right diagnosis
without the case, and changes the options (Chen 2026, 3.2; E004-23). Here a run with the
control ``options_only`` finds them; a person keeps, revises or excludes each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

from viewer.domain.answer import RankedAnswer, Status
from viewer.domain.conditions import control_of, is_studys_own
from viewer.domain.controls import Control
from viewer.domain.evidence import OPTIONS, EvidenceCase
from viewer.domain.item import Item, item_of
from viewer.domain.result import TrialResult
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.score import plain

_UNHEARD: Final = frozenset({Status.PENDING, Status.PROVIDER_ERROR, Status.EXCLUDED})
_MOST_CANDIDATES: Final = 6


@dataclass(frozen=True)
class OptionsAlone:
    """A case asked by its options alone: the models that were right, of those heard.

    Of a model's repeats more than half must be right. ``candidates`` are diagnoses that
    models' own differentials of the case name besides its options, most named first.
    """

    case: EvidenceCase
    right: tuple[str, ...]
    asked: int
    candidates: tuple[str, ...] = ()

    @property
    def shortcut(self) -> bool:
        """Whether more than half of the models are right."""
        return 2 * len(self.right) > self.asked

    @property
    def by_chance(self) -> float:
        """The probability of that if every model guessed."""
        n, p = self.asked, 1 / OPTIONS
        more = range(n // 2 + 1, n + 1)
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in more)


def options_alone(
    results: Sequence[TrialResult], items: Iterable[Item]
) -> tuple[OptionsAlone, ...]:
    """Return the cases that any model answered from their options alone."""
    known = {item.key: item for item in items}
    right: dict[str, dict[str, list[bool]]] = {}
    for one in results:
        alone = control_of(one.condition) == Control.OPTIONS_ONLY
        if alone and one.score.status not in _UNHEARD:
            key = item_of(known, one.item).key
            by_model = right.setdefault(key, {}).setdefault(one.model, [])
            by_model.append(one.score.status is Status.SCORED_CORRECT)
    return tuple(
        OptionsAlone(
            case,
            tuple(m for m, of in models.items() if 2 * sum(of) > len(of)),
            len(models),
            tuple(_candidates(case, results, known)),
        )
        for key, models in right.items()
        if not is_report(known[key])
        for case in [EvidenceCase.of_item(known[key])]
    )


def _candidates(
    case: EvidenceCase, results: Sequence[TrialResult], known: dict[str, Item]
) -> Iterator[str]:
    """Yield diagnoses of the models' lists that are none of a case's options."""
    taken = {plain(one) for one in (*case.options, case.diagnosis)}
    spelled: dict[str, str] = {}
    named: Counter[str] = Counter()
    for one in results:
        own = one.finding == Task.DDX and is_studys_own(one.condition)
        about = own and item_of(known, one.item).key == case.key
        if about and isinstance(one.said, RankedAnswer):
            for entry in one.said.entries:
                spelled.setdefault(plain(entry), entry)
                named[plain(entry)] += 1
    others = (name for name, _ in named.most_common() if name not in taken)
    for name, _ in zip(others, range(_MOST_CANDIDATES), strict=False):
        yield spelled[name]
