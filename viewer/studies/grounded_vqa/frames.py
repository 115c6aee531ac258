"""The frames that the study's tables are made of.

``trials`` has a row for each trial, ``questions`` one for each question of the data
set, and ``passes`` one for each question with its answers side by side.
``disagreements`` has the open answers that an extracting model and the dictionary read
differently. The frames of perturbation tests are made in ``edits``.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Final

from viewer.domain.answer import LabelsAnswer
from viewer.domain.case import Dataset
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.frame import Frame, frame_of, frame_of_rows
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.grounded_vqa.about import About
from viewer.studies.grounded_vqa.arms import (
    APPROXIMATE,
    IMAGE_ARMS,
    LOBA,
    PLAIN,
    perturbation_of,
    shows_region,
    way_of,
)
from viewer.studies.grounded_vqa.attending import IN_TOWER, INSIDE, ON_IMAGE
from viewer.studies.grounded_vqa.benchmark import benchmarks_of
from viewer.studies.grounded_vqa.composites import rejected_edits
from viewer.studies.grounded_vqa.edits import (
    NO,
    YES,
    edit_frame,
    labels_of,
    note_of,
    word_frame,
)
from viewer.studies.grounded_vqa.items import source_of
from viewer.studies.grounded_vqa.params import Params, RegionSource, RelationRule
from viewer.studies.grounded_vqa.questions import Benchmark, Kind, Question
from viewer.studies.grounded_vqa.relations import threshold_curve
from viewer.studies.grounded_vqa.remaining import OUTSIDE
from viewer.studies.grounded_vqa.steps import EXTRACTOR
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, canonical

EDITS: Final = "edits"
WORDED: Final = "worded"
QUESTIONS: Final = "questions"
PASSES: Final = "passes"
DISAGREEMENTS: Final = "disagreements"
MASK_ORIGINS: Final = "mask_origins"
NOT_READ: Final = "not read"
_NUMBERS: Final = ("peak_mib", IN_TOWER, ON_IMAGE, INSIDE, OUTSIDE)
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
    """Return the frames of a run; without its data set only those from trials."""
    found: dict[str, Frame] = {}
    truths: Truths = {}
    rejected = rejected_edits(dataset.items if dataset else (), params)
    if dataset is not None:
        benchmarks = benchmarks_of(dataset, params)
        questions = [q for one in benchmarks for q in one.questions]
        truths = _truths(questions, params)
        sources = {item.key: source_of(item) for item in dataset.items}
        found[QUESTIONS] = frame_of(
            {
                "source": [sources[q.key] or spec.dataset for q in questions],
                "kind": [q.kind.value for q in questions],
            }
        )
        if any(image.boxes for image in dataset.images):
            found |= dict(_curves(benchmarks))
        found[MASK_ORIGINS] = _origin_frame(dataset, params)
    about = About.of(results, spec.dataset, dataset)
    return {
        TRIALS: trial_frame(results, about, truths, rejected),
        EDITS: edit_frame(results, about, rejected),
        WORDED: word_frame(results),
        PASSES: _pass_frame(results),
        DISAGREEMENTS: _disagreement_frame(results),
        **found,
    }


def trial_frame(
    results: Sequence[TrialResult],
    about: About,
    truths: Truths,
    rejected: Collection[str] = (),
) -> Frame:
    """Return the trials with what tells them apart, and with their labels.

    A closed question has the labels Yes and No, an open one its findings, or No
    finding; what could not be read has none. Visual edits with a ``rejected`` name are
    marked.
    """
    plain = {one.model for one in results if one.condition == PLAIN}
    numbers = {name: [one.score.number(name) for one in results] for name in _NUMBERS}
    dice = [one.score.number("dice") for one in results]
    latency = [one.score.number("latency_ms") or nan for one in results]
    return records(results).having(
        source=["this run"] * len(results),
        dataset=[about.dataset(one) for one in results],
        place=[about.place(one) for one in results],
        first=[about.first] * len(results),
        second=[about.second] * len(results),
        anatomy=[about.anatomy(one) for one in results],
        told_anatomy=[bool(about.anatomy(one)) for one in results],
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
        told_outside=[one.score.number(OUTSIDE) is not None for one in results],
        remains=[(one.score.number(OUTSIDE) or 0) > 0 for one in results],
        rejected=[
            perturbation_of(one.condition) in IMAGE_ARMS and one.item in rejected
            for one in results
        ],
        told_attention=[one.score.number(ON_IMAGE) is not None for one in results],
        timed=[value == value for value in latency],
        seconds_per_100=[value / 10 for value in latency],
        dice_from=[nan if d is None else min(int(d * _BINS), 9) / _BINS for d in dice],
        told_dice=[value is not None for value in dice],
        **numbers,
        found=[labels_of(one) for one in results],
        true=[_true(one, truths) for one in results],
        said=["".join(labels_of(one)[:1]) for one in results],
        right_answer=["".join(_true(one, truths)[:1]) for one in results],
    )


def _origin_frame(dataset: Dataset, params: Params) -> Frame:
    """Return who made each anatomy's masks, and the regions that are pointed out."""
    masks = Counter(
        anatomy
        for image in dataset.images
        for anatomy, mask in image.anatomy.items()
        if anatomy in params.anatomies and not mask.is_empty
    )
    published = _PUBLISHED_MASKS if dataset.format == "heal" else _NOT_STATED
    made_by = params.masks_by or published
    rows: list[tuple[str, int | None, str]] = [
        (f"mask of {name}", n, made_by) for name, n in sorted(masks.items())
    ]
    if any(shows_region(arm) for arm in params.arms):
        rows.append(("region pointed out", None, _region_origin(params)))
    return frame_of_rows(("what", "images", "made_by"), rows)


_NOT_STATED: Final = "not stated (setting masks_by)"
_PUBLISHED_MASKS: Final = "three radiologists (test), a PAXRay++ model (train)"


def _region_origin(params: Params) -> str:
    if params.region_source is RegionSource.REFERENCE:
        return "the data set's mask"
    box = "the box in the model's first pass"
    return f"{params.segmenter}, from {box}" if params.segmenter else box


def is_answer(condition: str) -> bool:
    """Tell whether a condition asks the question as it is, with or without a region."""
    return condition in {PLAIN, *APPROXIMATE} or condition.startswith(LOBA)


def _weight(condition: str) -> float:
    return float(condition.removeprefix(LOBA)) if condition.startswith(LOBA) else nan


def _true(one: TrialResult, truths: Truths) -> tuple[str, ...]:
    if one.view in _CLOSED:
        return (YES if one.view == Kind.POSITIVE.value else NO,)
    return truths.get(one.item) or (NO_FINDING,)


def _truths(questions: Iterable[Question], params: Params) -> Truths:
    return {
        q.key: tuple(dict.fromkeys(canonical(one, params.findings) for one in q.labels))
        for q in questions
        if not q.closed
    }


def _curves(benchmarks: Sequence[Benchmark]) -> Iterator[tuple[str, Frame]]:
    every = tuple(image for one in benchmarks for image in one.chart.images)
    for rule in RelationRule:
        curve = threshold_curve(replace(benchmarks[0].chart, images=every), rule)
        yield curve_name(rule), frame_of_rows(curve.header, curve.rows)


def curve_name(rule: RelationRule) -> str:
    """Return the name of the table of a rule's thresholds."""
    return f"threshold_curve_{rule}"


def _disagreement_frame(results: Sequence[TrialResult]) -> Frame:
    """Return the open answers that model and dictionary read differently (E002-06)."""
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


def _disagree(answer: LabelsAnswer) -> bool:
    """Tell whether an extracting model's result differs from the dictionary's."""
    if answer.tier != EXTRACTOR or answer.dictionary is None:
        return bool(answer.tier)
    return {*answer.labels} != {*answer.dictionary}


def _listed(labels: Sequence[str] | None) -> str:
    return NOT_READ if labels is None else "; ".join(labels) or NO_FINDING


def _pass_frame(results: Sequence[TrialResult]) -> Frame:
    """Return each question's answers side by side: plain, and with its region shown.

    They include how the located region compares with the anatomy's mask (E002-16).
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
