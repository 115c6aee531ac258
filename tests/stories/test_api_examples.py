"""The example scripts of the documentation, each in an empty folder and store."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from PIL import Image

from viewer import api

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
Run = Callable[[str, Path], str]


@pytest.fixture
def run_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that runs a script in an empty folder, and what it prints."""
    mpl.use("Agg")  # a window of another test would make pyplot open its own

    def run(name: str, argument: Path) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", str(argument)])
        capsys.readouterr()
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_that_every_example_is_tried() -> None:
    tried = {"localize", "compare_models", "ask_one", "answer_elsewhere"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tried


def test_that_a_baseline_localizes_and_its_rates_are_drawn(
    phantom: Path, tmp_path: Path, run_example: Run
) -> None:
    said = run_example("localize", phantom)
    assert "trials: {'scored_correct': " in said
    with Image.open(tmp_path / "hit_rates.png") as picture:
        assert min(picture.size) > 300


def test_that_two_models_are_compared_with_pandas(
    phantom: Path, tmp_path: Path, run_example: Run
) -> None:
    said = run_example("compare_models", phantom)
    assert "questions differ" in said
    differ = pd.read_csv(tmp_path / "where_they_differ.csv")
    assert (differ.asymmetry != differ.frequent_cell).all()
    assert f"\n{len(differ)} of " in said


def test_that_one_image_is_asked_about_and_its_picture_kept(
    phantom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = next(phantom.rglob("view1_frontal.dcm"))
    words = [sys.executable, "-W", "error", str(EXAMPLES / "ask_one.py"), str(image)]
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    said = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("asymmetry says ")
    assert "native pixels: x " in said
    with Image.open(tmp_path / "overlay.png") as picture:
        assert picture.mode == "RGB"


def test_that_code_of_ones_own_answers_a_study(
    tmp_path: Path, run_example: Run
) -> None:
    tiles = api.phantom(tmp_path / "tiles", n=3, study="pathology_mcq")
    said = run_example("answer_elsewhere", tiles)
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
