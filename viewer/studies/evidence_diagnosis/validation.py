"""Which cases pass readers' validation, and which are checked again (E004-04, -05)."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Final

from viewer.domain.case_validation import validations_of
from viewer.domain.evidence import EvidenceCase
from viewer.domain.item import Item
from viewer.metrics.seeding import generator

REVALIDATED: Final = 0.2
"""The part of the cases that clinicians validate once more (Chen 2026, 3.1)."""
REFUTED: Final = "not_validated"
"""Why a case of which a reader found something wrong is excluded."""


def cases_to_read(items: Iterable[Item]) -> Iterator[EvidenceCase]:
    """Yield the cases that people can read: with evidence, options and images."""
    for item in items:
        if "evidence" in item.facts and "options" in item.facts and item.images:
            yield EvidenceCase.of_item(item)


def problems_of(item: Item) -> tuple[str, ...]:
    """Return the problems that readers found in a case, once each."""
    case, found = EvidenceCase.of_item(item), validations_of(item)
    return tuple(dict.fromkeys(p for one in found for p in one.problems(case)))


def revalidated(
    cases: Sequence[str], seed: int, share: float = REVALIDATED
) -> tuple[str, ...]:
    """Return the cases to be validated once more, drawn by a seed, in their order."""
    rng = generator(seed, "revalidated")
    drawn = rng.permutation(len(cases))[: ceil(share * len(cases))]
    return tuple(cases[i] for i in sorted(drawn))
