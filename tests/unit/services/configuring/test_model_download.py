import json
import os
import random
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers.forked import run_program, start_program
from tests.helpers.hub_server import hub_server

pytest.importorskip("huggingface_hub")
SIZE = 12_000_000
FULL = """
import shutil, sys
from viewer.cli import run_command_line
real = shutil.disk_usage
shutil.disk_usage = lambda path: real(path)._replace(free=1000)
sys.exit(run_command_line(sys.argv[1:]))
"""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a folder as a hub might hold it, with two files of weights."""
    folder = tmp_path / "published"
    folder.mkdir()
    noise = random.Random(0)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "model.safetensors").write_bytes(noise.randbytes(SIZE))
    (folder / "vision.safetensors").write_bytes(noise.randbytes(SIZE))
    return folder


def _words(name: str) -> tuple[str, ...]:
    return ("models", "--get", name, "--json")


def _environment(home: Path, hub: str, **more: str) -> Mapping[str, str]:
    online = {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    own = {"HF_ENDPOINT": hub, "HF_HOME": str(home), "HF_TOKEN": ""}
    return {**os.environ, **online, **own, **more}


def _get(
    home: Path, hub: str, name: str = "acme/tiny", code: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    environment = _environment(home, hub, **more)
    return run_program(*_words(name), code=code, env=environment)


def _refusal(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line of a command that failed, without a traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr.strip().splitlines()[-1]


def test_that_size_licence_disk_and_memory_are_said_before_a_model_is_fetched(
    tmp_path: Path, published: Path
) -> None:
    with hub_server("acme/tiny", published) as hub:
        done = _get(tmp_path / "hub", hub)
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert told[:2] == ["model: acme/tiny", "licence: unknown"]
    assert told[2].startswith("size: 24.0 MB, of which 24.0 MB are not here yet;")
    assert told[3].startswith("fits this computer: unknown. Free on this machine:")
    row = json.loads(done.stdout)
    assert (row["size"], row["missing"]) == (2 * SIZE + 23, 2 * SIZE + 23)
    for file in published.iterdir():
        assert (Path(row["folder"]) / file.name).read_bytes() == file.read_bytes()


def test_that_a_name_that_is_no_model_to_download_is_refused(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    assert "Only its provider runs 'gpt-5'" in _refusal(
        _get(tmp_path, nowhere, "gpt-5")
    )
    assert "No model called 'x' is known" in _refusal(_get(tmp_path, nowhere, "x"))


def test_that_each_failure_is_one_sentence_and_leaves_nothing_half_installed(
    tmp_path: Path, published: Path
) -> None:
    home, token = tmp_path / "hub", "hf_secret"
    right = (published / "model.safetensors").read_bytes()
    swapped = {"model.safetensors": (published / "vision.safetensors").read_bytes()}
    other = {"config.json": b'{"model_type": "gemma"}'}
    truncated = {"model.safetensors": right[: SIZE // 2]}
    with hub_server("acme/tiny", published) as hub:
        assert "accepted its terms" in _refusal(_get(home, hub, "acme/gated"))
        assert "with status 403" in _refusal(_get(home, hub, "acme/forbidden"))
        refused = _refusal(_get(home, hub, "acme/expired", HF_TOKEN=token))
        assert "with status 401" in refused
        assert token not in refused
        assert "overread key set HF_TOKEN" in refused
        offline = _get(home, hub, HF_HUB_OFFLINE="1")
        assert "HF_HUB_OFFLINE is set" in _refusal(offline)
        full = _refusal(_get(home, hub, code=FULL))
        assert "needs 24.0 MB more, and the disk has 0.0 MB free" in full
    assert "could not be downloaded" in _refusal(_get(home, hub))
    for sent in (other, swapped):
        with hub_server("acme/tiny", published, sent=sent) as hub:
            assert "differs from the one" in _refusal(_get(home, hub))
        assert not list(home.rglob("*.part"))
    with hub_server("acme/tiny", published, sent=truncated) as hub:
        assert "what arrived is kept" in _refusal(_get(home, hub))
    assert not list(home.rglob("model.safetensors"))
    (part,) = home.rglob("*.part")
    assert right.startswith(part.read_bytes())
    with hub_server("acme/tiny", published) as hub:
        assert _get(home, hub).returncode == 0


@pytest.mark.parametrize(
    "kills", [3, pytest.param(50, marks=pytest.mark.proof)], ids=str
)
def test_that_a_download_killed_at_any_moment_goes_on_from_what_is_there(
    kills: int, tmp_path: Path, published: Path
) -> None:
    """Each kill comes at a random moment after the first bytes of that start."""
    home, asked = tmp_path / "hub", list[str]()
    moment = random.Random(kills)
    expected, done = list[str](), 0
    with hub_server("acme/tiny", published, 2 * SIZE / kills, asked) as hub:
        while done < kills and not list(home.rglob("*/snapshots/*/vision*")):
            before, sizes = len(asked), _parts(home)
            killed = start_program(
                *_words("acme/tiny"),
                env=_environment(home, hub),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while len(asked) == before and killed.poll() is None:
                time.sleep(0.01)
            time.sleep(moment.uniform(0, 0.8))
            killed.kill()
            done += killed.wait() < 0
            expected += [f"bytes={size}-" for size in sizes if size]
    assert done == kills
    with hub_server("acme/tiny", published, asked=asked) as hub:
        expected += [f"bytes={size}-" for size in _parts(home) if size]
        finished = _get(home, hub)
    assert finished.returncode == 0, finished.stderr
    ranges = [entry.partition(" ")[2] for entry in asked if " " in entry]
    assert ranges == [r for r in expected if r != f"bytes={SIZE}-"]
    folder = Path(json.loads(finished.stdout)["folder"])
    for file in published.iterdir():
        assert (folder / file.name).read_bytes() == file.read_bytes()
    assert not list(home.rglob("*.part"))


def _parts(home: Path) -> list[int]:
    return [path.stat().st_size for path in home.rglob("*.part")]
