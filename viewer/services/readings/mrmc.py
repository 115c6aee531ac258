"""Readers' answers as files for others: a long table, iMRMC and RJafroc (3.7).

The last two are for one finding each, with patients as cases. A score is the reader's
confidence in a marked location; it is 0 if the location is wrong or the finding was
denied. For several images of a patient iMRMC gets the highest score, RJafroc each image
with the finding as a lesion. Patients without the finding have truth 0.

The formats are those that the programs read. iMRMC: lines such as ``N0: 24`` before
``BEGIN DATA:``, then reader, case, modality and score, where reader -1 is the truth and
spaces in a field are dropped (https://github.com/DIDSR/iMRMC, InputFile.java and
inputFiles/forDebugging/test.imrmc). RJafroc: worksheets TRUTH, FP and TP, of which it
reads the first three, four and five columns, with whole numbers for cases and lesions,
lesion 0 for a normal case, and weights that add up to 1 in each case
(https://rdrr.io/cran/RJafroc/man/DfReadDataFile.html, ReadJAFROCOldFormat.R in
https://github.com/dpc10ster/RJafroc).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final

from viewer.domain.aid import latest_values
from viewer.domain.answer import Answer, Status
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form
from viewer.domain.form_values import values_as_json
from viewer.domain.reading import SessionKind
from viewer.domain.reading_history import Standing
from viewer.domain.report import Table
from viewer.domain.result import Score
from viewer.domain.run import Trial
from viewer.services.readings.rating_agreement import agreement_table
from viewer.services.readings.replies import (
    answer_of,
    confidence_of,
    place_of,
    reply_of,
    spec_of_reader,
    trials_of_reader,
)
from viewer.services.readings.verdicts import trials_to_adjudicate
from viewer.services.readings.who_read import sessions_of_work, who_read
from viewer.services.sessions.datasets import locked_cases
from viewer.services.sessions.ground import Ground, ground_of, refuse_sealed
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import judge
from viewer.store import cases, reading_audit, readings
from viewer.store.database import Store, open_store
from viewer.store.readings import PlannedTask, ReviewedTrial, StoredSession
from viewer.store.trials import TrialReply
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes, workbook_bytes


@dataclass(frozen=True)
class ScoredReading:
    """One locked case of a reader with its verdict.

    ``answer`` is None if the reader denies the finding. ``confidence`` is the level on
    the form's first scale, None without one; ``truth`` is True if the finding is
    present.
    """

    session: int
    position: int
    reader: str
    trial: Trial
    answer: Answer | None
    confidence: int | None
    score: Score
    standing: Standing
    truth: bool


def readings_of_study(store: Store, session: int) -> tuple[ScoredReading, ...]:
    """Return every locked case of all readers of a session's study.

    They are in the order of the sessions and positions; who has withdrawn is left
    out, and a form without a place has none.
    """
    first = ground_of(store, session)
    if first.session.kind is not SessionKind.READER_STUDY or first.task is not None:
        return ()
    dataset = cases.dataset_named(store, first.session.dataset)
    return tuple(
        reading
        for row in readings.session_rows(store, work=first.session.work)
        if not row.withdrawn
        for reading in _of_session(store, ground_of(store, row.id), dataset)
    )


def _of_session(
    store: Store, ground: Ground, dataset: Dataset
) -> Iterator[ScoredReading]:
    context = RunContext(spec_of_reader(ground), dataset)
    trials = trials_of_reader(ground, dataset)
    tasks = readings.tasks_of(store, ground.session.id)
    for position, standing in enumerate(standings_of(store, ground)):
        placed = place_of(ground.form, standing.values) is not None
        if standing.complete and placed:
            yield _scored(
                ground, context, trials[tasks[position].item], position, standing
            )


def _scored(
    ground: Ground, context: RunContext, trial: Trial, position: int, standing: Standing
) -> ScoredReading:
    raw = reply_of(ground, context, trial, standing)
    values = latest_values(standing.values)
    return ScoredReading(
        ground.session.id,
        position,
        ground.session.reader,
        trial,
        answer_of(ground.form, values),
        confidence_of(ground.form, values),
        judge(context, trial, [TrialReply(raw)]).score,
        standing,
        context.reference(trial) is not None,
    )


MODALITY: Final = "image"
"""The one modality of a study: readers had nothing but the image."""
_CERTAIN: Final = 1
"""The score of a hit in a study that asks for no confidence."""


def export_readings(store: Path, session: int, out: Path) -> tuple[Path, ...]:
    """Write what every reader of a session's work locked; return the files.

    ``readings.csv`` has one row per case, ``readers.csv`` one per session, with the
    reader that it belongs to, ``agreement.csv`` how far readers of the same
    cases agree, if there are several; a reader study also gets ``study.imrmc`` (iMRMC)
    and ``study.xlsx`` (RJafroc's sheets TP, FP and TRUTH), one per finding if
    there are several, and ``cases.csv``, which maps their case numbers. Some tasks of
    studies write what belongs into the data set's folder.

    Raises
    ------
    WrongUseError
        For an unknown session, or where nothing is locked yet.
    """
    agreed = agreement_table(store, session)
    with open_store(store) as opened:
        refuse_sealed(first := ground_of(opened, session))
        table = _long(opened, session)
        scored = readings_of_study(opened, session)
        who = who_read(opened, sessions_of_work(opened, first.session))
        if not table.rows:
            raise WrongUseError(
                f"Nothing in the work of session {session} is locked yet.",
                "Lock at least one case first.",
            )
        files = {
            "readings.csv": csv_bytes(table.header, table.rows),
            "readers.csv": csv_bytes(who.header, who.rows),
            **_files_of_task(opened, session),
        }
        if agreed.rows:
            files["agreement.csv"] = csv_bytes(agreed.header, agreed.rows)
        if scored:
            files |= mrmc_files(scored)
        sha256 = hashlib.sha256(files["readings.csv"]).hexdigest()
        with opened.transaction():
            reading_audit.note_event(opened, "export", session, file_sha256=sha256)
    for name, content in files.items():
        write_atomically(out / name, content)
    return tuple(out / name for name in files)


def _files_of_task(store: Store, session: int) -> dict[str, bytes]:
    """Return the files of a study's task, with all its readers."""
    first = ground_of(store, session)
    if first.task is None or first.task.files is None:
        return {}
    read = [
        case
        for row in sessions_of_work(store, first.session)
        for case in locked_cases(store, ground_of(store, row.id))
    ]
    return dict(first.task.files(first.form, read))


def doubts(store: Path, session: int) -> tuple[str, ...]:
    """Return a sentence on each finding whose files allow no ROC analysis."""
    with open_store(store) as opened:
        scored = readings_of_study(opened, session)
    return tuple(filter(None, map(_doubt, _by_finding(scored).items())))


def _doubt(group: tuple[str, Sequence[ScoredReading]]) -> str:
    finding, scored = group
    truth = {*_truth(scored).values()}
    if len(truth) > 1:
        return ""
    cases = (
        f"no patient has {finding}"
        if False in truth
        else f"every patient has {finding}"
    )
    return f"The area under the ROC curve is not defined: {cases}."


def mrmc_files(scored: Sequence[ScoredReading]) -> dict[str, bytes]:
    """Return the files for multi-reader analysis, by name."""
    numbers, groups = _case_numbers(scored), _by_finding(scored)
    told = {(numbers[o.trial.patient], o.trial.patient, o.trial.item) for o in scored}
    files = {}
    for finding, group in groups.items():
        name = f"study_{_file_part(finding)}" if len(groups) > 1 else "study"
        files[f"{name}.imrmc"] = _imrmc(group, numbers).encode()
        files[f"{name}.xlsx"] = workbook_bytes(_jafroc(group, numbers))
    files["cases.csv"] = csv_bytes(("case", "patient", "item"), tuple(sorted(told)))
    return files


def _by_finding(
    scored: Sequence[ScoredReading],
) -> dict[str, list[ScoredReading]]:
    groups: dict[str, list[ScoredReading]] = {}
    for one in sorted(scored, key=lambda one: one.trial.finding):
        groups.setdefault(one.trial.finding, []).append(one)
    return groups


def _file_part(finding: str) -> str:
    return re.sub(r"\W+", "_", finding.lower()).strip("_")


def _case_numbers(scored: Sequence[ScoredReading]) -> dict[str, int]:
    """Return the patients' numbers from 1: RJafroc accepts no other names."""
    patients = sorted({one.trial.patient for one in scored})
    return {patient: number for number, patient in enumerate(patients, 1)}


def _truth(scored: Sequence[ScoredReading]) -> dict[str, bool]:
    """Return by patient whether any of the images has the finding."""
    truth: dict[str, bool] = {}
    for one in scored:
        truth[one.trial.patient] = truth.get(one.trial.patient, False) or one.truth
    return truth


def rating(one: ScoredReading) -> int:
    """Return the confidence in a location that counts, 0 in one that does not."""
    if one.answer is None:
        return 0
    counts = one.score.status is Status.SCORED_CORRECT or not one.truth
    level = _CERTAIN if one.confidence is None else one.confidence
    return level if counts else 0


def _imrmc(scored: Sequence[ScoredReading], numbers: Mapping[str, int]) -> str:
    truth = {numbers[who]: int(there) for who, there in _truth(scored).items()}
    codes = _codes(list(dict.fromkeys(one.reader for one in scored)))
    scores: dict[tuple[str, int], int] = {}
    for one in scored:
        read = codes[one.reader], numbers[one.trial.patient]
        scores[read] = max(scores.get(read, 0), rating(one))
    lines = [
        "Readers' confidence in the location they marked; 0 if it was wrong",
        f"N0: {sum(not present for present in truth.values())}",
        f"N1: {sum(truth.values())}",
        f"NR: {len(codes)}",
        "NM: 1",
        "BEGIN DATA:",
        *(f"{_TRUTH},{case},0,{present}" for case, present in sorted(truth.items())),
        *(f"{who},{case},{MODALITY},{score}" for (who, case), score in scores.items()),
    ]
    return "\n".join(lines) + "\n"


_TRUTH: Final = "-1"
"""The reader who knows the truth, in iMRMC."""


def _codes(readers: Sequence[str]) -> dict[str, str]:
    """Return the readers' names without commas and spaces, which iMRMC drops.

    Those that would be the same get a number.
    """
    codes: dict[str, str] = {}
    for reader in readers:
        bare = re.sub(r"[\s,]+", "_", reader)
        numbered = (f"{bare}_{number}" for number in count(2))
        taken = {_TRUTH, *codes.values()}
        codes[reader] = next(
            one for one in chain((bare,), numbered) if one not in taken
        )
    return codes


def _jafroc(
    scored: Sequence[ScoredReading], numbers: Mapping[str, int]
) -> tuple[Table, ...]:
    hits, others = [], []
    lesions: dict[str, dict[str, int]] = {who: {} for who in _truth(scored)}
    for one in sorted(scored, key=lambda one: one.trial.item):
        if one.truth:
            mine = lesions[one.trial.patient]
            mine.setdefault(one.trial.item, len(mine) + 1)
    for one in scored:
        who = (one.reader, MODALITY, numbers[one.trial.patient])
        level = _CERTAIN if one.confidence is None else one.confidence
        if one.score.status is Status.SCORED_CORRECT and one.truth:
            lesion = lesions[one.trial.patient][one.trial.item]
            hits.append((*who, lesion, level))
        elif one.answer is not None:
            others.append((*who, level))
    truth = [
        (numbers[who], lesion, 1 / len(mine) if len(mine) > 1 else len(mine))
        for who, mine in lesions.items()
        for lesion in mine.values() or (0,)
    ]
    return (
        Table(
            "TP",
            ("ReaderID", "ModalityID", "CaseID", "LesionID", "TP_Rating"),
            tuple(hits),
        ),
        Table("FP", ("ReaderID", "ModalityID", "CaseID", "FP_Rating"), tuple(others)),
        Table(
            "TRUTH",
            ("CaseID", "LesionID", "Weight"),
            tuple(sorted(truth)),
        ),
    )


_WHO: Final = (
    *("session", "kind", "reader", "position", "item", "image", "view", "finding"),
    *("model", "repeat", "answer"),
)
_THEN: Final = (
    *("comment", "first_values", "resolved", "active_s", "locked_at"),
    *("status", "outcome", "coverage", "cell"),
)


def _long(store: Store, session: int) -> Table:
    """Return a row for every locked case of all readers of a session's work."""
    first = ground_of(store, session)
    verdicts = {
        (one.session, one.position): one for one in readings_of_study(store, session)
    }
    rows = [
        row
        for held in sessions_of_work(store, first.session)
        for row in _rows(store, held, first.form, verdicts)
    ]
    questions = tuple(question.id for question in first.form.questions)
    return Table("readings", (*_WHO, *questions, *_THEN), tuple(rows))


def _rows(
    store: Store,
    session: StoredSession,
    form: Form,
    verdicts: Mapping[tuple[int, int], ScoredReading],
) -> list[tuple[object, ...]]:
    ground = ground_of(store, session.id)
    tasks = readings.tasks_of(store, session.id)
    reviewed = readings.reviewed_trials(store, session.id)
    moot = _moot(store, session, reviewed)
    return [
        (
            *(session.id, session.kind.value, session.reader, position),
            *_case(tasks[position], reviewed.get(position)),
            *_values(form, standing),
            *_standing(standing),
            *_verdict(verdicts.get((session.id, position))),
        )
        for position, standing in enumerate(standings_of(store, ground))
        if standing.complete and position not in moot
    ]


def _moot(
    store: Store, session: StoredSession, reviewed: Mapping[int, ReviewedTrial]
) -> frozenset[int]:
    """Return the positions of an adjudication on which readers no longer differ."""
    if session.kind is not SessionKind.ADJUDICATION or session.run is None:
        return frozenset()
    differing = trials_to_adjudicate(store, session.run)
    return frozenset(p for p, one in reviewed.items() if one.trial not in differing)


def _case(task: PlannedTask, trial: ReviewedTrial | None) -> tuple[object, ...]:
    case = (task.item, task.image, task.view, task.finding)
    if trial is None:
        return (*case, None, None, None)
    return (*case, trial.model, trial.repeat, trial.answer)


def _values(form: Form, standing: Standing) -> tuple[object, ...]:
    held = json.loads(values_as_json(standing.values))
    return tuple(_printed(held.get(question.id)) for question in form.questions)


def _printed(value: object) -> object:
    if value is None or isinstance(value, str | int):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _standing(standing: Standing) -> tuple[object, ...]:
    changed = standing.first if standing.resolved else {}
    return (
        standing.comment,
        values_as_json(changed) if changed else None,
        int(standing.resolved),
        standing.active_ms / 1000,
        standing.locked_at,
    )


def _verdict(one: ScoredReading | None) -> tuple[object, ...]:
    if one is None:
        return (None,) * 4
    score = one.score
    outcome = score.outcome.value if score.outcome else None
    return score.status.value, outcome, score.coverage, score.answer
