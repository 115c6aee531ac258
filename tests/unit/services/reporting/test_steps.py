"""Trials of several questions: kept, resumed, judged again and never bought twice."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import (
    JUDGE,
    quiz_in_catalog,
    quiz_spec,
    registered,
    says,
)
from tests.helpers.tiny_study import finish, plan_and_finish, prepare_trial, tables_of
from viewer.domain.answer import ChoiceAnswer, Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunEnded, TrialDone
from viewer.imaging.png import encode_png
from viewer.models.catalog import _made
from viewer.services.configuring.study_file import make_spec
from viewer.services.reporting.manifest import manifest_of
from viewer.services.reporting.report_run import report_data, report_files
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, steps, trials
from viewer.store.database import Store, open_store

RIGHT = {"two": "C", "one": "A", "none": "B"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        registered(opened, tmp_path / "pictures")
        yield opened


def attempts(store: Store) -> int:
    return int(store.rows("SELECT count(*) FROM attempt")[0][0])


def done(events: Sequence[object]) -> list[TrialDone]:
    return [event for event in events if isinstance(event, TrialDone)]


def test_that_items_with_none_one_and_two_images_are_asked_and_scored(
    store: Store, tmp_path: Path
) -> None:
    spec = quiz_spec([says("knows", {**RIGHT, "one": "B"}, tmp_path)])
    run = plan_and_finish(store, spec)
    data = report_data(store, run)
    by_item = {one.item: one for one in data.results}
    assert {k: one.score.status.value for k, one in by_item.items()} == {
        "two": "scored_correct",
        "one": "scored_wrong",
        "none": "scored_correct",
        "bare": "excluded",
    }
    assert by_item["two"].said == ChoiceAnswer(2, "letter")
    assert by_item["one"].score.answer == "B"
    assert by_item["bare"].score.reason == "no_options"
    sent = {
        k: trials.sent_request(store, one.request_sha256)
        for k, one in by_item.items()
        if one.request_sha256
    }
    assert {k: len(one.images) for k, one in sent.items()} == {
        "two": 2,
        "one": 1,
        "none": 0,
    }


def test_that_the_images_of_a_question_are_their_exact_bytes_in_order(
    store: Store, tmp_path: Path
) -> None:
    spec = quiz_spec([says("knows", RIGHT, tmp_path)])
    context = RunContext(spec, cases.dataset_named(store, "quizzes"))
    trial = context.study.plan(context.dataset, spec)[0]
    prepared = prepare_trial(context, trial)
    item = context.item(trial)
    drawn = [encode_png(context.drawn.raster((key, None))[0]) for key in item.images]
    assert [image.png for image in prepared.request.images] == drawn
    again = prepare_trial(context, trial)
    assert (again.sha256, again.document) == (prepared.sha256, prepared.document)
    assert [image.key for image in prepared.shown] == list(item.images)


def test_that_a_judge_is_asked_after_the_model_and_once_more_if_odd(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", {**RIGHT, "one": "B"}, tmp_path)
    judge = says(
        "judges",
        {"two": "5", "one": "fine", "one|judge again": "2", "none": "fine"},
        tmp_path,
    )
    run = plan_run(store, quiz_spec([model], judge))
    ended = done(finish(store, run))
    assert len(ended) == 3
    data = report_data(store, run)
    by_item = {one.item: one for one in data.results}
    assert by_item["two"].score.number("judge") == 5.0
    assert by_item["one"].score.number("judge") == 2.0
    assert by_item["none"].score.reason == "judge_unparsed"
    assert by_item["none"].said == Unparsed(Status.UNPARSED, "judge_unparsed")
    scored = {one.trial.item: one for one in trials.scored_trials(store, run)}
    read = steps.replies_read(store, scored["one"].id)
    assert [(r.step.name, r.step.role, r.step.again) for r in read] == [
        ("answer", "", 0),
        ("judge", "judge", 0),
        ("judge", "judge", 1),
    ]
    assert scored["one"].reply_id == read[0].id
    assert attempts(store) == 2 + 3 + 3


def test_that_the_same_words_are_judged_once_for_two_models(
    store: Store, tmp_path: Path
) -> None:
    models = [says(name, {**RIGHT, name: "A"}, tmp_path) for name in ("m", "n")]
    judge = ModelProfile("judges", "scripted", {"answer": "4"})
    plan_and_finish(store, quiz_spec(models, judge))
    questions = store.rows("SELECT count(DISTINCT request_sha256) FROM attempt")
    asked = [
        row[0]
        for row in store.rows(
            "SELECT count(*) FROM request q JOIN prompt p ON p.sha256 ="
            " q.prompt_sha256 WHERE p.body = ?",
            (JUDGE,),
        )
    ]
    assert asked == [3]
    assert attempts(store) == questions[0][0] == 3 + 3 + 3


def test_that_a_batch_that_ends_between_two_questions_buys_nothing_again(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", RIGHT, tmp_path)
    judge = ModelProfile("judges", "scripted", {"answer": "4"})
    run = plan_run(store, quiz_spec([model], judge))
    bought: list[int] = []
    for _ in range(40):
        cancel = threading.Event()
        batch = run_batch(store, run, BatchOptions(concurrency=1), cancel)
        for event in batch:
            if attempts(store) > len(bought):
                cancel.set()
            if isinstance(event, RunEnded):
                bought.append(attempts(store))
        if not runs.trials_in(store, run, [Status.PENDING]):
            break
    assert bought[-1] == 3 + 3
    assert max(b - a for a, b in zip([0, *bought], bought, strict=False)) < 6
    keys = store.rows("SELECT request_sha256 FROM attempt")
    assert len({row[0] for row in keys}) == len(keys)
    statuses = {one.score.status for one in report_data(store, run).results}
    assert statuses == {Status.SCORED_CORRECT, Status.EXCLUDED}


def test_that_every_step_is_judged_again_from_what_is_kept(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", RIGHT, tmp_path)
    judge = says("judges", {"two": "x", "two|judge again": "3"}, tmp_path)
    judge = replace(judge, settings={**judge.settings, "answer": "5"})
    run = plan_and_finish(store, quiz_spec([model], judge))
    before = tables_of(store, run)
    for path in (tmp_path / "pictures").glob("*.png"):
        path.unlink()
    (tmp_path / "knows.json").unlink()
    assert rescore_run(store, run).changed == 0
    with store.transaction():
        wrong = trials.scored_trials(store, run)[0]
        read = steps.replies_read(store, wrong.id)
        score = replace(wrong.score, numbers=(("judge", 0.0),))
        spoiled = trials.Verdict(score, "0", "{}", replies=read)
        trials.settle(store, [(wrong.id, spoiled)])
    rescored = rescore_run(store, run)
    assert (rescored.replies, rescored.changed) == (3, 1)
    assert tables_of(store, run) == before


def test_that_a_failed_judge_is_asked_again_without_the_model(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", RIGHT, tmp_path)
    judge = says("judges", {"two": "5", "one": "4"}, tmp_path)  # not about "none"
    run = plan_and_finish(store, quiz_spec([model], judge))
    before = attempts(store)
    failed = [
        one
        for one in report_data(store, run).results
        if one.score.status in {Status.PROVIDER_ERROR, Status.PENDING}
    ]
    assert [one.item for one in failed] == ["none"]
    says("judges", {"two": "5", "one": "4", "none": "1"}, tmp_path)
    _made.cache_clear()  # this process read the file when it first asked
    finish(store, run, BatchOptions(retry_failed=True))
    by_item = {one.item: one for one in report_data(store, run).results}
    assert by_item["none"].score.number("judge") == 1.0
    models = store.rows(
        "SELECT count(*) FROM attempt a JOIN request q ON q.sha256 = a.request_sha256"
        " JOIN prompt p ON p.sha256 = q.prompt_sha256 WHERE p.name = 'answer'"
    )
    assert models[0][0] == 3
    assert attempts(store) > before


def test_that_the_work_is_named_by_its_judge_too(store: Store, tmp_path: Path) -> None:
    model = says("knows", RIGHT, tmp_path)
    first = quiz_spec([model], ModelProfile("a", "scripted", {"answer": "4"}))
    other = quiz_spec([model], ModelProfile("a", "scripted", {"answer": "5"}))
    run = plan_run(store, first)
    assert plan_run(store, first) == run
    assert plan_run(store, other) != run
    assert runs.run_spec(store, run) == first
    assert first.helpers[0].name == "a"


def test_that_a_judge_nobody_knows_is_refused_before_the_plan() -> None:
    model = ModelProfile("m", "scripted", {"answer": "A"})
    with quiz_in_catalog(), pytest.raises(WrongUseError, match="nobody"):
        make_spec(
            study="quiz",
            dataset="quizzes",
            preset="own",
            seed=0,
            repeats=1,
            models=[model],
            overrides={"judge": "nobody"},
        )


def test_that_a_model_that_only_points_is_refused_before_the_plan(
    store: Store,
) -> None:
    pointing = ModelProfile("uniform", "uniform")
    with pytest.raises(WrongUseError, match="'uniform' points at a location"):
        plan_run(store, quiz_spec([pointing]))
    assert runs.run_summaries(store, include_adhoc=True) == ()


def test_that_a_manifest_tells_of_items_prompts_and_roles(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", RIGHT, tmp_path)
    judge = ModelProfile("judges", "scripted", {"answer": "4"})
    run = plan_and_finish(store, quiz_spec([model], judge))
    report = report_data(store, run)
    manifest = manifest_of(report.summary, report.context, report.data, {}, (), {})
    study, dataset = manifest["study"], manifest["dataset"]
    assert isinstance(study, dict)
    assert isinstance(dataset, dict)
    assert [p["name"] for p in study["prompts"]] == ["answer", "judge"]
    assert "grid_font_sha256" not in study
    assert dataset["items"] == 4
    settings = manifest["run"]["settings"]  # type: ignore[index]
    assert [one["name"] for one in settings["helpers"]] == ["judges"]
    page = report_files(report)["report.html"].decode()
    assert "Models in a role" in page
    assert len(dataset["items_sha256"]) == 64
