"""Runs scripts as a person does who has their libraries, but not Overread.

A process imports the libraries once, and each script is run in a fork of it; where
there is no fork, in a process of its own. Run as a file with the names of libraries it
reads the path of each script as a line of JSON.
"""

import importlib
import json
import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Self


class ScriptProcess:
    """The process, as a context manager."""

    def __init__(self, *libraries: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__, *libraries],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def __call__(self, script: Path) -> str:
        """Run a script in its own folder; return what it prints."""
        if not hasattr(os, "fork"):
            return _alone(script)
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(str(script)) + "\n")
        stdin.flush()
        code, said = json.loads(stdout.readline())
        assert code == 0, said
        return str(said)


def _alone(script: Path) -> str:
    command = [sys.executable, "-I", script.name]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, check=True)
    return done.stdout.decode()


def _run(script: Path, printed: int) -> int:
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


def _forked(script: Path) -> tuple[int, str]:
    """Return a script's exit code, and what it printed to the byte."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os._exit(_run(script, write))
    os.close(write)
    with os.fdopen(read, "rb") as printed:
        said = printed.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def main() -> None:
    """Run each script that is named until the input ends."""
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]
    modules["viewer"] = None
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_forked(Path(json.loads(line)))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
