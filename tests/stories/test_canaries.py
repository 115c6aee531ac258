"""Nothing that names a patient leaves, whatever the files hold (M-19)."""

import base64
import hashlib
import re
import time
from pathlib import Path
from threading import Event as Flag

import numpy as np
import pytest

from tests.helpers.canaries import FINDING, SIZE, Canary, everything_in, write_canaries
from tests.helpers.scripted_server import Received, ScriptedServer
from tests.helpers.tiny_study import a_spec, everything_is_remote
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.burned_in_text import text_finder_missing
from viewer.imaging.png import decode_png, is_bare_png
from viewer.imaging.resample import FitMode, fit_affine
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.privacy import decisions
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store

_DARK = 30

pytestmark = pytest.mark.skipif(
    text_finder_missing() is not None, reason="the extra ocr is not installed"
)


@pytest.mark.parametrize(
    "n", [2, pytest.param(200, marks=pytest.mark.proof)], ids=["2", "200"]
)
def test_that_no_canary_is_in_any_byte_that_leaves(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_is_remote(monkeypatch)
    canaries = write_canaries(tmp_path, n)
    started = time.monotonic()
    with (
        open_store(tmp_path / "s.sqlite") as store,
        ScriptedServer() as server,
    ):
        import_dataset(store, "folder", canaries[0].path.parent, "birds")
        decisions.allow(store, server.base_url, "birds", unencrypted=True)
        run = _plan(store, server)
        _drain(store, run)
        assert server.script.received == []
        assert runs.status_counts(store, run) == {Status.PENDING: n}
        refs = [image.ref for image in cases.dataset_named(store, "birds").images]
        decisions.black_out_found(store, refs)
        _drain(store, run)
        received = {
            hashlib.sha256(r.body).hexdigest(): r for r in server.script.received
        }
        departed = {d.body_sha256: d.item for d in consents.departures(store)}
        images = cases.dataset_named(store, "birds").images
        paths = {image.key: image.ref.path for image in images}
    assert len(server.script.received) == n
    assert departed.keys() == received.keys()
    by_path = {canary.path: canary for canary in canaries}
    for sha256, item in departed.items():
        assert item is not None
        canary = by_path[paths[item.split("|")[0]]]
        _check_words(canary, received[sha256])
        _check_pixels(canary, received[sha256])
    words = sum(len(canary.words) for canary in canaries)
    size = sum(len(r.body) for r in received.values())
    print(  # noqa: T201 - measured
        f"{n} phantoms with {words} canary words: none in {len(received)} requests of"
        f" {size} bytes; {time.monotonic() - started:.0f} s"
    )


def _plan(store: Store, server: ScriptedServer) -> int:
    settings = {"base_url": server.base_url, "model": "tiny-vlm"}
    spec = a_spec(
        [ModelProfile("far", "openai_api", settings)],
        dataset="birds",
        params={"findings": [FINDING]},
    )
    return plan_run(store, spec)


def _drain(store: Store, run: int) -> None:
    for _ in run_batch(store, run, BatchOptions(), Flag()):
        continue


def _check_words(canary: Canary, received: Received) -> None:
    """Look for every word in all that arrived, as it came and unpacked."""
    head = f"{received.path}\n{received.headers}".encode()
    seen = (head + received.body + everything_in(_image_of(received))).upper()
    assert [word for word in canary.words if word.upper().encode() in seen] == []


def _image_of(received: Received) -> bytes:
    (data,) = re.findall(rb"base64,([A-Za-z0-9+/=]+)", received.body)
    png = base64.b64decode(data)
    assert is_bare_png(png)
    return png


def _check_pixels(canary: Canary, received: Received) -> None:
    """Look at where the text was: nothing but the grid is brighter than black."""
    pixels = decode_png(_image_of(received)).pixels.astype(int)
    affine = fit_affine(ImageGeometry(SIZE), pixels.shape[0], FitMode.CROP_RESIZE)
    box = canary.burned_in
    first = affine.apply(PointPx(box.x0, box.y0))
    last = affine.apply(PointPx(box.x1, box.y1))
    inside = pixels[_span(first.y, last.y), _span(first.x, last.x)]
    grey = np.ptp(inside, axis=2) == 0
    assert not (grey & (inside[..., 0] > _DARK)).any()


def _span(first: float, last: float) -> slice:
    return slice(max(0, round(first)), max(0, round(last)))
