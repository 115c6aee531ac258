import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.forked import run_program
from tests.helpers.hub_server import COMMIT, GATED, hub_server

pytest.importorskip("huggingface_hub")
ASK = """
import json, sys, threading
from viewer.domain.errors import OverreadError
from viewer.domain.exchange import ModelProfile
from viewer.models.transformers_local.hub import files_fetched
from viewer.models.transformers_local.options import LocalOptions

settings, cancel = json.loads(sys.argv[1]), sys.argv[2] == "cancel"
told, words, cancelled = [], [], threading.Event()

def progress(part, what):
    told.append(part)
    words.append(what)
    if cancel and part >= 0.4:
        cancelled.set()

if sys.argv[2] not in ("", "cancel"):
    threading.Timer(float(sys.argv[2]), cancelled.set).start()
try:
    options = LocalOptions.of(ModelProfile("m", "transformers_local", settings))
    files = files_fetched(options, progress, cancelled)
    found = {"name": files.name, "revision": files.revision}
    found["files"] = sorted(path.name for path in files.folder.iterdir())
except OverreadError as error:
    found = {"error": type(error).__name__, "what": error.what, "how": error.how}
print(json.dumps({**found, "told": told, "words": words}))
"""

Fetch = Callable[..., Any]


@pytest.fixture
def fetch(tmp_path: Path) -> Fetch:
    """Return a function that fetches in a process of its own, which may go online."""

    def run(
        endpoint: str, cancel: bool = False, stop_after: float = 0, **settings: object
    ) -> Any:  # noqa: ANN401 - any JSON
        how = str(stop_after or "cancel" * cancel)
        words = json.dumps(settings), how
        environment = {
            **os.environ,
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(tmp_path / "hub"),
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
        }
        done = run_program(*words, code=ASK, env=environment)
        assert done.returncode == 0, done.stderr
        assert "%|" not in done.stderr  # no progress bar is drawn
        return json.loads(done.stdout)

    return run


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a folder as a hub might hold it: weights of 25 MB, and a script."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "model.safetensors").write_bytes(bytes(25_000_000))
    (folder / "consolidated.safetensors").write_bytes(bytes(9))
    (folder / "modeling.py").write_text("raise SystemExit")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    return folder


def test_that_what_the_hub_does_not_give_is_told(fetch: Fetch, published: Path) -> None:
    with hub_server("acme/tiny", published) as hub:
        unknown = fetch(hub, model="acme/other", download=True)
        gated = fetch(hub, model=GATED, download=True)
    gone = fetch(hub, model="acme/tiny", download=True)
    assert "has no model acme/other" in unknown["what"]
    assert "accepted its terms" in gated["what"]
    assert "hf auth login" in gated["how"]
    assert "https://huggingface.co/acme/gated" in gated["how"]
    assert "could not be downloaded" in gone["what"]
    assert "folder" in gone["how"]
    assert "hf download acme/tiny --local-dir tiny" in gone["how"]


def test_that_a_model_is_fetched_once_where_allowed_and_on_from_where_it_stopped(
    fetch: Fetch, published: Path, tmp_path: Path
) -> None:
    asked = list[str]()
    with hub_server("acme/tiny", published, asked=asked) as hub:
        stopped = fetch(hub, cancel=True, model="acme/tiny", download=True)
        assert stopped["error"] == "LoadCancelledError", stopped
        kept = {path.name: path.stat().st_size for path in _parts(tmp_path)}
        assert len(kept) == 1
        refused = fetch(hub, model="acme/tiny")
        assert "is not on this machine" in refused["what"]
        assert "folder" in refused["how"]
        assert "download = true" in refused["how"]
        found = fetch(hub, model="acme/tiny", download=True)
    assert (found["name"], found["revision"]) == ("acme/tiny", COMMIT)
    assert found["files"] == ["config.json", "model.safetensors"]
    assert found["told"] == sorted(found["told"])
    assert found["told"][-1] == 1.0
    (here,) = kept.values()
    assert 10_000_000 * 0.9 < here < 25_000_000
    assert asked == [
        "config.json",
        "model.safetensors",
        f"model.safetensors bytes={here}-",
    ]
    assert found["words"][-1] == "downloading, 25.0 of 25.0 MB"
    assert not any(0.01 < part < 0.35 for part in found["told"])
    assert _parts(tmp_path) == []
    weights = next((tmp_path / "hub").rglob("model.safetensors"))
    assert weights.read_bytes() == bytes(25_000_000)
    for download in (False, True):  # the hub is gone
        again = fetch(hub, model="acme/tiny", download=download)
        assert (again["revision"], again["told"]) == (COMMIT, [])


def test_that_what_arrived_damaged_is_fetched_anew(
    fetch: Fetch, published: Path, tmp_path: Path
) -> None:
    with hub_server("acme/tiny", published) as hub:
        fetch(hub, cancel=True, model="acme/tiny", download=True)
        (part,) = _parts(tmp_path)
        part.write_bytes(b"x" * part.stat().st_size)
        damaged = fetch(hub, model="acme/tiny", download=True)
        assert "differs from the one that the hub announced" in damaged["what"]
        assert _parts(tmp_path) == []
        found = fetch(hub, model="acme/tiny", download=True)
    assert found["revision"] == COMMIT


def test_that_a_hub_that_says_nothing_more_is_left_at_once(
    fetch: Fetch, published: Path
) -> None:
    """Each piece would take half a minute to come."""
    with hub_server("acme/tiny", published, bytes_per_s=2000) as hub:
        stopped = fetch(hub, stop_after=1.0, model="acme/tiny", download=True)
    assert stopped["error"] == "LoadCancelledError"


def _parts(home: Path) -> list[Path]:
    return list((home / "hub").rglob("*.part"))
