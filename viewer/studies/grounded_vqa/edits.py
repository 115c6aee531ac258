"""The frames of perturbation tests: what was edited, and the same words elsewhere.

``edits`` has a row for each question and test with an edit. ``worded`` has the swapped
questions, and the same words asked about other images in which the finding is present.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import LabelsAnswer, Status, YesNoAnswer
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import NOT_COUNTED
from viewer.studies.grounded_vqa.about import About, question_name
from viewer.studies.grounded_vqa.arms import (
    APPROXIMATE,
    TEXT_SHAM,
    is_perturbed,
    perturbation_of,
    way_of,
)
from viewer.studies.grounded_vqa.questions import Kind
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING

YES: Final = "Yes"
NO: Final = "No"
APPROXIMATION: Final = "LobA-approximation"
"""What stands at every row of a region that was only drawn (E002-15)."""
TEXTUAL: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "TPT anatomy": ("tpt-anatomy", (TEXT_SHAM,)),
    "TPT disease": ("tpt-disease", (TEXT_SHAM,)),
}
VISUAL: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "VPT": (Arm.DONOR.value, (Arm.SAME.value,)),
    "VPT, own region": (Arm.DONOR.value, (Arm.OWN.value,)),
}
"""Each test's condition, and those of the shams beside it (E002-11).

A donor with the same finding has the seams of one without, and the image's own region
is shifted in grey until its seam is as visible as the donor's.
"""
TESTS: Final = {**TEXTUAL, **VISUAL}


def note_of(condition: str) -> str:
    """Return the note that must be shown with a condition's numbers."""
    return APPROXIMATION if way_of(condition) in APPROXIMATE else ""


def labels_of(one: TrialResult) -> tuple[str, ...]:
    """Return the labels of an answer; none if it could not be read."""
    if isinstance(one.said, YesNoAnswer):
        return (YES if one.said.yes else NO,)
    if isinstance(one.said, LabelsAnswer):
        return one.said.labels or (NO_FINDING,)
    return ()


@dataclass(frozen=True, slots=True)
class _Way:
    """The trials of one model in one way of asking, perturbed ones among them."""

    model: str
    way: str
    results: tuple[TrialResult, ...]


def edit_frame(
    results: Sequence[TrialResult],
    about: About,
    rejected: Collection[str] = (),
) -> Frame:
    """Return a row for each model, way, test and question that was to be edited.

    ``positive`` are the model's true positives that were asked about, ``shared`` those
    shared by all models in all ways that have any; a test is ``controlled`` if a sham
    of it was asked, and ``comparable`` if any edit and any sham got a reply. Edits and
    shams on images with a ``rejected`` name are left out of the visual tests.
    ``edit_share`` and ``sham_share`` of the edits and shams were answered No.
    """
    header = (
        *("model", "condition", "note", "test", "item", "patient"),
        *("anatomy", "finding", "place", "positive"),
        *(
            "controlled",
            "comparable",
            "shared",
            "edited",
            "n_edits",
            "n_flipped",
            "n_unread",
            "n_rejected",
        ),
        *("edit_share", "sham_share"),
    )
    ways = tuple(_by_way(results))
    return frame_of_rows(
        header,
        (row for name in TESTS for row in _rows_of_test(ways, name, about, rejected)),
    )


def _by_way(results: Sequence[TrialResult]) -> Iterator[_Way]:
    found: dict[tuple[str, str], list[TrialResult]] = defaultdict(list)
    for one in results:
        found[one.model, way_of(one.condition)].append(one)
    for (model, way), of in found.items():
        yield _Way(model, way, tuple(of))


def _rows_of_test(
    ways: Sequence[_Way], name: str, about: About, rejected: Collection[str]
) -> Iterator[tuple[object, ...]]:
    left_out = rejected if name in VISUAL else ()
    for way, questions, shared in _tested(ways, name, left_out):
        condition, shams = TESTS[name]
        controlled = _has(way.results, {*shams})
        comparable = all(_replied(way.results, one) for one in ({condition}, {*shams}))
        for key, of in questions.items():
            edits = [answer for _, answer in of.edits]
            yield (
                *(way.model, way.way, note_of(way.way), name),
                *(question_name(of.one), of.one.patient, about.anatomy(of.one)),
                *(of.one.finding, about.place(of.one)),
                *(of.positive, controlled, comparable, key in shared),
                bool(edits or of.rejected),
                *(len(edits), edits.count(NO), edits.count(""), of.rejected),
                *(_share(edits), _share(of.shams)),
            )


def word_frame(results: Sequence[TrialResult]) -> Frame:
    """Return the questions that swaps ask, and the same words where they are right.

    There is a row for each of a test's ``swapped`` questions, and one for each positive
    question that the model was asked in the same words, template included, in the same
    way. Denials of these cannot come from seeing that the finding is absent, so they
    show how the words alone are answered. ``shared`` among models applies to swapped
    questions only.
    """
    header = (
        *("model", "condition", "note", "test", "patient", "shared"),
        *("words", "swapped", "said"),
    )
    ways = tuple(_by_way(results))
    return frame_of_rows(
        header, (row for name in TEXTUAL for row in _words_of_test(ways, name))
    )


def _words_of_test(ways: Sequence[_Way], name: str) -> Iterator[tuple[object, ...]]:
    for way, questions, shared in _tested(ways, name):
        about = way.model, way.way, note_of(way.way), name
        asked = set()
        for key, of in questions.items():
            for words, answer in of.edits:
                asked.add(words)
                yield (*about, of.one.patient, key in shared, words, True, answer)
        for one in way.results:
            if _is_positive(one) and one.condition == way.way:
                words = _words(one)
                if words and words in asked:
                    yield (*about, one.patient, True, words, False, _yes_no(one))


def _is_positive(one: TrialResult) -> bool:
    is_counted = one.score.status not in NOT_COUNTED
    return is_counted and one.view == Kind.POSITIVE.value


def _words(one: TrialResult) -> str:
    """Return a closed question's subject, and its template, "" if unknown."""
    words = json.loads(one.gold).get("words") if one.gold else None
    return json.dumps(words) if words else ""


def _tested(
    ways: Sequence[_Way], name: str, rejected: Collection[str] = ()
) -> Iterator[tuple[_Way, Mapping[str, "_Probed"], frozenset[str]]]:
    """Yield the ways in which a test was asked, with its questions by key.

    Last come the keys of the true positives that all of them share. A model without any
    in a way cannot be compared there, and does not keep the others from it.
    """
    condition, shams = TESTS[name]
    asked = [way for way in ways if _has(way.results, {condition})]
    probed = [_probed(way.results, condition, shams, rejected) for way in asked]
    keys = [
        frozenset(key for key, of in found.items() if of.positive) for found in probed
    ]
    some = [own for own in keys if own]
    shared = frozenset.intersection(*some) if some else frozenset()
    for way, found in zip(asked, probed, strict=True):
        yield way, found, shared


def _has(results: Iterable[TrialResult], tests: set[str]) -> bool:
    return any(perturbation_of(one.condition) in tests for one in results)


def _replied(results: Iterable[TrialResult], tests: set[str]) -> bool:
    unanswered = {*NOT_COUNTED, Status.PROVIDER_ERROR}
    return _has((one for one in results if one.score.status not in unanswered), tests)


@dataclass(slots=True)
class _Probed:
    """One question: words of its edits with what was answered, answers to its shams.

    ``one`` is any of its trials. So many edits are ``rejected`` and not among them.
    """

    one: TrialResult
    positive: bool
    edits: list[tuple[str, str]]
    shams: list[str]
    rejected: int = 0


def _probed(
    results: Sequence[TrialResult],
    condition: str,
    shams: Sequence[str],
    rejected: Collection[str],
) -> dict[str, _Probed]:
    """Return the questions of a test with the answers to edits and shams.

    A pending question is not a true positive yet; one without an edit counts only in
    the base.
    """
    positive = _true_positives(results)
    found: dict[str, _Probed] = {}
    for one in results:
        test = perturbation_of(one.condition)
        if test not in {condition, *shams}:
            continue
        key = _base(one)
        of = found.setdefault(key, _Probed(one, False, [], []))
        if key not in positive or one.score.status is Status.PENDING:
            continue
        of.positive = True
        if one.score.status is Status.EXCLUDED:
            continue
        if one.item in rejected:
            of.rejected += test == condition
        elif test == condition:
            of.edits.append((_words(one), _yes_no(one)))
        else:
            of.shams.append(_yes_no(one))
    return found


def _yes_no(one: TrialResult) -> str:
    """Return Yes or No, "" if there is neither."""
    return "".join(labels_of(one)) if isinstance(one.said, YesNoAnswer) else ""


def _share(replies: Sequence[str]) -> float | None:
    return replies.count(NO) / len(replies) if replies else None


def _true_positives(results: Iterable[TrialResult]) -> frozenset[str]:
    """Return the positive questions, by repeat, that a model answered with yes.

    These are the ones that were followed up, and those whose own trial is a yes. A
    perturbed trial that failed does not show whether there was a yes.
    """
    counted = (r for r in results if r.score.status not in NOT_COUNTED)
    return frozenset(
        _base(r) for r in counted if _was_followed_up(r) or _is_true_positive(r)
    )


def _was_followed_up(result: TrialResult) -> bool:
    failed = result.score.status is Status.PROVIDER_ERROR
    return is_perturbed(result.condition) and not failed


def _is_true_positive(result: TrialResult) -> bool:
    positive = result.view == Kind.POSITIVE.value
    return positive and result.score.status is Status.SCORED_CORRECT


def _base(result: TrialResult) -> str:
    """Return the question that a trial asks, and its repeat."""
    return f"{question_name(result)} {result.repeat}"
