"""Tests that are run in forks give the results that they give one after another."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can fork here")
ROOT = Path(__file__).parents[2]
TESTS = """
import os, signal
import pytest

@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("made")

@pytest.mark.parametrize("i", range(9))
def test_that_holds(i, made, tmp_path, capfd):
    print(i)
    assert capfd.readouterr().out == f"{i}\\n"
    assert tmp_path.parent == made.parent

def test_that_fails():
    print("said before")
    assert 1 == 2

def test_that_dies():
    os.kill(os.getpid(), signal.SIGKILL)

def test_that_comes_after(made, tmp_path):
    assert tmp_path.parent == made.parent

def test_that_is_left_out():
    pytest.skip("not here")
"""


def _run(folder: Path, *words: str) -> tuple[int, str]:
    """Return the exit code and what was said, without any plugin but this one."""
    plugin = ("-p", "tests.helpers.in_forks", "--forks", "3")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "x.ini"]
    ran = subprocess.run(
        [*command, *plugin, *words],
        capture_output=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(ROOT),
        },
        text=True,
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two files of tests, and settings of its own."""
    (tmp_path / "x.ini").write_text("[pytest]\n")
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(TESTS)
    return tmp_path


def test_that_each_test_is_run_once_and_a_death_is_told(folder: Path) -> None:
    code, said = _run(folder, "-rA")
    assert code == 1
    assert "4 failed, 20 passed, 2 skipped" in said
    for outcome, name, times in (
        ("PASSED", "that_holds", 9),
        ("PASSED", "that_comes_after", 1),
        ("FAILED", "that_fails", 1),
        ("FAILED", "that_dies", 1),
    ):
        for file in ("test_one", "test_two"):
            of_file = rf"^{outcome} {file}\.py::test_{name}\b"
            assert len(re.findall(of_file, said, re.MULTILINE)) == times, said
    assert said.count("The process that ran it ended, with the exit code -9.") >= 2
    assert said.count("said before") >= 2


def test_that_it_ends_after_so_many_failures(folder: Path) -> None:
    code, said = _run(folder, "--maxfail", "1")
    assert code == 1
    assert "stopping after 1 failures" in said
    assert " 1 failed" in said
