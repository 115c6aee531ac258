"""A sealed session read by a frozen program in a home of its own, and merged again.

    python -m tests.helpers.frozen_session dist/overread

Needs Xvfb, libX11 and libXtst. Only opening the session takes Python; all else does the
frozen program, in an empty environment. It is answered with the keyboard.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.helpers.x_screen import XWindows, x_screen
from viewer.printing import echo
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task
from viewer.settings import ANSWERS_ENDING, SEALED_ENDING
from viewer.store import reading_audit
from viewer.store.database import open_store

PANEL = TaskWanted("pathology_mcq", "panel", "tiles", panel="I", limit=4)
TAMPERED = 20
_KEY_2, _RETURN = 0x32, 0xFF0D
"""Key symbols: the second option, and lock or the next case."""
_LOCK = "overread.sqlite.session1.lock"
_LONGEST_S, _PAUSE_S = 60, 0.5


class Home:
    """A folder that a frozen program has for itself."""

    def __init__(self, folder: Path, program: Path) -> None:
        folder.mkdir()
        self.program = program
        self.environment = {"HOME": str(folder), "OVERREAD_HOME": str(folder / "data")}
        self.store = folder / "data" / "overread.sqlite"

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return subprocess.run(
            [self.program, *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def do(self, *words: object) -> str:
        """Run a command that has to succeed; return what it printed."""
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def acts(self) -> list[str]:
        """Return what was done in the session, as far as it is stored."""
        if not self.store.exists():
            return []
        with open_store(self.store) as store:
            return [str(act["act"]) for act in reading_audit.acts_of(store, 1)]


def sealed(origin: Home, folder: Path) -> Path:
    """Seal a session of questions about tiles; return the file."""
    tiles, path = folder / "tiles", folder / f"zoe{SEALED_ENDING}"
    origin.do("phantom", "--study", PANEL.study, "--n", 4, "--out", tiles)
    origin.do("import", "pathmmu", tiles, "--name", PANEL.dataset)
    for image in sorted((tiles / "images").iterdir()):
        origin.do("review", image, "--clean")
    open_task(origin.store, PANEL, "Zoe")
    origin.do("export", "session", 1, "--out", path)
    return path


def read(reader: Home, path: Path, display: str) -> None:
    """Open a sealed session as a double click does, and answer every case."""
    windows, lock = XWindows(display), reader.store.with_name(_LOCK)
    environment = {**reader.environment, "DISPLAY": display, "LANG": "C.UTF-8"}
    with subprocess.Popen([reader.program, path], env=environment) as window:
        until(lambda: windows.titled("Overread") is not None and lock.exists())
        shown = windows.titled("Overread") or 0
        for number in range(1, (PANEL.limit or 0) + 1):
            until(partial(answered, windows, shown, reader, number))
        windows.close(shown)
        assert window.wait(_LONGEST_S) == 0
    windows.disconnect()


def answered(windows: XWindows, shown: int, reader: Home, number: int) -> bool:
    """Choose B and lock, once the case is open; tell whether so many are locked."""
    if reader.acts().count("locked") >= number:
        return True
    for key in (_KEY_2, _RETURN):
        time.sleep(_PAUSE_S)
        windows.press(shown, key)
    time.sleep(_PAUSE_S)
    return False


def until(done: Callable[[], bool]) -> None:
    """Wait until something is so."""
    began = time.monotonic()
    while not done():
        assert time.monotonic() - began < _LONGEST_S, "nothing happened"
        time.sleep(_PAUSE_S)


def refused(origin: Home, answers: Path) -> int:
    """Return how many tampered files are refused, which store nothing."""
    data, path = answers.read_bytes(), answers.with_stem("tampered")
    count = 0
    for at in range(0, len(data), len(data) // TAMPERED)[:TAMPERED]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        done = origin.run("import", "session", path)
        count += done.returncode == 2 and "Traceback" not in done.stderr
    assert origin.acts() == []
    return count


def main(program: Path) -> None:
    """Seal, read, return and merge a session, and print what was seen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        origin = Home(folder / "origin", program)
        reader = Home(folder / "reader", program)
        path = sealed(origin, folder)
        (folder / "screen").mkdir()
        with x_screen(folder / "screen") as screen:
            read(reader, path, screen.display)
        answers = folder / f"zoe{ANSWERS_ENDING}"
        reader.do("export", "session", 1, "--out", answers)
        count = refused(origin, answers)
        assert count == TAMPERED, count
        told = origin.do("import", "session", answers)
        assert origin.acts() == reader.acts()
        assert origin.run("import", "session", answers).returncode == 2
        origin.do("readings", "--check")
    echo(f"sealed session: {count} tampered files refused; {told.strip()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() / "overread")
