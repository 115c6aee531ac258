"""Stores over synthetic data sets of the studies for which people read."""

import re
import shutil
from pathlib import Path

from tests.helpers.made_once import made_once
from viewer.cli import run_command_line

_SIZE = "100x125"


def overread(*words: object) -> None:
    """Run a command, which has to succeed."""
    assert run_command_line([*map(str, words)]) == 0, words


def phantom(folder: Path, study: str, n: int = 4) -> Path:
    """Write a study's synthetic collection into a folder; return it."""

    def draw(out: Path) -> None:
        drawn = study in {"rubric_reading", "grounded_vqa"}
        size = ["--size", _SIZE] if drawn else []
        overread("phantom", "--study", study, "--n", n, *size, "--out", out)

    shutil.copytree(made_once(f"{study}-{n}", draw), folder, dirs_exist_ok=True)
    return folder


def imported(folder: Path, format_: str, *, run: bool = True) -> Path:
    """Import a folder into a store beside it and run its study; return the store.

    Where a run asks about images with boxes, questions are drawn before.
    """
    store = folder.parent / f"{folder.name}.sqlite"
    drawn = run and format_ == "vindr"
    name = "images" if drawn else "people"
    overread("import", format_, folder, "--name", name, "--store", store)
    if drawn:
        overread("questions", name, "--name", "people", "--store", store)
    if run:
        file = folder / "study.toml"
        named = file.read_text("utf-8")
        for pattern, words in (
            ("^dataset = .*", 'dataset = "people"'),
            ('^arms = .*"corruption".*', 'arms = ["image"]'),
        ):
            named = re.sub(pattern, words, named, flags=re.MULTILINE)
        file.write_text(named, "utf-8")
        overread("run", file, "--store", store)
    return store
