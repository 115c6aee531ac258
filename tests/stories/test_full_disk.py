"""A disk that fills up midway in a run or a download: one sentence, nothing lost."""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.hub_server import hub_server
from tests.helpers.tiny_study import write_images
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store

STUDY = """
study = "grid_localization"
dataset = "tiny"
models = ["uniform"]
repeats = 60
[params]
grids = [8]
"""

SCRIPT = """
set -e
mkdir -p "$1"
mount -t tmpfs -o size=2m tmpfs "$1"
cd "$2"
cp "$3" "$1/s.sqlite"
dd if=/dev/zero of="$1/filler" bs=1k count=500 2>/dev/null
code=0
"$0" -m viewer run "$4" --store "$1/s.sqlite" >"$5/out" 2>"$5/err" || code=$?
echo "$code"
rm "$1/filler"
mount -o remount,size=64m "$1"
"$0" -m viewer runs --json --store "$1/s.sqlite" >"$5/before"
"$0" -m viewer run "$4" --json --store "$1/s.sqlite" >"$5/after"
"""


GET = """
set -e
mkdir -p "$1"
mount -t tmpfs -o size=16m tmpfs "$1"
cd "$2"
export HF_HOME="$1"
code=0
"$0" -c "$4" models --get acme/tiny --json >"$3/out" 2>"$3/err" || code=$?
echo "$code"
find "$1" -name "*.safetensors" | wc -l
mount -o remount,size=64m "$1"
"$0" -m viewer models --get acme/tiny --json >"$3/out" 2>"$3/later"
cat "$1"/hub/models--acme--tiny/snapshots/*/model.safetensors | sha256sum
"""
FILLED_LATER = """
import shutil, sys
from viewer.cli import run_command_line
real, asked = shutil.disk_usage, []
def usage(path):
    asked.append(path)
    there = real(path)
    return there if asked[2:] else there._replace(free=10**9)
shutil.disk_usage = usage
sys.exit(run_command_line(sys.argv[1:]))
"""
"""Both times before the download, the disk has more room than during it."""


def may_mount() -> bool:
    """Return whether this process may mount a small disk of its own."""
    if shutil.which("unshare") is None or os.getuid() != 0:
        return False
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


def test_that_a_full_disk_is_one_sentence_and_the_run_goes_on_later(
    tmp_path: Path,
) -> None:
    if not may_mount():
        pytest.skip("needs the right to mount a small disk")
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        import_dataset(opened, "folder", write_images(tmp_path / "tiny", 8), "tiny")
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    said = tmp_path / "said"
    said.mkdir()
    words = [tmp_path / "disk", Path.cwd(), store, study, said]
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", SCRIPT, sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"
    errors = (said / "err").read_text()
    assert "disk that holds the store is full" in errors
    assert "Traceback" not in errors
    before = json.loads((said / "before").read_text())[0]
    after = json.loads((said / "after").read_text())
    assert 0 < before["counts"]["pending"] < 480
    assert sum(before["counts"].values()) == 480
    assert "pending" not in after["counts"]
    assert sum(after["counts"].values()) == 480


def test_that_a_disk_that_fills_up_midway_in_a_download_says_what_is_missing(
    tmp_path: Path,
) -> None:
    """Nothing is half installed, and with more room it goes on from what is there."""
    pytest.importorskip("huggingface_hub")
    if not may_mount():
        pytest.skip("needs the right to mount a small disk")
    published, said, asked = tmp_path / "published", tmp_path / "said", list[str]()
    published.mkdir()
    said.mkdir()
    weights = random.Random(0).randbytes(24_000_000)
    (published / "config.json").write_text('{"model_type": "llava"}')
    (published / "model.safetensors").write_bytes(weights)
    words = [tmp_path / "disk", Path.cwd(), said, FILLED_LATER]
    with hub_server("acme/tiny", published, asked=asked) as hub:
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", GET, sys.executable, *map(str, words)],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "HF_ENDPOINT": hub,
                "HF_HUB_OFFLINE": "0",
                "HF_HUB_DISABLE_XET": "1",
                "HF_TOKEN": "",
            },
        )
    assert done.returncode == 0, done.stderr
    code, installed, digest = done.stdout.split()[:3]
    assert (code, installed) == ("2", "0")
    errors = (said / "err").read_text()
    assert "Traceback" not in errors
    told = re.search(
        r"The disk became full: the model acme/tiny needs (\d+\.\d) MB more, and "
        r"0\.\d MB are free\.",
        errors,
    )
    assert told is not None, errors
    assert 7 < float(told[1]) < 9  # of 24.0 MB, on a disk of 16.8
    assert digest == hashlib.sha256(weights).hexdigest()
    assert asked[-1].startswith("model.safetensors bytes=1")
