"""Agreement of a study's readers on its scales, choices and outlines (3.7)."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Final

from viewer.domain.answer import MaskAnswer
from viewer.domain.case import Dataset
from viewer.domain.form import (
    ChoiceQuestion,
    LikertQuestion,
    PlaceQuestion,
    Question,
    RevealedChoiceQuestion,
)
from viewer.domain.report import Table
from viewer.metrics.agreement import Agreement, Weighting, cohen_kappa, gwet_ac
from viewer.metrics.estimate import Estimate
from viewer.metrics.harmonised import overlap
from viewer.metrics.intervals import Interval
from viewer.metrics.krippendorff import Scale, krippendorff_alpha
from viewer.metrics.pairing import bounded_mean
from viewer.metrics.planning import Plan, Variances, plans, variances
from viewer.services.readings.criteria import criteria_agreement
from viewer.services.sessions.datasets import locked_cases
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.standings import standings_of
from viewer.store import cases, readings
from viewer.store.database import Store, open_store

Label = str | int
_HEADER: Final = (
    *("question", "measure", "readers", "n"),
    *("value", "low", "high", "method", "reason"),
)


@dataclass(frozen=True)
class RatingAgreement:
    """Agreement of readers on one question.

    ``kappas`` are between every two readers, by name: with quadratic weights on a
    scale, unweighted on a choice. ``alpha`` and ``ac`` are for all readers together:
    ordinal α and AC2 on a scale, nominal α and AC1 on a choice. Intervals are by
    patient.
    """

    question: str
    readers: tuple[str, ...]
    kappas: Mapping[tuple[str, str], Agreement]
    alpha: Agreement
    ac: Agreement


def rating_agreement(store: Path, session: int) -> tuple[RatingAgreement, ...]:
    """Return the agreement of readers of a session's work, by question.

    Locations and free text are left out, as are choices whose options depend on the
    case, withdrawn readers, and tasks that have criteria to compare. A single reader
    has no agreement.
    """
    with open_store(store) as opened:
        first = ground_of(opened, session)
        if first.task and first.task.criteria:
            return ()
        ratings = _ratings(opened, first)
        dataset = cases.dataset_named(opened, first.session.dataset)
        patients = _patients(opened, first, dataset)
    if len(ratings) < 2:
        return ()
    return tuple(
        _of_question(question, labels, ratings, patients)
        for question, labels in _rated(first)
    )


def _ratings(store: Store, first: Ground) -> dict[str, dict[str, Mapping[str, object]]]:
    """Return what every reader of a session's work locked, by case."""
    ratings: dict[str, dict[str, Mapping[str, object]]] = defaultdict(dict)
    for row in readings.session_rows(store, work=first.session.work):
        if row.withdrawn:
            continue
        ground = ground_of(store, row.id)
        tasks = readings.tasks_of(store, row.id)
        for task, standing in zip(tasks, standings_of(store, ground), strict=True):
            if standing.complete:
                ratings[row.reader][_unit(task)] = standing.values
    return ratings


def _patients(store: Store, first: Ground, dataset: Dataset) -> dict[str, str]:
    """Return the patient of each case of a session's work."""
    of_image = {image.key: image.patient for image in dataset.images}
    items = {item.key: item.images for item in dataset.items}
    found: dict[str, str] = {}
    for row in readings.session_rows(store, work=first.session.work):
        for task in readings.tasks_of(store, row.id):
            first_image = next(iter(items.get(task.item, ())), task.image)
            found[_unit(task)] = of_image.get(first_image, task.item)
    return found


def _unit(task: readings.PlannedTask) -> str:
    return task.item if task.trial is None else f"trial {task.trial}"


def _rated(ground: Ground) -> list[tuple[Question, tuple[Label, ...]]]:
    """Return the questions with labels that every case shares, with those labels."""
    found: list[tuple[Question, tuple[Label, ...]]] = []
    for question in ground.form.questions:
        if isinstance(question, LikertQuestion):
            found.append((question, tuple(level for level, _ in question.levels)))
        elif isinstance(question, ChoiceQuestion | RevealedChoiceQuestion):
            keys = tuple(option.key for option in question.options)
            found += [(question, keys)] if keys else []
    return found


def _of_question(
    question: Question,
    labels: Sequence[Label],
    by_reader: Mapping[str, Mapping[str, Mapping[str, object]]],
    patients: Mapping[str, str],
) -> RatingAgreement:
    units = sorted({unit for by_unit in by_reader.values() for unit in by_unit})
    ratings = {
        reader: [_label(by_unit.get(unit, {}).get(question.id)) for unit in units]
        for reader, by_unit in by_reader.items()
    }
    ordinal = isinstance(question, LikertQuestion)
    weighting = Weighting.QUADRATIC if ordinal else Weighting.UNWEIGHTED
    scale = Scale.ORDINAL if ordinal else Scale.NOMINAL
    everybody = tuple(ratings.values())
    of = [patients[unit] for unit in units]
    return RatingAgreement(
        question.id,
        tuple(ratings),
        {
            (one, other): cohen_kappa(
                ratings[one], ratings[other], labels, weighting, of
            )
            for one, other in combinations(ratings, 2)
        },
        krippendorff_alpha(everybody, labels, scale, of),
        gwet_ac(everybody, labels, weighting, of),
    )


def _label(value: object) -> Hashable | None:
    return value if isinstance(value, str | int) else None


@dataclass(frozen=True)
class MaskAgreement:
    """How far two annotators outlined the same: the mean Dice coefficient.

    ``masks`` are what both drew; the interval allows for images that share patients.
    """

    question: str
    first: str
    second: str
    masks: int
    dice: Estimate


def mask_agreement(store: Path, session: int) -> tuple[MaskAgreement, ...]:
    """Return the agreement of annotators of a session's work, by question and pair.

    A mask that only one of the two drew is not compared.
    """
    with open_store(store) as opened:
        first = ground_of(opened, session)
        questions = [q.id for q in first.form.questions if isinstance(q, PlaceQuestion)]
        if not questions:
            return ()
        drawn: dict[str, dict[tuple[str, str], MaskAnswer]] = defaultdict(dict)
        for row in readings.session_rows(opened, work=first.session.work):
            ground = ground_of(opened, row.id)
            for case in () if row.withdrawn else locked_cases(opened, ground):
                for name in questions:
                    value = case.values.get(name)
                    if isinstance(value, MaskAnswer):
                        drawn[row.reader][name, case.item] = value
        dataset = cases.dataset_named(opened, first.session.dataset)
    patients = {image.key: image.patient for image in dataset.images}
    return tuple(
        one
        for name in questions
        for pair in combinations(drawn, 2)
        if (one := _masks_of(name, pair, drawn, patients)).masks
    )


def _masks_of(
    question: str,
    pair: tuple[str, str],
    drawn: Mapping[str, Mapping[tuple[str, str], MaskAnswer]],
    patients: Mapping[str, str],
) -> MaskAgreement:
    mine, theirs = (drawn[reader] for reader in pair)
    both = [key for key in mine if key[0] == question and key in theirs]
    by_patient: dict[str, list[float]] = defaultdict(list)
    for key in both:
        dice = overlap(mine[key].mask.array(), theirs[key].mask.array()).dice
        by_patient[patients.get(key[1], key[1])].append(dice)
    estimate = bounded_mean(tuple(by_patient.values()), (0.0, 1.0))
    return MaskAgreement(question, *pair, len(both), estimate)


def agreement_table(store: Path, session: int) -> Table:
    """Return the agreement of readers of a session's work, a row for each measure.

    ``n`` is how many cases, or masks, two readers or more have in common. ``value`` is
    empty where it is undefined, and ``reason`` says why; ``low`` and ``high`` are the
    95 % interval, which allows for cases of the same patient.
    """
    rows = [
        (of.question, measure, readers, found.units, *_row(found))
        for of in rating_agreement(store, session)
        for measure, readers, found in _measures(of)
    ]
    for one in criteria_agreement(store, session):
        who = (f"{one.first}; {one.second}", one.judged)
        rows += [
            (one.criterion, "same", *who, *_estimated(one.same)),
            (one.criterion, "kappa", *who, *_estimated(one.kappa)),
            (one.criterion, "ac", *who, *_row(one.ac)),
        ]
    for drawn in mask_agreement(store, session):
        who = (f"{drawn.first}; {drawn.second}", drawn.masks)
        rows.append((drawn.question, "dice", *who, *_estimated(drawn.dice)))
    return Table("agreement", _HEADER, tuple(rows))


def _measures(of: RatingAgreement) -> Iterator[tuple[str, str, Agreement]]:
    for pair, kappa in of.kappas.items():
        yield "kappa", "; ".join(pair), kappa
    everybody = "; ".join(of.readers)
    yield "alpha", everybody, of.alpha
    yield "ac", everybody, of.ac


def _estimated(found: Estimate) -> tuple[object, ...]:
    return (*_ends(found.value, found.interval), found.method, "")


def _row(found: Agreement) -> tuple[object, ...]:
    return (*_ends(found.value, found.interval), found.method, found.reason)


def _ends(value: float, interval: Interval) -> tuple[float | None, ...]:
    ends = value, interval.low, interval.high
    return tuple(None if isnan(end) else end for end in ends)


@dataclass(frozen=True)
class RatingPlan:
    """The readers and cases that a scale's mean needs, from what was read so far.

    ``cases`` were rated by all ``readers``; ``of`` are their variance components.
    """

    question: str
    readers: int
    cases: int
    of: Variances
    plans: tuple[Plan, ...]


def rating_plans(
    store: Path, session: int, half_width: float
) -> tuple[RatingPlan, ...]:
    """Return plans for each scale of a session's work, () with a single reader.

    Only cases that every reader rated count.
    """
    with open_store(store) as opened:
        first = ground_of(opened, session)
        by_reader = _ratings(opened, first)
    scales = [q.id for q in first.form.questions if isinstance(q, LikertQuestion)]
    found = (_plan(name, by_reader, half_width) for name in scales)
    return tuple(one for one in found if one is not None)


def _plan(
    question: str,
    by_reader: Mapping[str, Mapping[str, Mapping[str, object]]],
    half_width: float,
) -> RatingPlan | None:
    levels = {
        reader: {
            unit: level
            for unit, values in by_unit.items()
            if isinstance(level := values.get(question), int)
        }
        for reader, by_unit in by_reader.items()
    }
    shared = set.intersection(*map(set, levels.values())) if levels else set()
    units = sorted(shared)
    ratings = [[of[unit] for unit in units] for of in levels.values()]
    if len(ratings) < 2 or len(units) < 2:
        return None
    of = variances(ratings)
    return RatingPlan(question, len(ratings), len(units), of, plans(of, half_width))
