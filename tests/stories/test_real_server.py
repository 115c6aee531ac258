"""The main job against a real server: llama.cpp with a tiny vision model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.llama_server import MODEL, llama_server

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
server = "llama_cpp"
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


def test_that_both_interfaces_end_twenty_phantom_items_in_one_status_each(
    overread: Callable[..., Any], phantom: Path, tmp_path: Path
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    with llama_server(tmp_path) as base_url:
        study = tmp_path / "study.toml"
        study.write_text(BOTH.format(base_url=base_url, model=MODEL))
        result = overread("run", study, "--limit", 20)
    counts = result["counts"]
    assert sum(counts.values()) == 40
    assert "pending" not in counts
    assert "provider_error" not in counts
    assert result["notes"] == []
    chat, responses = (
        [
            (r["finding"], r["view"], r["k"])
            for r in result["results"]
            if r["model"] == m
        ]
        for m in ("chat", "responses")
    )
    assert chat == responses
    print(counts)  # noqa: T201 - a figure for the closing note
