"""A small phantom collection, made once, and the command line as a function."""

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.made_once import made_once
from viewer.cli import run_command_line
from viewer.domain.figure import Figure
from viewer.services.reporting import pack
from viewer.services.synthetic import write_chests, write_patients, write_readings
from viewer.services.synthetic.phantom import evidence_pictures
from viewer.services.synthetic.phantom.projection import project
from viewer.writers.figures_files import figure_csv

PATIENTS = 6
_projected = lru_cache(maxsize=48)(project)


@pytest.fixture(scope="module", autouse=True)
def _patients_drawn_once() -> Iterator[None]:
    """Let stories that begin with the same patients share their radiographs.

    That each call draws the same is tested where they are drawn.
    """
    drawing = (write_chests, write_patients, write_readings, evidence_pictures)
    with pytest.MonkeyPatch.context() as patch:
        for module in drawing:
            patch.setattr(module, "project", _projected)
        yield


@pytest.fixture(scope="session")
def phantom() -> Path:
    """Return a phantom collection of six patients at 100 × 125."""

    def draw(folder: Path) -> None:
        words = ["phantom", "--out", str(folder), "--n", str(PATIENTS), "--seed", "0"]
        assert run_command_line([*words, "--size", "100x125"]) == 0

    return made_once("D", draw)


Overread = Callable[..., Any]
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose folder ``home`` the program takes for its own."""
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OVERREAD_STORE", raising=False)
    return tmp_path


@pytest.fixture
def say(home: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Return a function that runs a command with HOME filled in.

    It returns the exit code, and what was said on standard output and error.
    """

    def run(*words: object) -> tuple[int, str, str]:
        code = run_command_line([str(w).replace("HOME", str(home)) for w in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def overread(capsys: pytest.CaptureFixture[str]) -> Overread:
    """Return a function that runs a command, checks its code, and reads its JSON."""

    def run(*words: object, code: int = 0) -> Any:  # noqa: ANN401 - any JSON
        capsys.readouterr()
        given = run_command_line([*(str(word) for word in words), "--json"])
        captured = capsys.readouterr()
        assert given == code, captured.err
        return json.loads(captured.out)

    return run


@contextmanager
def only_numbers() -> Iterator[None]:
    """Write only the numbers of a pack's figures."""

    def numbers(figure: Figure) -> dict[str, bytes]:
        name = figure.head.name
        return {f"{name}.svg": b"<svg></svg>", f"{name}.csv": figure_csv(figure)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "figure_files", numbers)
        yield


@pytest.fixture(scope="module")
def undrawn() -> Iterator[None]:
    """Write only the numbers of a pack's figures, for tests that look at these."""
    with only_numbers():
        yield


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
