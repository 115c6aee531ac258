"""Sensitivity, relative attention and random tokens with tiny models that run here."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.proof_params import always
from tests.helpers.tiny_study import a_spec, finish, plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import ModelStopped
from viewer.metrics.rapt import rapt, weighted_sum
from viewer.models.catalog import ADAPTERS, missing_dependency, reader_for
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.running.plan_run import plan_run
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.evidence_diagnosis.beliefs import rapt_of

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
LAYERS = 2


@pytest.fixture(
    scope="module",
    params=always({"llava", "idefics3"}, ["llava", "gemma3", "idefics3"]),
)
def ran(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, RunReport]]:
    folder = tmp_path_factory.mktemp("evidence")
    settings = {
        "model": str(tiny_vlm.build(request.param, folder / request.param)),
        "device": "cpu",
        "attention": "eager",
        "max_new_tokens": 2,
    }
    with open_store(folder / "s.sqlite") as store:
        cases.add_dataset(store, cases_dataset(folder / "cases", n=1))
        name = store.rows("SELECT name FROM dataset")[0][0]
        spec = a_spec(
            [ModelProfile("tiny", "transformers_local", settings)],
            study="evidence_diagnosis",
            dataset=name,
            params={
                "tasks": ["fdx"],
                "arms": ["raw", "random_text"],
                "sensitivity": True,
                "rapt": True,
            },
        )
        run = plan_and_finish(store, spec)
        yield store, report_data(store, run)


@pytest.mark.statement("E004-16", "E004-17")
def test_that_every_trial_has_a_posterior_and_relative_attention(
    ran: tuple[Store, RunReport],
) -> None:
    _, report = ran
    asked = [r for r in report.results if r.score.status.value != "excluded"]
    assert asked
    for result in asked:
        numbers = dict(result.score.numbers)
        chances = [numbers[f"p_{i}"] for i in range(4)]
        assert sum(chances) == pytest.approx(1.0, abs=1e-9)
        told = rapt_of(result.score)
        assert {layer for _, layer, _ in told} == set(range(LAYERS))
        assert {"stem", "options", "text"} <= {section for section, _, _ in told}
        assert all(value > 0 for _, _, value in told)
        wholes = [value for name, _, value in told if name == "weighted_sum"]
        assert wholes == pytest.approx([1.0] * LAYERS, abs=1e-6)
    table = next(t for t in report.data.tables if t.name == "rapt")
    lines = [row for row in table.rows if row[2] == "weighted_sum"]
    assert {row[3] for row in lines} == set(range(LAYERS))
    assert [row[4] for row in lines] == pytest.approx([1.0] * len(lines), abs=1e-6)


@pytest.mark.statement("E004-16")
def test_that_the_weighted_sum_is_one_in_every_layer(
    ran: tuple[Store, RunReport],
) -> None:
    store, _ = ran
    reader = reader_for(ModelProfile("tiny", "transformers_local", {"model": ""}))
    stored = [one for one in trials.scored_trials(store, 1) if one.reply_id is not None]
    shown = 0
    for one in stored:
        reply_id = one.reply_id or 0
        told = reader.read(trials.reply_with_id(store, reply_id).raw).measured
        assert told is not None
        assert told.attention is not None
        places = told.attention.places
        sums = weighted_sum(rapt(told.attention.per_token, places), places)
        assert sums == pytest.approx(np.ones(LAYERS), abs=1e-6)
        shown += len(places["image"]) > 0
    assert 0 < shown < len(stored)  # evidence is also shown as text alone


@pytest.mark.statement("E004-14")
def test_that_random_text_is_of_the_model_s_own_tokens(
    ran: tuple[Store, RunReport],
) -> None:
    store, report = ran
    assert any(r.condition == "random_text" for r in report.results)
    assert runs.run_notes(store, report.summary.id) == ()


@pytest.mark.statement("E004-14")
def test_that_trials_wait_for_a_model_that_is_gone(tmp_path: Path) -> None:
    settings = {"model": str(tmp_path / "gone"), "device": "cpu"}
    with open_store(tmp_path / "s.sqlite") as store:
        dataset = cases_dataset(tmp_path / "cases", n=1)
        cases.add_dataset(store, dataset)
        spec = a_spec(
            [ModelProfile("gone", "transformers_local", settings)],
            study="evidence_diagnosis",
            dataset=dataset.name,
            params={"tasks": ["fdx"], "arms": ["random_text"]},
        )
        run = plan_run(store, spec)
        events = finish(store, run)
        results = report_data(store, run).results
    assert [e.model for e in events if isinstance(e, ModelStopped)] == ["gone"]
    assert {r.score.status for r in results} == {Status.PENDING}
