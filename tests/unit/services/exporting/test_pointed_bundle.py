"""The bundle of a run with radiologists' points: they are scored again."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import SmallChexlocalize, coded, square
from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.unit.services.exporting.test_export_item_bundle import (
    members_of,
    quiet,
    resealed,
)
from viewer.domain.exchange import ModelProfile
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store
from viewer.writers.verify.main import verify

OF_READERS = ("human", "human_by_rule")


def bundle(folder: Path, limit: int | None = None) -> bytes:
    """Return the bundle of a run on four images; readers pointed on three of them."""
    keys = [f"patient6474{i}_study1_view1_frontal" for i in range(4)]
    data = SmallChexlocalize(folder / "d", "test")
    for key in keys:
        data.picture(key)
    data.segment({key: {"Edema": coded(square())} for key in keys})
    row, column = (int(v) for v in np.argwhere(square())[0])
    on, off = [column + 0.5, row + 0.5], [7, 5]
    points = {keys[0]: {"Edema": [off, on]}, keys[1]: {"Edema": [off]}}
    points[keys[2]] = {"Edema": [on]}
    data.masks.with_name("hb_salient_pt_test.json").write_text(json.dumps(points))
    model = ModelProfile("m", "scripted", {"answer": "D4"})
    params = {"findings": ["Edema"], "replicates": 20, "paper_replicates": 20}
    with open_store(folder / "s.sqlite") as store:
        import_dataset(store, "chexlocalize", data.root, "d")
        spec = replace(a_spec([model], dataset="d", params=params), limit=limit)
        return run_bundle(store, plan_and_finish(store, spec))


@pytest.mark.statement("E000-23")
@pytest.mark.parametrize("limit", [None, 1])
def test_that_readers_points_are_scored_again(
    tmp_path: Path, limit: int | None
) -> None:
    made = bundle(tmp_path, limit)
    found = verify(made, quiet)
    assert not found.wrong
    for name in OF_READERS:
        assert any(line.startswith(f"tables/{name}.csv") for line in found.done)
    human = members_of(made)["tables/human.csv"].decode()
    (row, _) = csv.DictReader(io.StringIO(human))
    assert (row["n"], row["without_points"], row["k"]) == ("4", "1", "2")


@pytest.mark.parametrize("name", OF_READERS)
def test_that_a_forged_rate_of_readers_is_found(tmp_path: Path, name: str) -> None:
    members = members_of(bundle(tmp_path))
    path = f"tables/{name}.csv"
    text = members[path].decode()
    assert "0.5" in text
    members[path] = text.replace("0.5", "0.75").encode()
    found = verify(resealed(members), quiet)
    assert any(path in sentence for sentence in found.wrong)
