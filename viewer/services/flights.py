"""Where the trials of a batch stand between the plan and their verdict."""

import heapq
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from threading import Event as Flag
from typing import Any, Final

from viewer.domain.errors import PrivacyError, UnreadableInputError
from viewer.domain.exchange import RawReply
from viewer.services.ledger import Asked
from viewer.services.run_trial import Bench, PreparedTrial, prepare_trial
from viewer.store.runs import StoredTrial

POLL_S: Final = 0.1
"""How often a waiting coordinator looks at its cancel flag."""


@dataclass(frozen=True)
class Leaving:
    """A question about to be asked for the ``number``-th time in this batch."""

    asked: Asked
    number: int = 1


@dataclass(frozen=True)
class Flight:
    """A question that has left, with the row that says so."""

    leaving: Leaving
    attempt: int

    @property
    def asked(self) -> Asked:
        """The question."""
        return self.leaving.asked


@dataclass(frozen=True)
class Ready:
    """Trials whose question is prepared, and those whose image cannot be read.

    ``held`` says why questions may not leave this machine, one for each.
    """

    asked: tuple[Asked, ...]
    unreadable: tuple[StoredTrial, ...]
    held: tuple[PrivacyError, ...] = ()


class Flights:
    """The queues of one batch; used by the coordinator's thread alone."""

    def __init__(self, concurrency: int, cancel: Flag) -> None:
        self._concurrency, self._cancel = concurrency, cancel
        self._waiting: deque[StoredTrial] = deque()
        self._preparing: deque[tuple[StoredTrial, Future[PreparedTrial]]] = deque()
        self._delayed: list[tuple[float, int, Leaving]] = []
        self._tickets = 0
        self._flying: dict[Future[RawReply], Flight] = {}
        self._followers: dict[str, list[Asked]] = {}
        self._stopped: set[str] = set()

    def add(self, trials: tuple[StoredTrial, ...]) -> None:
        """Queue trials in their order."""
        self._waiting.extend(trials)

    @property
    def in_the_air(self) -> bool:
        """True while any question has left and not come back."""
        return bool(self._flying)

    @property
    def has_work(self) -> bool:
        """True while anything is to be done; after a cancel, only to be awaited."""
        open_work = self._waiting or self._preparing or self._delayed
        return self.in_the_air or bool(open_work and not self._cancel.is_set())

    def prepare_ahead(self, pool: Executor, bench: Bench) -> None:
        """Read images and draw grids for the next trials, some ahead of asking."""
        ahead = 4 * self._concurrency + 8
        while self._waiting and len(self._preparing) < ahead:
            stored = self._waiting.popleft()
            future = pool.submit(prepare_trial, bench, stored.trial)
            self._preparing.append((stored, future))

    def due(self) -> tuple[Leaving, ...]:
        """Take the questions whose pause is over, up to the free places."""
        taken: list[Leaving] = []
        while len(taken) < self._free() and self._is_one_due():
            taken.append(heapq.heappop(self._delayed)[2])
        return tuple(taken)

    def _is_one_due(self) -> bool:
        return bool(self._delayed) and self._delayed[0][0] <= time.monotonic()

    def _free(self) -> int:
        return self._concurrency - len(self._flying)

    def ready(self, taken: int) -> Ready:
        """Take prepared trials in their order; ``taken`` free places are spoken for."""
        asked: list[Asked] = []
        unreadable: list[StoredTrial] = []
        held: list[PrivacyError] = []
        while self._is_next_prepared() and len(asked) < self._free() - taken:
            stored, future = self._preparing.popleft()
            if stored.trial.model in self._stopped:
                continue
            try:
                asked.append(Asked(stored, future.result()))
            except UnreadableInputError:
                unreadable.append(stored)
            except PrivacyError as error:
                held.append(error)
        return Ready(tuple(asked), tuple(unreadable), tuple(held))

    def _is_next_prepared(self) -> bool:
        return bool(self._preparing) and self._preparing[0][1].done()

    def follows(self, asked: Asked, leaving: list[Leaving]) -> bool:
        """Wait for the same request if it is under way; return whether it is."""
        sha256 = asked.prepared.sha256
        under_way = (
            *(one.asked for one in leaving),
            *(flight.asked for flight in self._flying.values()),
            *(one.asked for _, _, one in self._delayed),
        )
        if all(other.prepared.sha256 != sha256 for other in under_way):
            return False
        self._followers.setdefault(sha256, []).append(asked)
        return True

    def take_followers(self, sha256: str) -> tuple[Asked, ...]:
        """Return, once, the trials that waited for a request's reply."""
        return tuple(self._followers.pop(sha256, ()))

    def take_off(self, future: Future[RawReply], flight: Flight) -> None:
        """Remember a question that has left."""
        self._flying[future] = flight

    def land(self) -> tuple[tuple[Future[RawReply], Flight], ...]:
        """Wait a moment for anything to happen; return the questions answered."""
        futures: list[Future[Any]] = [*self._flying]
        if self._preparing and self._free() > 0 and not self._cancel.is_set():
            futures.append(self._preparing[0][1])
        if futures:
            wait(futures, timeout=POLL_S, return_when=FIRST_COMPLETED)
        elif self._delayed:
            self._cancel.wait(POLL_S)
        done = [future for future in self._flying if future.done()]
        return tuple((future, self._flying.pop(future)) for future in done)

    def delay(self, flight: Flight, pause_s: float) -> None:
        """Ask again after a pause."""
        self._tickets += 1
        due = time.monotonic() + pause_s
        again = Leaving(flight.asked, flight.leaving.number + 1)
        heapq.heappush(self._delayed, (due, self._tickets, again))

    def stop_model(self, model: str) -> bool:
        """Ask nothing more of a model; its trials stay pending. False if stopped."""
        if model in self._stopped:
            return False
        self._stopped.add(model)
        self._waiting = deque(t for t in self._waiting if t.trial.model != model)
        self._delayed = [d for d in self._delayed if _model(d[2].asked) != model]
        heapq.heapify(self._delayed)
        return True


def _model(asked: Asked) -> str:
    return asked.stored.trial.model
