"""The command line in a process of its own, which takes one command after another.

What is said in it, by whom it is seen and what it finds on its path are those of a
process, as in a terminal; but it is started once. Run as
``python -m tests.helpers.command_process`` it reads each command as a line of JSON.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from viewer.cli import run_command_line
from viewer.services.viewing.decoder_pool import read_files_elsewhere

ROOT: Final = Path(__file__).parents[2]


class CommandProcess:
    """The process, as a context manager; ``aside`` gets what its libraries say."""

    def __init__(
        self, aside: Path, environment: Mapping[str, str], umask: int = -1
    ) -> None:
        with aside.open("ab") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.helpers.command_process"],
                cwd=ROOT,
                env={**os.environ, **environment},
                umask=umask,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
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
        self.end()

    def end(self) -> None:
        """Let it end, as it does with its input."""
        self._process.communicate()

    def __call__(self, *words: object, code: int = 0) -> str:
        """Run a command; return what it says, on standard error last."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps([str(word) for word in words]) + "\n")
        stdin.flush()
        given, said = json.loads(stdout.readline())
        assert given == code, said
        return str(said)


def _run(words: Sequence[str]) -> tuple[int, str]:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = run_command_line(words)
    for stream in streams:
        stream.seek(0)
    return code, "".join(stream.read() for stream in streams)


def main() -> None:
    """Run what is read until the input ends."""
    read_files_elsewhere()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
