"""Hidden limits are used up to nine tenths, and no ceiling is ever broken."""

import threading
import time
from pathlib import Path

import pytest

from tests.helpers.metered_server import Bucket, Meter, MeteredServer, spend_at_random
from tests.helpers.tiny_study import a_spec, planned, server_profile, write_images
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.store.database import open_store

pytestmark = pytest.mark.proof

WARM_S, MEASURED_S = 60.0, 60.0


@pytest.mark.timed
@pytest.mark.parametrize(
    ("per_s", "burst", "latency_s"),
    [(4.0, 8.0, 0.5), (10.0, 60.0, 0.3), (20.0, 20.0, 0.1)],
)
def test_that_a_server_with_a_hidden_bucket_is_used_to_nine_tenths(
    tmp_path: Path, per_s: float, burst: float, latency_s: float
) -> None:
    bucket = Bucket(per_s, burst, _at=time.monotonic())
    meter = Meter(bucket=bucket, latency_s=latency_s)
    wanted = round(per_s * (WARM_S + MEASURED_S) * 1.2 + burst)
    cancel = threading.Event()
    with MeteredServer(meter) as server, open_store(tmp_path / "s.db") as store:
        spec = a_spec([server_profile(server.base_url)], repeats=-(-wanted // 8))
        run = planned(store, tmp_path / "d", spec, n=8)
        started = time.monotonic()
        for _ in run_batch(store, run, BatchOptions(32), cancel):
            if time.monotonic() - started > WARM_S + MEASURED_S:
                cancel.set()
    warm = started + WARM_S
    until = warm + MEASURED_S
    answered, refused = meter.answered(warm, until), meter.refused(warm, until)
    print(
        f"\n{per_s}/s, burst {burst}, {latency_s} s: {answered / MEASURED_S:.2f}/s,"
        f" {refused} refused ({refused / (answered + refused):.2%}),"
        f" {meter.refused(started, warm)} while warming up"
    )
    assert answered >= 0.9 * per_s * MEASURED_S
    assert refused < 0.02 * (answered + refused)


def test_that_two_hundred_runs_stay_below_their_ceilings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "viewer.services.running.coordinator.retry_pause", lambda *_: 0.005
    )
    images = write_images(tmp_path / "d", 6)
    runs = [spend_at_random(seed, tmp_path, images) for seed in range(200)]
    broken = [seed for seed, spent in enumerate(runs) if spent.billed > spent.ceiling]
    paused = sum(spent.pending > 0 for spent in runs)
    nearest = max(spent.billed / spent.ceiling for spent in runs)
    print(
        f"\n200 runs, {paused} paused; the nearest spent {nearest:.1%} of its ceiling"
    )
    assert broken == []
    assert 20 < paused < 200
