"""What must become of every trial of the medsyn2026 pack, by the scripts' rule.

Nothing of the study is used but the seed that shuffles options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp

from tests.helpers.evidence_pack import (
    PEOPLE,
    Made,
    answered,
    belief,
    chosen,
    conditions,
    judged,
    listed,
    manner,
)
from viewer.domain.evidence import EvidenceCase
from viewer.metrics.seeding import generator

TOLD_TO = 1e-4
"""Largest error of a log-probability that the study reckons with."""
SETTLED = ("scored_correct", "scored_wrong", "provider_error", "refused", "unparsed")


@dataclass(frozen=True)
class Asked:
    """A trial, and what must have become of it."""

    number: int
    model: str
    task: str
    condition: str
    status: str
    reason: str = ""
    answer: str = ""
    numbers: Mapping[str, float] | None = None
    posterior: tuple[float, ...] = ()
    repeat: int = 0

    @property
    def right(self) -> bool:
        return self.status == "scored_correct"

    def number_of(self, name: str) -> float | None:
        return (self.numbers or {}).get(name)


@dataclass(frozen=True)
class Truth:
    """The pack's trials as they must be."""

    made: Made

    @property
    def cases(self) -> tuple[EvidenceCase, ...]:
        return self.made.cases

    @property
    def trials(self) -> tuple[Asked, ...]:
        return _trials(self)

    def of(
        self, model: str, task: str, condition: str = "raw", subset: str = "all"
    ) -> list[Asked]:
        """Return the trials of a model, task and condition, in one language or all."""
        return [
            one
            for one in self.trials
            if (one.model, one.task, one.condition) == (model, task, condition)
            and subset in {"all", str(self.cases[one.number].language)}
        ]

    def raw(self, model: str, task: str, subset: str) -> list[Asked]:
        """Return the plain trials of a model and task, in one language or all."""
        return self.of(model, task, "raw", subset)

    def beliefs(self, model: str) -> Mapping[tuple[int, str], tuple[float, ...]]:
        """Return every posterior that a model's trials told, by case and condition."""
        return _all_beliefs(self)[model]

    def belief(self, model: str, number: int, condition: str) -> tuple[float, ...]:
        """Return the posterior that a trial told; KeyError where it told none."""
        return _all_beliefs(self)[model][number, condition]

    def people(self, person: int, task: str, subset: str = "all") -> list[Asked]:
        """Return what a person answered, as trials; differentials as judged."""
        found = []
        for i, case in enumerate(self.cases):
            said = answered(person, i)
            if said is not None and subset in {"all", str(case.language)}:
                choice = said[1]
                status = "scored_correct" if choice == case.answer else "scored_wrong"
                status = "unparsed" if choice is None else status
                one = Asked(i, PEOPLE[person], task, "raw", status)
                one = one if task == "fdx" else _written(case, i, person)
                counts = self._counts(i, task)
                found.append(one if counts else replace(one, status="excluded"))
        return found

    def all_people(self, task: str, subset: str = "all") -> list[Asked]:
        """Return what each person answered alone, as the trials of their mean."""
        each = (self.people(person, task, subset) for person in range(len(PEOPLE)))
        return [one for trials in each for one in trials]

    def _counts(self, number: int, task: str) -> bool:
        """Tell whether any model's answer to a case counts."""
        about = number, task, "raw"
        return any(
            (one.number, one.task, one.condition) == about and one.status in SETTLED
            for one in self.trials
            if one.model != "physicians"
        )


@cache
def _trials(truth: Truth) -> tuple[Asked, ...]:
    of_models = (
        _trial(truth, i, m, task, condition)
        for i, case in enumerate(truth.cases)
        for task in ("ddx", "fdx", "open_fdx")
        for condition in (conditions_of(case) if task == "fdx" else ("raw",))
        for m in range(len(truth.made.models))
    )
    of_people = (
        replace(_written(case, i, person), model="physicians", repeat=repeat)
        for i, case in enumerate(truth.cases)
        for repeat, person in enumerate(who_answered(i))
    )
    return (*of_models, *of_people)


def who_answered(i: int) -> list[int]:
    """Return the people who answered to a case, in the order of its file."""
    return [person for person in range(len(PEOPLE)) if answered(person, i)]


def _written(case: EvidenceCase, i: int, person: int) -> Asked:
    """Return a person's differential as the judge scores it."""
    options, _ = answered(person, i) or ((), None)
    names = [case.options[option] for option in options]
    return _as_judged((i, PEOPLE[person], "ddx", "raw"), case, names)


@cache
def conditions_of(case: EvidenceCase) -> tuple[str, ...]:
    return tuple(conditions(case))


def _trial(truth: Truth, i: int, m: int, task: str, condition: str) -> Asked:
    case = truth.cases[i]
    about = (i, truth.made.models[m], task, condition)
    if i == truth.made.spoilt and _shows_first(case, condition):
        return Asked(*about, "excluded", "missing_file")
    if task == "fdx":
        return _choice(about, case, i, m, condition)
    return _words(about, case, i, m, task)


def _shows_first(case: EvidenceCase, condition: str) -> bool:
    """Tell whether the images of a case's first evidence are shown."""
    base, _, left_out = condition.partition(" without ")
    return not base.endswith("expert") and left_out != str(case.evidence[0].type)


About = tuple[int, str, str, str]


def _choice(about: About, case: EvidenceCase, i: int, m: int, condition: str) -> Asked:
    order = [int(o) for o in generator(0, "options", case.key).permutation(4)]
    how = manner(m, i, condition)
    if how == "fails":
        return Asked(*about, "provider_error", "not_recorded")
    p = belief(m, i, condition)
    numbers = {"gold_place": float(order.index(case.answer)), **_told(p)}
    if how != "says":
        status = {
            "refuses": ("refused", "declined"),
            "dodges": ("unparsed", "no_option"),
        }
        return Asked(*about, *status[how], "", numbers, tuple(p))
    option = chosen(m, i, condition)
    verdict = "scored_correct" if option == case.answer else "scored_wrong"
    text = f"{'ABCD'[order.index(option)]}. {case.options[option]}"
    return Asked(*about, verdict, "", text, numbers, tuple(p))


def _told(p: Sequence[float]) -> dict[str, float]:
    low, high = bounds(p)
    return {
        f"{name}_{o}": value
        for name, values in (("p", p), ("low", low), ("high", high))
        for o, value in enumerate(values)
    }


def bounds(p: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return how low and high each probability may be, each logarithm off by 1e-4."""
    less, more = exp(-TOLD_TO), exp(TOLD_TO)
    low = [x * less / (x * less + (1 - x) * more) for x in p]
    high = [x * more / (x * more + (1 - x) * less) for x in p]
    return low, high


def _words(about: About, case: EvidenceCase, i: int, m: int, task: str) -> Asked:
    how = manner(m, i, task)
    if how != "says":
        verdicts = {
            "fails": ("provider_error", "not_recorded"),
            "refuses": ("refused", "declined"),
            "dodges": ("unparsed", "no_diagnosis"),
        }
        return Asked(*about, *verdicts[how])
    names = listed(m, i, task, case)
    if task == "open_fdx":
        names = [case.options[(m + i) % 4]]
    return _as_judged(about, case, names)


def _as_judged(about: About, case: EvidenceCase, names: Sequence[str]) -> Asked:
    """Return what becomes of diagnoses, by rank, that the judge is shown."""
    i, _, task, _ = about
    ranks = [n for n, name in enumerate(names, 1) if name == case.diagnosis]
    first = {"first_match": float(ranks[0])} if ranks else {}
    text, score = "; ".join(names), judged(i, "raw", task)
    if score is None:
        return Asked(*about, "unparsed", "judge_unparsed", text, first)
    off = score == (1 if task == "ddx" else 0)
    numbers = {"judge": float(score), **first, **({"off_rubric": 1.0} if off else {})}
    verdict = "scored_correct" if score >= 4 else "scored_wrong"
    return Asked(*about, verdict, "off_rubric" if off else "", text, numbers)


@cache
def _all_beliefs(
    truth: Truth,
) -> Mapping[str, Mapping[tuple[int, str], tuple[float, ...]]]:
    return {
        model: {
            (one.number, one.condition): one.posterior
            for one in truth.trials
            if one.model == model and one.posterior
        }
        for model in truth.made.models
    }
