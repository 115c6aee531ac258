"""Runs whose answers come by a provider's batch endpoint, and what can go wrong."""

import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers.batch_server import BatchScript, BatchServer, mixed
from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog, quiz_spec, says
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    everything_is_remote,
    finish,
    planned,
    server_profile,
    write_images,
)
from viewer import cli
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.errors import PrivacyError
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.run import (
    Event,
    ModelStopped,
    RunEnded,
    RunMark,
    RunStatus,
    RunWaiting,
)
from viewer.readers.pixels import load_pixels
from viewer.services.asking.ask import Question, ask
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.services.running import batch_job, batch_jobs
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import cancel_run, run_batch
from viewer.services.running.spending import budget_of_run
from viewer.services.worker.interrupted import (
    has_jobs,
    interrupted_runs,
    note_begun,
)
from viewer.settings import Settings
from viewer.store import batch_job_rows, cases, consents, runs, spending, trials
from viewer.store.batch_job_rows import BatchJobStep
from viewer.store.database import Store, open_store

PRICES = {"price_in": 1_000_000, "price_out": 1_000_000, "max_tokens": 50}
ANSWER_COST = 44
"""Micro-dollars at half the price: 87 tokens of a dollar per million, rounded up."""


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "FIRST_LOOK_S", 0.01)
    monkeypatch.setattr(batch_job, "LONGEST_LOOK_S", 0.05)
    monkeypatch.setattr(batch_jobs, "SETTLE_S", 0.2)
    monkeypatch.setattr(batch_jobs, "CROWDED_S", 0.05)


@pytest.fixture
def script() -> BatchScript:
    return BatchScript(answer_by_hash=True, price_in=500_000, price_out=500_000)


@pytest.fixture
def server(script: BatchScript) -> Iterator[BatchServer]:
    with BatchServer(script) as serving:
        yield serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def run(store: Store, server: BatchServer, tmp_path: Path) -> int:
    return planned(store, tmp_path / "d", a_spec([profile_of(server)]), 8)


def profile_of(server: BatchServer, **settings: object) -> ModelProfile:
    return server_profile(server.base_url, answers="batch", **PRICES, **settings)


def said(events: Sequence[Event]) -> str:
    return " ".join(e.sentence for e in events if isinstance(e, ModelStopped))


def pending(store: Store, run: int) -> int:
    return runs.status_counts(store, run).get(Status.PENDING, 0)


def reasons(store: Store, run: int) -> dict[str, int]:
    return runs.reason_counts(store, run, Status.PROVIDER_ERROR)


def begun(script: BatchScript) -> int:
    return script.asked.count("POST /batches")


def check_money(store: Store, run: int, script: BatchScript) -> None:
    """Nothing is bought twice, and what is billed is what the store counts."""
    assert max(Counter(script.billed).values(), default=0) <= 1
    spent = spending.spent_microusd(store, run)
    assert spent == len(script.billed) * ANSWER_COST
    ends = store.rows("SELECT count(*) FROM attempt_end")[0][0]
    assert ends == store.rows("SELECT count(*) FROM attempt")[0][0]
    assert batch_job_rows.unfinished_jobs(store, run) == ()


def test_that_answers_in_any_order_reach_their_own_questions(
    store: Store, run: int, script: BatchScript
) -> None:
    events = finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    expected = {
        hashlib.sha256(json.dumps(json.loads(body)["messages"]).encode()).digest(): (
            Script(answer_by_hash=True).answer_to(body)
        )
        for body in script.billed
    }
    assert len(expected) == 8
    answers = Counter(one.score.answer for one in trials.scored_trials(store, run))
    assert answers == Counter(expected.values())
    check_money(store, run, script)
    assert begun(script) == 1
    waits = [e for e in events if isinstance(e, RunWaiting) and e.questions]
    assert waits[0].words.startswith("Batch of 8 submitted; answers due by ")


def test_that_the_answers_are_those_that_a_question_at_once_gets(
    store: Store, run: int, server: BatchServer
) -> None:
    finish(store, run)
    raw = [one.raw for one in trials.replies_of(store, run)]
    with ScriptedServer(Script(answer="D4")) as other:
        at_once = plan_run(store, a_spec([server_profile(other.base_url)]))
        finish(store, at_once)
    (first, *_) = [one.raw for one in trials.replies_of(store, at_once)]
    assert {one.kind for one in raw} == {first.kind}
    assert json.loads(raw[0].body).keys() == json.loads(first.body).keys()
    assert server.script.files == {}


def test_that_a_failed_question_is_asked_in_the_next_batch(
    store: Store, run: int, script: BatchScript
) -> None:
    fates = iter(["500", "400"])
    script.fate = lambda _body, _again: next(fates, "ok")
    finish(store, run)
    assert reasons(store, run) == {"http_400": 1}
    assert (begun(script), len(script.billed)) == (2, 7)
    check_money(store, run, script)


def test_that_a_question_that_fails_again_and_again_ends(
    store: Store, run: int, script: BatchScript
) -> None:
    script.fate = lambda _body, _again: "500"
    finish(store, run)
    assert reasons(store, run) == {"http_500": 8}
    assert begun(script) == 6
    assert script.billed == []


def test_that_an_expired_question_costs_nothing_and_may_be_asked_again(
    store: Store, run: int, script: BatchScript
) -> None:
    fates = iter(["ok", "expired", "missing"])
    script.fate = lambda _body, _again: next(fates, "ok")
    script.expires = True
    finish(store, run)
    assert reasons(store, run) == {"batch_expired": 2}
    check_money(store, run, script)
    script.expires = False
    finish(store, run, BatchOptions(retry_failed=True))
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    assert reasons(store, run) == {}
    check_money(store, run, script)


def test_that_a_question_missing_in_the_results_counts_as_paid_for(
    store: Store, run: int, script: BatchScript
) -> None:
    fates = iter(["missing"])
    script.fate = lambda _body, _again: next(fates, "ok")
    finish(store, run)
    assert reasons(store, run) == {"batch_missing": 1}
    assert len(spending.unpriced_attempts(store, run)) == 1


def test_that_a_refused_batch_leaves_its_questions_pending(
    store: Store, run: int, script: BatchScript
) -> None:
    script.refused = [("invalid_method", "Line 3 has no method.")]
    events = finish(store, run)
    assert "refused by its provider: Line 3 has no method. Nothing of it" in said(
        events
    )
    assert pending(store, run) == 8
    profiles = {"my-server": runs.run_spec(store, run).models[0]}
    assert budget_of_run(store, run, profiles).spent == 0
    check_money(store, run, script)
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    check_money(store, run, script)


def test_that_a_crowded_provider_gets_smaller_batches(
    store: Store, run: int, script: BatchScript
) -> None:
    script.most_enqueued, script.takes_s = 3, 0.05
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    sizes = [len(b.lines) for b in script.batches.values()]
    assert sizes[:3] == [8, 4, 4]
    assert {*sizes[3:]} == {2}
    check_money(store, run, script)


def drained(store: Store, run: int, stop_at: int, mark: RunMark | None) -> list[Event]:
    """Drain a run that is ended once some of its questions are in a batch."""
    cancel, events = threading.Event(), list[Event]()
    for event in run_batch(store, run, BatchOptions(), cancel):
        events.append(event)
        if isinstance(event, RunWaiting) and event.questions >= stop_at:
            time.sleep(0.2)
            if mark is not None:
                runs.mark_run(store, run, mark)
            cancel.set()
    return events


def test_that_a_cancelled_run_cancels_its_batch_and_keeps_its_answers(
    store: Store, run: int, script: BatchScript
) -> None:
    script.takes_s, script.cancelling_s = 0.8, 0.1
    drained(store, run, 8, RunMark.CANCELLED)
    (batch,) = script.batches.values()
    assert batch.status == "cancelled"
    left = pending(store, run)
    assert 0 < left < 8
    assert len(script.billed) == 8 - left
    check_money(store, run, script)
    assert runs.run_summary(store, run).status is RunStatus.CANCELLED
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    check_money(store, run, script)


@pytest.mark.parametrize("mark", [None, RunMark.PAUSED])
def test_that_a_batch_goes_on_without_the_program(
    store: Store, run: int, script: BatchScript, mark: RunMark | None
) -> None:
    script.takes_s = 0.7
    events = drained(store, run, 8, mark)
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.cancelled, ended.unanswered, pending(store, run)) == (True, 0, 8)
    out = runs.submitted_by_run(store)[run]
    assert (out.questions, bool(out.due)) == (8, True)
    finish(store, run)
    assert runs.submitted_by_run(store) == {}
    assert begun(script) == 1
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    check_money(store, run, script)


def test_that_a_run_that_was_left_can_be_cancelled(
    store: Store, run: int, script: BatchScript
) -> None:
    script.takes_s = 60
    drained(store, run, 8, None)
    assert list(cancel_run(store, run))
    assert [b.status for b in script.batches.values()] == ["cancelled"]
    assert runs.run_summary(store, run).status is RunStatus.CANCELLED
    check_money(store, run, script)


def test_that_a_batch_cancelled_at_its_provider_is_told(
    store: Store, run: int, script: BatchScript
) -> None:
    script.fate = lambda _body, _again: "cancelled"
    events = finish(store, run)
    assert "was cancelled at the provider. The answers" in said(events)
    assert (pending(store, run), begun(script)) == (8, 1)


def test_that_a_ceiling_is_never_passed(
    store: Store, run: int, script: BatchScript
) -> None:
    spending.set_ceiling(store, run, 20_000)
    finish(store, run)
    first = len(script.batches)
    assert begun(script) == first >= 1
    for batch in script.batches.values():
        assert len(batch.lines) < 8
    assert spending.spent_microusd(store, run) <= 20_000
    check_money(store, run, script)


def test_that_a_ceiling_too_low_for_one_question_asks_none(
    store: Store, run: int, script: BatchScript
) -> None:
    spending.set_ceiling(store, run, 10)
    events = finish(store, run)
    assert "The ceiling of" in said(events)
    assert runs.run_summary(store, run).status is RunStatus.PAUSED
    assert script.batches == {}


def test_that_what_is_out_counts_against_the_ceiling_of_the_next_process(
    store: Store, run: int, script: BatchScript
) -> None:
    script.takes_s = 0.6
    drained(store, run, 8, None)
    spending.set_ceiling(store, run, 8 * ANSWER_COST)
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    check_money(store, run, script)


@pytest.mark.parametrize(
    ("step", "status", "batches"),
    [
        ("POST files", 500, 1),
        ("POST files", 599, 1),
        ("POST batches", 500, 1),
        ("POST batches", 599, 1),
        ("GET batches", 503, 1),
        ("GET batch", 502, 1),
        ("GET content", 500, 1),
    ],
)
def test_that_a_step_that_fails_is_tried_again_and_bought_once(
    store: Store, run: int, script: BatchScript, step: str, status: int, batches: int
) -> None:
    script.trouble = {step: [status]}
    if step == "GET batches":
        script.trouble["POST batches"] = [500]
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    assert len(script.batches) == batches
    assert script.files == {}
    check_money(store, run, script)


@pytest.mark.parametrize("step", ["POST files", "POST batches"])
def test_that_a_server_without_batches_stops_its_model(
    store: Store, run: int, script: BatchScript, step: str
) -> None:
    script.trouble = {step: [404] * 9}
    events = finish(store, run)
    assert "(404" in said(events)
    assert pending(store, run) == 8
    check_money(store, run, script)


def test_that_a_key_that_is_refused_leaves_the_batch_for_later(
    store: Store, run: int, script: BatchScript
) -> None:
    script.trouble = {"GET batch": [401]}
    script.takes_s = 0.1
    events = finish(store, run)
    assert "refuses the key" in said(events)
    assert runs.submitted_by_run(store)[run].questions == 8
    finish(store, run)
    assert begun(script) == 1
    check_money(store, run, script)


def test_that_results_that_are_gone_end_their_questions(
    store: Store, run: int, script: BatchScript
) -> None:
    script.takes_s = 0.1
    script.trouble = {"GET content": [404]}
    finish(store, run)
    assert reasons(store, run) == {"batch_missing": 8}
    assert len(spending.unpriced_attempts(store, run)) == 8


def close_files(jobs: batch_jobs.BatchJobs) -> None:
    for one in jobs._jobs:
        one.close()


class KilledError(BaseException):
    """Stands for the death of the process."""


@pytest.mark.parametrize("step", [*BatchJobStep])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_that_a_death_at_any_step_buys_nothing_twice(
    store: Store,
    run: int,
    script: BatchScript,
    monkeypatch: pytest.MonkeyPatch,
    step: BatchJobStep,
    moment: str,
) -> None:
    if step is BatchJobStep.DROPPED:
        script.refused = [("token_limit_exceeded", "too many")]
    note = batch_job_rows.note_step

    def dies(opened: Store, row: int, what: BatchJobStep, *more: str) -> None:
        if moment == "after" or what is not step:
            note(opened, row, what, *more)
        if what is step:
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(batch_job_rows, "note_step", dies)
        # a death has no last words
        patched.setattr(batch_jobs.BatchJobs, "leave", close_files)
        with pytest.raises(KilledError):
            finish(store, run)
    note_begun(store.path, run)
    is_over = (step, moment) == (BatchJobStep.ENDED, "after")
    assert [one.run for one in interrupted_runs(store.path)] == [run] * (not is_over)
    other = script.keep(b"", "another-program.jsonl")
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    assert [*script.files] == [other]
    check_money(store, run, script)


@pytest.mark.parametrize("refused", ["DELETE file", "GET files"])
def test_that_a_provider_that_keeps_files_costs_a_line_of_the_log(
    store: Store,
    run: int,
    script: BatchScript,
    caplog: pytest.LogCaptureFixture,
    refused: str,
) -> None:
    script.trouble = {"POST files": [599], refused: [403]}
    events = finish(store, run)
    assert said(events) == ""
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    assert len(script.files) == 3  # two uploads and the answers
    (line,) = caplog.messages
    assert line.startswith("Files of a batch of my-server may still be at its ")
    check_money(store, run, script)


def test_that_a_file_of_images_is_left_nowhere(
    store: Store, run: int, script: BatchScript
) -> None:
    finish(store, run)
    assert script.files == {}
    names = [path.name for path in store.path.parent.iterdir()]
    assert not [name for name in names if "tmp" in name or "jsonl" in name]


def test_that_steps_go_wave_by_wave(
    server: BatchServer, script: BatchScript, tmp_path: Path
) -> None:
    script.answer_by_hash = False
    different = {"two": "C", "one": "A", "none": "B"}
    with quiz_in_catalog(), open_store(tmp_path / "q.sqlite") as store:
        cases.add_dataset(store, quiz_dataset(tmp_path / "pictures"))
        spec = quiz_spec([says("knows", different, tmp_path)], profile_of(server))
        run = plan_run(store, spec)
        script.takes_s = 0.4
        drained(store, run, 1, None)
        finish(store, run)
        assert runs.run_summary(store, run).status is RunStatus.FINISHED
        # the server says no number, so that each judgement is asked for once more
        assert [len(b.lines) for b in script.batches.values()] == [3, 3]
        replies = store.rows("SELECT count(*) FROM parse_step")[0][0]
        assert replies == 9
        check_money_of_steps(store, script)


def check_money_of_steps(store: Store, script: BatchScript) -> None:
    spent = store.rows("SELECT sum(cost_microusd) FROM reply")[0][0]
    assert spent == len(script.billed) * ANSWER_COST


def test_that_another_run_waits_for_the_batch_that_has_its_question(
    store: Store, run: int, server: BatchServer, script: BatchScript
) -> None:
    script.takes_s = 0.5
    drained(store, run, 8, None)
    other = plan_run(store, a_spec([profile_of(server)]), new=True)
    cancel, words = threading.Event(), set[str]()
    with open_store(store.path) as again:
        for event in run_batch(again, other, BatchOptions(), cancel):
            if isinstance(event, RunWaiting) and event.holders:
                words.add(event.words)
                finish(store, run)
    assert words == {f"Waiting for the batch of run {run}"}
    assert runs.run_summary(store, other).status is RunStatus.FINISHED
    check_money(store, run, script)


def test_that_the_same_question_twice_in_a_run_is_bought_once(
    store: Store, server: BatchServer, script: BatchScript, tmp_path: Path
) -> None:
    profile = profile_of(server)
    twin = ModelProfile("twin", profile.adapter, profile.settings)
    run = planned(store, tmp_path / "d", a_spec([profile, twin]), 3)
    script.takes_s = 0.2
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    assert len(script.billed) == 3
    check_money(store, run, script)


def allow(store: Store, server: BatchServer) -> None:
    consents.add_consent(store, server.url, None, "a test", granted=True)
    for image in cases.dataset_named(store, "tiny").images:
        sha256 = pixels_sha256(load_pixels(image.ref))
        consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))


@pytest.fixture
def elsewhere(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Register four images, and let every server count as one of another machine."""
    everything_is_remote(monkeypatch)
    planned(store, tmp_path / "d", a_spec([D4]))


@pytest.mark.usefixtures("elsewhere")
def test_that_what_leaves_in_a_file_is_noted_with_its_hash(
    store: Store, server: BatchServer, script: BatchScript
) -> None:
    with pytest.raises(PrivacyError, match="nothing of 'tiny' may leave"):
        plan_run(store, a_spec([profile_of(server)]))
    assert script.asked == []
    allow(store, server)
    script.takes_s = 0.2
    script.fate = lambda _body, again: "ok" if again else "400:temperature"
    run = plan_run(store, a_spec([profile_of(server)]))
    finish(store, run)
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    left = {row[0] for row in store.rows("SELECT body_sha256 FROM departure")}
    compact = [json.dumps(json.loads(b), separators=(",", ":"), ensure_ascii=False)
               for b in script.bodies]  # fmt: skip
    assert left == {hashlib.sha256(text.encode()).hexdigest() for text in compact}
    assert sum(b'"temperature"' in body for body in script.bodies) == 4
    assert any("temperature was rejected" in str(n) for n in runs.run_notes(store, run))


@pytest.mark.usefixtures("elsewhere")
def test_that_a_consent_withdrawn_before_the_file_leaves_keeps_it_here(
    store: Store,
    server: BatchServer,
    script: BatchScript,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow(store, server)
    run = plan_run(store, a_spec([profile_of(server)]))
    put = batch_jobs.BatchJobs.put

    def withdraws(jobs: batch_jobs.BatchJobs, *given: object) -> object:
        consents.add_consent(store, server.url, None, "a test", granted=False)
        return put(jobs, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(batch_jobs.BatchJobs, "put", withdraws)
    events = finish(store, run)
    assert script.asked == []
    assert pending(store, run) == 4
    assert "may leave" in said(events)
    check_money(store, run, script)


def test_that_a_run_is_deleted_with_its_batch(
    settings: Settings, server: BatchServer, script: BatchScript, tmp_path: Path
) -> None:
    script.takes_s = 60
    with open_store(settings.store) as store:
        run = planned(store, tmp_path / "d", a_spec([profile_of(server)]))
        drained(store, run, 4, None)
    delete(settings, Target(Kind.RUN, str(run)))
    with closing(sqlite3.connect(settings.store)) as database:
        for table in ("batch_job", "batch_job_question", "batch_job_event", "attempt"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_that_no_image_of_a_question_stays_in_memory_while_it_is_out(
    store: Store, run: int, script: BatchScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.takes_s = 0.2
    seen: list[batch_job.BatchJob] = []
    wait = batch_job.BatchJob.wait

    def watches(one: batch_job.BatchJob, pause_s: float | None = None) -> None:
        seen.append(one)
        wait(one, pause_s)

    monkeypatch.setattr(batch_job.BatchJob, "wait", watches)
    finish(store, run)
    assert seen
    assert all(one.gate_inputs == [] and one.content is None for one in seen)


def test_that_a_mixed_batch_ends_each_question_once(
    store: Store, server: BatchServer, script: BatchScript, tmp_path: Path
) -> None:
    script.fate = mixed
    run = planned(store, tmp_path / "d", a_spec([profile_of(server)]), 40)
    finish(store, run)
    counts = runs.status_counts(store, run)
    assert sum(counts.values()) == 40
    assert Status.PENDING not in counts
    assert counts[Status.PROVIDER_ERROR] == 40 - len(script.billed) > 0
    check_money(store, run, script)


def test_that_a_window_goes_on_with_a_batch_that_only_has_to_be_looked_at(
    store: Store, run: int, script: BatchScript
) -> None:
    note_begun(store.path, run)
    (before,) = interrupted_runs(store.path)
    assert (before.priced, before.out) == (True, 0)
    assert not has_jobs(store.path, run)
    script.takes_s = 60
    drained(store, run, 8, None)
    (after,) = interrupted_runs(store.path)
    assert (after.priced, after.out) == (False, 8)
    assert has_jobs(store.path, run)


def test_that_a_single_question_is_asked_at_once_at_the_full_price(
    store: Store, tmp_path: Path
) -> None:
    folder = write_images(tmp_path / "d", 1)
    image = ImageRef(folder / "patient00000_frontal.png")
    with ScriptedServer(Script(answer="D4")) as at_once:
        profile = server_profile(at_once.base_url, answers="batch", **PRICES)
        reply = ask(store, Question(image, "Edema", profile))
        assert len(at_once.script.received) == 1
    assert reply.scored.score.answer == "D4"
    assert spending.spent_microusd(store, reply.run) == 87


def test_that_the_command_line_leaves_resumes_and_cancels(
    store: Store, run: int, script: BatchScript, capsys: pytest.CaptureFixture[str]
) -> None:
    def typed(*words: str) -> str:
        code = cli.run_command_line([*words, "--store", str(store.path)])
        said = capsys.readouterr()
        return f"{code} {said.err} {said.out}"

    script.takes_s = 60
    drained(store, run, 8, None)
    assert "Batch of 8 submitted; answers due by" in typed("runs")
    assert "0 Batch of 8 submitted; answers due by" in typed("cancel", str(run))
    assert "batch" not in typed("runs")
    assert runs.run_summary(store, run).status is RunStatus.CANCELLED
    script.takes_s = 0.1
    said = typed("resume", "last")
    assert "8 scored" in said or "Run 1:" in said
    assert runs.run_summary(store, run).status is RunStatus.FINISHED
    check_money(store, run, script)
