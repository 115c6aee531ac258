"""What the window says of a run, second by second, while something goes wrong.

``python -m tests.helpers.run_watch SCENE FOLDER`` prints a line for each second in
which the status bar, the list, the page or the notification says something new. The
window, its worker and the server are real. ``full`` fills the disk of the folder: run
it as root under ``unshare --mount``, as `lines_of` does.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from PySide6.QtCore import QCoreApplication, Qt

from tests.helpers.forked import start_program
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import a_spec, planned, server_profile
from viewer import app
from viewer.services.worker.background import BackgroundWorker
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.workspaces.measure import MeasureWorkspace

_LOOK_S: Final = 0.05
_PATIENCE_S: Final = 600.0
_TRIALS: Final = 48


@dataclass(frozen=True)
class Said:
    """What the window says in one second of a run."""

    second: int
    bar: str
    row: str
    page: str
    notice: str
    counted: int
    """Trials that the results table counts, over all findings."""

    def line(self) -> str:
        """Return it as a line for people."""
        parts = (self.bar, self.row, self.page, self.notice)
        told = " | ".join(part or "-" for part in parts)
        return f"{self.second:3d} s | {told} | n = {self.counted}"


@dataclass
class Watched:
    """A window that shows a run of a scripted server, and what it said so far."""

    folder: Path
    script: Script
    said: list[Said] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings = Settings(self.folder, self.folder / "store.sqlite")
        self.server = ScriptedServer(self.script)
        with open_store(settings.store) as store:
            spec = a_spec([server_profile(self.server.base_url)], repeats=6)
            self.run = planned(store, self.folder / "images", spec, 8)
        self.window = app.build_window(settings)
        app.furnish(self.window)
        self.window.show()
        self.window.enter(Place.MEASURE)
        measure = self.window.findChild(MeasureWorkspace)
        assert measure is not None
        self.measure, self.states = measure, self.window.context.run_states
        self._begun_s = time.monotonic()

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.wait(lambda: self.measure.runs.selected is not None)
        self._begun_s = time.monotonic()
        self.states.resume(self.run)
        return self

    def __exit__(self, *_: object) -> None:
        self.script.release()
        self.window.context.worker.close()
        self.server.__exit__()
        self.window.close()

    def comes_to(self, words: str) -> bool:
        """Dismiss notices before the one with these words; tell whether it shows."""
        # What else failed to write to a full disk may have been told first.
        if words not in self.notice:
            self.window.notice_bar.dismiss()
        return words in self.notice

    def wait(self, condition: Callable[[], object], seconds: float = 0.0) -> None:
        """Look at the window until something is true, and so many seconds more."""
        end = time.monotonic() + _PATIENCE_S
        while not condition():
            assert time.monotonic() < end, self.said[-1:]
            self._look()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._look()

    def says(self, words: str) -> bool:
        """Tell whether bar, list and page all say something now."""
        now = self._now()
        return all(words in part for part in (now.bar, now.row, now.page))

    def kill_worker(self) -> None:
        """Kill -9 the process that asks the models."""
        worker = self.window.context.worker._worker
        assert isinstance(worker, BackgroundWorker)
        process = worker._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)

    @property
    def notice(self) -> str:
        """The notification on the screen."""
        bar = self.window.notice_bar
        return bar.text.text() if bar.isVisible() else ""

    @property
    def counted(self) -> int:
        """How many trials the results count."""
        return self._now().counted

    def _look(self) -> None:
        # Not QTest.qWait, which keeps Python from other threads while it waits.
        QCoreApplication.processEvents()
        time.sleep(_LOOK_S)
        now = self._now()
        if not self.said or now.second > self.said[-1].second:
            self.said.append(now)

    def _now(self) -> Said:
        line, runs = self.window.batch, self.measure.runs
        row = runs.view.currentIndex().data(Qt.ItemDataRole.StatusTipRole)
        shown = self.measure.results.table.results.table
        at = shown.header.index("n_scored") if shown.rows else 0
        return Said(
            int(time.monotonic() - self._begun_s),
            line.text.text() if line.isVisible() else "",
            str(row or ""),
            self.measure.state.text() if self.measure.state.isVisible() else "",
            self.notice,
            max((int(str(row[at])) for row in shown.rows), default=0),
        )


def stall(folder: Path) -> list[Said]:
    """Let the server hold four answers after 16, for a while, then answer again."""
    script = Script(["ok"] * 16, default="held", latency_s=0.2)
    with Watched(folder, script) as watched:
        watched.wait(lambda: watched.says("stalled") and watched.counted == 16, 4)
        script.release()
        watched.wait(lambda: "has ended" in watched.notice, 1)
    return watched.said


def crash(folder: Path) -> list[Said]:
    """Kill the worker in the middle of a run, and resume it from the notification."""
    script = Script(["ok"] * 8, default="held")
    with Watched(folder, script) as watched:
        watched.wait(lambda: watched.says(" 8 of 48"), 2)
        watched.kill_worker()
        watched.wait(lambda: "was interrupted" in watched.notice, 2)
        watched.script.release()
        watched.window.notice_bar.offer_button.click()
        watched.wait(lambda: "has ended" in watched.notice, 1)
    return watched.said


def cancel(folder: Path) -> list[Said]:
    """Cancel a run with requests in flight that take some seconds."""
    with Watched(folder, Script(["ok"] * 8, default="slow:5")) as watched:
        watched.wait(lambda: watched.says(" 8 of 48"), 2)
        watched.states.cancel(watched.run)
        watched.wait(lambda: "was cancelled" in watched.notice, 1)
    return watched.said


def full(folder: Path) -> list[Said]:
    """Fill the small disk of a store in the middle of a run, and keep it full."""
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder], check=True
    )
    filler = folder / "filler"
    # Slow enough that the last answer comes long after the disk is full.
    script = Script(["ok"] * 8, default="held", latency_s=0.2)
    with Watched(folder, script) as watched:
        watched.wait(lambda: watched.says(" 8 of 48"), 2)
        with filler.open("wb", buffering=0) as file:  # closing it writes nothing more
            _fill(file)
            script.release()
            while watched.states.active:
                _fill(file)
                watched.wait(lambda: True, 0.2)
        watched.wait(lambda: watched.comes_to("stopped by an error"), 2)
        filler.unlink()
    return watched.said


def _fill(file: BinaryIO) -> None:
    with suppress(OSError):
        while True:
            file.write(b"0" * 65536)


def lines_of(scene: str, folder: Path) -> list[str]:
    """Return what a process of its own prints of a scene; one of ``full`` may mount."""
    words = (scene, str(folder))
    with_pipes: dict[str, Any] = {
        "env": {"QT_QPA_PLATFORM": "offscreen", **os.environ},
        "stdout": subprocess.PIPE,
        "text": True,
    }
    if scene == "full":
        command = ["unshare", "--mount", sys.executable, "-m", __name__, *words]
        process: subprocess.Popen[str] = subprocess.Popen(command, **with_pipes)
    else:
        process = start_program(*words, module=__name__, **with_pipes)
    said, _ = process.communicate()
    assert process.returncode == 0
    return said.splitlines()


SCENES: Final = {"stall": stall, "crash": crash, "cancel": cancel, "full": full}


def main() -> None:
    """Print what a scene makes the window say."""
    app.make_application()
    before = ""
    for said in SCENES[sys.argv[1]](Path(sys.argv[2])):
        line = said.line()
        if line[5:] != before:
            print(line)  # noqa: T201 - the tool's output
        before = line[5:]


if __name__ == "__main__":
    main()
