"""Where models, readers and the reference disagree, question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.services.inspecting.predictions.cases import wanted_trials
from viewer.services.inspecting.predictions.groups import grouped
from viewer.services.inspecting.predictions.view import Ints, ResultsView, Wanted
from viewer.services.inspecting.runs import run_list
from viewer.store import flat
from viewer.store.database import Store, open_store
from viewer.store.flat import FlatStratum

Bools = npt.NDArray[np.bool_]


class Between(StrEnum):
    """Whose disagreement to look for."""

    REFERENCE = "reference"
    """An answer is not what the reference says."""
    MODELS = "models"
    """Of two models, asked the same of the same image, one hits and one does not."""
    READERS = "readers"
    """Of a reader and a model, asked the same, one hits and one does not."""


_UNSETTLED: Final = (Status.PENDING, Status.EXCLUDED, Status.PROVIDER_ERROR)
"""Trials that say nothing of what was answered."""
_CONDITION: Final = 24


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question with a disagreement.

    ``trial`` missed; ``others`` are the trials that hit, empty if only the reference
    contradicts it.
    """

    trial: int
    others: tuple[int, ...] = ()


def all_of(store: Path, run: int | None) -> ResultsView:
    """Return every prediction of a run as one row; None for the newest run.

    Raises
    ------
    WrongUseError
        If there is no run yet.
    """
    runs = [one.id for one in run_list(store)]
    if not runs:
        raise WrongUseError(
            "There is no run yet, so nothing disagrees.",
            "Ask models about the images with Batch… first.",
        )
    return grouped(store, (), Wanted(runs=(run or max(runs),)))


def disagreements(
    store: Path, view: ResultsView, row: int | None, between: Between
) -> tuple[Disagreement, ...]:
    """Return the disagreements among the trials of a row, or of all rows, in order.

    Other answers to the same question are searched among all models of the selected
    runs, not only in the row. Trials without an answer (excluded, failed, pending)
    disagree with nobody.
    """
    own = view.wanted if row is None else view.wanted.of_group(view.by, view.keys[row])
    with open_store(store) as opened, opened.snapshot():
        answered = _answered(opened)
        mine = wanted_trials(opened, own, answered)
        hits = _hits(opened)
        if between is Between.REFERENCE:
            missed = mine[~np.isin(mine[:, 1], hits), 0]
            return tuple(map(Disagreement, missed.tolist()))
        field = wanted_trials(opened, _of_any_model(own), answered)
        asked = _same_questions(opened, field, hits)
        readers = flat.reader_models(opened)
    chosen = set(mine[:, 0].tolist())
    found = (_disagreement(answers, chosen, between, readers) for answers in asked)
    return tuple(sorted((one for one in found if one), key=lambda one: one.trial))


@dataclass(frozen=True, slots=True)
class _Answer:
    trial: int
    model: str
    hit: bool


def _of_any_model(wanted: Wanted) -> Wanted:
    return Wanted(
        runs=wanted.runs,
        findings=wanted.findings,
        views=wanted.views,
        conditions=wanted.conditions,
        patient=wanted.patient,
        patient_is=wanted.patient_is,
    )


def _answered(store: Store) -> list[flat.FlatVerdict]:
    return [one for one in flat.verdicts(store) if one.status not in _UNSETTLED]


def _hits(store: Store) -> list[int]:
    every = flat.verdicts(store)
    return [one.id for one in every if one.status is Status.SCORED_CORRECT]


def _same_questions(
    store: Store, trials: Ints, hits: Sequence[int]
) -> list[list[_Answer]]:
    """Return the answers to each question with both hits and misses.

    Questions are the same for one item of a data set, under one condition and repeat.
    """
    strata = {one.id: one for one in flat.strata(store)}
    mixed = _mixed(trials, np.isin(trials[:, 1], hits), strata)
    mixed_trials = trials[mixed]
    repeats = flat.repeats(store, mixed_trials[:, 0].tolist())
    asked: dict[tuple[int, str, int], list[_Answer]] = {}
    for trial, verdict, item, stratum in mixed_trials.tolist():
        of = strata[stratum]
        answer = _Answer(trial, of.model, verdict in hits)
        asked.setdefault((item, of.condition, repeats[trial]), []).append(answer)
    return list(asked.values())


def _mixed(trials: Ints, hit: Bools, strata: Mapping[int, FlatStratum]) -> Bools:
    """Mark the trials of items with both hits and misses under a condition."""
    names = sorted({one.condition for one in strata.values()})
    code = np.zeros(1 + max(strata, default=0), np.int64)
    for one in strata.values():
        code[one.id] = names.index(one.condition)
    key = trials[:, 2] << _CONDITION | code[trials[:, 3]]
    _, question = np.unique(key, return_inverse=True)
    n_hit = np.bincount(question, weights=hit)
    n = np.bincount(question)
    both = (n_hit > 0) & (n_hit < n)
    return both[question]


def _disagreement(
    answers: Sequence[_Answer],
    chosen: set[int],
    between: Between,
    readers: frozenset[str],
) -> Disagreement | None:
    """Return the first miss with the hits; None if no selected one is involved."""
    for miss in (one for one in answers if not one.hit):
        others = tuple(
            one.trial
            for one in answers
            if one.hit and _are(miss.model, one.model, between, readers)
        )
        if others and not chosen.isdisjoint({miss.trial, *others}):
            return Disagreement(miss.trial, others)
    return None


def _are(a: str, b: str, between: Between, readers: frozenset[str]) -> bool:
    """Tell whether two names are those that a tour is about."""
    n_readers = (a in readers) + (b in readers)
    return a != b and n_readers == (1 if between is Between.READERS else 0)
