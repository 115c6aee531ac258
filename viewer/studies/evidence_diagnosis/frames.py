"""The frames that the study's tables are made of.

``trials`` has a row for each trial, ``answers`` one for each answer about a case, of
physicians first, ``sensitivities`` one for each case, model and type of evidence, and
``attention`` one for each answer, section and layer. If several judges score answers,
``judgements`` has a row for each answer and judge, ``judge_pairs`` one for each answer
and two judges. ``cases`` are those asked about,
``preparation`` and ``invented`` tell what was made of reports.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from viewer.domain.answer import ReportAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.case_validation import validations_of
from viewer.domain.evidence import OPTIONS
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.domain.specialties import group_of
from viewer.results.frame import Frame, frame_of, frame_of_rows
from viewer.results.records import NOT_COUNTED, comparable, records
from viewer.results.spec import TRIALS
from viewer.studies.consistency import published_table
from viewer.studies.evidence_diagnosis.consistency import checks
from viewer.studies.evidence_diagnosis.makers import related_to_judge
from viewer.studies.evidence_diagnosis.params import PREPARING, Params, Task
from viewer.studies.evidence_diagnosis.preparing import CHUNKS, INVENTED
from viewer.studies.evidence_diagnosis.published import rows as published_rows
from viewer.studies.evidence_diagnosis.rows import (
    Row,
    beside_models,
    judged_of,
    people_rows,
    rows_of,
)
from viewer.studies.evidence_diagnosis.sensitivities import sensitivity_frame
from viewer.studies.evidence_diagnosis.validation import (
    cases_to_read,
    problems_of,
    revalidated,
)

ANSWERS: Final = "answers"
SENSITIVITIES: Final = "sensitivities"
ATTENTION: Final = "attention"
CASES: Final = "cases"
JUDGEMENTS: Final = "judgements"
JUDGE_PAIRS: Final = "judge_pairs"
PREPARATION: Final = "preparation"
INVENTED_TEXT: Final = "invented"
PUBLISHED: Final = "published"
TOP: Final = (1, 3, 5, 10)
JUDGE_LABELS: Final = "judge_labels"
"""Under which an item's reference holds task, model and score of people."""
Labels = Mapping[tuple[str, str, str], int]
"""People's scores by case, task and model."""
Columns = dict[str, list[Any]]
"""Columns of a frame, of the same length, by name."""


def frames(
    results: Sequence[TrialResult],
    spec: RunSpec,
    params: Params,
    dataset: Dataset | None,
) -> dict[str, Frame]:
    """Return the frames of a run; without cases or their data only those of trials."""
    made = [one for one in results if Task(one.finding) in PREPARING]
    found = {
        TRIALS: records(results),
        PREPARATION: _preparation_frame(made),
        INVENTED_TEXT: _invented_frame(made),
    }
    if dataset is None or len(made) == len(results):
        return found
    rows = rows_of(results, dataset, params)
    asked = {row.case.key for row in rows}
    items = [item for item in dataset.items if item.key in asked]
    people = people_rows(items, judged_of(results, dataset))
    printed = published_table(published_rows(), checks())
    answers = (*beside_models(people, rows), *rows)
    return found | {
        ANSWERS: answer_frame(
            answers,
            params,
            labels_of(items),
            related_to_judge(spec, params),
        ),
        **judge_frames(answers, params),
        SENSITIVITIES: sensitivity_frame(rows, params, spec.seed),
        ATTENTION: attention_frame(rows),
        CASES: case_frame(items, spec.seed),
        PUBLISHED: frame_of_rows(printed.header, printed.rows),
    }


def answer_frame(
    answers: Sequence[Row],
    params: Params,
    labels: Labels | None = None,
    related: Collection[str] = (),
) -> Frame:
    """Return every answer with its identifiers, its verdict and human scores.

    They are grouped by model, in the order of first appearance. ``plain`` answers are
    to raw images, with the options in their first order: most rates count these.
    ``ddx`` and ``fdx`` are whether the settled ones of them are right. ``told`` answers
    have a posterior. ``related`` models have the judge's maker. ``calibrated`` answers
    belong to a model and task with human scores of judged answers.
    """
    models = list(dict.fromkeys(row.model for row in answers))
    rows = sorted(answers, key=lambda row: models.index(row.model))
    plain = list(map(_is_plain, rows))
    found = frame_of(
        {
            **_asked_columns(rows),
            "of_the_judges_maker": [row.model in related for row in rows],
            "plain": plain,
            **_right_columns(rows, plain),
            **_judged_columns(rows, params, labels or {}),
            "place": [row.place for row in rows],
            "chosen": [row.chosen for row in rows],
            "answer": [row.case.answer for row in rows],
            "told": [row.posterior is not None for row in rows],
        }
    )
    return comparable(found, "model", "task", "arm")


def _asked_columns(rows: Sequence[Row]) -> Columns:
    """Return who was asked what about which case, and how it went."""
    return {
        "model": [row.model for row in rows],
        "person": [row.person for row in rows],
        "patient": [row.patient or row.case.key for row in rows],
        "case": [row.case.key for row in rows],
        "language": [str(row.case.language) for row in rows],
        "specialty": [row.case.specialty for row in rows],
        "group": [group_of(row.case.specialty) for row in rows],
        "task": [str(row.task) for row in rows],
        "arm": list(map(_arm, rows)),
        "order": [row.showing.order for row in rows],
        "pair": [f"{row.case.key}|{row.repeat}" for row in rows],
        "status": [row.status.value for row in rows],
    }


def _right_columns(rows: Sequence[Row], plain: Sequence[bool]) -> Columns:
    """Return which answers count and which are right, and the chance of a choice."""
    return {
        "counted": list(map(_counted, rows)),
        "correct": list(map(_right, rows)),
        "chance": [1 / OPTIONS if row.task is Task.FDX else None for row in rows],
        "ddx": list(_right_of(Task.DDX, rows, plain)),
        "fdx": list(_right_of(Task.FDX, rows, plain)),
        **{f"top_{k}": [_within(row, k) for row in rows] for k in TOP},
    }


def _judged_columns(rows: Sequence[Row], params: Params, labels: Labels) -> Columns:
    """Return the judge's scores and people's, and which of them are compared."""
    human = [labels.get((row.case.key, row.task, row.model)) for row in rows]
    calibrated = {
        (row.model, row.task)
        for row, score in zip(rows, human, strict=True)
        if score is not None and _is_judged(row)
    }
    return {
        "judge": [row.judge for row in rows],
        "human": human,
        "covered": [_covered(row.judge, params) for row in rows],
        "human_covered": [_covered(score, params) for score in human],
        "judged": [row.judge is not None for row in rows],
        "labelled": [score is not None for score in human],
        "calibrated": [
            (row.model, row.task) in calibrated and _is_judged(row) for row in rows
        ],
    }


def _arm(row: Row) -> str:
    return str(row.showing.arm or "")


def _is_plain(row: Row) -> bool:
    return _arm(row) == "raw" and row.showing.order == 0


def _is_judged(row: Row) -> bool:
    """Tell whether the judge's score is one that people's are compared with."""
    return _arm(row) == "raw" and row.repeat == 0 and row.judge is not None


def _counted(row: Row) -> bool:
    return row.status not in NOT_COUNTED


def _right(row: Row) -> bool:
    return row.status is Status.SCORED_CORRECT


def _right_of(
    task: Task, rows: Sequence[Row], plain: Sequence[bool]
) -> Iterator[bool | None]:
    for row, is_plain in zip(rows, plain, strict=True):
        own = is_plain and row.task is task and _counted(row)
        yield _right(row) if own else None


def _within(row: Row, k: int) -> bool:
    return row.first_match is not None and row.first_match <= k


def _covered(score: float | None, params: Params) -> float | None:
    return None if score is None else float(score >= params.covered_from)


_OF_ANSWER: Final = ("task", "model", "language", "patient", "case")
_OF_JUDGE: Final = (*_OF_ANSWER, "judge", "score", "judged", "covered")
_OF_TWO: Final = (
    *(*_OF_ANSWER, "first", "second", "first_score", "second_score"),
    *("first_covers", "second_covers", "same_score", "same_verdict"),
)


def judge_frames(answers: Sequence[Row], params: Params) -> dict[str, Frame]:
    """Return what each of several judges says of every settled answer, and every two.

    An answer without a judge's score counts as not covered by it, and is in no pair.
    """
    names = [*params.judges.values()]
    tasks = {Task.DDX, Task.OPEN_FDX}
    judged = [
        row for row in answers if row.task in tasks and _is_plain(row) and _counted(row)
    ]
    several = judged if len(names) > 1 else []
    each = (
        (*_about(row), name, score, score is not None, _covered(score, params) == 1)
        for row in several
        for name, score in zip(names, row.judges, strict=False)
    )
    pairs = (
        (*_about(row), *_two(one, other, params))
        for row in several
        for one, other in combinations(zip(names, row.judges, strict=False), 2)
        if None not in (one[1], other[1])
    )
    return {
        JUDGEMENTS: frame_of_rows(_OF_JUDGE, each),
        JUDGE_PAIRS: frame_of_rows(_OF_TWO, pairs),
    }


def _about(row: Row) -> tuple[str, ...]:
    case = row.case
    return (
        *(str(row.task), row.model, str(case.language)),
        *(row.patient or case.key, case.key),
    )


_Judgement = tuple[str, float | None]


def _two(one: _Judgement, other: _Judgement, params: Params) -> tuple[object, ...]:
    """Return two judges' names, scores and verdicts, and whether they are the same."""
    (first, score), (second, another) = one, other
    verdicts = _covered(score, params), _covered(another, params)
    covers = tuple(verdict == 1 for verdict in verdicts)
    alike = score == another, covers[0] == covers[1]
    return (first, second, score, another, *covers, *alike)


def labels_of(items: Iterable[Item]) -> Labels:
    """Return people's scores as the data set brings them."""
    found = {}
    for item in items:
        listed = item.reference.get(JUDGE_LABELS)
        for task, model, score in listed if isinstance(listed, list) else ():
            found[item.key, str(task), str(model)] = int(score)
    return found


def attention_frame(rows: Sequence[Row]) -> Frame:
    """Return relative attention per token of each answer, by section and layer."""
    lines = (
        (row.model, row.showing.name, section, layer, value)
        for row in rows
        for section, layer, value in row.rapt
    )
    return frame_of_rows(("model", "arm", "section", "layer", "rapt"), lines)


def case_frame(items: Sequence[Item], seed: int) -> Frame:
    """Return who validated each case, what was found, and which are drawn once more.

    Empty where nobody validated any (E004-04, -05).
    """
    drawn = set(revalidated([case.key for case in cases_to_read(items)], seed))
    lines = (
        (
            item.key,
            "; ".join(one.reader for one in validations_of(item)),
            "; ".join(problems_of(item)),
            "yes" if item.key in drawn else "",
        )
        for item in items
    )
    validated = any(validations_of(item) for item in items)
    header = ("case", "readers", "problems", "once_more")
    return frame_of_rows(header, lines if validated else ())


def _preparation_frame(results: Sequence[TrialResult]) -> Frame:
    """Return what was made of each report, as JSON, and what is invented in it."""
    header = ("report", "task", "model", "status", "reason", CHUNKS, INVENTED, "json")
    lines = (
        (
            *(one.patient, one.finding, one.model, one.score.status.value),
            one.score.reason,
            *(one.score.number(name) for name in (CHUNKS, INVENTED)),
            one.said.text if isinstance(one.said, ReportAnswer) else "",
        )
        for one in results
    )
    return frame_of_rows(header, lines)


def _invented_frame(results: Sequence[TrialResult]) -> Frame:
    """Return every extracted chunk that stands nowhere in its report."""
    lines = (
        (one.patient, one.model, chunk["key"], chunk["source"], chunk["text"])
        for one in results
        if one.finding == Task.EXTRACTION and isinstance(one.said, ReportAnswer)
        for chunk in json.loads(one.said.text)["chunks"]
        if not chunk["verbatim"]
    )
    return frame_of_rows(("report", "model", "key", "source", "text"), lines)
