"""What holds for every study of the catalogue that asks about items."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.quiz_study import Quiz, quiz_in_catalog
from tests.helpers.study_samples import SAMPLES
from tests.helpers.tiny_study import finish, plan_and_finish, prepare_trial
from viewer.domain.answer import UNREADABLE, Status, Unparsed
from viewer.domain.answer_json import answer_as_json, any_answer_of_json
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.item import check_items, item_of
from viewer.domain.run import RunSpec, Trial
from viewer.imaging.png import decode_png
from viewer.services.configuring.study_file import make_spec
from viewer.services.inspecting.answers import images_of
from viewer.services.reporting.report_run import report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.plan_run import plan_run
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import open_store
from viewer.studies.catalog import OURS, study_named
from viewer.studies.steps import StepReply, Turn

MODEL = "studied"
MOST_STEPS = 8
"""More questions than any trial may take."""
names = pytest.mark.parametrize("name", sorted(SAMPLES))


@pytest.fixture(autouse=True, scope="module")
def _quiz() -> Iterator[None]:
    with quiz_in_catalog():
        yield


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    return {
        name: replace(sample.make(tmp_path_factory.mktemp(name) / name), name=name)
        for name, sample in SAMPLES.items()
    }


@pytest.fixture(scope="module")
def firsts() -> dict[str, tuple[RunContext, Trial]]:
    """The first trial of a study's sample that asks, planned when it is needed."""
    return {}


def a_spec(name: str) -> RunSpec:
    sample = SAMPLES[name]
    model = ModelProfile(MODEL, "scripted", {"answer": sample.answer})
    helper = ModelProfile("helper", "scripted", {"answer": sample.helps})
    return make_spec(
        study=name,
        dataset=name,
        preset=study_named(name).presets()[0],
        seed=1,
        repeats=2,
        models=[model],
        overrides=sample.overrides,
        known={MODEL: model, "helper": helper},
    )


def a_bench(name: str, dataset: Dataset) -> RunContext:
    return RunContext(a_spec(name), dataset)


def _other(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return another value of the same kind, so that what reads it still can."""
    if isinstance(value, dict):
        return {key: _other(held) for key, held in value.items()}
    if isinstance(value, list):
        return value[::-1]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 0 if value else 1
    return value


def test_that_every_study_about_items_has_a_sample() -> None:
    asking = {n for n in OURS if not study_named(n).words.places}
    assert asking <= set(SAMPLES)


@names
def test_that_its_sample_is_sound(name: str, datasets: dict[str, Dataset]) -> None:
    dataset = datasets[name]
    check_items(dataset.items, [image.key for image in dataset.images])
    assert dataset.items


@names
def test_that_images_are_sent_with_square_pixels(
    name: str, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    """Of images whose pixels are three times as high as wide, by their proportions."""
    tall = [
        replace(image, geometry=replace(image.geometry, aspect_ratio=3.0))
        for image in datasets[name].images
    ]
    whole = {round(3 * i.size.rows / i.size.columns, 1) for i in tall if i.size.rows}
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, replace(datasets[name], images=tuple(tall)))
        finish(store, plan_run(store, a_spec(name)))
        requests = [
            trials.sent_request(store, row["sha256"])
            for row in store.rows("SELECT sha256 FROM request")
        ]
    sent = [decode_png(png).size for one in requests for png in _first(name, one)]
    assert bool(sent) is bool(whole)
    assert {round(size.rows / size.columns, 1) for size in sent} <= whole


def _first(name: str, request: trials.RequestRecord) -> tuple[bytes, ...]:
    """Return the images of a request that are whole: a region's crop is none."""
    images = images_of(request)
    return images[:1] if name == "grounded_vqa" else images


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("evidence_diagnosis", "The case '{}' has no diagnosis."),
        ("pathology_mcq", "The item '{}' does not say which option is correct."),
        (
            "question_set",
            (
                "The item '{}' has no known answer: the study 'question_set' finds no "
                "'option' in it."
            ),
        ),
        (
            "quiz",
            (
                "The item '{}' has no known answer: the study 'quiz' finds no "
                "'option' in it."
            ),
        ),
    ],
)
def test_that_an_item_without_a_right_answer_is_named_before_anything_is_asked(
    name: str,
    said: str,
    datasets: dict[str, Dataset],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Quiz, "gold", lambda _, turn, __: {"right": turn.item.reference["option"]}
    )
    first, *others = datasets[name].items
    bad = replace(datasets[name], items=(replace(first, reference={}), *others))
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, bad)
        with pytest.raises(WrongUseError) as raised:
            plan_run(store, a_spec(name))
        assert raised.value.what == said.format(first.key)
        assert runs.run_summaries(store, include_adhoc=True) == ()


@names
def test_that_a_plan_is_the_same_every_time_and_each_trial_has_its_item(
    name: str, datasets: dict[str, Dataset]
) -> None:
    study, dataset = study_named(name), datasets[name]
    trials = study.plan(dataset, a_spec(name))
    assert trials == study.plan(dataset, a_spec(name))
    keys = {(t.item, t.condition.name, t.repeat, t.model) for t in trials}
    assert len(keys) == len(trials) > 0
    items = {item.key: item for item in dataset.items}
    images = {"", *(image.key for image in dataset.images)}
    for trial in trials:
        assert item_of(items, trial.item).patient == trial.patient
        assert trial.image in images
        assert trial.condition.name


@names
def test_that_the_same_trial_gives_the_same_bytes_and_nothing_of_the_truth(
    name: str, datasets: dict[str, Dataset]
) -> None:
    one, other = a_bench(name, datasets[name]), a_bench(name, datasets[name])
    planned = one.study.plan(one.dataset, one.spec)
    for trial in [trial for trial in planned if not trial.exclusion][:5]:
        first, second = prepare_trial(one, trial), prepare_trial(other, trial)
        assert first.sha256 == second.sha256
        assert first.request.messages == second.request.messages
        item = one.item(trial)
        untrue = replace(item, reference=_other(item.reference))
        items = tuple(
            untrue if each.key == item.key else each for each in one.dataset.items
        )
        misled = a_bench(name, replace(one.dataset, items=items))
        assert prepare_trial(misled, trial).request.messages == first.request.messages


@names
@given(text=st.text(max_size=80), finish=st.sampled_from(["stop", "length", "other"]))
def test_that_any_replies_end_in_an_answer_or_one_status(
    name: str,
    datasets: dict[str, Dataset],
    firsts: dict[str, tuple[RunContext, Trial]],
    text: str,
    finish: str,
) -> None:
    if name not in firsts:
        bench = a_bench(name, datasets[name])
        planned = bench.study.plan(bench.dataset, bench.spec)
        firsts[name] = bench, next(one for one in planned if not one.exclusion)
    context, trial = firsts[name]
    turn = Turn(trial, context.item(trial))
    while (step := context.study.next_step(turn, context.params)) is not None:
        assert len(turn.so_far) < MOST_STEPS
        replied = StepReply(step, ModelReply(text, finish_reason=finish))
        turn = replace(turn, so_far=(*turn.so_far, replied))
    assert turn.so_far
    answer = context.study.parse(turn, context.params)
    assert any_answer_of_json(answer_as_json(answer)) == answer
    score = context.study.score(turn, answer, context.params)
    assert score.status is not Status.PENDING
    if isinstance(answer, Unparsed):
        assert answer.status in UNREADABLE | {Status.REFUSED}
        assert answer.reason


@names
def test_that_the_longest_questions_are_no_shorter_than_what_is_asked(
    name: str, datasets: dict[str, Dataset]
) -> None:
    context = a_bench(name, datasets[name])
    longest = context.study.longest(context.dataset, context.params)
    assert 0 < len(longest) <= MOST_STEPS
    assert longest[0].messages >= 1


@names
def test_that_a_run_is_reported_and_judged_again_alike(
    name: str, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, datasets[name])
        run = plan_and_finish(store, a_spec(name))
        counts = runs.status_counts(store, run)
        assert not counts.get(Status.PENDING)
        assert not counts.get(Status.PROVIDER_ERROR)
        report = report_data(store, run)
        tables = {table.name: table for table in report.data.tables}
        assert len(tables["items"].rows) == sum(counts.values())
        header = tables["results"].header
        assert {"finding", "view", "condition", "model", "k", "hit_rate"} <= {*header}
        assert rescore_run(store, run).changed == 0
        # As text, in which NaN equals NaN.
        assert repr(report_data(store, run).data) == repr(report.data)


def test_that_an_answer_to_an_item_without_a_right_one_is_refused_in_a_sentence(
    datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    first, *others = datasets["quiz"].items
    bad = replace(datasets["quiz"], items=(replace(first, reference={}), *others))
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, bad)
        run = plan_run(store, a_spec("quiz"))
        with pytest.raises(WrongUseError, match="'two' has no known answer"):
            finish(store, run)
