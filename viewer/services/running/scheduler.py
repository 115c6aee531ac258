"""Where the trials of a batch stand between the plan and their verdict."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from threading import Event as Flag
from typing import Any, Final

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import RawReply
from viewer.models.endpoint import Endpoint
from viewer.models.limits import AdaptiveLimit, FixedLimit, Limit
from viewer.services.running.endpoint_queue import Due, Lane, Leaving, NextUp
from viewer.services.running.ledger import Asked
from viewer.services.trials.run_context import Bench

POLL_S: Final = 0.1
"""How often a waiting coordinator looks at its cancel flag."""
MOST_HERE, MOST_ELSEWHERE = 4, 32
"""The most questions in flight to this machine, and to others, unless named."""
_SOON_S: Final = 0.001
_FIRST_LOOK_S, _LATEST_LOOK_S = 0.1, 2.0
"""Pauses between two looks at a question that another batch is asking."""
_TOO_MANY: Final = 429


@dataclass(frozen=True)
class Flight:
    """A question that has left, with the row that says so and the time it did."""

    leaving: Leaving
    attempt: int
    left_at: float

    @property
    def asked(self) -> Asked:
        """The question."""
        return self.leaving.asked


Landed = tuple[Future[RawReply], Flight]


class Flights:
    """The queues of one batch; used by the coordinator's thread alone.

    Parameters
    ----------
    concurrency : int
        The most questions in flight; 0 for as many as each endpoint is good for.
    cancel : Event
        Set when nothing more is to leave.
    endpoint_of : callable
        From a model's name to the endpoint it shares with others, None for none.
    """

    def __init__(
        self,
        concurrency: int,
        cancel: Flag,
        endpoint_of: Callable[[str], Endpoint | None],
    ) -> None:
        self._concurrency, self._cancel = concurrency, cancel
        self._endpoint_of = endpoint_of
        self._lanes: dict[str, Lane] = {}
        self._boarded: dict[int, tuple[Leaving, float]] = {}
        self._flying: dict[Future[RawReply], Flight] = {}
        self._followers: dict[str, list[Asked]] = {}
        self._stopped: set[str] = set()

    def add(self, trials: Iterable[Due]) -> None:
        """Queue trials in their order, each where the model it is to ask lies."""
        for due in trials:
            self._lane(due.model).add(due)

    def _lane(self, model: str) -> Lane:
        endpoint = self._endpoint_of(model)
        name = endpoint.address if endpoint else ""
        if name not in self._lanes:
            self._lanes[name] = Lane(name, _limit(endpoint, self._concurrency))
        return self._lanes[name]

    @property
    def in_the_air(self) -> int:
        """How many questions have left and not come back."""
        return len(self._flying)

    @property
    def has_work(self) -> bool:
        """True while anything is to be done; after a cancel, only to be awaited."""
        open_work = any(lane.has_work for lane in self._lanes.values())
        return self.in_the_air > 0 or (open_work and not self._cancel.is_set())

    def wait_for_preparing(self) -> bool:
        """Wait a moment for questions being prepared; return whether any still is."""
        going = [f for lane in self._lanes.values() for f in lane.being_prepared()]
        return bool(wait(going, timeout=POLL_S).not_done)

    @property
    def limits(self) -> dict[str, AdaptiveLimit]:
        """The endpoints whose limits are being found out, by host and port."""
        found = {name: lane.limit for name, lane in self._lanes.items()}
        return {n: one for n, one in found.items() if isinstance(one, AdaptiveLimit)}

    def prepare_ahead(self, pool: Executor, bench: Bench) -> None:
        """Read images and draw grids for the next trials, some ahead of asking."""
        for lane in self._lanes.values():
            lane.prepare_ahead(pool, bench, 4 * lane.limit.window + 8)

    def next_up(self) -> Iterator[NextUp]:
        """Take what may leave now, from each endpoint in turn.

        A question taken is boarded, put back, or needs no asking; an endpoint whose
        question was put back is left alone until this is called again.
        """
        lanes = list(self._lanes.values())
        for lane in lanes:
            lane.is_shut = False
        while lanes:
            for lane in tuple(lanes):
                taken = lane.take(time.monotonic()) if self._free() > 0 else None
                if taken is not None:
                    yield taken
                if taken is None or lane.is_shut:
                    lanes.remove(lane)

    def _free(self) -> int:
        most = self._concurrency or MOST_ELSEWHERE
        return most - len(self._flying) - len(self._boarded)

    def follows(self, leaving: Leaving) -> bool:
        """Wait for the same request if it is under way; return whether it is."""
        sha256 = leaving.asked.prepared.sha256
        if all(other.asked.prepared.sha256 != sha256 for other in self._under_way()):
            return False
        self._followers.setdefault(sha256, []).append(leaving.asked)
        return True

    def _under_way(self) -> Iterator[Leaving]:
        yield from (leaving for leaving, _ in self._boarded.values())
        yield from (flight.leaving for flight in self._flying.values())
        for lane in self._lanes.values():
            yield from lane.asked_again

    def take_followers(self, sha256: str) -> tuple[Asked, ...]:
        """Return, once, the trials that waited for a request's reply."""
        return tuple(self._followers.pop(sha256, ()))

    def put_back(self, leaving: Leaving) -> None:
        """Let a question that may not leave yet be the next of its endpoint."""
        self._lane(leaving.model).put_back(leaving)

    def board(self, leaving: Leaving) -> None:
        """Give a question a place: it leaves as soon as its attempt is committed."""
        now = time.monotonic()
        self._lane(leaving.model).limit.leave(now)
        self._boarded[leaving.trial] = leaving, now

    def disembark(self, leaving: Leaving) -> None:
        """Take back the place of a question that does not leave after all."""
        self._boarded.pop(leaving.trial)
        self._lane(leaving.model).limit.failed()

    def look_later(self, leaving: Leaving) -> None:
        """Take a question up again after a pause; others go on meanwhile."""
        pause = min(_FIRST_LOOK_S * 2.0**leaving.looks, _LATEST_LOOK_S)
        again = replace(leaving, looks=leaving.looks + 1)
        self._lane(again.model).delay(again, time.monotonic() + pause)

    def take_off(
        self, future: Future[RawReply], leaving: Leaving, attempt: int
    ) -> None:
        """Remember a question that has left."""
        _, left_at = self._boarded.pop(leaving.trial)
        self._flying[future] = Flight(leaving, attempt, left_at)

    def land(self) -> tuple[Landed, ...]:
        """Wait a moment for anything to happen; return the questions answered."""
        futures: list[Future[Any]] = [*self._flying]
        patience = POLL_S
        if not self._cancel.is_set():
            if self._free() > 0:
                nexts = [lane.next_prepared() for lane in self._lanes.values()]
                futures += [one for one in nexts if one is not None]
            patience = min(POLL_S, max(_SOON_S, self._until_time_lets_one_leave()))
        if futures:
            wait(futures, timeout=patience, return_when=FIRST_COMPLETED)
        else:
            self._cancel.wait(patience)
        done = [future for future in self._flying if future.done()]
        return tuple((future, self._landed(future)) for future in done)

    @property
    def all_are_back(self) -> bool:
        """True where every question that left has ended, landed or not."""
        return all(future.done() for future in self._flying)

    def come_back(self) -> Iterator[tuple[Flight, RawReply]]:
        """Return the replies that are here already; they still are to be landed."""
        for future, flight in self._flying.items():
            if future.done() and future.exception() is None:
                yield flight, future.result()

    def _until_time_lets_one_leave(self) -> float:
        now = time.monotonic()
        waits = (lane.wait_s(now) for lane in self._lanes.values())
        return min(waits, default=math.inf) if self._free() > 0 else math.inf

    def _landed(self, future: Future[RawReply]) -> Flight:
        flight = self._flying.pop(future)
        _tell(self._lane(flight.leaving.model).limit, flight, future)
        return flight

    def delay(self, flight: Flight, pause_s: float, *, counts: bool = True) -> None:
        """Ask again after a pause; what does not count may be asked ever so often."""
        again = Leaving(flight.asked, flight.leaving.number + counts)
        self._lane(again.model).delay(again, time.monotonic() + pause_s)

    def stop_model(self, model: str) -> bool:
        """Ask nothing more of a model; its trials stay pending. False if stopped."""
        if model in self._stopped:
            return False
        self._stopped.add(model)
        self._lane(model).stop_model(model)
        return True


def _limit(endpoint: Endpoint | None, most: int) -> Limit:
    if endpoint is None:
        return FixedLimit(most or MOST_HERE)
    return AdaptiveLimit(most or (MOST_HERE if endpoint.is_here else MOST_ELSEWHERE))


def _tell(limit: Limit, flight: Flight, future: Future[RawReply]) -> None:
    """Let an endpoint's limit learn from what became of a question."""
    now, error = time.monotonic(), future.exception()
    if error is None:
        limit.answered(flight.left_at, now, future.result().headers)
    elif _is_one_too_many(error):
        limit.rejected(flight.left_at, now, getattr(error, "retry_after_s", None))
    else:
        limit.failed()


def _is_one_too_many(error: BaseException) -> bool:
    return (
        isinstance(error, ProviderError)
        and error.http_status == _TOO_MANY
        and error.retry_class is RetryClass.RETRY
    )
