"""A Chat Completions server with limits it does not tell, and a bill it keeps.

`Simulation` drives a `Limit` against its `Bucket` with exact times, so that what it
does is the same on every machine; `spend_at_random` runs a batch with a ceiling.
"""

import heapq
import json
import math
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tests.helpers.loopback_server import LoopbackServer, Silent
from tests.helpers.scripted_server import completion
from tests.helpers.tiny_study import a_spec, server_profile
from viewer.domain.answer import Status
from viewer.domain.run import OrphanPolicy, RunStatus
from viewer.models.limits import Limit
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import runs, spending
from viewer.store.database import open_store


@dataclass
class Bucket:
    """A token bucket: ``burst`` tokens at most, ``per_s`` more every second."""

    per_s: float
    burst: float
    _level: float = field(init=False)
    _at: float = 0.0

    def __post_init__(self) -> None:
        self._level = self.burst

    def take(self, now: float) -> bool:
        """Take a token; False where there is none."""
        self._level = min(self.burst, self._level + (now - self._at) * self.per_s)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    @property
    def full_in_s(self) -> float:
        """Seconds until there is a token again."""
        return max(0.0, (1 - self._level) / self.per_s)


@dataclass(frozen=True)
class Happened:
    """An answer or a rejection, at the time it reached the client."""

    at: float
    rejected: bool


@dataclass
class Simulation:
    """An endpoint that answers ``latency_s`` after asking, or refuses at once.

    ``retry_after`` makes the header from the exact seconds until the next token; None
    sends none. ``places`` bounds the questions it answers at a time.
    """

    limit: Limit
    bucket: Bucket
    latency_s: float = 0.2
    retry_after: Callable[[float], float] | None = math.ceil
    places: int = 1_000
    refusal_s: float = 0.01
    happened: list[Happened] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Ask as much as the limit lets, for so long."""
        now, flying = 0.0, [(math.inf, 0, 0.0, False, 0.0)]
        busy = tickets = 0
        while now < seconds:
            while self.limit.wait_s(now) <= 0:
                self.limit.leave(now)
                tickets += 1
                taken = busy < self.places and self.bucket.take(now)
                busy += taken
                back = now + (self.latency_s if taken else self.refusal_s)
                after = self.bucket.full_in_s
                heapq.heappush(flying, (back, tickets, now, taken, after))
            wake = now + max(self.limit.wait_s(now), 1e-6)
            if wake < flying[0][0]:
                now = wake
                continue
            now, _, left_at, taken, after = heapq.heappop(flying)
            busy -= taken
            self._tell(left_at, now, after, taken=taken)

    def _tell(self, left_at: float, now: float, after: float, *, taken: bool) -> None:
        self.happened.append(Happened(now, rejected=not taken))
        if taken:
            self.limit.answered(left_at, now, {})
        else:
            asked = None if self.retry_after is None else self.retry_after(after)
            self.limit.rejected(left_at, now, asked)

    def answers(self, since: float, until: float) -> int:
        """Return how many questions were answered in a span of time."""
        return sum(since <= h.at < until and not h.rejected for h in self.happened)

    def rejections(self, since: float, until: float) -> int:
        """Return how many questions were refused in a span of time."""
        return sum(since <= h.at < until and h.rejected for h in self.happened)


MILLION: Final = 1_000_000
_TEXT = re.compile(rb'"text": ?"((?:[^"\\]|\\.)*)"')


@dataclass
class Meter:
    """How the server behaves, and what it noted.

    ``trouble`` are behaviours drawn at random for a request: ``ok`` answers; ``no
    usage`` answers without counting tokens; ``half`` and ``reset`` break off after the
    answer was billed; ``500`` and ``429`` refuse unbilled; ``late`` answers after a
    second, billed. ``bill`` is exact, in millionths of a micro-dollar.
    """

    bucket: Bucket | None = None
    latency_s: float = 0.0
    retry_after: Callable[[float], float] | None = math.ceil
    price_in: int = 0
    price_out: int = 0
    trouble: tuple[str, ...] = ("ok",)
    seed: int = 0
    bill: int = 0
    times: list[tuple[float, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()

    def admit(self) -> tuple[bool, float]:
        """Take a token; return whether there was one, and seconds until the next."""
        with self._lock:
            now = time.monotonic()
            taken = self.bucket is None or self.bucket.take(now)
            self.times.append((now, taken))
            return taken, self.bucket.full_in_s if self.bucket else 0.0

    def serve(self, body: bytes) -> tuple[str, dict[str, int]]:
        """Draw what happens to a request; bill what would be answered."""
        with self._lock:
            kind = self._random.choice(self.trouble)
            usage = self._usage(body)
            if not kind.isdigit():
                self.bill += self.price_in * usage["prompt_tokens"]
                self.bill += self.price_out * usage["completion_tokens"]
            return kind, usage

    def _usage(self, body: bytes) -> dict[str, int]:
        """Count a text by bytes and an image by a number up to the dearest known."""
        said = sum(len(text) for text in _TEXT.findall(body))
        longest = int(json.loads(body).get("max_tokens", 1))
        return {
            "prompt_tokens": self._random.randint(said // 4, said + 8_000),
            "completion_tokens": self._random.randint(1, longest),
        }

    def answered(self, since: float, until: float) -> int:
        """Return how many requests were let in between two times of its clock."""
        return sum(since <= at < until and taken for at, taken in self.times)

    def refused(self, since: float, until: float) -> int:
        """Return how many requests were refused between two times of its clock."""
        return sum(since <= at < until and not taken for at, taken in self.times)


class _Handler(Silent, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "MeteredServer"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        meter = self.server.meter
        admitted, wait_s = meter.admit()
        if not admitted:
            asked = meter.retry_after(wait_s) if meter.retry_after else None
            self._reply(429, {"error": {"message": "slow down"}}, asked)
            return
        kind, usage = meter.serve(body)
        self.server.stopping.wait(meter.latency_s + (1.0 if kind == "late" else 0.0))
        self._behave(kind, usage)

    def _behave(self, kind: str, usage: dict[str, int]) -> None:
        document = {**completion("D4"), "usage": usage}
        if kind.isdigit():
            self._reply(int(kind), {"error": {"message": "no"}}, 0.01)
        elif kind == "no usage":
            self._reply(200, {k: v for k, v in document.items() if k != "usage"})
        elif kind in {"half", "reset"}:
            self.close_connection = True
            if kind == "half":
                self._head(200, 10_000)
                self.wfile.write(b'{"choices": [')
        else:
            self._reply(200, document)

    def _reply(
        self, status: int, document: dict[str, Any], retry_after_s: float | None = None
    ) -> None:
        body = json.dumps(document).encode()
        self._head(status, len(body), retry_after_s)
        self.wfile.write(body)

    def _head(
        self, status: int, length: int, retry_after_s: float | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        if retry_after_s is not None:
            self.send_header("retry-after-ms", str(round(retry_after_s * 1000)))
        self.end_headers()


class MeteredServer(LoopbackServer):
    """The server in this process, as a context manager."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(_Handler)
        self.meter = meter

    @property
    def base_url(self) -> str:
        """What a profile's base_url should be."""
        return f"{self.url}/v1"


_TROUBLE = ("ok", "ok", "ok", "ok", "no usage", "half", "reset", "500", "429")


@dataclass(frozen=True)
class Spent:
    """A run's end: micro-dollars billed to the last cent, its ceiling, what is left."""

    billed: float
    ceiling: int
    pending: int
    status: RunStatus


def spend_at_random(seed: int, folder: Path, images: Path) -> Spent:
    """Run a batch whose prices, threads, failures and ceiling the seed decides.

    It is left in the middle once and gone on with, and orphans are asked again.
    """
    dice = random.Random(seed)
    price_in, price_out = dice.randint(0, 5_000_000), dice.randint(0, 20_000_000)
    meter = Meter(
        latency_s=dice.uniform(0, 0.02),
        price_in=price_in,
        price_out=price_out,
        trouble=_TROUBLE,
        seed=seed,
    )
    most = dice.randint(10, 2000)
    settings = {"max_tokens": most, "price_in": price_in, "price_out": price_out}
    with MeteredServer(meter) as server, open_store(folder / f"{seed}.db") as store:
        profile = server_profile(server.base_url, **settings)
        dearest = (price_in * 12_000 + price_out * most) / MILLION
        ceiling = 1 + int(dearest * dice.uniform(0.5, 12))
        import_dataset(store, "folder", images, "tiny")
        run = plan_run(store, a_spec([profile], repeats=2))
        spending.set_ceiling(store, run, ceiling)
        options = BatchOptions(dice.choice([1, 3, 8]), OrphanPolicy.RETRY, True)
        first = run_batch(store, run, options, threading.Event())
        list(islice(first, dice.randint(1, 20)))
        first.close()
        list(run_batch(store, run, options, threading.Event()))
        pending = runs.status_counts(store, run).get(Status.PENDING, 0)
        status = runs.run_summary(store, run).status
    return Spent(meter.bill / MILLION, ceiling, pending, status)
