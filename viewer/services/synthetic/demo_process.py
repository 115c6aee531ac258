"""The demo collection, made by a separate process beside the window.

It reports progress on standard output, one JSON object per line, and ends without a
reader. It is a second instance of the program, like a decoding process.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import OverreadError
from viewer.domain.plain import made, plain
from viewer.settings import Settings

WORD: Final = "_demo"
"""The hidden first argument with which the program runs itself as this process."""


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """Progress of the demo collection: steps done, and all steps."""

    done: int
    total: int


def demo_folder(home: Path) -> Path:
    """Return the folder of the collection."""
    return home / "demo"


def is_made(home: Path) -> bool:
    """Return whether the collection is complete."""
    return (demo_folder(home) / "demo.json").is_file()


class DemoProcess:
    """Makes and registers the collection if it is missing, on demand.

    Parameters
    ----------
    settings : Settings
        The folders in use.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._starting = threading.Lock()
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None
        if not is_made(settings.home):
            self._process = _spawn(settings)

    def follow(self, tell: Callable[[DemoProgress], None]) -> None:
        """Wait for the collection and report its progress; for a background thread.

        Raises
        ------
        OverreadError
            With the process's message if the collection cannot be made.
        """
        if self._process is None and is_registered(self._settings):
            return
        process = self._running()
        if process is None:
            return
        with process:
            for line in process.stdout or ():
                _hear(json.loads(line), tell)
        if process.returncode and not self._stopped:
            raise OverreadError(
                "Making the demo collection ended unexpectedly.",
                "Open the demo again; what was made is kept.",
            )

    def stop(self) -> None:
        """Stop the process, if there is one; no partial file stays."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.terminate()

    def end(self) -> None:
        """Stop the process, and wait until it has cleaned up."""
        self.stop()
        if self._process is not None:
            self._process.wait()

    def _running(self) -> "subprocess.Popen[bytes] | None":
        """Return the process, started if needed; None once it was stopped."""
        with self._starting:
            if self._process is None and not self._stopped:
                self._process = _spawn(self._settings)
            return self._process


def is_registered(settings: Settings) -> bool:
    """Return whether the collection is registered in the store."""
    from viewer.services.running.batch_form import dataset_names
    from viewer.services.synthetic.demo import NAME

    return NAME in dataset_names(settings.store)


def serve(home: Path, store: Path) -> None:
    """Make and register the collection, reporting on standard output.

    SIGTERM and Ctrl+C end it like a missing reader: partial files are removed.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit())
    from viewer.services.synthetic.demo import prepare_demo

    with contextlib.suppress(BrokenPipeError):  # the window is gone
        try:
            prepare_demo(home, _tell)
            _register(Settings(home, store))
        except OverreadError as error:
            _say({"what": error.what, "how": error.how})


def _register(settings: Settings) -> None:
    from viewer.services.synthetic.demo_run import register_demo
    from viewer.store.database import open_store

    if not is_registered(settings):
        with open_store(settings.store) as store:
            register_demo(store, settings.home, _tell)


def _tell(done: int, total: int) -> None:
    _say(plain(DemoProgress(done, total)))


def _say(value: dict[str, object]) -> None:
    os.write(sys.stdout.fileno(), json.dumps(value).encode() + b"\n")


def _hear(value: dict[str, object], tell: Callable[[DemoProgress], None]) -> None:
    if "what" in value:
        raise OverreadError(str(value["what"]), str(value["how"]))
    tell(made(DemoProgress, value, where="the demo's progress"))


def _spawn(settings: Settings) -> "subprocess.Popen[bytes]":
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        program += ["-m", "viewer"]
    return subprocess.Popen(  # noqa: S603 - our own program
        [*program, WORD, str(settings.home), str(settings.store)],
        stdout=subprocess.PIPE,
    )
