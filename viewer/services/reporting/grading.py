"""Turn readers' grades into verdicts, which the store keeps for every view.

Grades are in a file beside the data set and may change at any time. Whatever shows
verdicts updates them first; nothing else turns a grade into a verdict.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.answer_json import any_answer_of_json
from viewer.domain.errors import WrongUseError
from viewer.services.sessions import datasets
from viewer.services.trials.grades import Stamp, stamp_below
from viewer.services.trials.run_context import RunContext
from viewer.store import runs, trials
from viewer.store.database import Store
from viewer.store.readings import readings_stamp
from viewer.studies.catalog import study_named, titles
from viewer.studies.reading_tasks import HasReadings

_TAKEN_IN: Final[dict[tuple[Path, int], object]] = {}
"""The state of grades and verdicts after the last look, by store and run."""


def score_changed_grades(store: Store) -> None:
    """Rescore every output whose readers' grades have changed.

    A read-only store keeps its verdicts.
    """
    if not store.writable:
        return
    for run, root in _graded(store):
        _take_in(store, run, root)


def readers_stamp(store: Store, run: int) -> Stamp:
    """Return a stamp that changes with what readers say of a run or of its data set.

    It is () if people read nothing for its study.
    """
    for one, name, root in runs.runs_with_folders(store):
        study = study_named(name) if one == run and name in titles() else None
        if study is not None and (study.words.graded or isinstance(study, HasReadings)):
            grades = stamp_below(root) if study.words.graded else ()
            return (*grades, ("sessions", readings_stamp(store), 0))
    return ()


def _graded(store: Store) -> Iterator[tuple[int, Path]]:
    """Yield each run whose outputs readers grade, with its data set's folder."""
    for run, study, root in runs.runs_with_folders(store):
        # a run of a study that is no longer installed keeps the verdicts that it has
        if study in titles() and study_named(study).words.graded:
            yield run, root


def _take_in(store: Store, run: int, root: Path) -> None:
    stamp, key = (stamp_below(root), readings_stamp(store)), (store.path, run)
    if _TAKEN_IN.get(key) != (stamp, trials.verdict_stamp(store, run)):
        store.in_short_transactions(_changed(store, run))
        _TAKEN_IN[key] = stamp, trials.verdict_stamp(store, run)


def _changed(store: Store, run: int) -> Iterator[None]:
    """Append a verdict for each output whose grades give a different one."""
    spec, dataset = runs.run_spec(store, run), datasets.dataset_of_run(store, run)
    try:
        context = RunContext(spec, dataset)
    except WrongUseError:
        # a run with parameters of another version keeps the verdicts that it has, and
        # says so when it is opened; the other runs are listed all the same
        return
    for one in trials.scored_trials(store, run):
        answer = any_answer_of_json(one.parsed) if one.parsed else None
        if isinstance(answer, ReportAnswer):
            score = context.score(context.turn(one.trial), answer)
            if score != one.score:
                trials.score_again(store, one.id, score, context.study.scorer_version)
                yield
