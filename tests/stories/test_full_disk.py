"""A disk that fills up in the middle of a run: one sentence, and nothing is lost."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
