"""Speeds of the engine: batches, re-scoring, indexing, without a window."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from viewer.domain.exchange import ModelProfile
from viewer.services.benchmarking.samples import Samples
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.viewing.open_case import open_case
from viewer.store.database import Store, open_store
from viewer.studies.catalog import PLACING

_ROUNDS: Final = 3
_REPEATS_TO_RESCORE: Final = 50
_REPLY: Final = (
    b'{"id":"0","object":"chat.completion","created":0,"model":"instant","choices":'
    b'[{"index":0,"finish_reason":"stop","message":{"role":"assistant",'
    b'"content":"D4"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,'
    b'"total_tokens":2}}'
)


def engine_speeds(samples: Samples) -> dict[str, Sequence[float]]:
    """Measure batch overhead in ms, and headers, re-scored replies, trials a second."""
    with (
        open_store(samples.home / "engine.sqlite") as store,
        _instant_endpoint() as base_url,
    ):
        import_dataset(store, "chexlocalize", samples.phantom, "bench")
        return {
            "index": _index_rates(samples),
            "overhead 1": _overhead(store, base_url, 1),
            "overhead 4": _overhead(store, base_url, 4),
            **_rescoring(store),
        }


def _index_rates(samples: Samples) -> list[float]:
    rates = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        (case,) = open_case([samples.series])
        headers = len(case.studies[0].series[0].images)
        rates.append(headers / (time.perf_counter() - started))
    return rates


def _overhead(store: Store, base_url: str, concurrency: int) -> list[float]:
    """Return milliseconds per case; each round has its own seed to be asked anew."""
    profile = ModelProfile(
        "instant",
        "openai_api",
        {"base_url": base_url, "model": "instant", "max_tokens": 8, "timeout_s": 30.0},
    )
    times = []
    for number in range(_ROUNDS):
        run = _plan(store, profile, seed=10 * concurrency + number, repeats=1)
        seconds, trials = _timed_batch(store, run, concurrency)
        times.append(1000 * seconds / trials)
    return times


def _plan(store: Store, profile: ModelProfile, *, seed: int, repeats: int) -> int:
    spec = make_spec(
        study=PLACING,
        dataset="bench",
        preset="gosai2025",
        seed=seed,
        repeats=repeats,
        models=[profile],
        overrides={"grids": [8]},
    )
    return plan_run(store, spec, new=True)


def _timed_batch(store: Store, run: int, concurrency: int) -> tuple[float, int]:
    started, done = time.perf_counter(), 0
    options = BatchOptions(concurrency=concurrency)
    for event in run_batch(store, run, options, threading.Event()):
        done += type(event).__name__ == "TrialDone"
    return time.perf_counter() - started, max(done, 1)


def _rescoring(store: Store) -> dict[str, Sequence[float]]:
    profile = ModelProfile("uniform", "uniform")
    run = _plan(store, profile, seed=0, repeats=_REPEATS_TO_RESCORE)
    seconds, trials = _timed_batch(store, run, 4)
    rates = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        replies = rescore_run(store, run).replies
        rates.append(replies / (time.perf_counter() - started))
    return {"baseline": [trials / seconds], "rescore": rates}


class _Instant(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the question and answer at once."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_REPLY)))
        self.end_headers()
        self.wfile.write(_REPLY)

    def log_message(self, *_: object) -> None:
        """Keep standard error for people."""


@contextmanager
def _instant_endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Instant)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
