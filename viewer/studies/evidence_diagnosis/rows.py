"""Answers as the study counts them: those of models, and those of physicians."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from viewer.domain.answer import ChoiceAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.evidence import EvidenceCase
from viewer.domain.item import Item, item_of
from viewer.domain.physician import is_consensus
from viewer.domain.result import Score, TrialResult
from viewer.metrics.posterior import Posterior
from viewer.results.records import NOT_COUNTED
from viewer.studies.evidence_diagnosis.beliefs import posterior_of, rapt_of
from viewer.studies.evidence_diagnosis.params import (
    JUDGES,
    PREPARING,
    Params,
    Task,
)
from viewer.studies.evidence_diagnosis.people import PHYSICIANS, Answered, answered
from viewer.studies.evidence_diagnosis.plan import conditions
from viewer.studies.evidence_diagnosis.score import (
    FIRST_MATCH,
    JUDGE,
    JUDGED_BY,
    first_match,
)
from viewer.studies.evidence_diagnosis.showing import Showing


@dataclass(frozen=True)
class Row:
    """One trial: a case, a task, a way to show the case, a model, and the result.

    ``judge`` is the judge's score, ``first_match`` the rank of the diagnosis in words,
    ``chosen`` the option's index in the case's order, ``place`` the letter of the right
    one, from 0; each None if there is none. ``rapt`` has (section, layer, value).
    ``person`` is True if a physician answered. ``judges`` are the scores of each of
    several judges, None where one is missing. ``patient`` is the case's, "" if it is
    the case itself.
    """

    case: EvidenceCase
    model: str
    task: Task
    showing: Showing
    status: Status
    judge: float | None = None
    first_match: int | None = None
    chosen: int | None = None
    place: int | None = None
    posterior: Posterior | None = None
    repeat: int = 0
    rapt: tuple[tuple[str, int, float], ...] = ()
    person: bool = False
    patient: str = ""
    judges: tuple[float | None, ...] = ()


def rows_of(
    results: Sequence[TrialResult], dataset: Dataset, params: Params
) -> tuple[Row, ...]:
    """Return the trials of a run that ask about cases."""
    items = {item.key: item for item in dataset.items}
    known = {c.name: Showing.of_condition(c) for c in conditions(params)}
    cases: dict[str, EvidenceCase] = {}
    return tuple(
        _row(one, items, cases, known[one.condition], params)
        for one in results
        if Task(one.finding) not in PREPARING and one.model != PHYSICIANS.name
    )


Judged = Mapping[tuple[str, str], TrialResult]
"""Judged differentials of physicians by case and reader."""


def judged_of(results: Sequence[TrialResult], dataset: Dataset) -> Judged:
    """Return the trials that judge physicians' answers, by item and reader."""
    items = {item.key: item for item in dataset.items}
    found = {}
    for one in results:
        if one.model == PHYSICIANS.name:
            item = item_of(items, one.item)
            found[item.key, answered(item)[one.repeat].reader] = one
    return found


def _row(
    one: TrialResult,
    items: Mapping[str, Item],
    cases: dict[str, EvidenceCase],
    showing: Showing,
    params: Params,
) -> Row:
    item = item_of(items, one.item)
    case = cases.setdefault(item.key, EvidenceCase.of_item(item))
    return Row(
        case=case,
        model=one.model,
        task=Task(one.finding),
        showing=showing,
        status=one.score.status,
        judge=one.score.number(JUDGE),
        first_match=_whole(one.score.number(FIRST_MATCH)),
        chosen=one.said.option if isinstance(one.said, ChoiceAnswer) else None,
        place=_place(one.gold),
        posterior=posterior_of(one.score, params.estimator),
        repeat=one.repeat,
        rapt=rapt_of(one.score),
        patient=item.patient,
        judges=_by_judges(one.score),
    )


def _place(gold: str) -> int | None:
    """Return the letter of the right option, answered or not."""
    truth = json.loads(gold) if gold else {}
    return int(truth["order"].index(truth["right"])) if "right" in truth else None


MEAN_OF_READERS: Final = "mean of individual readers"
"""The row of all physicians who answered alone, if there are several."""
CONSENSUS_OF_READERS: Final = "consensus of readers"
"""The row of the answers that physicians gave together."""


def people_rows(
    items: Iterable[Item], judged: Judged = MappingProxyType({})
) -> tuple[Row, ...]:
    """Return the physicians' answers as the tables count them (E004-20, -24).

    A choice is right or wrong; without a choice there is no answer. A differential has
    the judge's verdict; without one (``judged``) only the rank at which the diagnosis
    appears verbatim is known. The answers of several who answered alone follow once
    more as those of their mean, each of them a repeat.
    """
    found: list[Row] = []
    averaged: list[Row] = []
    readers: dict[str, int] = {}
    for item in items:
        case = EvidenceCase.of_item(item)
        for one in answered(item):
            together = is_consensus(one.reader)
            who = CONSENSUS_OF_READERS if together else one.reader
            trial = judged.get((item.key, one.reader))
            own = _person(case, who, item.patient, one, trial)
            found += own
            if not together:
                place = readers.setdefault(one.reader, len(readers))
                averaged += (
                    replace(row, model=MEAN_OF_READERS, repeat=place) for row in own
                )
    return (*found, *(averaged if len(readers) > 1 else ()))


def _person(
    case: EvidenceCase,
    who: str,
    patient: str,
    answer: Answered,
    trial: TrialResult | None,
) -> tuple[Row, Row]:
    """Return a physician's differential and choice."""
    right = answer.option == case.answer
    verdict = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    chosen = Status.UNPARSED if answer.option is None else verdict
    row = Row(case, who, Task.FDX, Showing(), chosen, person=True, patient=patient)
    listed = _differential(replace(row, task=Task.DDX), answer, trial)
    return listed, replace(row, chosen=answer.option)


def _differential(row: Row, answer: Answered, trial: TrialResult | None) -> Row:
    """Return a physician's differential as it was judged, if it was."""
    if trial is None:
        match = first_match(answer.differential, row.case.diagnosis)
        return replace(row, status=Status.EXCLUDED, first_match=match)
    return replace(
        row,
        status=trial.score.status,
        judge=trial.score.number(JUDGE),
        first_match=_whole(trial.score.number(FIRST_MATCH)),
        judges=_by_judges(trial.score),
    )


def _by_judges(score: Score) -> tuple[float | None, ...]:
    return tuple(score.number(JUDGED_BY.format(n)) for n in range(1, len(JUDGES) + 1))


def beside_models(people: Sequence[Row], rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return people's answers to the cases that models' answers count of (X-08).

    If every model's trial of a case and task is left out, so are people's answers, and
    if they are pending, so are these. Without models all answers count.
    """
    asked: dict[tuple[str, Task, Showing], set[Status]] = defaultdict(set)
    for row in rows:
        asked[row.case.key, row.task, row.showing].add(row.status)
    return tuple(
        replace(one, status=_beside(one.status, asked[one.case.key, one.task, _RAW]))
        for one in people
    )


_RAW: Final = Showing()


def _beside(own: Status, of_models: Collection[Status]) -> Status:
    if not of_models or {*of_models} - NOT_COUNTED:
        return own
    return Status.PENDING if Status.PENDING in of_models else Status.EXCLUDED


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
