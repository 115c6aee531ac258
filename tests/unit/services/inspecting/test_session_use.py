from pathlib import Path

import pytest

from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    everything_is_remote,
    finish,
    plan_and_finish,
    planned,
    server_profile,
)
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.run import OrphanPolicy
from viewer.readers.pixels import load_pixels
from viewer.services.inspecting.session_use import session_use
from viewer.services.running.ledger import orphan_policy
from viewer.store import cases, consents, runs
from viewer.store.database import open_store


def test_that_a_session_counts_what_left_since_it_began(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        finish(opened, planned(opened, tmp_path / "d", a_spec([D4])))
    begun = session_use(store)
    assert (begun.requests, begun.cost_microusd) == (0, 0)
    with open_store(store) as opened:
        more = a_spec([D4], dataset="more", params={"grids": [4]})
        finish(opened, planned(opened, tmp_path / "e", more))
        attempts = opened.rows("SELECT count(*) FROM attempt")[0][0]
        sizes = [row[0] for row in opened.rows("SELECT length(bytes) FROM blob")]
    now = session_use(store, begun)
    assert 0 < now.requests < attempts
    assert now.cache_bytes == sum(sizes) > begun.cache_bytes
    assert session_use(store, now) == now
    assert now.words.startswith(f"{now.requests} requests $0.00 · cache ")


@pytest.mark.parametrize("priced", [True, False])
def test_that_what_was_answered_at_an_unknown_price_is_no_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, priced: bool
) -> None:
    path = tmp_path / "s.sqlite"
    prices = {"price_in": 2_500_000, "price_out": 10_000_000} if priced else {}
    with ScriptedServer() as server, open_store(path) as store:
        planned(store, tmp_path / "d", a_spec([D4]), n=2)
        for image in cases.dataset_named(store, "tiny").images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))
        everything_is_remote(monkeypatch)
        address = server.base_url.removesuffix("/v1")
        consents.add_consent(store, address, None, "a test", granted=True)
        begun = session_use(path)
        profile = server_profile(server.base_url, **prices)
        run = plan_and_finish(store, a_spec([profile]))
        now = session_use(path, begun)
        (cost,) = (
            s.cost_microusd
            for s in runs.run_summaries(store, include_adhoc=False)
            if s.id == run
        )
    assert orphan_policy(profile) is OrphanPolicy.ASK
    assert now.unpriced == (0 if priced else 2)
    assert cost == (2 * 233 if priced else None)
    told = "2 requests $0.00 · " if priced else "2 requests $0.00 + 2 of unknown price"
    assert now.words.startswith(told)
