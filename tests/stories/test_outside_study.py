"""Studies and ways of asking of other distributions: found, run, verified, named."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

BRINGS = Path(__file__).parents[1] / "helpers" / "outside"
Lines = Mapping[str, Mapping[str, str]]
SIDED: Lines = {"viewer.studies": {"laterality": "laterality:STUDY"}}


class Installed:
    """A command line with a folder of other distributions on its path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, package: str, module: str, lines: Lines) -> None:
        """Install a distribution of one module, as pip would leave it."""
        about = self.folder / "site" / f"{package}-2.1.dist-info"
        about.mkdir(parents=True)
        (self.folder / "site" / f"{package}.py").write_text(module, encoding="utf-8")
        said = f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.1\n"
        (about / "METADATA").write_text(said, encoding="utf-8")
        groups = (
            "\n".join((f"[{group}]", *(f"{k} = {v}" for k, v in own.items())))
            for group, own in lines.items()
        )
        (about / "entry_points.txt").write_text("\n\n".join(groups), encoding="utf-8")

    def bring(self, module: str, lines: Lines) -> None:
        """Install one of the modules beside the tests."""
        self.add(module, (BRINGS / f"{module}.py").read_text(encoding="utf-8"), lines)

    def __call__(self, *words: object, code: int = 0) -> str:
        """Run a command in a process of its own; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "viewer", *map(str, words)],
            env={
                **os.environ,
                "PYTHONPATH": str(self.folder / "site"),
                "OVERREAD_STORE": str(self.folder / "s.sqlite"),
            },
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def plug_ins(self) -> list[str]:
        """Return what doctor says of plug-ins."""
        rows = json.loads(self("doctor", "--json"))
        return [row["mend"] for row in rows if row["what"] == "plug-in"]


@pytest.fixture
def overread(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def write_sides(folder: Path) -> None:
    """Write four images, each with its question, as PathMMU lays them out."""
    (folder / "images").mkdir(parents=True)
    for number in range(4):
        pixels = np.full((20, 24), 90 + 30 * number, np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
    rows = [
        {
            "No": number,
            "img": f"{number}.png",
            "question": "On which side?",
            "options": ["A) left", "B) right"],
            "answer": "A) left" if number < 3 else "B) right",
        }
        for number in range(4)
    ]
    table = {"sides": {"test": rows}}
    (folder / "data.json").write_text(json.dumps(table), encoding="utf-8")


def write_study_file(folder: Path, study: str, model: str) -> Path:
    path = folder / "study.toml"
    head = f'study = "{study}"\ndataset = "sides"\nmodels = ["one"]\n'
    path.write_text(f'{head}[[model]]\nname = "one"\n{model}\n', encoding="utf-8")
    return path


def items_of(report: Path) -> list[dict[str, str]]:
    with (report / "items.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_that_a_study_of_another_package_goes_all_the_way(
    overread: Installed, tmp_path: Path
) -> None:
    assert len((BRINGS / "laterality.py").read_text().splitlines()) <= 80
    overread.bring("laterality", SIDED)
    write_sides(tmp_path / "sides")
    overread("import", "pathmmu", tmp_path / "sides")
    asked = write_study_file(
        tmp_path, "laterality", 'adapter = "scripted"\nanswer = "A"'
    )
    run = json.loads(overread("run", asked, "--json"))
    assert run["counts"] == {"scored_correct": 3, "scored_wrong": 1}
    overread("report", "last", "--out", tmp_path / "report")
    assert [row["answer"] for row in items_of(tmp_path / "report")] == ["A"] * 4
    bundle = tmp_path / "sides.zip"
    overread("export", "bundle", "last", "--out", bundle)
    said = overread("verify", bundle)
    assert "\nVERIFIED: sides.zip holds." in said
    assert "tables/results.csv: 2 rows worked out again." in said
    assert overread.plug_ins() == []
    assert "laterality" not in overread("published")
    overread("published", "laterality")
