"""The example scripts of the documentation, each in an empty folder and store."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from viewer import api
from viewer.settings import HOME_VARIABLE, STORE_VARIABLE

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"


def run_example(name: str, argument: Path, folder: Path) -> str:
    """Run a script in an empty folder; return what it prints."""
    environment = {**os.environ, HOME_VARIABLE: str(folder / "home")}
    environment.pop(STORE_VARIABLE, None)
    environment |= {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", argument],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_that_every_example_is_tried() -> None:
    tried = {"localize", "compare_models", "ask_one", "answer_elsewhere"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tried


def test_that_a_baseline_localizes_and_its_rates_are_drawn(
    phantom: Path, tmp_path: Path
) -> None:
    said = run_example("localize", phantom, tmp_path)
    assert "trials: {'scored_correct': " in said
    with Image.open(tmp_path / "hit_rates.png") as picture:
        assert min(picture.size) > 300


def test_that_two_models_are_compared_with_pandas(
    phantom: Path, tmp_path: Path
) -> None:
    said = run_example("compare_models", phantom, tmp_path)
    assert "questions differ" in said
    differ = pd.read_csv(tmp_path / "where_they_differ.csv")
    assert (differ.asymmetry != differ.frequent_cell).all()
    assert f"\n{len(differ)} of " in said


def test_that_one_image_is_asked_about_and_its_picture_kept(
    phantom: Path, tmp_path: Path
) -> None:
    image = next(phantom.rglob("view1_frontal.dcm"))
    said = run_example("ask_one", image, tmp_path)
    assert said.startswith("asymmetry says ")
    assert "native pixels: x " in said
    with Image.open(tmp_path / "overlay.png") as picture:
        assert picture.mode == "RGB"


def test_that_code_of_ones_own_answers_a_study(tmp_path: Path) -> None:
    tiles = api.phantom(tmp_path / "tiles", n=3, study="pathology_mcq")
    said = run_example("answer_elsewhere", tiles, tmp_path)
    assert said.startswith("run 1: {")
    assert "my-model" in said
    asked = (tmp_path / "questions" / "requests.jsonl").read_text("utf-8")
    replied = (tmp_path / "replies.jsonl").read_text("utf-8")
    assert len(asked.splitlines()) == len(replied.splitlines()) > 3


@pytest.mark.parametrize(
    "name", ["localize", "compare_models", "ask_one", "answer_elsewhere"]
)
def test_that_examples_use_the_interface_alone(name: str) -> None:
    lines = (EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()
    named = [line for line in lines if "viewer" in line and "import" in line]
    assert named == ["from viewer import api"]
