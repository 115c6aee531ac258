"""The frames that the study's tables are made of.

``trials`` has a row for each trial, ``edits`` one for each question and test of which
an edit was asked, ``questions`` one for each question of the data set, and ``passes``
one for each question with its answers side by side. ``disagreements`` has the open
answers that an extracting model and the dictionary read otherwise.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Final

from viewer.domain.answer import LabelsAnswer, Status, YesNoAnswer
from viewer.domain.case import Dataset
from viewer.domain.item import TASK_MARK
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.frame import Frame, frame_of, frame_of_rows
from viewer.results.records import NOT_COUNTED, records
from viewer.results.spec import TRIALS
from viewer.studies.grounded_vqa.arms import (
    CONTOUR,
    CROP,
    LOBA,
    PLAIN,
    TEXT_SHAM,
    is_perturbed,
    perturbation_of,
    shows_region,
    way_of,
)
from viewer.studies.grounded_vqa.attending import IN_TOWER, INSIDE, ON_IMAGE
from viewer.studies.grounded_vqa.benchmark import benchmark_of
from viewer.studies.grounded_vqa.params import Params, RelationRule
from viewer.studies.grounded_vqa.questions import Benchmark, Kind
from viewer.studies.grounded_vqa.relations import threshold_curve
from viewer.studies.grounded_vqa.steps import EXTRACTOR
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, canonical

EDITS: Final = "edits"
QUESTIONS: Final = "questions"
PASSES: Final = "passes"
DISAGREEMENTS: Final = "disagreements"
NOT_READ: Final = "not read"
YES: Final = "Yes"
NO: Final = "No"
APPROXIMATION: Final = "LobA-approximation"
"""What stands at every row of a region that was only drawn (E002-15)."""
TESTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "TPT anatomy": ("tpt-anatomy", (TEXT_SHAM,)),
    "TPT disease": ("tpt-disease", (TEXT_SHAM,)),
    "VPT": (Arm.DONOR.value, (Arm.SAME.value,)),
    "VPT, own region": (Arm.DONOR.value, (Arm.OWN.value,)),
}
"""Each test's condition, and those of the shams that it is held against (E002-11).

A donor with the same finding has the seams of one without, and the image's own region
is shifted in grey until its seam is as visible as the donor's.
"""
_NUMBERS: Final = ("peak_mib", IN_TOWER, ON_IMAGE, INSIDE)
"""Numbers that tables name, whether any verdict has them or not."""
_CLOSED: Final = (Kind.POSITIVE.value, Kind.HALLUCINATED.value)
_BINS: Final = 10
Truths = Mapping[str, tuple[str, ...]]
"""The labels of each open item, in the words that replies are read as."""


def frames(
    results: Sequence[TrialResult],
    spec: RunSpec,
    params: Params,
    dataset: Dataset | None,
) -> dict[str, Frame]:
    """Return the frames of a run; without its data set only what trials tell."""
    found: dict[str, Frame] = {}
    truths: Truths = {}
    if dataset is not None:
        benchmark = benchmark_of(dataset, params)
        truths = _truths(benchmark, params)
        kinds = [question.kind.value for question in benchmark.questions]
        found[QUESTIONS] = frame_of(
            {"source": [spec.dataset for _ in kinds], "kind": kinds}
        )
        if any(image.boxes for image in dataset.images):
            found |= dict(_curves(benchmark))
    return {
        TRIALS: trial_frame(results, spec.dataset, truths),
        EDITS: edit_frame(results),
        PASSES: _pass_frame(results),
        DISAGREEMENTS: _disagreement_frame(results),
        **found,
    }


def trial_frame(results: Sequence[TrialResult], dataset: str, truths: Truths) -> Frame:
    """Return the trials with what tells them apart, and with their labels.

    A closed question has the labels Yes and No, an open one its findings, or No
    finding; what could not be read has none.
    """
    plain = {one.model for one in results if one.condition == PLAIN}
    numbers = {name: [one.score.number(name) for one in results] for name in _NUMBERS}
    dice = [one.score.number("dice") for one in results]
    latency = [one.score.number("latency_ms") or nan for one in results]
    return records(results).having(
        source=["this run"] * len(results),
        dataset=[dataset] * len(results),
        way=[way_of(one.condition) for one in results],
        note=[note_of(one.condition) for one in results],
        asked_as_is=[is_answer(one.condition) for one in results],
        localization=[one.condition != PLAIN for one in results],
        self_prompt=[one.condition.startswith(LOBA) for one in results],
        beside_plain=[
            shows_region(one.condition)
            and is_answer(one.condition)
            and one.model in plain
            for one in results
        ],
        closed=[one.view in _CLOSED for one in results],
        questions=["Yes/No" if one.view in _CLOSED else "Open" for one in results],
        weight=[_weight(one.condition) for one in results],
        told_tower=[one.score.number(IN_TOWER) is not None for one in results],
        timed=[value == value for value in latency],
        seconds_per_100=[value / 10 for value in latency],
        dice_from=[nan if d is None else min(int(d * _BINS), 9) / _BINS for d in dice],
        told_dice=[value is not None for value in dice],
        **numbers,
        found=[_found(one) for one in results],
        true=[_true(one, truths) for one in results],
        said=["".join(_found(one)[:1]) for one in results],
        right_answer=["".join(_true(one, truths)[:1]) for one in results],
    )


def note_of(condition: str) -> str:
    """Return what must stand beside a condition's numbers."""
    return APPROXIMATION if way_of(condition) in {CONTOUR, CROP} else ""


def is_answer(condition: str) -> bool:
    """Tell whether a condition asks the question as it is, with or without a region."""
    return condition in {PLAIN, CONTOUR, CROP} or condition.startswith(LOBA)


def _weight(condition: str) -> float:
    return float(condition.removeprefix(LOBA)) if condition.startswith(LOBA) else nan


def _found(one: TrialResult) -> tuple[str, ...]:
    if isinstance(one.said, YesNoAnswer):
        return (YES if one.said.yes else NO,)
    if isinstance(one.said, LabelsAnswer):
        return one.said.labels or (NO_FINDING,)
    return ()


def _true(one: TrialResult, truths: Truths) -> tuple[str, ...]:
    if one.view in _CLOSED:
        return (YES if one.view == Kind.POSITIVE.value else NO,)
    return truths.get(one.item) or (NO_FINDING,)


def _truths(benchmark: Benchmark, params: Params) -> Truths:
    return {
        q.key: tuple(dict.fromkeys(canonical(one, params.findings) for one in q.labels))
        for q in benchmark.questions
        if not q.closed
    }


def _curves(benchmark: Benchmark) -> Iterator[tuple[str, Frame]]:
    for rule in RelationRule:
        curve = threshold_curve(benchmark.chart, rule)
        yield curve_name(rule), frame_of_rows(curve.header, curve.rows)


def curve_name(rule: RelationRule) -> str:
    """Return the name of the table of a rule's thresholds."""
    return f"threshold_curve_{rule}"


@dataclass(frozen=True, slots=True)
class _Way:
    """The trials of one model in one way of asking, perturbed ones among them."""

    model: str
    way: str
    results: tuple[TrialResult, ...]


def edit_frame(results: Sequence[TrialResult]) -> Frame:
    """Return a row for each model, way, test and question that was to be edited.

    ``positive`` are the model's true positives that were asked about, ``shared`` those
    that all models share in all ways; a test is ``controlled`` where a sham of it was
    asked. ``edit_share`` and ``sham_share`` of the edits and shams were answered No.
    """
    header = (
        *("model", "condition", "note", "test", "item", "patient", "positive"),
        *("controlled", "shared", "edited", "n_edits", "n_flipped", "n_unread"),
        *("edit_share", "sham_share"),
    )
    ways = tuple(_by_way(results))
    return frame_of_rows(
        header, (row for name in TESTS for row in _rows_of_test(ways, name))
    )


def _by_way(results: Sequence[TrialResult]) -> Iterator[_Way]:
    found: dict[tuple[str, str], list[TrialResult]] = defaultdict(list)
    for one in results:
        found[one.model, way_of(one.condition)].append(one)
    for (model, way), of in found.items():
        yield _Way(model, way, tuple(of))


def _rows_of_test(ways: Sequence[_Way], name: str) -> Iterator[tuple[object, ...]]:
    condition, shams = TESTS[name]
    asked = [way for way in ways if _has(way.results, {condition})]
    probed = [_probed(way.results, condition, shams) for way in asked]
    keys = [{key for key, of in found.items() if of.positive} for found in probed]
    shared = set.intersection(*keys) if keys else set()
    for way, found in zip(asked, probed, strict=True):
        controlled = _has(way.results, set(shams))
        for key, of in found.items():
            yield (
                *(way.model, way.way, note_of(way.way), name, of.item, of.patient),
                *(of.positive, controlled, key in shared, bool(of.edits)),
                *(len(of.edits), of.edits.count(NO), of.edits.count("")),
                *(_share(of.edits), _share(of.shams)),
            )


def _has(results: Iterable[TrialResult], tests: set[str]) -> bool:
    return any(perturbation_of(one.condition) in tests for one in results)


@dataclass(slots=True)
class _Probed:
    """One question: what was answered to its edits, and to its shams."""

    item: str
    patient: str
    positive: bool
    edits: list[str]
    shams: list[str]


def _probed(
    results: Sequence[TrialResult], condition: str, shams: Sequence[str]
) -> dict[str, _Probed]:
    """Return the questions of a test with what was answered to edits and shams.

    One that is still to be asked is no true positive yet; one without an edit counts
    in the base alone.
    """
    positive = _true_positives(results)
    found: dict[str, _Probed] = {}
    for one in results:
        test = perturbation_of(one.condition)
        if test not in {condition, *shams}:
            continue
        key = _base(one)
        of = found.setdefault(key, _Probed(_item(one), one.patient, False, [], []))
        if key not in positive or one.score.status is Status.PENDING:
            continue
        of.positive = True
        if one.score.status is not Status.EXCLUDED:
            (of.edits if test == condition else of.shams).append(_yes_no(one))
    return found


def _yes_no(one: TrialResult) -> str:
    """Return Yes or No, "" where there is neither."""
    return "".join(_found(one)) if isinstance(one.said, YesNoAnswer) else ""


def _share(replies: Sequence[str]) -> float | None:
    return replies.count(NO) / len(replies) if replies else None


def _true_positives(results: Iterable[TrialResult]) -> frozenset[str]:
    """Return the positive questions, by repeat, that a model said yes to.

    They are those it was asked more about, and those whose own trial is a yes. A
    perturbed trial that failed does not tell whether there was a yes.
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
    """Return the question behind a trial, and its repeat."""
    return f"{_item(result)} {result.repeat}"


def _item(result: TrialResult) -> str:
    """Return the question as it is, without what was perturbed."""
    plain = not is_perturbed(result.condition)
    return result.item if plain else result.item.rpartition(TASK_MARK)[0]


def _disagreement_frame(results: Sequence[TrialResult]) -> Frame:
    """Return the open answers that model and dictionary read otherwise (E002-06)."""
    header = ("item", "model", "condition", "repeat", "extractor", "dictionary")
    lines = (
        (
            *(one.item, one.model, one.condition, one.repeat),
            _listed(one.said.labels if one.said.tier == EXTRACTOR else None),
            _listed(one.said.dictionary),
        )
        for one in results
        if isinstance(one.said, LabelsAnswer) and _disagree(one.said)
    )
    return frame_of_rows(header, lines)


def _disagree(said: LabelsAnswer) -> bool:
    """Tell whether a model was to extract and read other than the dictionary does."""
    if said.tier != EXTRACTOR or said.dictionary is None:
        return bool(said.tier)
    return {*said.labels} != {*said.dictionary}


def _listed(labels: Sequence[str] | None) -> str:
    return NOT_READ if labels is None else "; ".join(labels) or NO_FINDING


def _pass_frame(results: Sequence[TrialResult]) -> Frame:
    """Return each question's answers side by side: plain, and with its region shown.

    Beside them how the located region meets the anatomy's mask (E002-16).
    """
    shown = [r for r in results if is_answer(r.condition)]
    conditions = tuple(dict.fromkeys(r.condition for r in shown))
    header = ("item", "model", "repeat", *(f"answer_{c}" for c in conditions), "dice")
    of_key: dict[tuple[object, ...], dict[str, TrialResult]] = defaultdict(dict)
    for r in shown:
        of_key[r.item, r.model, r.repeat][r.condition] = r
    if len(conditions) < 2:
        return frame_of_rows((), ())
    return frame_of_rows(
        header, ((*key, *_passes(of, conditions)) for key, of in of_key.items())
    )


def _passes(
    of: Mapping[str, TrialResult], conditions: Sequence[str]
) -> Iterator[object]:
    told = [of[name] for name in conditions if name in of]
    yield from (of[name].score.answer if name in of else "" for name in conditions)
    dice = (one.score.number("dice") for one in told)
    yield next((value for value in dice if value is not None), None)
