"""The frames that the study's tables are made of.

``answers`` has a row for each trial and column of the paper's tables that holds it,
``changes`` the same of clean, noisy and corrupted images, ``guesses`` a row for each
item that was asked without its image, ``official`` one for each trial that the authors'
script reads, ``choices`` one for each expert's choice and column, and ``votes`` one for
each group of experts, item and column.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.choice import ExpertChoice, letter_of
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import NOT_COUNTED, comparable, records
from viewer.results.spec import OF_WHOM, TRIALS
from viewer.studies.image_dependence import card_frames
from viewer.studies.pathology_mcq.arms import (
    CONTROLS,
    PLAIN,
    arm_of,
    corruption_of,
)
from viewer.studies.pathology_mcq.dataset_sizes import size_rows
from viewer.studies.pathology_mcq.guessing import Audit, audit
from viewer.studies.pathology_mcq.official_report import differing_rows
from viewer.studies.pathology_mcq.params import Arm, Params
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.scopes import OVERALL, TINY, Scope, scopes_of
from viewer.studies.pathology_mcq.validity import review_rows

ANSWERS: Final = "answers"
CHANGES: Final = "changes"
GUESSES: Final = "guesses"
OFFICIAL: Final = "official"
CHOICES: Final = "choices"
VOTES: Final = "votes"
REVIEWS: Final = "reviews"
SIZES: Final = "sizes"
CLEAN, OVER_KINDS = "clean", "overall"
"""What is shown: the image as it is, and corruptions of all kinds together."""


def frames(
    results: Sequence[TrialResult], items: Sequence[Item], params: Params
) -> dict[str, Frame]:
    """Return a run's frames by the names that its tables use."""
    mcqs = mcqs_of(tuple(items))
    asked = [mcqs[key] for key in dict.fromkeys(one.item for one in results)]
    answers, trials = answer_frame(results, asked), records(results)
    return {
        TRIALS: trials,
        **card_frames(trials, PLAIN, CONTROLS, (Arm.TEXT_ONLY,)),
        ANSWERS: answers,
        CHANGES: change_frame(answers),
        GUESSES: guess_frame(
            audit(results, params.guessed_by),
            mcqs,
            {one.item: one.patient for one in results},
        ),
        OFFICIAL: frame_of_rows(*differing_rows(results, mcqs, params)),
        **expert_frames(items, counted_of(results, mcqs)),
        REVIEWS: frame_of_rows(*review_rows(items)),
        SIZES: frame_of_rows(*size_rows(tuple(mcqs.values()))),
    }


def counted_of(
    results: Iterable[TrialResult], mcqs: Mapping[str, Mcq]
) -> tuple[Mcq, ...]:
    """Return the questions with at least one counted trial, in the order asked.

    Chance and experts are computed on the same questions as models (X-08).
    """
    counted = (one for one in results if one.score.status not in NOT_COUNTED)
    return tuple(mcqs[key] for key in dict.fromkeys(one.item for one in counted))


def expert_frames(items: Sequence[Item], counted: Sequence[Mcq]) -> dict[str, Frame]:
    """Return the experts' choices for counted items, each expert's and as groups."""
    choices, scopes = expert_choices(items), scopes_of(counted)
    return {
        CHOICES: choice_frame(choices, counted, scopes),
        VOTES: vote_frame(choices, counted, scopes),
    }


def expert_choices(items: Sequence[Item]) -> tuple[ExpertChoice, ...]:
    """Return the experts' choices, one for each reader and item that has one."""
    return tuple(
        ExpertChoice(str(group), str(reader), item.key, int(str(option)))
        for item in items
        for group, reader, option in _listed(item.reference.get("experts"))
    )


def answer_frame(results: Sequence[TrialResult], asked: Sequence[Mcq]) -> Frame:
    """Return the trials of each model and condition, by the columns that hold them."""
    by_key = {mcq.key: mcq for mcq in asked}
    trials = records(results).having(
        options=[len(by_key[one.item].options) for one in results],
        letter=[letter_of(by_key[one.item].correct) for one in results],
        chance=[1 / len(by_key[one.item].options) for one in results],
    )
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(results):
        places[one.model, one.condition].append(place)
    held = [
        (place, scope)
        for own in places.values()
        for scope in scopes_of(asked)
        for place in own
        if scope.holds(results[place].finding, results[place].view)
    ]
    return trials.take(place for place, _ in held).having(
        part=[scope.part for _, scope in held],
        subset=[scope.subset for _, scope in held],
    )


def asked_frame(asked: Sequence[Mcq]) -> Frame:
    """Return questions by the columns that hold them."""
    rows = (
        (scope.part, scope.subset, m.key, len(m.options), letter_of(m.correct))
        for scope in scopes_of(asked)
        for m in asked
        if scope.holds(m.subset, m.split)
    )
    return frame_of_rows(("part", "subset", "item", "options", "letter"), rows)


def change_frame(answers: Frame) -> Frame:
    """Return the trials with unchanged images, noise, or a corruption at a level.

    Corruptions are of the tiny test (Sun 2024, 4.2); each stands here under its kind
    and under all kinds together. A condition that got no reply from a model counts for
    nothing.
    """
    answers = comparable(answers, "model", "condition")
    header = (
        *("model", "part", "subset", "shown", "kind", "level"),
        *("counted", "correct", "pair", "chance", *OF_WHOM),
    )
    columns = ("model", "part", "subset", "condition", "comparable", "correct")
    more = zip(
        *(answers.each("item", "repeat"), answers["chance"], answers.each(*OF_WHOM)),
        strict=True,
    )
    rows = (
        (*row, *whom)
        for one, (of, chance, whom) in zip(answers.each(*columns), more, strict=True)
        for row in _shown(*one, pair=of, chance=chance)
    )
    return frame_of_rows(header, rows)


def _shown(
    model: str,
    part: str,
    subset: str,
    condition: str,
    *verdict: bool,
    pair: tuple[object, ...],
    chance: float,
) -> Iterator[tuple[object, ...]]:
    where, ended = (model, part, subset), (*verdict, pair, chance)
    if condition == PLAIN:
        yield (*where, CLEAN, "", 0, *ended)
    elif condition == Arm.NOISE:
        yield (*where, Arm.NOISE.value, "", 0, *ended)
    elif arm_of(condition) is Arm.CORRUPTION and (part, subset) == (TINY, OVERALL):
        kind, level = corruption_of(condition)
        counted, _ = verdict
        if counted:
            yield from (
                (*where, one, kind, level, *ended) for one in (kind, OVER_KINDS)
            )


def guess_frame(
    found: Audit, mcqs: Mapping[str, Mcq], patients: Mapping[str, str]
) -> Frame:
    """Return each item with the models that guess it, and its classification.

    ``guessable`` is empty if unknown. ``patients`` are those of the items.
    """
    header = (
        *("item", "subset", "split", "asked", "guessed", "models", "guessable"),
        *("out", "told", "guessed_by", "of_models", "patient"),
    )
    rows = (
        (
            *(one.item, mcqs[one.item].subset, mcqs[one.item].split),
            *(one.asked, len(one.by), " ".join(one.by)),
            None if verdict is None else int(verdict),
            *(verdict is True, verdict is not None, found.threshold, found.models),
            patients[one.item],
        )
        for one in found.items
        for verdict in [found.verdict(one)]
    )
    return frame_of_rows(header, rows)


def choice_frame(
    choices: Iterable[ExpertChoice], asked: Sequence[Mcq], scopes: Sequence[Scope]
) -> Frame:
    """Return each expert's choices for the items asked, by column of the table.

    ``whole`` where every group read all items of the column.
    """
    known = list(choices)
    header = ("part", "subset", "group", "reader", "item", "correct", "items", "whole")
    rows = (
        (scope.part, scope.subset, c.group, c.reader, c.item, right, len(truth), whole)
        for scope in scopes
        for truth in [_truth(asked, scope)]
        for whole in [_read_whole(known, truth)]
        for c in known
        if c.item in truth
        for right in [c.option == truth[c.item]]
    )
    return frame_of_rows(header, rows)


def _read_whole(choices: Iterable[ExpertChoice], truth: Mapping[str, int]) -> bool:
    read: dict[str, set[str]] = defaultdict(set)
    for one in choices:
        read[one.group] |= {one.item} & truth.keys()
    return all(len(items) in {0, len(truth)} for items in read.values())


def vote_frame(
    choices: Iterable[ExpertChoice], asked: Sequence[Mcq], scopes: Sequence[Scope]
) -> Frame:
    """Return whether most of a group chose the right option, in each column.

    A tie has no majority and counts as wrong.
    """
    votes: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for one in choices:
        votes[one.group, one.item][one.option] += 1
    rows = (
        (scope.part, scope.subset, group, item, _majority(of) == truth[item])
        for scope in scopes
        for truth in [_truth(asked, scope)]
        for (group, item), of in votes.items()
        if item in truth
    )
    return frame_of_rows(("part", "subset", "group", "item", "correct"), rows)


def _truth(asked: Sequence[Mcq], scope: Scope) -> dict[str, int]:
    return {m.key: m.correct for m in asked if scope.holds(m.subset, m.split)}


def _majority(votes: Counter[int]) -> int | None:
    (most, count), *others = votes.most_common(2)
    return None if others and others[0][1] == count else most


def _listed(value: object) -> Iterator[tuple[object, object, object]]:
    for entry in value if isinstance(value, list) else ():
        group, reader, option = entry
        yield group, reader, option
