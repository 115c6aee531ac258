"""The effect of parsing replies like the authors' script (E003-05)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult
from viewer.results.records import NOT_COUNTED
from viewer.studies.pathology_mcq.official import (
    DROPPED,
    OfficialReading,
    OfficialSample,
    settled,
)
from viewer.studies.pathology_mcq.params import Params
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.score import OFFICIAL

SCRIPT_ORDER: Final = tuple(
    (subset, split)
    for subset, splits in (
        ("PubMed", ("test_tiny", "test", "val")),
        ("PathCLS", ("test_tiny", "test", "val")),
        ("SocialPath", ("test_tiny", "test", "val")),
        ("Atlas", ("test", "test_tiny", "val")),
        ("EduContent", ("test_tiny", "test", "val")),
    )
    for split in splits
)
"""In which order the script reads the parts of the data; chance depends on it."""


def differing_rows(
    results: Sequence[TrialResult], mcqs: Mapping[str, Mcq], params: Params
) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return both readings of each trial, first repeats only.

    Trials that are excluded or pending are in neither.
    """
    header = (
        *("model", "condition", "item", "typed", "official", "why", "one"),
        *("typed_correct", "official_correct", "official_counted", "at_random"),
        *("differs", "chance"),
    )
    groups: dict[tuple[str, str], list[TrialResult]] = {}
    for one in sorted(results, key=_turn):
        if one.repeat == 0 and one.score.status not in NOT_COUNTED:
            groups.setdefault((one.model, one.condition), []).append(one)
    return header, (row for own in groups.values() for row in _rows(own, mcqs, params))


def _rows(
    results: Sequence[TrialResult], mcqs: Mapping[str, Mcq], params: Params
) -> Iterator[tuple[object, ...]]:
    coded = [_coded(one, mcqs[one.item]) for one in results]
    official = settled(coded, params.official_seed)
    for trial, read in zip(results, official.readings, strict=True):
        status = trial.score.status
        right = status is Status.SCORED_CORRECT
        yield (
            *(trial.model, trial.condition, trial.item, status.value),
            *(_verdict_word(read), _why(read), 1, int(right), int(read.correct)),
            *(int(not read.dropped), int(read.at_random)),
            bool(read.dropped) or read.correct != right,
            1 / len(mcqs[trial.item].options),
        )


def _verdict_word(reading: OfficialReading) -> str:
    if reading.dropped:
        return "dropped"
    return "correct" if reading.correct else "wrong"


def _why(reading: OfficialReading) -> str:
    if reading.dropped:
        return reading.dropped
    return "at random" if reading.at_random else "read otherwise"


def _turn(one: TrialResult) -> int:
    part = (one.finding, one.view)
    return SCRIPT_ORDER.index(part) if part in SCRIPT_ORDER else len(SCRIPT_ORDER)


def _coded(one: TrialResult, mcq: Mcq) -> tuple[OfficialSample, int]:
    code = one.score.number(OFFICIAL)
    response = None if code is None else ""
    sample = OfficialSample(one.item, mcq.written, mcq.answer, response)
    return sample, DROPPED if code is None else int(code)
