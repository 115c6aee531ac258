"""One origin of a run's trials: the frame, the report and the counts say the same."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog
from tests.helpers.study_samples import SAMPLES, Sample
from tests.helpers.tiny_study import a_spec, finish, write_images
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.folder import read
from viewer.results.records import records as records_of
from viewer.services.reporting.records import records
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, flat, runs, steps, trials
from viewer.store.database import Store, open_store
from viewer.store.trial_columns import trial_columns
from viewer.studies.catalog import OURS, PLACING

MODELS = ("first", "second")
SPENT = ("latency_ms", "tokens_in", "tokens_out", "cost_microusd")


def _images(folder: Path) -> Dataset:
    return read(write_images(folder, 3), "tiny")


ALL = {**SAMPLES, PLACING: Sample(_images, "D4")}


@pytest.fixture(scope="module", params=sorted(ALL))
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """Run 1 of two models and two repeats; a fifth of its trials is pending again."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    sample = ALL[name]
    known = {
        model: ModelProfile(model, "scripted", {"answer": sample.answer})
        for model in MODELS
    } | {"helper": ModelProfile("helper", "scripted", {"answer": sample.helps})}
    with quiz_in_catalog(), open_store(folder / "s.sqlite") as opened:
        cases.add_dataset(opened, replace(sample.make(folder / name), name=name))
        spec = a_spec(
            [known[model] for model in MODELS],
            study=name,
            dataset=name,
            seed=1,
            repeats=2,
            params=sample.overrides,
            known=known,
        )
        assert plan_run(opened, spec) == 1
        finish(opened, 1)
        with opened.transaction():
            opened.execute(
                "UPDATE trial SET status = 'pending', score_id = NULL WHERE id % 5 = 0"
            )
        yield opened


def test_that_every_study_is_looked_at() -> None:
    assert set(ALL) >= set(OURS)


def test_that_the_frame_has_what_reports_are_made_of(store: Store) -> None:
    found, told = records(store, 1), records_of(report_data(store, 1).results)
    assert len(found) > 5
    for name in told.columns:  # as text, in which NaN equals NaN
        assert repr([*found[name]]) == repr([*told[name]])


def test_that_counts_of_predictions_are_those_of_the_frame(store: Store) -> None:
    strata = {
        one.id: (one.finding, one.view, one.condition, one.model)
        for one in flat.strata(store)
    }
    verdicts = {one.id: one.status.value for one in flat.verdicts(store)}
    counted = Counter[tuple[str, ...]]()
    for stratum, verdict, n in flat.counts(store).tolist():
        counted[*strata[stratum], verdicts[verdict]] += n
    frame = records(store, 1)
    own = ("finding", "view", "condition", "model", "status")
    assert counted == Counter(zip(*(frame[one] for one in own), strict=True))
    assert {"pending"} < set(frame["status"])


def test_that_what_is_right_of_a_question_is_right_of_each_trial_of_it(
    store: Store,
) -> None:
    context = RunContext(runs.run_spec(store, 1), cases.dataset_of_run(store, 1))
    each = [context.gold(one.trial) for one in trials.scored_trials(store, 1)]
    found = [json.loads(text or "{}") for text in records(store, 1)["gold"]]
    assert found == json.loads(json.dumps(each))
    assert any(each)


STRATA = {
    "evidence_diagnosis": ("question_kind", "language", "specialty"),
    "grid_localization": ("finding", "view"),
    "grounded_vqa": ("finding", "question_kind", "anatomy"),
    "pathology_mcq": ("subset", "split"),
    "question_set": ("category", "answer_kind", "groups"),
    "rubric_reading": ("task_category", "task_kind"),
}


def test_that_strata_have_the_names_that_their_study_has_for_them(
    store: Store,
) -> None:
    study = runs.run_spec(store, 1).study
    frame = records(store, 1)
    first, second, *others = STRATA.get(study, ("finding", "view"))
    assert (frame[first], frame[second]) == (frame["finding"], frame["view"])
    items = {one.key: one for one in cases.dataset_of_run(store, 1).items}
    for name in others:
        truth = [items[one.partition("|")[0]] for one in frame["item"]]
        assert frame[name] == [one.facts.get(name, one.kind) for one in truth]
        assert len(set(frame[name])) > 1


def test_that_a_trial_took_what_all_its_replies_took(store: Store) -> None:
    frame = records(store, 1, replies=True)
    columns = trial_columns(store, 1, ("id", *SPENT))
    for i, trial in enumerate(columns["id"]):
        last = steps.asked_of_trial(store, trial).reply
        read = [one.id for one in steps.replies_read(store, trial)]
        ids = read or ([] if last is None else [last])
        rows = [
            store.rows("SELECT * FROM reply WHERE id = ?", (one,))[0] for one in ids
        ]
        for own in SPENT:
            known = [row[own] for row in rows if row[own] is not None]
            assert columns[own][i] == (sum(known) if known else None)
        assert bool(frame["reply"][i]) == bool(ids)
    prompts = {row[0] for row in store.rows("SELECT sha256 FROM prompt")}
    assert set(frame["prompt_sha256"]) - {""} <= prompts
