"""LobA in the run path, with a tiny model on this machine (Shows 5)."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.proof_params import always
from tests.helpers.tiny_study import plan_and_finish, prepare_trial
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import Affine
from viewer.domain.item import TASK_MARK
from viewer.domain.plain import plain
from viewer.imaging.patch_cover import share_inside
from viewer.models.catalog import (
    ADAPTERS,
    adapter_for,
    missing_dependency,
    reader_for,
)
from viewer.services.reporting.report_run import report_data
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import ask_model
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.items import area_of

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
WEIGHTS = ("0.5", "1", "2", "3", "4")
LONGEST = 100
"""Pixels of the longer side as sent, fewer than the phantom has."""
Replies = Mapping[tuple[str, str], ModelReply]


@pytest.fixture(
    scope="module",
    params=always({"llava", "idefics3"}, ["llava", "gemma3", "idefics3"]),
)
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, Replies]]:
    folder = tmp_path_factory.mktemp("loba")
    settings = {
        "model": str(tiny_vlm.build(request.param, folder / request.param)),
        "device": "cpu",
        "attention": "eager",
        "max_new_tokens": 4,
    }
    model = ModelProfile("tiny", "transformers_local", settings)
    overrides = {
        "arms": ["plain", "loba"],
        "weights": list(WEIGHTS),
        "contrast": 1.0,
        "region_source": "reference",
        "longest_side": LONGEST,
    }
    with open_store(folder / "s.sqlite") as store:
        heal_dataset(store, folder, n=1)
        run = plan_and_finish(store, heal_spec([model], overrides))
        kept = {
            one.trial: trials.reply_with_id(store, one.reply_id).raw
            for one in trials.scored_trials(store, run)
            if one.reply_id is not None
        }
        reader = reader_for(model)
        yield (
            store,
            {(t.item, t.condition.name): reader.read(raw) for t, raw in kept.items()},
        )


@pytest.mark.statement("E002-14")
def test_that_weight_one_without_contrast_answers_as_the_plain_model(
    told: tuple[Store, Replies],
) -> None:
    _, replies = told
    plain = {
        item: r for (item, condition), r in replies.items() if condition == "plain"
    }
    assert len(plain) >= 2
    for item, reply in plain.items():
        lit = replies[item, "loba-1"]
        assert (lit.text, lit.logprobs) == (reply.text, reply.logprobs)
        assert reply.logprobs
        heavy = [replies[item, f"loba-{weight}"].logprobs for weight in ("0.5", "4")]
        assert reply.logprobs not in heavy
        assert heavy[0] != heavy[1]
    assert len({condition for _, condition in replies}) == 1 + len(WEIGHTS)


@pytest.mark.statement("E002-14")
def test_that_a_model_answers_as_before_once_regions_were_highlighted(
    told: tuple[Store, Replies],
) -> None:
    store, _ = told
    context = RunContext(runs.run_spec(store, 1), cases.dataset_of_run(store, 1))
    again = 0
    for one in trials.scored_trials(store, 1):
        if one.trial.condition.name != "plain" or one.reply_id is None:
            continue
        kept = trials.reply_with_id(store, one.reply_id).raw
        prepared = prepare_trial(context, one.trial)
        # the very model that highlighted: adapters are kept in a process
        assert adapter_for(prepared.profile) is adapter_for(prepared.profile)
        assert ask_model(prepared.profile, prepared.request).body == kept.body
        again += 1
    assert again >= 2


@pytest.mark.statement("E002-13", "E002-17")
def test_that_attention_to_the_region_rises_and_every_pass_tells_its_cost(
    told: tuple[Store, Replies],
) -> None:
    store, replies = told
    items = {item for item, condition in replies if condition == "loba-1"}
    for item in items:
        drawn = []
        for weight in WEIGHTS:
            measured = replies[item, f"loba-{weight}"].measured
            assert measured is not None
            drawn.append(sum(measured.region))
        assert drawn == sorted(drawn)
        assert drawn[0] < drawn[-1]
    tables = {table.name: table for table in report_data(store, 1).data.tables}
    costs = tables["table_6_cost"]
    rows = [dict(zip(costs.header, row, strict=True)) for row in costs.rows]
    assert {row["condition"] for row in rows} >= {"plain", "loba-3"}
    assert all(float(str(row["seconds_per_100"])) > 0 for row in rows)
    assert all(float(str(row["peak_mib"])) > 1 for row in rows)


@pytest.mark.statement("E002-17")
def test_that_the_attention_inside_the_queried_anatomy_is_told_by_weight(
    told: tuple[Store, Replies],
) -> None:
    store, replies = told
    report = report_data(store, 1)
    (table,) = (t for t in report.data.tables if t.name == "attention")
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [row["condition"] for row in rows] == [f"loba-{w}" for w in WEIGHTS]
    tower = [float(str(row["tower_attention_inside"])) for row in rows]
    assert tower == sorted(tower)
    items = {item.key: item for item in cases.dataset_named(store, "q").items}
    scores = {(r.item, r.condition): r.score for r in report.results}
    for (item, condition), reply in replies.items():
        if condition == "plain":
            continue
        assert reply.measured is not None
        assert reply.measured.relevance is not None
        (shown,) = reply.measured.relevance.images
        area = area_of(items[item_key(item)])
        assert area is not None
        scale = max(area.size.rows, area.size.columns) / LONGEST
        native = Affine(*(scale * number for number in plain(shown.to_sent)))
        inside = share_inside(shown.values, native, area.array())
        score = scores[item, condition]
        assert score.number("attention_inside") == pytest.approx(inside, abs=1e-12)
        on_image = float(np.sum(shown.values))
        assert score.number("attention_on_image") == pytest.approx(on_image)
        assert 0 <= inside <= 1


def item_key(trial_item: str) -> str:
    """Return the key of the item that a trial asks about."""
    return trial_item.partition(TASK_MARK)[0]
