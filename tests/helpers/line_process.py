"""Processes that start once and run one thing after another, told by lines of JSON.

``python -m tests.helpers.line_process`` runs commands: what is said in it, by whom it
is seen and what it finds on its path are those of a process, as in a terminal. Run as a
file with the names of libraries it runs scripts, as a person does who has these
libraries, but not Overread: each in a fork of the process that imported them, or where
there is no fork, in a process of its own.
"""

import gc
import importlib
import io
import json
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Self


class _LineProcess:
    """The process, as a context manager."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Let it end, as it does with its input."""
        self._process.communicate()

    def _run(self, what: object, code: int = 0) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(what) + "\n")
        stdin.flush()
        given, said = json.loads(stdout.readline())
        assert given == code, said
        return str(said)


class CommandProcess(_LineProcess):
    """The command line; ``aside`` gets what its libraries say."""

    def __init__(
        self, aside: Path, environment: Mapping[str, str], umask: int = -1
    ) -> None:
        # not at the top: a process of libraries finds no tests
        from tests.helpers.forked import start_program

        with aside.open("ab") as stderr:
            super().__init__(
                start_program(
                    module="tests.helpers.line_process",
                    env={**os.environ, **environment},
                    umask=umask,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                )
            )

    def __call__(self, *words: object, code: int = 0) -> str:
        """Run a command; return what it says, on standard error last."""
        return self._run([str(word) for word in words], code)


class ScriptProcess(_LineProcess):
    """Python with some libraries imported."""

    def __init__(self, *libraries: str) -> None:
        command = [sys.executable, "-I", __file__, *libraries]
        pipe = subprocess.PIPE
        super().__init__(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))

    def __call__(self, script: Path) -> str:
        """Run a script in its own folder; return what it prints."""
        if hasattr(os, "fork"):
            return self._run(str(script))
        command = [sys.executable, "-I", script.name]
        done = subprocess.run(
            command, cwd=script.parent, capture_output=True, check=True
        )
        return done.stdout.decode()


def _command(words: Sequence[str]) -> tuple[int, str]:
    from viewer.cli import run_command_line

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = run_command_line(words)
    for stream in streams:
        stream.seek(0)
    return code, "".join(stream.read() for stream in streams)


def _script(path: str) -> tuple[int, str]:
    """Return a script's exit code, and what it printed to the byte."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os._exit(_run_forked(Path(path), write))
    os.close(write)
    with os.fdopen(read, "rb") as printed:
        said = printed.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def _run_forked(script: Path, printed: int) -> int:
    os.dup2(printed, sys.stdout.fileno())
    os.chdir(script.parent)
    sys.argv = [script.name]
    try:
        runpy.run_path(script.name, run_name="__main__")
    except BaseException:  # noqa: BLE001 - told to who asked
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
    return 0


def _prepared(libraries: Sequence[str]) -> Callable[[Any], tuple[int, str]]:
    if not libraries:
        from viewer.services.viewing.decoder_pool import read_files_elsewhere

        read_files_elsewhere()
        return _command
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]
    modules["viewer"] = None
    for name in libraries:
        importlib.import_module(name)
    gc.freeze()  # or the collections of each fork would copy the libraries' pages
    return _script


def main(libraries: Sequence[str]) -> None:
    """Run what is read until the input ends."""
    run = _prepared(libraries)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
