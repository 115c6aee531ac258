"""What the program keeps is its owner's alone, whatever the person's umask."""

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.forked import run_program
from tests.helpers.line_process import CommandProcess
from viewer.settings import HOME_VARIABLE

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such permissions"
)
CRASH = """
import sys
from viewer import __main__
import viewer.services.inspecting.listing
def fail(*_, **__): raise ValueError
viewer.services.inspecting.listing.doctor_rows = fail
sys.argv = ["overread", "doctor"]
__main__.main()
"""


@dataclass(frozen=True)
class Program:
    """The program, started by a person whose files are readable as ``umask`` says."""

    umask: int
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables that its home is told by."""
        return {**os.environ, HOME_VARIABLE: str(self.home)}

    def __call__(self, *words: object, code: str = "", ends_with: int = 0) -> str:
        """Run a command, or Python code; return all it said."""
        done = run_program(*words, code=code, env=self.environment, umask=self.umask)
        assert done.returncode == ends_with, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commands(self, aside: Path) -> CommandProcess:
        """Return a process that takes one command after another."""
        return CommandProcess(aside, {HOME_VARIABLE: str(self.home)}, self.umask)


@pytest.fixture(
    # what nothing masks is the harder case
    params=[0o000, pytest.param(0o022, marks=pytest.mark.proof)]
)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    return Program(request.param, tmp_path / "deep" / "home")


def loose(folder: Path) -> Iterator[str]:
    """Yield what is not exactly as private as it should be."""
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            yield f"{mode:o} {path}"


def test_that_everything_kept_is_private_and_exports_follow_the_umask(
    program: Program, tmp_path: Path
) -> None:
    home = program.home
    data, out = tmp_path / "data", tmp_path / "out"
    study = tmp_path / "s.toml"
    study.write_text(
        'study = "grid_localization"\ndataset = "p"\nmodels = ["uniform"]\n'
        "[params]\ngrids = [4]\nreplicates = 20\npaper_replicates = 20\n"
    )
    with program.commands(tmp_path / "aside.txt") as overread:
        overread("phantom", "--out", data, "--n", 1, "--size", "80x100")
        overread("import", "chexlocalize", data, "--name", "p")
        overread("run", study)
        overread("report", "1", "--out", out)
        overread("report", "1", "--out", home / "reports" / "1")
        overread("export", "bundle", "1", "--out", tmp_path / "bundle.zip")
    assert "please report it with the file" in program(code=CRASH, ends_with=2)
    assert len(list((home / "crashes").iterdir())) == 1
    assert list(loose(home.parent)) == []
    for exported in (out / "report.html", tmp_path / "bundle.zip"):
        assert stat.S_IMODE(exported.stat().st_mode) == 0o666 & ~program.umask
    for folder in (out, data):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~program.umask


def test_that_an_older_store_is_tightened_and_the_person_told(
    program: Program, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    with program.commands(tmp_path / "aside.txt") as overread:
        overread("runs", "--store", store)
        store.chmod(0o644)
        said = program("runs", "--store", store)
        assert f"could read '{store}'; now only you can." in said
        assert stat.S_IMODE(store.stat().st_mode) == 0o600
        assert "Other users" not in overread("runs", "--store", store)
