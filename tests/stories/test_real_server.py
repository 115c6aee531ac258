"""The main job against a real server: llama.cpp with a tiny vision model."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.hub_server import COMMIT
from tests.helpers.llama_server import MODEL, llama_server, wait_until_ready

STUDY = """
study = "grid_localization"
dataset = "phantom"
repeats = 4
models = ["my-server"]
[params]
grids = [8]
[[model]]
name = "my-server"
adapter = "openai_api"
base_url = "{base_url}"
model = "{model}"
temperature = 0
seed = 5
max_tokens = 12
"""


SERVED = "acme/tiny-llava"
_NEEDED = ("torch", "transformers", "accelerate", "fastapi", "uvicorn")


@contextlib.contextmanager
def transformers_server(folder: Path, timeout_s: float = 600.0) -> Iterator[str]:
    """Write the tiny model into a cache of the hub, serve it and yield the base URL.

    The model's name is `SERVED`; nothing is fetched. It lists only models there.
    """
    for module in _NEEDED:
        pytest.importorskip(module, reason=f"transformers serve needs {module}")
    cached = folder / "hub" / f"models--{SERVED.replace('/', '--')}"
    snapshot = cached / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(COMMIT)
    tiny_vlm.build("llava", snapshot)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    command = [str(Path(sys.executable).parent / "transformers"), *words]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **offline}, stdout=log, stderr=log
        )
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process, timeout_s)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.proof
def test_that_fifty_questions_to_a_real_server_each_end_in_one_status(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    with llama_server(tmp_path) as base_url:
        study = tmp_path / "study.toml"
        study.write_text(STUDY.format(base_url=base_url, model=MODEL))
        result = overread("run", study, "--limit", 13)
    counts = result["counts"]
    assert sum(counts.values()) == 52
    assert "pending" not in counts
    assert "provider_error" not in counts
    print(counts)  # noqa: T201 - a figure for the closing note


BOTH = """
study = "grid_localization"
dataset = "phantom"
models = ["chat", "responses"]
[params]
grids = [8]
[[model]]
name = "chat"
adapter = "openai_api"
base_url = "{base_url}"
model = "{model}"
temperature = 0
logprobs = 3
max_tokens = 12
[[model]]
name = "responses"
adapter = "openai_api"
base_url = "{base_url}"
api = "responses"
model = "{model}"
temperature = 0
max_tokens = 12
"""


def ask_both(
    overread: Callable[..., Any], folder: Path, base_url: str, model: str, n: int
) -> dict[str, Any]:
    """Ask ``n`` phantom items through both interfaces; each ends in one status."""
    study = folder / "study.toml"
    study.write_text(BOTH.format(base_url=base_url, model=model))
    result: dict[str, Any] = overread("run", study, "--limit", n)
    counts = result["counts"]
    assert sum(counts.values()) == 2 * n
    assert "pending" not in counts
    assert "provider_error" not in counts
    assert result["notes"] == []
    print(counts)  # noqa: T201 - a figure for the closing note
    return result


@pytest.mark.parametrize(
    "n", [4, pytest.param(20, marks=pytest.mark.proof)], ids=["4", "20"]
)
def test_that_both_interfaces_end_phantom_items_in_one_status_each(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path, n: int
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    with llama_server(tmp_path) as base_url:
        result = ask_both(overread, tmp_path, base_url, MODEL, n)
    chat, responses = (
        [
            (r["finding"], r["view"], r["k"])
            for r in result["results"]
            if r["model"] == m
        ]
        for m in ("chat", "responses")
    )
    assert chat == responses


IN_BOXES = """
study = "grid_localization"
dataset = "phantom"
models = ["boxes", "free"]
[params]
grids = [8]
[[model]]
name = "boxes"
adapter = "openai_api"
base_url = "{base_url}"
model = "{model}"
temperature = 1
seed = 5
max_tokens = 120
convention = "xyxy_1000"
structured = true
[[model]]
name = "free"
adapter = "openai_api"
base_url = "{base_url}"
model = "{model}"
temperature = 1
seed = 5
max_tokens = 120
convention = "xyxy_1000"
"""


@pytest.mark.proof
def test_that_a_real_server_keeps_a_random_model_to_boxes_that_are_read(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    """Boxes of random numbers lie within the image; some have no area or no order."""
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    with llama_server(tmp_path) as base_url:
        study = tmp_path / "study.toml"
        study.write_text(IN_BOXES.format(base_url=base_url, model=MODEL))
        result = overread("run", study, "--limit", 20)
    assert sum(result["counts"].values()) == 40
    assert not {"provider_error", "pending", "out_of_range"} & {*result["counts"]}
    assert result["notes"] == []
    read = {
        name: max(r["n_scored"] for r in result["results"] if r["model"] == name)
        for name in ("boxes", "free")
    }
    print(result["counts"], read)  # noqa: T201 - a figure for the closing note
    assert read["boxes"] > read["free"]


@pytest.mark.proof
def test_that_the_server_of_transformers_ends_twenty_phantom_items_as_well(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    folder = tmp_path / "tiny-llava"
    with transformers_server(folder) as base_url:
        result = ask_both(overread, tmp_path, base_url, SERVED, 20)
    assert {row["model"] for row in result["results"]} == {"chat", "responses"}
