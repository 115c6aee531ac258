"""Settled and unsettled answers as the study's tables count them (X-01)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.evidence import EvidenceCase, Language
from viewer.domain.item import Item
from viewer.domain.specialties import group_of
from viewer.metrics.posterior import Posterior
from viewer.studies.evidence_diagnosis.params import Arm, HumanMode, Task
from viewer.studies.evidence_diagnosis.score import first_match
from viewer.studies.evidence_diagnosis.showing import Showing


@dataclass(frozen=True)
class Row:
    """One trial: a case, a task, a way to show the case, a model, and what came of it.

    ``judge`` is the judge's score, ``first_match`` the rank of the diagnosis in words,
    ``chosen`` the option by its place in the case's own order, ``place`` the letter
    that the right one stood at, from 0; each None where there is none. ``rapt`` holds
    (section, layer, value).
    """

    case: EvidenceCase
    model: str
    task: Task
    showing: Showing
    status: Status
    reason: str = ""
    judge: float | None = None
    first_match: int | None = None
    chosen: int | None = None
    place: int | None = None
    posterior: Posterior | None = None
    repeat: int = 0
    rapt: tuple[tuple[str, int, float], ...] = ()

    @property
    def right(self) -> bool:
        """Whether it was scored correct."""
        return self.status is Status.SCORED_CORRECT

    @property
    def settled(self) -> bool:
        """Whether it counts in the denominator of the primary rate."""
        return self.status not in {Status.EXCLUDED, Status.PENDING}

    @property
    def group(self) -> str:
        """The group of the case's specialty."""
        return group_of(self.case.specialty)


@dataclass(frozen=True, slots=True)
class Rate:
    """k of the settled trials, beside every other count (X-01)."""

    k: int = 0
    planned: int = 0
    scored: int = 0
    failed: int = 0
    refused: int = 0
    unparsed: int = 0
    excluded: int = 0
    pending: int = 0

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Count rows by their status."""
        all_ = [row.status for row in rows]
        scored = sum(s in {Status.SCORED_CORRECT, Status.SCORED_WRONG} for s in all_)
        return cls(
            k=all_.count(Status.SCORED_CORRECT),
            planned=len(all_),
            scored=scored,
            failed=all_.count(Status.PROVIDER_ERROR),
            refused=all_.count(Status.REFUSED),
            unparsed=sum(status in UNREADABLE for status in all_),
            excluded=all_.count(Status.EXCLUDED),
            pending=all_.count(Status.PENDING),
        )

    @property
    def n(self) -> int:
        """The denominator of the primary rate: whatever was settled."""
        return self.planned - self.excluded - self.pending

    @property
    def value(self) -> float | None:
        """The rate 0-1, None where nothing is settled."""
        return self.k / self.n if self.n else None

    @property
    def answered(self) -> float | None:
        """The rate among those that could be scored, None where none could."""
        return self.k / self.scored if self.scored else None

    def __add__(self, other: "Rate") -> "Rate":
        names = self.__dataclass_fields__
        return Rate(*(getattr(self, name) + getattr(other, name) for name in names))


MEAN_OF_PEOPLE: Final = "Physicians, mean"
"""The row of several physicians who answered alone."""


def people_rows(items: Iterable[Item], mode: HumanMode) -> tuple[Row, ...]:
    """Return what physicians answered, as the tables count it (E004-20, -24).

    A choice is right or wrong; who chose nothing has no answer. A differential is not
    judged here, and tells only at which rank the diagnosis stands in words. Those who
    answered alone become one row together where their mean is wanted.
    """
    found: list[Row] = []
    readers: dict[str, int] = {}
    for item in items:
        listed = item.reference.get("physicians")
        case = EvidenceCase.of_item(item)
        for entry in listed if isinstance(listed, list) else ():
            name, differential, option, *_ = entry
            place = readers.setdefault(str(name), len(readers))
            mean = mode is HumanMode.MEAN
            who = MEAN_OF_PEOPLE if mean else str(name)
            found += _person(case, who, place if mean else 0, differential, option)
    return tuple(found)


def _person(
    case: EvidenceCase,
    who: str,
    repeat: int,
    differential: Sequence[str],
    option: int | None,
) -> Iterator[Row]:
    right = option == case.answer
    answered = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    chosen = Status.UNPARSED if option is None else answered
    match = first_match(differential, case.diagnosis)
    listed = Row(case, who, Task.DDX, Showing(), Status.EXCLUDED, "not_judged")
    yield replace(listed, first_match=match, repeat=repeat)
    yield Row(case, who, Task.FDX, Showing(), chosen, chosen=option, repeat=repeat)


Keep = Callable[[Row], bool]


def of_task(task: Task, arm: Arm = Arm.RAW, language: Language | None = None) -> Keep:
    """Return what keeps the rows of a task and an arm, of one language or of all.

    Options in another order than the first belong to the consistency, not to rates.
    """

    def keep(row: Row) -> bool:
        return (
            row.task is task
            and row.showing.arm is arm
            and row.showing.order == 0
            and (language is None or row.case.language is language)
        )

    return keep


def models_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the models of some rows, in their order."""
    return tuple(dict.fromkeys(row.model for row in rows))


def asked_in(rows: Sequence[Row]) -> tuple[Language, ...]:
    """Return the languages of the cases that models were asked about, English first."""
    found = {row.case.language for row in rows}
    return tuple(language for language in Language if language in found)


def rate(rows: Sequence[Row], model: str, keep: Keep) -> Rate:
    """Return a model's rate among the rows that are kept."""
    return Rate.of(row for row in rows if row.model == model and keep(row))


@dataclass(frozen=True, slots=True)
class MeanScore:
    """A mean of judge's scores; ``n`` have one, ``planned`` should."""

    value: float | None
    n: int
    planned: int


def mean_score(rows: Sequence[Row], model: str, keep: Keep) -> MeanScore:
    """Return the mean of a judge's scores among the rows that are kept."""
    kept = [row for row in rows if row.model == model and keep(row)]
    scores = [row.judge for row in kept if row.judge is not None]
    value = sum(scores) / len(scores) if scores else None
    return MeanScore(value, len(scores), len(kept))


def top_k(rows: Sequence[Row], model: str, keep: Keep, k: int) -> Rate:
    """Return how often the diagnosis stands, in words, among the first ``k``."""
    kept = [row for row in rows if row.model == model and keep(row)]
    found = Rate.of(kept)
    hits = sum(row.first_match is not None and row.first_match <= k for row in kept)
    return Rate(
        hits,
        found.planned,
        found.scored,
        found.failed,
        found.refused,
        found.unparsed,
        found.excluded,
        found.pending,
    )
