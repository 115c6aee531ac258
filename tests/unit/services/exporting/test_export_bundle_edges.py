"""Bundles of runs with little or nothing in them hold as well."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_study import (
    D4,
    UNIFORM,
    a_spec,
    finish,
    plan_and_finish,
    planned,
)
from tests.unit.services.exporting.test_export_item_bundle import members_of
from viewer.domain.exchange import ModelProfile
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import Store, open_store
from viewer.writers.verify.main import verify

PARAMS = {"grids": [8], "replicates": 30, "paper_replicates": 20}


def _wrong(store: Store, run: int) -> list[str]:
    return list(verify(run_bundle(store, run), lambda _: None).wrong)


def test_that_a_run_nobody_was_asked_in_holds(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(store, tmp_path / "d", a_spec([D4], params=PARAMS))
        assert _wrong(store, run) == []


@pytest.mark.parametrize("answer", ["D4", "none of this", "Z9"])
def test_that_a_single_patient_holds(answer: str, tmp_path: Path) -> None:
    model = ModelProfile("says", "scripted", {"answer": answer})
    with open_store(tmp_path / "s.sqlite") as store:
        spec = a_spec([model, UNIFORM], params=PARAMS)
        run = planned(store, tmp_path / "d", spec, n=1)
        finish(store, run)
        assert _wrong(store, run) == []


def test_that_exclusions_failures_and_a_mask_outside_the_crop_hold(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    for i, rows in enumerate((0, 40, 300)):
        name = f"patient{i}_frontal"
        mask = np.zeros((300, 100), np.uint8)
        mask[:rows, 10:40] = 255
        Image.fromarray(np.full((300, 100), 90, np.uint8)).save(folder / f"{name}.png")
        Image.fromarray(mask).save(folder / f"{name}.Edema.png")
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({}))
    fails = ModelProfile("fails", "scripted", {"answers_file": str(answers)})
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "folder", folder, "tiny")
        run = plan_and_finish(store, a_spec([D4, fails], params=PARAMS))
        assert _wrong(store, run) == []
        bundle = run_bundle(store, run)
    plan = json.loads(members_of(bundle)["plan.json"])
    reasons = {item: why for item, *_, why in plan["trials"]}
    assert reasons == {"I00002|Edema": "gt_outside_crop", "I00003|Edema": ""}
