"""A small phantom collection, made once, and the command line as a function."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from viewer.cli import run_command_line

PATIENTS = 6


@pytest.fixture(scope="session")
def phantom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a phantom collection of six patients at 400 × 500."""
    folder = tmp_path_factory.mktemp("phantom") / "D"
    words = ["phantom", "--out", str(folder), "--n", str(PATIENTS), "--seed", "0"]
    assert run_command_line([*words, "--size", "400x500"]) == 0
    return folder


Overread = Callable[..., Any]


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
