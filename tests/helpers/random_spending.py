"""Runs with a ceiling against a server that breaks off, forgets to count and bills."""

import random
import threading
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.helpers.metered_server import MILLION, Meter, MeteredServer
from tests.helpers.tiny_study import a_spec, server_profile
from viewer.domain.answer import Status
from viewer.domain.run import OrphanPolicy, RunStatus
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.coordinator import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import runs, spending
from viewer.store.database import open_store

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
