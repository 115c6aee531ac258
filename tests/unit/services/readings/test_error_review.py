"""A review from opening to the last word, over a run whose answers are known."""

import csv
import dataclasses
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.stats import hypergeom
from sklearn.metrics import cohen_kappa_score

from tests.helpers.reviewed_run import FINDINGS, MODELS, SIZE, reviewed_run
from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.form_catalog import (
    ANATOMY,
    PARTIAL,
    POSITION,
    READER_TASK,
    UNSURE,
    VERDICT,
)
from viewer.domain.grid import Cell
from viewer.domain.reading import (
    Interval,
    LockedError,
    SessionHeldError,
    SessionId,
    SessionKind,
    TaskState,
)
from viewer.domain.result import Outcome, Score
from viewer.domain.run import RunMark
from viewer.services.readings import (
    agreeing,
    cases,
    opening,
    progress,
    recording,
    reviewing,
)
from viewer.services.readings.mrmc import export_readings
from viewer.store import case_images, readings, runs, trials
from viewer.store.database import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def _lock(path: Path, session: SessionId, position: int, verdict: str) -> None:
    recording.lock(path, session, position, {VERDICT: verdict})


def _models(path: Path, session: SessionId) -> list[str]:
    with open_store(path) as store:
        reviewed = readings.reviewed_trials(store, session)
    return [reviewed[position].model for position in sorted(reviewed)]


@pytest.mark.statement("E000-24")
def test_that_only_complete_misses_in_frontal_views_are_reviewed(path: Path) -> None:
    # A1 is the reference itself, D4 a complete miss
    cells = {MODELS[0]: Cell(0, 0)}
    run = reviewed_run(path, 3, laterals=2, cells=cells)
    tasks = cases.queue(path, opening.open_error_review(path, run, "R"))
    assert len(tasks) == 3 * len(FINDINGS)
    assert {task.view for task in tasks} == {"frontal"}
    assert {task.answer_text for task in tasks} == {"D4"}
    views = "frontal", "lateral"
    both = opening.open_error_review(path, run, "S", views=views)
    assert len(cases.queue(path, both)) == 5 * len(FINDINGS)


def test_that_a_session_is_read_without_the_models_that_it_is_about(
    path: Path,
) -> None:
    run = reviewed_run(path, 2)
    aid = Aid(run, MODELS[0], Arm.FROM_START)
    review = opening.open_error_review(path, run, "R")
    aided = opening.open_reader_study(path, "reviewed", READER_TASK, "S", aid=aid)
    with open_store(path) as store:
        read = [
            (readings.session_row(store, one), readings.reviewed_answers(store, one))
            for one in (review, aided)
        ]
    assert not any(model in repr(read) for model in MODELS)


@pytest.mark.statement("E000-25")
def test_that_fifty_misses_of_each_model_and_finding_are_drawn_once(
    path: Path,
) -> None:
    run = reviewed_run(path, 60)
    session = opening.open_error_review(path, run, "R", seed=4)
    assert opening.open_error_review(path, run, "R", seed=4) == session
    assert Counter(_models(path, session)) == dict.fromkeys(MODELS, 100)
    drawn = _trials(path, session)
    assert drawn == _trials(path, opening.open_error_review(path, run, "S", seed=4))
    assert drawn != _trials(path, opening.open_error_review(path, run, "T", seed=5))
    with open_store(path) as store:
        assert '"seed":4' in readings.session_row(store, session).spec


def _trials(path: Path, session: SessionId) -> set[int]:
    with open_store(path) as store:
        reviewed = readings.reviewed_trials(store, session)
    return {one.trial for one in reviewed.values()}


def test_that_a_larger_cap_brings_only_what_was_not_reviewed(path: Path) -> None:
    run = reviewed_run(path, 12)
    first = opening.open_error_review(path, run, "R", cap=5)
    more = opening.open_error_review(path, run, "R", cap=9, returning=True)
    assert len(_trials(path, first)) == 20
    assert len(_trials(path, more)) == 16
    assert not _trials(path, first) & _trials(path, more)


def test_that_models_are_mixed(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 20), "R")
    models = _models(path, session)
    changes = sum(a != b for a, b in pairwise(models))
    assert changes > len(models) / 4


@pytest.mark.statement("E000-26")
def test_that_nothing_shown_before_the_lock_tells_model_or_reference(
    path: Path,
) -> None:
    run = reviewed_run(path, 2)
    session = opening.open_error_review(path, run, "R")
    reference = _reference(path, run)
    shown = [
        *(repr(dataclasses.asdict(task)) for task in cases.queue(path, session)),
        repr(dataclasses.asdict(cases.task(path, session, 0))),
        repr(recording.autosave(path, session, 0, {VERDICT: POSITION})),
        repr(progress.progress(path, session)),
        repr(reviewing.forecast(path, session)),
        repr(opening.session(path, session)),
    ]
    for text in shown:
        assert not any(model in text for model in MODELS)
        assert reference not in text
        assert "lung" not in text


def _reference(path: Path, run: int) -> str:
    with open_store(path) as store:
        truth = case_images.truth_of(
            store, readings.dataset_id_of_run(store, run), "patient0_frontal", "Edema"
        )
    assert truth.reference is not None
    return truth.reference.counts


@pytest.mark.statement("E000-26")
def test_that_the_reference_and_the_anatomy_come_after_the_lock(path: Path) -> None:
    run = reviewed_run(path, 2)
    session = opening.open_error_review(path, run, "R")
    with pytest.raises(LockedError, match="not locked yet"):
        cases.reveal(path, session, 0)
    recording.autosave(path, session, 0, {VERDICT: ANATOMY})
    with pytest.raises(LockedError, match="not locked yet"):
        cases.reveal(path, session, 0)
    _lock(path, session, 0, ANATOMY)
    seen = cases.reveal(path, session, 0)
    assert seen.reference is not None
    assert seen.reference.counts == _reference(path, run)
    assert seen.suggestion is not None
    assert seen.suggestion.key == POSITION
    assert seen.answer_text == "D4"
    assert seen.model == ""


def test_that_what_was_revealed_can_no_longer_be_undone(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    _lock(path, session, 0, POSITION)
    assert recording.undo(path, session, 0).state is TaskState.WAITING
    _lock(path, session, 0, ANATOMY)
    cases.reveal(path, session, 0)
    cases.reveal(path, session, 0)
    with pytest.raises(LockedError, match="stays locked once something was revealed"):
        recording.undo(path, session, 0)
    with open_store(path) as store:
        acts = [row.act for row in readings.readings_of(store, session)]
    assert [act.value for act in acts] == ["locked", "undone", "locked", "revealed"]


def test_that_a_lock_is_final_once_the_reader_has_gone_on(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    _lock(path, session, 0, POSITION)
    recording.autosave(path, session, 1, {VERDICT: ANATOMY})
    with pytest.raises(LockedError, match="locked before the current one"):
        recording.undo(path, session, 0)
    assert recording.undo(path, session, 1).state is TaskState.WAITING


@pytest.mark.statement("E000-26")
def test_that_unsure_stays_blind_until_it_is_resolved(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    _lock(path, session, 0, UNSURE)
    assert cases.task(path, session, 0).state is TaskState.UNRESOLVED
    assert cases.reveal(path, session, 0).reference is None
    assert progress.progress(path, session).unresolved == 1
    with pytest.raises(WrongUseError, match="stay unsure"):
        recording.resolve(path, session, 0, {VERDICT: UNSURE})
    recording.resolve(path, session, 0, {VERDICT: PARTIAL}, comment="it touches")
    done = cases.task(path, session, 0)
    assert (done.state, done.comment) == (TaskState.LOCKED, "it touches")
    assert cases.reveal(path, session, 0).reference is not None
    with pytest.raises(LockedError, match="not locked as unsure"):
        recording.resolve(path, session, 0, {VERDICT: POSITION})


def test_that_a_lock_without_a_verdict_is_told_in_a_sentence(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    with pytest.raises(WrongUseError, match="Answer this question first"):
        recording.lock(path, session, 0, {})
    with pytest.raises(WrongUseError, match="Choose among 1, 2, 3, 4"):
        recording.lock(path, session, 0, {VERDICT: "9"})
    with pytest.raises(WrongUseError, match="not one of the questions asked now"):
        recording.autosave(path, session, 0, {"other": "1"})
    with pytest.raises(WrongUseError, match="has no case 100"):
        recording.lock(path, session, 99, {VERDICT: POSITION})


def test_that_a_case_is_locked_once_whoever_locks_it(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    _lock(path, session, 0, POSITION)
    for again in (recording.lock, recording.autosave):
        with pytest.raises(LockedError, match="another window"):
            again(path, session, 0, {VERDICT: ANATOMY})
    assert cases.task(path, session, 0).values == {VERDICT: POSITION}


def test_that_a_second_window_is_told_who_holds_a_session(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 1), "R")
    with (
        recording.held(path, session),
        pytest.raises(SessionHeldError, match="is open in process"),
        recording.held(path, session),
    ):
        pass
    with recording.held(path, session):
        pass


@pytest.mark.statement("E000-26")
def test_that_time_on_a_case_is_kept_and_foretells_the_rest(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 2), "R")
    assert progress.progress(path, session).left_s is None
    for position, seconds in enumerate((2, 10, 3)):
        recording.autosave(
            path, session, position, {}, activity=[Interval(0, 500), Interval(9, 400)]
        )
        recording.lock(
            path,
            session,
            position,
            {VERDICT: POSITION},
            activity=[Interval(500, seconds * 1000)],
        )
    told = progress.progress(path, session)
    assert (told.planned, told.done, told.left) == (8, 3, 5)
    summary = opening.session(path, session)
    assert (summary.title, summary.finished) == ("Error review of reviewed", False)
    assert told.median_s == 3
    assert told.left_s == 15


def test_that_saving_what_is_saved_writes_nothing(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 1), "R")
    for _ in range(3):
        recording.autosave(path, session, 0, {VERDICT: POSITION})
    with open_store(path) as store:
        assert len(readings.readings_of(store, session)) == 1


@pytest.mark.statement("E000-25")
def test_that_estimates_have_exact_hypergeometric_intervals(path: Path) -> None:
    run = reviewed_run(path, 120, findings=("Edema",))
    session = opening.open_error_review(path, run, "R")
    counted: Counter[str] = Counter()
    for position, model in enumerate(_models(path, session)):
        nine = model == MODELS[0] and counted[model] < 9
        counted[model] += 1
        _lock(path, session, position, ANATOMY if nine else POSITION)
    first = reviewing.review_results(path, run)[0]
    estimate = first.estimate("anatomy")
    assert estimate is not None
    assert (first.model, estimate.misses, estimate.reviewed) == (MODELS[0], 120, 50)
    assert estimate.count == 120 * 9 / 50 == 21.6
    assert (estimate.low, estimate.high) == (13, 34)
    fitting = [
        k
        for k in range(121)
        if hypergeom.sf(8, 120, k, 50) > 0.025 and hypergeom.cdf(9, 120, k, 50) > 0.025
    ]
    assert (min(fitting), max(fitting)) == (13, 34)
    assert first.estimated("position") == 120 * 41 / 50


def test_that_what_is_no_miss_any_more_counts_no_longer(path: Path) -> None:
    run = reviewed_run(path, 3, findings=("Edema",))
    session = opening.open_error_review(path, run, "R")
    for position in range(6):
        _lock(path, session, position, POSITION)
    trial = min(_trials(path, session))
    with open_store(path) as store, store.transaction():
        score = Score(Status.SCORED_WRONG, "", "D4", 0.2, Outcome.PARTIAL)
        trials.settle(store, [(trial, trials.Verdict(score, "2"))])
    counts = reviewing.review_results(path, run)
    assert sorted((row.misses, row.reviewed) for row in counts) == [(2, 2), (3, 3)]


def test_that_a_run_that_goes_on_is_not_reviewed_yet(path: Path) -> None:
    run = reviewed_run(path, 2, settled=3)
    with pytest.raises(WrongUseError, match="there may be more misses"):
        opening.open_error_review(path, run, "R")
    with open_store(path) as store:
        runs.mark_run(store, run, RunMark.CANCELLED)
    assert len(cases.queue(path, opening.open_error_review(path, run, "R"))) == 3


def test_that_an_unreviewed_run_has_no_counts(path: Path) -> None:
    run = reviewed_run(path, 2)
    assert reviewing.review_results(path, run) == ()
    with pytest.raises(WrongUseError, match="no run 99"):
        reviewing.review_results(path, 99)


def test_that_a_reader_who_stops_half_way_counts_as_far_as_he_came(
    path: Path,
) -> None:
    run = reviewed_run(path, 6, findings=("Edema",))
    session = opening.open_error_review(path, run, "R")
    models = _models(path, session)
    for position in range(5):
        _lock(path, session, position, POSITION)
    by_model = {row.model: row for row in reviewing.review_results(path, run)}
    for model in MODELS:
        assert by_model[model].misses == 6
        assert by_model[model].reviewed == models[:5].count(model)


def test_that_a_forecast_tells_nothing_of_what_another_reader_found(
    path: Path,
) -> None:
    run = reviewed_run(path, 4)
    first = opening.open_error_review(path, run, "R")
    second = opening.open_error_review(path, run, "S")
    before = reviewing.forecast(path, second)
    for position in range(4):
        _lock(path, first, position, POSITION)
    assert reviewing.forecast(path, second) == before
    assert reviewing.forecast(path, first).more < before.more


def test_that_a_forecast_reaches_zero_when_everything_is_reviewed(path: Path) -> None:
    run = reviewed_run(path, 4)
    session = opening.open_error_review(path, run, "R")
    before = reviewing.forecast(path, session)
    assert (before.strata, before.wide) == (4, 4)
    assert 0 < before.more <= before.most <= 16
    for position in range(16):
        _lock(path, session, position, POSITION)
    after = reviewing.forecast(path, session)
    assert (after.wide, after.more, after.most) == (0, 0, 0)


@pytest.mark.statement("E000-26")
def test_that_two_readers_agree_as_scikit_learn_says(path: Path) -> None:
    run = reviewed_run(path, 10)
    said: dict[str, dict[int, str]] = {"A": {}, "B": {}}
    for name, verdicts in (("A", "22321"), ("B", "2231332")):
        session = opening.open_error_review(path, run, name)
        with open_store(path) as store:
            reviewed = readings.reviewed_trials(store, session)
        for position, one in reviewed.items():
            verdict = verdicts[one.trial % len(verdicts)]
            said[name][one.trial] = verdict
            _lock(path, session, position, verdict)
    (pair,) = agreeing.agreement(path, run)
    trials = sorted(said["A"])
    expected = cohen_kappa_score(
        [said[pair.first][t] for t in trials],
        [said[pair.second][t] for t in trials],
        labels=list("1234"),
    )
    assert pair.cases == len(trials) == 40
    assert abs(pair.kappa.value - expected) < 1e-12
    differ = [t for t in trials if said["A"][t] != said["B"][t]]
    assert len(agreeing.adjudication_queue(path, run)) == len(differ)


@pytest.mark.statement("E000-26")
def test_that_disputes_go_to_somebody_else_who_has_the_last_word(path: Path) -> None:
    run = reviewed_run(path, 2, findings=("Edema",))
    for name, verdict in (("A", POSITION), ("B", ANATOMY)):
        session = opening.open_error_review(path, run, name)
        for position in range(4):
            _lock(path, session, position, verdict if position else POSITION)
    first = opening.session(path, SessionId(1))
    assert first.reader == "A"
    disputed = len(agreeing.adjudication_queue(path, run))
    assert disputed >= 2
    with pytest.raises(WrongUseError, match="one of the readers who disagree"):
        agreeing.open_adjudication(path, run, "A")
    session = agreeing.open_adjudication(path, run, "C")
    assert agreeing.open_adjudication(path, run, "C") == session
    tasks = cases.queue(path, session)
    assert len(tasks) == disputed
    assert tasks[0].others == ({VERDICT: POSITION}, {VERDICT: ANATOMY})
    assert not any(name in repr(tasks) for name in (*MODELS, "'A'", "'B'"))
    before = sum(row.found["anatomy"] for row in reviewing.review_results(path, run))
    for position in range(disputed):
        _lock(path, session, position, ANATOMY)
    after = sum(row.found["anatomy"] for row in reviewing.review_results(path, run))
    assert (before, after) == (0, disputed)
    assert agreeing.adjudication_queue(path, run) == ()
    with pytest.raises(WrongUseError, match="do not disagree"):
        agreeing.open_adjudication(path, run, "C")
    kinds = [one.kind for one in opening.sessions(path, run=run)]
    assert kinds == [SessionKind.ADJUDICATION, *[SessionKind.ERROR_REVIEW] * 2]


@pytest.mark.statement("E000-26")
@pytest.mark.parametrize("leaving", [("B",), ("A",), ("A", "B"), ("D",)])
def test_that_a_decision_counts_only_while_the_readers_it_is_about_differ(
    path: Path, leaving: tuple[str, ...]
) -> None:
    run = reviewed_run(path, 2, findings=("Edema",))
    said = {"A": POSITION, "B": PARTIAL, "D": PARTIAL}
    of_reader = {name: opening.open_error_review(path, run, name) for name in said}
    misses = len(cases.queue(path, of_reader["A"]))
    for name, session in of_reader.items():
        for position in range(misses):
            _lock(path, session, position, said[name])
    session = agreeing.open_adjudication(path, run, "C")
    for position in range(misses):
        _lock(path, session, position, ANATOMY)

    def counted() -> dict[str, int]:
        rows = reviewing.review_results(path, run)
        assert not any(row.unread or row.disputed for row in rows)
        kinds = Counter[str]()
        for row in rows:
            kinds.update(row.found)
        return +kinds

    def exported() -> list[tuple[str, str]]:
        file, *_ = export_readings(path, of_reader[staying[0]], path.parent)
        with file.open(encoding="utf-8") as rows:
            return [(row["kind"], row["verdict"]) for row in csv.DictReader(rows)]

    staying = [name for name in said if name not in leaving]
    assert counted() == {"anatomy": misses}
    for name in leaving:
        recording.withdraw(path, of_reader[name])
    remain = {said[name] for name in staying}
    of_all = [("adjudication", ANATOMY)] * misses
    reviews = [("error_review", said[name]) for name in staying for _ in range(misses)]
    if len(remain) > 1:  # still in dispute: the decision stands
        assert counted() == {"anatomy": misses}
        assert sorted(exported()) == sorted([*reviews, *of_all])
    else:
        assert counted() == {reviewing.KINDS[remain.pop()]: misses}
        assert sorted(exported()) == sorted(reviews)
        with pytest.raises(WrongUseError, match="do not disagree"):
            agreeing.open_adjudication(path, run, "C")


@pytest.mark.statement("E000-24")
def test_that_a_review_of_lateral_views_tells_nothing_of_frontal_misses(
    path: Path,
) -> None:
    run = reviewed_run(path, 2, laterals=2, findings=("Edema",))
    for view, models in (("lateral", 0), ("frontal", len(MODELS))):
        session = opening.open_error_review(
            path, run, "R", views=(view,), returning=True
        )
        _lock(path, session, 0, ANATOMY)
        with open_store(path) as store:
            found = reviewing.error_counts(store, run)
        assert len(found) == models
    assert {one.views for one in found.values()} == {("frontal",)}
    assert sum(one.found["anatomy"] for one in found.values()) == 1


@pytest.mark.statement("E000-24", "E000-27")
def test_that_misses_are_counted_where_absent_findings_are_asked_about_first(
    path: Path,
) -> None:
    first = "Enlarged Cardiomediastinum"
    run = reviewed_run(path, 2, findings=("Edema",), absent=first)
    session = opening.open_error_review(path, run, "R")
    _lock(path, session, 0, ANATOMY)
    with open_store(path) as store:
        found = reviewing.error_counts(store, run)
    assert sum(one.found["anatomy"] for one in found.values()) == 1


@pytest.mark.statement("E000-26")
def test_that_disputes_of_other_views_are_decided_in_a_session_of_their_own(
    path: Path,
) -> None:
    run = reviewed_run(path, 2, laterals=2, findings=("Edema",))
    for view in ("frontal", "lateral"):
        for name, verdict in (("A", POSITION), ("B", PARTIAL)):
            session = opening.open_error_review(
                path, run, name, views=(view,), returning=True
            )
            for position in range(len(cases.queue(path, session))):
                _lock(path, session, position, verdict)
    for left in (8, 4):
        assert len(agreeing.adjudication_queue(path, run)) == left
        session = agreeing.open_adjudication(path, run, "C", returning=True)
        assert len({task.view for task in cases.queue(path, session)}) == 1
        for position in range(4):
            _lock(path, session, position, ANATOMY)
    assert agreeing.adjudication_queue(path, run) == ()
    assert sum(one.found["anatomy"] for one in reviewing.review_results(path, run)) == 8


@pytest.mark.parametrize("reader", ["", "  ", "x" * 81])
def test_that_a_session_needs_a_name(path: Path, reader: str) -> None:
    run = reviewed_run(path, 1)
    with pytest.raises(WrongUseError, match="reader's name"):
        opening.open_error_review(path, run, reader)


def test_that_a_run_of_hits_has_nothing_to_review(path: Path) -> None:
    cells = dict.fromkeys(MODELS, Cell(0, 0))
    run = reviewed_run(path, 2, cells=cells)
    with pytest.raises(WrongUseError, match="no complete miss"):
        opening.open_error_review(path, run, "R")
    with pytest.raises(WrongUseError, match="did not ask 'grid=16'"):
        opening.open_error_review(path, run, "R", condition="grid=16")
    with pytest.raises(WrongUseError, match="Review 1 or more"):
        opening.open_error_review(path, run, "R", cap=0)
    with pytest.raises(WrongUseError, match="no run 9"):
        opening.open_error_review(path, 9, "R")


def test_that_a_case_is_drawn_on_the_grid_of_its_image(path: Path) -> None:
    session = opening.open_error_review(path, reviewed_run(path, 1), "R")
    canvas = cases.task(path, session, 0).canvas
    assert canvas.size == SIZE
    assert (canvas.grid.rows, canvas.field.x1) == (8, 80)
