"""Stopping: no more requests, and a limited wait for replies in flight."""

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final, NoReturn, Self

_LOOK_S: Final = 0.1
"""How often one who waits for a stop looks whether a signal has asked for it."""
_ONE_ORDER_S: Final = 0.25
"""Signals so close together are one order, such as SIGTERM and SIGHUP of a logout."""
_SHOW_CURSOR: Final = "\x1b[?25h"
ENDED_AT_ONCE: Final = 1
"""The exit code of a process that a second signal ended."""


class Stop(threading.Event):
    """A flag that ends a batch, and the time limit for replies in flight.

    `request` may be called in a signal handler: it takes no lock, because the
    interrupted code might hold it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._requested, self._until = False, math.inf

    def request(self, within_s: float = math.inf) -> None:
        """Set the flag; wait for replies for ``within_s`` seconds at most."""
        self._until = min(self._until, time.monotonic() + within_s)
        self._requested = True

    @property
    def left_s(self) -> float:
        """Seconds left to wait for replies; negative after the limit."""
        return self._until - time.monotonic()

    @property
    def is_late(self) -> bool:
        """True once replies are no longer awaited."""
        return self.left_s <= 0

    def is_set(self) -> bool:
        """Return whether the flag is set."""
        return self._requested or super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is set, also by a signal; return whether it is."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        while not self.is_set() and (left := until - time.monotonic()) > 0:
            # In short waits: the handler sets no event that would end a long one.
            super().wait(min(left, _LOOK_S))
        return self.is_set()


def is_late(cancel: threading.Event) -> bool:
    """Tell whether replies are no longer awaited after a cancel."""
    return isinstance(cancel, Stop) and cancel.is_late


@contextlib.contextmanager
def asking_threads(most: int, cancel: threading.Event) -> Iterator[Executor]:
    """Provide threads that ask; those whose reply comes too late are abandoned."""
    threads = ThreadPoolExecutor(most, thread_name_prefix="ask")
    try:
        yield threads
    finally:
        # Late threads still wait for a server; joining them would exceed the limit.
        threads.shutdown(wait=not is_late(cancel), cancel_futures=True)


def unanswered_sentence(n: int) -> str:
    """Say that questions were left open."""
    return (
        f"{n} question(s) in flight did not come back in time and may have been paid "
        "for. The next run's --orphans decides what happens to them."
    )


def leave_at_once(code: int) -> NoReturn:
    """Exit without waiting for threads whose questions were left open."""
    for stream in (sys.stdout, sys.stderr):
        # A signal may have come while the very stream was written to, which then
        # raises RuntimeError.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            stream.flush()
    # sys.exit would join the threads of every executor on the way out.
    os._exit(code)


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask this process to end, besides Ctrl+C.

    A hang-up that the parent process ignores (nohup) stays ignored. On Windows SIGBREAK
    covers Ctrl+Break, a closed console and the session's end.
    """
    if sys.platform == "win32":
        return (signal.SIGTERM, signal.SIGBREAK)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return (signal.SIGTERM,)
    return (signal.SIGTERM, signal.SIGHUP)


def is_hang_up(number: int) -> bool:
    """Tell whether a signal means that the terminal is gone; it often comes twice."""
    return sys.platform != "win32" and number == signal.SIGHUP


class StopSignals:
    """The first signal lets requests in flight finish, a second one ends at once.

    After Ctrl+C replies are awaited without a limit, because a person is watching;
    after a signal that ends the process, for ``limit_s`` seconds. Use it in the main
    thread.

    Parameters
    ----------
    stop : Stop
        Requested by the first signal.
    limit_s : float
        Seconds.
    heard : callable, optional
        Called at the first signal, instead of a message on standard error.
    """

    def __init__(
        self, stop: Stop, limit_s: float, heard: Callable[[], None] | None = None
    ) -> None:
        self._stop, self._limit_s, self._heard = stop, limit_s, heard
        self._first_at = math.inf
        self._terminals = [fd for fd in (0, 1, 2) if _is_terminal(fd)]

    def __enter__(self) -> Self:
        numbers = (signal.SIGINT, *ending_signals())
        self._before = {n: signal.signal(n, self._hear) for n in numbers}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, _: object) -> None:
        if is_hang_up(number):
            self._let_go_of_terminals()
        if self._first_at == math.inf:
            self._begin(number)
        elif self._is_another_order(number):
            tell = "Stopped; what was in flight may have been paid for."
            _tell((_SHOW_CURSOR if _is_terminal(2) else "") + tell)
            leave_at_once(ENDED_AT_ONCE)

    def _begin(self, number: int) -> None:
        self._first_at = time.monotonic()
        by_hand = number == signal.SIGINT
        self._stop.request(math.inf if by_hand else self._limit_s)
        if self._heard is not None:
            self._heard()
        elif by_hand:
            _tell("Finishing what is in flight; Ctrl+C again to stop now.")
        else:
            name, limit = signal.Signals(number).name, f"{self._limit_s:g} s"
            _tell(f"{name}: finishing what is in flight, for {limit} at most.")

    def _is_another_order(self, number: int) -> bool:
        if is_hang_up(number):
            return False
        by_hand = number == signal.SIGINT
        return by_hand or time.monotonic() - self._first_at > _ONE_ORDER_S

    def _let_go_of_terminals(self) -> None:
        """Redirect further output to nowhere: without a terminal every line fails."""
        gone = [fd for fd in self._terminals if not _is_terminal(fd)]
        if gone:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for fd in gone:
                os.dup2(nowhere, fd)
            os.close(nowhere)


def _is_terminal(fd: int) -> bool:
    with contextlib.suppress(OSError):
        return os.isatty(fd)
    return False


def _tell(sentence: str) -> None:
    """Write a line unbuffered: the interrupted code may be filling the buffer."""
    with contextlib.suppress(OSError):
        os.write(2, f"{sentence}\n".encode())
