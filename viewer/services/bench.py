"""Speeds of this machine, measured on the spot (DESIGN 11); nothing is asserted."""

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.services.import_dataset import import_dataset
from viewer.services.make_phantom import make_phantom
from viewer.services.plan_run import plan_run
from viewer.services.rescore import rescore_run
from viewer.services.run_batch import BatchOptions, run_batch
from viewer.services.study_file import make_spec
from viewer.store.database import Store, open_store

_SIZE: Final = SizePx(2500, 2000)
_PATIENTS: Final = 6
_REPEATS_TO_RESCORE: Final = 50
_REPLY: Final = (
    b'{"id":"0","object":"chat.completion","created":0,"model":"instant","choices":'
    b'[{"index":0,"finish_reason":"stop","message":{"role":"assistant",'
    b'"content":"D4"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,'
    b'"total_tokens":2}}'
)

Row = dict[str, object]


def bench_rows() -> list[Row]:
    """Measure batch overhead per case and re-scoring rate; return printable rows."""
    with (
        tempfile.TemporaryDirectory(prefix="overread-bench-") as folder,
        open_store(Path(folder) / "bench.sqlite") as store,
        _instant_endpoint() as base_url,
    ):
        _register_uncompressed(store, Path(folder))
        return [*_overhead(store, base_url), *_rescoring(store)]


def _register_uncompressed(store: Store, folder: Path) -> None:
    root = folder / "phantom"
    make_phantom(root, _PATIENTS, 0, _SIZE, lambda *_: None, compress=False)
    import_dataset(store, "chexlocalize", root, "bench")


def _overhead(store: Store, base_url: str) -> Iterator[Row]:
    profile = ModelProfile(
        "instant",
        "openai_api",
        {"base_url": base_url, "model": "instant", "max_tokens": 8, "timeout_s": 30.0},
    )
    for concurrency in (1, 4):
        run = _plan(store, profile, seed=concurrency, repeats=1)
        seconds, trials = _timed_batch(store, run, concurrency)
        yield {
            "what": f"batch overhead per case, {concurrency} in flight, {trials} cases",
            "measured": 1000 * seconds / trials,
            "unit": "ms",
            "budget": "40",
        }


def _plan(store: Store, profile: ModelProfile, *, seed: int, repeats: int) -> int:
    spec = make_spec(
        study="grid_localization",
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


def _rescoring(store: Store) -> Iterator[Row]:
    profile = ModelProfile("uniform", "uniform")
    run = _plan(store, profile, seed=0, repeats=_REPEATS_TO_RESCORE)
    seconds, trials = _timed_batch(store, run, 4)
    yield {
        "what": f"batch of a baseline, {trials} trials",
        "measured": trials / seconds,
        "unit": "trials/s",
        "budget": "",
    }
    rates = []
    for _ in range(3):
        started = time.perf_counter()
        replies = rescore_run(store, run).replies
        rates.append(replies / (time.perf_counter() - started))
    yield {
        "what": f"re-scoring, {replies} replies",
        "measured": statistics.median(rates),
        "unit": "replies/s",
        "budget": "5000",
    }


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
