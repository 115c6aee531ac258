"""The demo collection, made by a process of its own beside the window.

It says on its standard output, one JSON object a line, how far it is; without a reader
it ends. It is a second run of the program, as a decoding process is.
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
    """Steps of the demo collection that are done, and all of them."""

    done: int
    total: int


def demo_folder(home: Path) -> Path:
    """Return the folder of the collection."""
    return home / "demo"


def is_made(home: Path) -> bool:
    """Return whether the collection was made to its end."""
    return (demo_folder(home) / "demo.json").is_file()


class DemoProcess:
    """Makes and registers the collection where it is not; made when it is needed.

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
        """Wait for the collection, and say how far it is; for a background thread.

        Raises
        ------
        OverreadError
            With the process's own sentence where the collection cannot be made.
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
        """Let the process end, if there is one; nothing half-written stays."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.terminate()

    def end(self) -> None:
        """Stop the process, and wait until it has put away what it was writing."""
        self.stop()
        if self._process is not None:
            self._process.wait()

    def _running(self) -> "subprocess.Popen[bytes] | None":
        """Return the process, started if need be; None once it was stopped."""
        with self._starting:
            if self._process is None and not self._stopped:
                self._process = _spawn(self._settings)
            return self._process


def is_registered(settings: Settings) -> bool:
    """Return whether the store knows the collection."""
    from viewer.services.running.batch_form import dataset_names
    from viewer.services.synthetic.demo import NAME

    return NAME in dataset_names(settings.store)


def serve(home: Path, store: Path) -> None:
    """Make and register the collection, and tell standard output.

    SIGTERM and Ctrl+C end it like a reader who is gone: what is half-written goes.
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
