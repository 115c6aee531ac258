"""The program started again and again, and quit at a random moment of its start.

``python -m tests.helpers.quitting --starts 300 --program dist/overread/overread`` tries
a program on a screen of its own, prints how each way of quitting ended, and fails where
anything crashed, complained, or was left behind. Without ``--program`` it tries this
one, from its source.
"""

import argparse
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from tests.helpers.x_screen import XWindows, x_screen
from viewer.settings import HOME_VARIABLE, STORE_VARIABLE

ROOT: Final = Path(__file__).parents[2]
_START_S, _SOON_S = 2.0, 0.7
"""Moments are drawn from the start of the program, or from its window's appearance."""
_PATIENCE_S: Final = 300.0
"""So long nobody waits but for a program that hangs."""
_TURN_S: Final = 0.005
_REMARKS: Final = re.compile(r"^qt\.qpa\..*\n", re.MULTILINE)
"""What Qt says of a screen like this one."""
_OURS: Final = re.compile(r'__main__\.py", line \d+, in main\n|pyi_rth')
"""A line of a traceback in the program's entry, or in a hook of a frozen one."""
_HALF_WRITTEN: Final = re.compile(r"^\.|-journal$|\.tmp$|\.part$|^window\.json\.")
_BEFORE = ("SIGTERM", "SIGINT", "SIGHUP")
"""Without SIGINT where it is ignored, as by what a shell starts in the background."""
_SHOWN = ("close", "Ctrl+Q", "SIGTERM", "SIGHUP")
_WITHOUT_DEMO: Final = ("first demo", "nothing")


@dataclass(frozen=True)
class Ended:
    """How one start ended: what is wrong with it, nothing where all is well."""

    case: str
    way: str
    moment_s: float
    code: int
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Start:
    """What is started: the words of its command line, in a home of its own."""

    case: str
    words: tuple[str, ...]
    home: Path


class Quitter:
    """Starts a program on a screen and quits it.

    Parameters
    ----------
    program : sequence of str
        The words that start it.
    display : str
        The X display to show its windows on.
    folder : Path
        An empty folder for homes and temporary files.
    rng : random.Random
        Draws the moments and the ways.
    """

    def __init__(
        self, program: Sequence[str], display: str, folder: Path, rng: random.Random
    ) -> None:
        self._program, self._display, self._rng = program, display, rng
        self._screen = XWindows(display)
        self._folder = folder
        self._made = folder / "made"
        self._number = 0
        demo = self._made / "demo"
        self._words = {
            "first demo": ("demo",),
            "demo": ("demo",),
            "file": (str(demo / "radiograph" / "RG1.dcm"),),
            "folder": (str(demo),),
            "nothing": (),
        }

    def quit_once(self) -> Ended:
        """Start the program, quit it, and look at what is left."""
        start = self._start()
        from_window = self._rng.random() < 0.5
        moment = self._rng.uniform(0, _SOON_S if from_window else _START_S)
        temporary = self._folder / "tmp"
        temporary.mkdir()
        said = self._folder / "said"
        with said.open("wb") as stream, self._run(start, temporary, stream) as process:
            if from_window:
                self._wait(lambda: self._window is not None, process)
            time.sleep(moment)
            way = self._quit(process)
        code = process.returncode
        text = _REMARKS.sub("", said.read_text(errors="replace"))
        wrong = (
            *_wrong_end(way, code, text),
            *(f"process left: {name}" for name in self._processes_left(start.home)),
            *(f"file left: {name}" for name in _files_left(start.home, temporary)),
        )
        shutil.rmtree(temporary)
        if start.home != self._made:
            shutil.rmtree(start.home, ignore_errors=True)
        return Ended(start.case, way, moment, code, wrong)

    def _start(self) -> Start:
        case = self._rng.choice(list(self._words))
        if case not in _WITHOUT_DEMO and not self._made.exists():
            made = ["_demo", str(self._made), str(self._made / "s.sqlite")]
            words = [*self._program, *made]
            subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        self._number += 1
        fresh = self._folder / f"home{self._number}"
        home = self._made if case == "demo" else fresh
        return Start(case, self._words[case], home)

    def _run(
        self, start: Start, temporary: Path, stream: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        environment = {
            **os.environ,
            "DISPLAY": self._display,
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONFAULTHANDLER": "1",
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(temporary),
            HOME_VARIABLE: str(start.home),
        }
        environment.pop(STORE_VARIABLE, None)
        return subprocess.Popen(
            [*self._program, *start.words],
            cwd=self._folder,
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def _window(self) -> int | None:
        return self._screen.titled("Overread")

    def _quit(self, process: "subprocess.Popen[bytes]") -> str:
        window = self._window
        way = self._rng.choice(_before() if window is None else _SHOWN)
        if way == "Ctrl+Q":
            self._press_until_gone(process)
        elif way == "close":
            self._screen.close(window or 0)
        else:
            process.send_signal(signal.Signals[way])
        self._wait(lambda: process.poll() is not None, process)
        return way if window is not None else f"{way}, no window yet"

    def _press_until_gone(self, process: "subprocess.Popen[bytes]") -> None:
        """Press Ctrl+Q; the first may come before the window has the keyboard."""

        def pressed() -> bool:
            window = self._window
            if window is not None:
                self._screen.press_control_q(window)
            time.sleep(0.2)
            return self._window is None

        self._wait(pressed, process)

    def _wait(
        self, done: Callable[[], bool], process: "subprocess.Popen[bytes]"
    ) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not done() and process.poll() is None:
            if time.monotonic() > end:
                process.send_signal(signal.SIGABRT)  # its threads' stacks are told
                return
            time.sleep(_TURN_S)

    def _processes_left(self, home: Path) -> Sequence[str]:
        """Return what still runs in a home, once it has had time to end."""
        end = time.monotonic() + _PATIENCE_S
        while (found := list(_running_in(home))) and time.monotonic() < end:
            time.sleep(_TURN_S)
        return found


def _before() -> Sequence[str]:
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return tuple(way for way in _BEFORE if way != "SIGINT" or not ignored)


def _wrong_end(way: str, code: int, text: str) -> Iterator[str]:
    name = way.partition(",")[0]
    if name == "SIGINT" and text.endswith("KeyboardInterrupt\n"):
        if _OURS.search(text):  # else the interpreter itself was still starting
            yield f"it said: {text}"
        return
    number = signal.Signals[name].value if name.startswith("SIG") else 0
    if code not in (0, -number, 128 + number if number else 0):
        yield f"exit code {code}"
    if text:
        yield f"it said: {text}"


def _running_in(home: Path) -> Iterator[str]:
    named = f"{HOME_VARIABLE}={home}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if named in (process / "environ").read_bytes().split(b"\0"):
                words = (process / "cmdline").read_bytes().split(b"\0")
                yield b" ".join(words).decode()
        except OSError:
            continue  # it has ended


def _files_left(home: Path, temporary: Path) -> Iterator[str]:
    yield from (str(path) for path in temporary.rglob("*"))
    for path in home.rglob("*"):
        kind = path.lstat().st_mode
        strange = stat.S_ISSOCK(kind) or stat.S_ISFIFO(kind)
        if strange or _HALF_WRITTEN.search(path.name) or path.name == "crashes":
            yield str(path)


def from_source() -> list[str]:
    """Return the words that start the program as it is installed here."""
    return [sys.executable, "-m", "viewer"]


def quit_often(
    folder: Path, starts: int, seed: int, program: Sequence[str]
) -> Iterator[Ended]:
    """Start a program so often, and yield how each start ended.

    The same seed draws the same moments, in an empty folder.
    """
    with ExitStack() as stack:
        (folder / "screen").mkdir()
        screen = stack.enter_context(x_screen(folder / "screen"))
        quitter = Quitter(program, screen.display, folder, random.Random(seed))
        for _ in range(starts):
            yield quitter.quit_once()


def main() -> int:
    """Print every start that ended badly, and a table of all; 1 where any did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", nargs="+", default=from_source())
    options = parser.parse_args()
    counts, bad = Counter[tuple[str, int, str]](), 0
    with tempfile.TemporaryDirectory() as folder:
        for ended in quit_often(
            Path(folder), options.starts, options.seed, options.program
        ):
            counts[ended.way, ended.code, ended.case] += 1
            bad += bool(ended.wrong)
            if ended.wrong:
                _say(str(ended))
    for (way, code, case), count in sorted(counts.items()):
        _say(f"{count:4}  {way}, {case}: exit code {code}")
    _say(f"{options.starts} starts, {bad} ended badly")
    return 1 if bad else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
