"""Human points, a network's maps and a model's cells under the same rules (M-08).

Twenty images of one finding, of which the two rules disagree on seven by construction:
on four the answer's point lies on a spot of the reference too small for its cell to
qualify, on three its cell qualifies around a hole that the point lies in.
"""

import csv
import json
from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tests.helpers.tiny_study import a_spec, plan_and_finish, tables_of
from viewer.domain.answer import HeatMapAnswer, PointAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import ModelProfile, SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store

SIDE = 256
MIDDLE = 112
"""The middle of cell D4 of 8 × 8 cells on 256 pixels."""
SPOT, HOLE, BOTH, NEITHER = "spot", "hole", "both", "neither"
KINDS = [SPOT] * 4 + [HOLE] * 3 + [BOTH] * 8 + [NEITHER] * 5
WRONG_CELLS = (7, 8)
"""Images of BOTH on which the model that names cells names another one."""


def _mask(kind: str) -> npt.NDArray[np.uint8]:
    mask = np.zeros((SIDE, SIDE), dtype=np.uint8)
    if kind in {HOLE, BOTH}:
        mask[96:128, 96:128] = 255
    else:
        mask[192:256, 192:256] = 255
    if kind == HOLE:
        mask[104:120, 104:120] = 0
    if kind == SPOT:
        mask[108:116, 108:116] = 255
    return mask


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    root = tmp_path_factory.mktemp("rules")
    data = root / "data"
    data.mkdir()
    items = [f"patient{i:05d}_frontal" for i in range(len(KINDS))]
    for i, (item, kind) in enumerate(zip(items, KINDS, strict=True)):
        grey = np.full((SIDE, SIDE), 60 + i, dtype=np.uint8)
        Image.fromarray(grey).save(data / f"{item}.png")
        Image.fromarray(_mask(kind)).save(data / f"{item}.Edema.png")
    peak = np.zeros((8, 8), dtype="<f2")
    peak[3, 3] = 1
    whole = BoxPx(0, 0, SIDE, SIDE)
    said = {
        "humans": answer_as_json(PointAnswer(PointPx(MIDDLE, MIDDLE))),
        "cnn": answer_as_json(HeatMapAnswer(SentHeatMap.of(peak), whole)),
        "mllm": "D4",
    }
    models = []
    for name, answer in said.items():
        table = {f"{item}|Edema": answer for item in items}
        if name == "mllm":
            table |= {f"{items[i]}|Edema": "A1" for i in WRONG_CELLS}
        (root / f"{name}.json").write_text(json.dumps(table))
        settings = {"answers_file": str(root / f"{name}.json")}
        native = {} if name == "mllm" else {"convention": "native"}
        models.append(ModelProfile(name, "scripted", {**settings, **native}))
    with open_store(root / "s.sqlite") as store:
        import_dataset(store, "folder", data, "twenty")
        spec = a_spec(models, dataset="twenty", params={"findings": ["Edema"]})
        run = plan_and_finish(store, spec)
        return tables_of(store, run)


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.statement("X-03")
def test_that_humans_a_cnn_and_a_model_stand_under_both_rules_in_one_table(
    report: Mapping[str, str],
) -> None:
    rows = {
        row["model"]: row
        for row in _rows(report["rules.csv"])
        if row["finding"] == "Edema"
    }
    counts = {
        name: (row["kinds"], row["n"], row["k_pointing"], row["k_cell"])
        for name, row in rows.items()
    }
    assert counts == {
        "humans": ("point", "20", "12", "11"),
        "cnn": ("heat_map", "20", "12", "11"),
        "mllm": ("cell", "20", "10", "9"),
    }


@pytest.mark.statement("X-03")
@pytest.mark.parametrize("model", ["humans", "cnn", "mllm"])
def test_that_the_rules_disagree_on_the_known_seven_of_twenty(
    report: Mapping[str, str], model: str
) -> None:
    rows = [row for row in _rows(report["geometry.csv"]) if row["model"] == model]
    assert len(rows) == 20
    pairs = Counter(
        (KINDS[int(row["item"][7:12])], row["pointing_hit"], row["cell_hit"])
        for row in rows
        if row["pointing_hit"] != row["cell_hit"]
    )
    assert pairs == {(SPOT, "True", "False"): 4, (HOLE, "False", "True"): 3}
