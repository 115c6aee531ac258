import csv
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.mask_files import SALIENCY_IMAGE, write_map
from tests.helpers.tiny_study import write_images
from viewer.cli import run_command_line
from viewer.domain.answer import HeatMapAnswer, PointAnswer
from viewer.domain.answer_json import answer_of_json
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.services.importing.place_answers import answer_of_map, answers_of_points

STUDY = """\
study = "grid_localization"
dataset = "both"
models = ["readers", "saliency"]
[params]
findings = ["Edema"]
"""


def test_that_the_first_point_is_the_answer_and_items_with_more_are_named() -> None:
    one, two = PointPx(1.5, 2), PointPx(7, 8)
    found = answers_of_points(
        {"a": {"Edema": (one, two), "Mass": ()}, "b": {"Edema": (two,)}}
    )
    assert {k: answer_of_json(v) for k, v in found.answers.items()} == {
        "a|Edema": PointAnswer(one),
        "b|Edema": PointAnswer(two),
    }
    assert found.several == ("a|Edema",)
    assert found.sentence.startswith("2 answers; of 1 item with several points")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_that_a_map_keeps_its_order_whatever_its_numbers(scale: float) -> None:
    values = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) * np.float32(scale)
    answer = answer_of_json(answer_of_map(values, SizePx(300, 400)))
    assert isinstance(answer, HeatMapAnswer)
    assert answer.field == BoxPx(0, 0, 400, 300)
    kept = answer.heat_map.values
    assert (np.diff(kept.ravel()) > 0).all()
    assert (kept.min(), kept.max()) == (0, 1)


def test_that_a_flat_map_is_flat() -> None:
    flat = np.full((2, 2), 3, dtype=np.float32)
    answer = answer_of_json(answer_of_map(flat, SizePx(20, 20)))
    assert isinstance(answer, HeatMapAnswer)
    assert not answer.heat_map.values.any()


@pytest.mark.statement("X-03", "E000-01")
def test_that_points_and_maps_are_run_and_reported_like_models(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OVERREAD_STORE", raising=False)
    data = tmp_path / "data"
    data.mkdir()
    mask = np.zeros((80, 160), dtype=np.uint8)
    mask[10:40, 90:120] = 255
    Image.new("L", (160, 80), 90).save(data / f"{SALIENCY_IMAGE}.png")
    Image.fromarray(mask).save(data / f"{SALIENCY_IMAGE}.Edema.png")
    write_map(tmp_path / "maps", "Edema", (2, 5))
    points = tmp_path / "hb_salient_pt_test.json"
    points.write_text(json.dumps({SALIENCY_IMAGE: {"Edema": [[60, 20], [100, 20]]}}))
    said = []
    for words in (
        ("import", "folder", str(data), "--name", "both"),
        ("import-points", str(points), "--out", str(tmp_path / "points.json")),
        ("import-saliency", str(tmp_path / "maps"), "--out", str(tmp_path / "o")),
    ):
        assert run_command_line(list(words)) == 0
        said.append(capsys.readouterr())
    assert "of 1 item with several points" in said[1].err
    tables = "[[model]]".join(["", *(s.out.split("[[model]]")[1] for s in said[1:])])
    (tmp_path / "study.toml").write_text(STUDY + tables)
    assert len(tomllib.loads(STUDY + tables)["model"]) == 2
    assert run_command_line(["run", str(tmp_path / "study.toml")]) == 0
    assert run_command_line(["report", "1", "--out", str(tmp_path / "report")]) == 0
    text = (tmp_path / "report" / "rules.csv").read_text()
    rows = [r for r in csv.DictReader(text.splitlines()) if r["finding"] == "Edema"]
    assert [(r["model"], r["kinds"], r["k_pointing"], r["n"]) for r in rows] == [
        ("readers", "point", "0", "1"),
        ("saliency", "heat_map", "1", "1"),
    ]


@pytest.mark.statement("E000-23")
def test_that_an_item_nobody_pointed_at_is_a_missing_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    write_images(tmp_path / "data", 2)
    points = tmp_path / "points.json"
    points.write_text(json.dumps({"patient00000_frontal": {"Edema": [[40, 40]]}}))
    assert run_command_line(["import", "folder", str(tmp_path / "data")]) == 0
    out = str(tmp_path / "answers.json")
    capsys.readouterr()
    assert run_command_line(["import-points", str(points), "--out", out]) == 0
    study = STUDY.replace("both", "data").replace(', "saliency"', "")
    (tmp_path / "study.toml").write_text(study + capsys.readouterr().out)
    assert run_command_line(["run", str(tmp_path / "study.toml")]) == 0
    assert run_command_line(["report", "1", "--out", str(tmp_path / "report")]) == 0
    text = (tmp_path / "report" / "results.csv").read_text()
    edema, *_ = csv.DictReader(text.splitlines())
    told = [edema[name] for name in ("n_planned", "n_unparsed", "n_failed", "k")]
    assert told == ["2", "1", "0", "0"]
