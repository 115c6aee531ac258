"""Tests in several processes that begin as forks of the one that found them all.

``-p tests.helpers.in_forks --forks 3`` takes the place of pytest-xdist, whose workers
each import every library and every test again: a tenth of all the time. A fork that
dies is replaced by another, and the test that it died of has failed. Where a process
cannot be forked as it stands, the tests run in this one.
"""

import atexit
import contextlib
import os
import signal
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import coverage
import pytest

_AHEAD: Final = 3
"""A fork has to know the next test before it runs one, and should not wait for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number of processes."""
    parser.addoption("--forks", type=int, default=0, help="run tests in so many forks")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all that was found in forks, if there is more than one to be made."""
    option = session.config.option
    if option.forks < 2 or option.collectonly or session.testsfailed:
        return None
    if not hasattr(os, "fork"):
        return None
    if reporter := session.config.pluginmanager.getplugin("terminalreporter"):
        reporter.showfspath = False  # of several files at once
    _Forks(session).run_all(option.forks)
    return True


class _Ran(NamedTuple):
    """What a fork tells of a test that it ran."""

    item: int
    reports: list[dict[str, Any]]


@dataclass(eq=False)
class _Fork:
    """What this process knows of a fork: what it is to do, and what it was told of."""

    number: int
    left: deque[int]
    pid: int = 0
    connection: "Connection[Any, Any] | None" = None
    told: deque[int] = field(default_factory=deque)


class _Forks:
    """The forks of a session, each with a part of the tests."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._items: Sequence[pytest.Item] = session.items
        self._forks: list[_Fork] = []

    def run_all(self, number: int) -> None:
        """Run every test in one of so many forks."""
        base = self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        share = -(-len(self._items) // number)
        starts = range(0, len(self._items), share)
        for k, start in enumerate(starts):
            part = range(start, min(start + share, len(self._items)))
            self._forks.append(_Fork(k, deque(part)))
        try:
            for fork in self._forks:
                self._begin(fork, base)
            self._hear_all(base)
        finally:
            for fork in self._forks:
                self._end(fork)

    def _begin(self, fork: _Fork, base: Path) -> None:
        ours, theirs = Pipe()
        fork.pid = os.fork()
        if fork.pid == 0:
            for connection in (ours, *(f.connection for f in self._forks)):
                if connection is not None:
                    connection.close()
            _work(self._session, theirs, base / f"fork{fork.number}")
        theirs.close()
        fork.connection = ours
        for _ in range(_AHEAD):
            self._tell_one(fork)

    def _tell_one(self, fork: _Fork) -> None:
        """Tell a fork of one more test, or that there is none."""
        if not fork.left:
            self._take_from_others(fork)
        item = fork.left.popleft() if fork.left else None
        if item is not None:
            fork.told.append(item)
        assert fork.connection is not None
        with contextlib.suppress(OSError):  # it has died, which is noticed there
            fork.connection.send(item)

    def _take_from_others(self, fork: _Fork) -> None:
        """Take the latter half of what the fork with the most left has, if any.

        Whole files, where it has several: what tests of a file share is made for all.
        """
        most = max(self._forks, key=lambda other: len(other.left))
        left = list(most.left)
        if len(left) < 2:
            return
        half = len(left) // 2
        files = (i for i in range(half, len(left)) if self._begins_file(left, i))
        cut = next(files, half)
        most.left, fork.left = deque(left[:cut]), deque(left[cut:])

    def _begins_file(self, left: Sequence[int], i: int) -> bool:
        return self._items[left[i]].path != self._items[left[i - 1]].path

    def _hear_all(self, base: Path) -> None:
        """Hear of each test until every fork has ended, or enough tests have failed."""
        while alive := [fork for fork in self._forks if fork.connection]:
            ready = wait([fork.connection for fork in alive if fork.connection])
            for fork in alive:
                if fork.connection in ready:
                    self._hear(fork, base)

    def _hear(self, fork: _Fork, base: Path) -> None:
        assert fork.connection is not None
        ran: _Ran | None
        try:
            ran = fork.connection.recv()
        except (EOFError, OSError):
            ran = None
        if ran is None:
            self._hear_no_more(fork, base)
            return
        self._tell_one(fork)
        fork.told.remove(ran.item)
        self._report(ran)

    def _report(self, ran: _Ran) -> None:
        config, item = self._session.config, self._items[ran.item]
        hook = config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in ran.reports:
            report = hook.pytest_report_from_serializable(config=config, data=data)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _hear_no_more(self, fork: _Fork, base: Path) -> None:
        """Put a fork away; where it was to do more, fork another that goes on."""
        how = self._end(fork)
        if not fork.told:
            return
        died_of = fork.told.popleft()
        self._report(_Ran(died_of, [self._death(died_of, how)]))
        fork.left.extendleft(reversed(fork.told))
        fork.told.clear()
        self._begin(fork, base)

    def _end(self, fork: _Fork) -> int:
        """Wait for the end of a fork, and bring it about; return its exit code."""
        if fork.connection is None:
            return 0
        fork.connection.close()
        fork.connection = None
        with contextlib.suppress(ProcessLookupError):
            os.kill(fork.pid, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(fork.pid, 0)[1])

    def _death(self, item: int, how: int) -> dict[str, Any]:
        node = self._items[item]
        report = pytest.TestReport(
            node.nodeid,
            node.location,
            {},
            "failed",
            f"The process that ran it ended, with the exit code {how}.",
            "call",
        )
        config = self._session.config
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        assert isinstance(data, dict)
        return data


def _work(
    session: pytest.Session, connection: "Connection[Any, Any]", base: Path
) -> NoReturn:
    """Do a fork's part, and leave nothing behind."""
    code = 3
    try:
        _Part(session, connection, base).run_all()
        if traced := coverage.Coverage.current():
            traced.stop()
            traced.save()
        atexit._run_exitfuncs()
        connection.send(None)
        code = 0
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # the session was broken off, and says so
    except BaseException:  # noqa: BLE001 - no fork may go on as the whole session
        traceback.print_exc()
    finally:
        os._exit(code)


class _Part:
    """The part of a session that a fork has, with files of its own."""

    def __init__(
        self, session: pytest.Session, connection: "Connection[Any, Any]", base: Path
    ) -> None:
        self._session = session
        self._connection = connection
        self._reports: list[dict[str, Any]] = []
        base.mkdir(mode=0o700, exist_ok=True)
        session.config._tmp_path_factory._basetemp = base  # type: ignore[attr-defined]
        plugins = session.config.pluginmanager
        capture: Any = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
        plugins.unregister(name="terminalreporter")
        plugins.register(self)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what is to be told of a test."""
        config = self._session.config
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._reports.append(data)

    def run_all(self) -> None:
        """Run each test that this process is told of."""
        item = self._connection.recv()
        while item is not None:
            following = self._connection.recv()
            self._run(item, following)
            self._connection.send(_Ran(item, self._reports))
            self._reports = []
            item = following

    def _run(self, item: int, following: int | None) -> None:
        items = self._session.items
        after = None if following is None else items[following]
        self._session.config.hook.pytest_runtest_protocol(
            item=items[item], nextitem=after
        )
