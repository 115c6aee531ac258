"""Regions of hardly a pixel, and regions that no mask has: neither ends a batch."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.heal_run import heal_dataset, heal_spec
from tests.helpers.small_datasets import write_picture
from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.imaging.resample import shrunk_mask
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.store.database import Store, open_store
from viewer.studies.exclusions import reason_words

SCORED = {Status.SCORED_CORRECT, Status.SCORED_WRONG}


def _verdicts(
    store: Store, answer: str, params: dict[str, object]
) -> set[tuple[str, Status, str]]:
    model = ModelProfile("says", "scripted", {"answer": answer})
    run = plan_and_finish(store, heal_spec([model], params))
    results = report_data(store, run).results
    return {(r.condition, r.score.status, r.score.reason) for r in results}


@pytest.mark.parametrize("box", ["[500, 500, 501, 900]", "[500, 500, 503, 503]"])
def test_that_a_box_between_two_pixels_is_pointed_out(tmp_path: Path, box: str) -> None:
    params: dict[str, object] = {"arms": ["contour", "crop"], "longest_side": 64}
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 3)
        found = _verdicts(store, f"Yes {box}", params)
    closed = {status for _, status, _ in found} & SCORED
    assert closed == SCORED
    assert not any(reason == "not_located" for *_, reason in found)


def test_that_a_mask_is_not_lost_in_another_size() -> None:
    mask = np.zeros((100, 90), dtype=np.bool_)
    mask[33, 7] = True
    small = shrunk_mask(mask, SizePx(20, 18))
    assert np.argwhere(small).tolist() == [[6, 1]]
    assert not shrunk_mask(np.zeros_like(mask), SizePx(20, 18)).any()


def test_that_a_question_whose_region_has_no_mask_is_excluded(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pixels = np.full((60, 40), 90, dtype=np.uint8)
        write_picture(tmp_path / "rows" / f"{name}.png", pixels)
    row = {
        "image": "a.png",
        "question": "Does Left lower lung have Pneumonia",
        "answer": "Yes",
        "location": "Left lower lung",
    }
    (tmp_path / "rows" / "test.json").write_text(json.dumps([row]))
    arms = {"arms": ["plain", "contour"], "region_source": "reference"}
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "heal", tmp_path / "rows", "q")
        found = _verdicts(store, "Yes", dict(arms))
    assert found == {
        ("plain", Status.SCORED_CORRECT, ""),
        ("contour", Status.EXCLUDED, "no_anatomy_mask"),
    }
    assert reason_words("no_anatomy_mask")


def test_that_a_model_without_access_to_its_attention_is_asked_the_rest(
    tmp_path: Path,
) -> None:
    params: dict[str, object] = {
        "arms": ["plain", "loba"],
        "weights": ["3"],
        "region_source": "reference",
    }
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 2)
        found = _verdicts(store, "Yes", params)
    loba = {(status, reason) for name, status, reason in found if name == "loba-3"}
    assert loba == {(Status.EXCLUDED, "no_attention")}
    assert {status for name, status, _ in found if name == "plain"} & SCORED
