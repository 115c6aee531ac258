"""LobA without self-prompting, its contrast, and weights of any value."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.tiny_study import plan_and_finish, prepare_trial
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.interpretability import ContrastSpace, WeightForm
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import open_store
from viewer.studies.grounded_vqa.localizing import box_in_words, located_box
from viewer.studies.grounded_vqa.params import read_params
from viewer.writers.verify.main import verify

MISSING = missing_dependency(ADAPTERS["transformers_local"])
SAYS = "Yes [100, 150, 480, 800]"


@pytest.mark.statement("E002-13", "E002-14")
@pytest.mark.parametrize("source", ["model", "reference"])
def test_that_a_region_may_be_named_first_without_being_highlighted(
    tmp_path: Path, source: str
) -> None:
    model = ModelProfile("says", "scripted", {"answer": SAYS})
    params = {"arms": ["plain", "located"], "region_source": source}
    with open_store(tmp_path / "s.sqlite") as store:
        dataset = heal_dataset(store, tmp_path, 2)
        run = plan_and_finish(store, heal_spec([model], params))
        report = report_data(store, run)
        (one, *_) = [r for r in report.results if r.condition == "located"]
        sent: Any = trials.sent_request(store, one.request_sha256).document
        assert verify(run_bundle(store, run), lambda _: None).wrong == []
    assert "highlight" not in sent
    roles = [message["role"] for message in sent["messages"]]
    assert roles == ["user", "assistant", "user"]
    told = sent["messages"][1]["parts"][0]["text"]
    item = next(i for i in dataset.items if i.key == one.item)
    image = next(i for i in dataset.images if i.key == item.images[0])
    area = image.anatomy[str(item.facts["anatomy"])].array()
    assert told == (SAYS if source == "model" else box_in_words(area))
    assert sent["messages"][2]["parts"][0]["text"] == item.facts["question"]
    tables = {table.name: list(table.records()) for table in report.data.tables}
    (row,) = [r for r in tables["table_5_ablation"] if r["condition"] == "located"]
    assert (row["localization"], row["self_prompt"]) == (True, False)
    assert row["note"] == "LobA-approximation"


def test_that_a_mask_s_box_is_read_back_as_it_was_written() -> None:
    mask = np.zeros((200, 400), dtype=np.bool_)
    mask[20:100, 40:160] = True
    assert box_in_words(mask) == "[100, 100, 400, 500]"
    assert located_box(box_in_words(mask), SizePx(200, 400)) == BoxPx(40, 20, 160, 100)


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.statement("E002-14")
def test_that_the_contrast_may_be_one_of_probabilities(tmp_path: Path) -> None:
    folder = str(tiny_vlm.build("llava", tmp_path / "llava"))
    values = {"model": folder, "device": "cpu", "attention": "eager"}
    model = ModelProfile("local", "transformers_local", values)
    params = {
        "arms": ["loba"],
        "weights": [0.25],
        "region_source": "reference",
        "contrast_space": "probability",
    }
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 1)
        run = plan_run(store, heal_spec([model], params))
        context = RunContext(
            runs.run_spec(store, run), cases.dataset_of_run(store, run)
        )
        trial = next(iter(trials.scored_trials(store, run))).trial
    assert trial.condition.name == "loba-0.25"
    light = prepare_trial(context, trial).request.highlight
    assert light is not None
    assert (light.space, light.weight) == (ContrastSpace.PROBABILITY, 0.25)
    assert read_params("heal2025", {}).contrast_space is ContrastSpace.LOG


def test_that_weights_are_any_numbers_that_the_form_can_take() -> None:
    found = read_params("heal2025", {"weights": [3, "3.50", 1e-2]})
    assert found.weights == ("3", "3.5", "0.01")
    added = {"weights": [-1, 0], "weight_form": WeightForm.LINEAR.value}
    assert read_params("heal2025", added).weights == ("-1", "0")
    for wrong in (["heavy"], [True], ["nan"], 3, [], [2, 2.0]):
        with pytest.raises(WrongUseError):
            read_params("heal2025", {"weights": wrong})
    with pytest.raises(WrongUseError, match="The weight 0 has no logarithm"):
        read_params("heal2025", {"weights": [0]})
