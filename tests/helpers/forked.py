"""Programs that begin as forks of a process which has imported them already.

A start is a second of imports, and the tests start hundreds of programs. Such a fork is
a process of its own in all else: a child of the test's process with its own streams,
environment, folder and signals, and it ends as a program does. Where there is no Linux,
the program is started anew.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

ROOT: Final = Path(__file__).parents[2]
_LONGEST_REQUEST: Final = 200_000
_ADOPT_ORPHANS: Final = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_COMMANDS: Final = (
    "fontTools.subset",
    "jinja2",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "httpx2",
    "PIL.PngImagePlugin",
    "pydicom",
    "rich.progress",
    "scipy.ndimage",
    "scipy.special",
    "sqlite_utils",
    "viewer.cli.exporting",
    "viewer.cli.running",
    "viewer.models.baselines",
    "viewer.models.openai_api.adapter",
    "viewer.readers.datasets.catalog",
    "viewer.readers.datasets.chexlocalize",
    "viewer.readers.datasets.pathmmu",
    "viewer.services.configuring.study_file",
    "viewer.services.exporting.export_bundle",
    "viewer.services.importing.import_dataset",
    "viewer.services.inspecting.listing",
    "viewer.services.reporting.report_run",
    "viewer.services.running.batch_estimate",
    "viewer.services.running.run_batch",
    "viewer.services.viewing.decoder_pool",
    "viewer.services.viewing.opened_image",
    "viewer.services.worker.worker",
    "viewer.studies.grid_localization.report",
    "viewer.studies.grid_localization.study",
    "viewer.studies.pathology_mcq.study",
    "viewer.writers.figures_files",
    "viewer.writers.verify.main",
)
_WINDOW: Final = (
    "viewer.app",
    "viewer.ui.panels.asking.answering",
    *(
        f"viewer.ui.workspaces.{name}"
        for name in ("measure", "models", "read", "review")
    ),
)
_IMPORTED: Final = dict.fromkeys(
    ("tests.helpers.run_watch", "tests.helpers.window_process"),
    (*_COMMANDS, *_WINDOW),
)
"""What is imported before a module is forked, if not what all commands need."""


def start_program(
    *words: object,
    module: str = "viewer",
    code: str = "",
    **settings: Any,  # noqa: ANN401 - as Popen takes them
) -> "subprocess.Popen[Any]":
    """Start ``python -m module words``, or ``python -c code words``.

    ``settings`` are those of `subprocess.Popen`; of those that say how the process
    begins, only ``cwd``, ``env``, ``umask`` and ``start_new_session`` are known.
    """
    settings.setdefault("cwd", ROOT)
    command = [*(("-c", code) if code else ("-m", module)), *map(str, words)]
    if sys.platform != "linux":
        return subprocess.Popen([sys.executable, *command], **settings)
    return _Forked(command, **settings)


def run_program(
    *words: object,
    **settings: Any,  # noqa: ANN401 - as `start_program` takes them
) -> "subprocess.CompletedProcess[str]":
    """Run a program as `start_program` starts it; return what it said."""
    pipe = subprocess.PIPE
    with start_program(
        *words, stdout=pipe, stderr=pipe, text=True, **settings
    ) as program:
        said, told = program.communicate()
    ran = [*map(str, words)]
    return subprocess.CompletedProcess(ran, program.returncode, said, told)


@contextlib.contextmanager
def served(module: str, *words: object) -> Iterator[str]:
    """Serve by a module that prints its port, until its input ends; yield the URL."""
    with start_program(
        *words,
        module=module,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        server.stdin.close()


def spawn_worker(store_path: Path) -> "subprocess.Popen[bytes]":
    """Start a worker in the place of the program's own ``spawn_worker``."""
    pipe = subprocess.PIPE
    words = ("worker", "--store", store_path)
    return start_program(*words, cwd=Path.cwd(), stdin=pipe, stdout=pipe)


class _Forked(subprocess.Popen[Any]):
    """A child that the forking process makes and this one adopts."""

    def _execute_child(self, command: list[str], *how: Any) -> None:  # noqa: ANN401 - as Popen has them
        cwd, env, pipes = how[4], how[5], how[9:15]
        umask, own_session = how[19:21]
        begun = _Begun(
            command,
            str(cwd),
            dict(os.environ if env is None else env),
            umask,
            own_session,
            os.getpid(),
        )
        given = (pipes[0], pipes[3], pipes[5])
        streams = [fd if fd >= 0 else number for number, fd in enumerate(given)]
        with _adopting_orphans():
            socket.send_fds(_forking(), [json.dumps(begun).encode()], streams)
            self.pid = int(_forking().recv(_LONGEST_REQUEST))
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


class _Begun(NamedTuple):
    """How a program begins."""

    command: list[str]
    folder: str
    environment: dict[str, str]
    umask: int
    own_session: bool
    parent: int

    def run(self, streams: list[int]) -> None:
        """Become the program, as a child of ``parent`` with these three streams."""
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
            os.close(fd)
        # those of the forking process took its own streams for what they are
        sys.stdin, sys.stdout, sys.stderr = map(_opened, (0, 1, 2))
        if self.own_session:
            os.setsid()
        if self.umask >= 0:
            os.umask(self.umask)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)
        path = self.environment.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [each for each in path if each and each not in sys.path]
        # nohup may have made the tests deaf to it; what they start is to hear it
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        kind, program, *sys.argv[1:] = self.command
        if kind == "-c":
            exec(program, {"__name__": "__main__"})  # noqa: S102 - a test's own words
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)


def _opened(number: int) -> TextIO:
    """Return a standard stream as Python opens it."""
    buffering, errors = (1, "backslashreplace") if number == 2 else (-1, None)
    mode = "rww"[number]
    stream = os.fdopen(number, mode, buffering, errors=errors, closefd=False)
    assert isinstance(stream, io.TextIOWrapper)
    return stream


@cache
def _forking() -> socket.socket:
    """Return the socket of the forking process, which ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", __name__]
    with theirs:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=theirs.fileno(), stdout=subprocess.DEVNULL
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


@contextlib.contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Make this process the parent of what its children leave behind, for now."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    yield
    prctl(_ADOPT_ORPHANS, 0, 0, 0, 0)


@contextlib.contextmanager
def _noting_the_end(ended: list[int]) -> Iterator[None]:
    """Note the exit code of a program that ends by itself, not by an error."""
    try:
        yield
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            ended.append(end.code or 0)
        raise
    ended.append(0)


def _skip_the_teardown(ended: list[int]) -> None:
    """End a program that only has to free its modules, for a tenth of a second.

    One with a window does: Qt may end the process on the way.
    """
    if ended and "PySide6.QtWidgets" not in sys.modules:
        with contextlib.suppress(OSError):  # which Python tells, with a code of its own
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended[0])


def main() -> None:
    """Fork a program for each request, until the tests' process ends."""
    requests = socket.socket(fileno=os.dup(0))
    gc.disable()
    ended: list[int] = []
    # before anything is imported, so that it comes after all that is to be done at exit
    atexit.register(_skip_the_teardown, ended)
    while True:
        said, streams, *_ = socket.recv_fds(requests, _LONGEST_REQUEST, 3)
        if not said:
            return
        begun = _Begun(*json.loads(said))
        for module in _IMPORTED.get(begun.command[1], _COMMANDS):
            importlib.import_module(module)
        # no fork searches all of it for cycles, at its end at the latest: half a second
        gc.freeze()
        between = os.fork()
        if between == 0:
            if os.fork() != 0:
                os._exit(0)
            while os.getppid() != begun.parent:
                time.sleep(0.0005)
            requests.send(str(os.getpid()).encode())
            requests.close()
            gc.enable()
            with _noting_the_end(ended):
                begun.run(streams)
            return
        os.waitpid(between, 0)
        for fd in streams:
            os.close(fd)


if __name__ == "__main__":
    main()
