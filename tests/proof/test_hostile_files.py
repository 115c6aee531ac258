"""Forty hostile files among twenty good images: what the program makes of them.

Each part runs as a program of its own, and every process of its tree is looked at.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.hostile_folder import HOSTILE, make_hostile_folder

MOST_MB = 2_200
"""The decoders' limit, and what a process has besides."""
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
LIST = """
import sys
from pathlib import Path
from threading import Event
from viewer.services.viewing.decoding import ProcessDecoder
from viewer.services.viewing.open_case import open_cases

decoder = ProcessDecoder()
*_, last = open_cases([Path(sys.argv[1])], Event(), read=decoder.headers)
for case in last.cases:
    for study in case.studies:
        for series in study.series:
            for image in series.images:
                print(ascii(image.ref.path.name))
print(len(last.others), "others named")
decoder.close()
"""
OPEN = """
import sys
from pathlib import Path
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.readers.pixels import load_pixels
from viewer.services.viewing.decoder_pool import read_files_elsewhere

read_files_elsewhere()
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        load_pixels(ImageRef(path))
        print(ascii(path.name))
    except OverreadError as error:
        print("refused", ascii(error.what))
"""


_EVERY_S = 0.02


@dataclass(frozen=True)
class Measured:
    """What a command said, its seconds, and its processes' peaks in MB by their id."""

    code: int
    said: str
    seconds: float
    peaks: Mapping[int, int]


def measured(command: Sequence[str], limit_s: float = 600.0) -> Measured:
    """Run a command to its end and look at its process tree until then."""
    began = time.monotonic()
    peaks: dict[int, int] = {}
    # a file, for a pipe that nobody reads while it runs would hold a long list up
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        while process.poll() is None and time.monotonic() - began < limit_s:
            for pid in tree(process.pid):
                peaks[pid] = max(peaks.get(pid, 0), peak_mb(pid))
            time.sleep(_EVERY_S)
        process.kill()
        process.wait()
        out.seek(0)
        said = out.read()
    return Measured(process.returncode, said, time.monotonic() - began, peaks)


def tree(pid: int) -> list[int]:
    """Return a process and all below it."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(found for child in below for found in tree(int(child)))]


def peak_mb(pid: int) -> int:
    """Return the most memory that a process has had, 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max(
        (int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")),
        default=0,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile") / "in"
    assert len(HOSTILE) == 40
    assert len(make_hostile_folder(made)) == 20
    return made


def shown(what: str, found: Measured) -> str:
    sizes = ", ".join(f"{peak} MB" for peak in found.peaks.values())
    print(f"{what}: {found.seconds:.1f} s, peaks of its processes {sizes}")
    assert found.code == 0, found.said
    assert max(found.peaks.values()) < MOST_MB
    return found.said


def good_in(said: str) -> int:
    return sum(f"good{number:02}" in said for number in range(20))


def test_that_the_window_lists_the_good_ones(folder: Path) -> None:
    said = shown("list", measured([sys.executable, "-c", LIST, str(folder)]))
    assert good_in(said) == 20
    assert "36 others named" in said


def test_that_the_good_ones_are_opened_and_the_others_refused(folder: Path) -> None:
    said = shown("open", measured([sys.executable, "-c", OPEN, str(folder)]))
    assert good_in(said) == 20
    # The packed volume is sound, if large: a slice of it is opened without the others.
    assert said.count("refused") == 39
    assert "'packed.nii.gz'" in said


def test_that_the_good_ones_are_imported(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "viewer"]
    store = ["--store", str(tmp_path / "store.sqlite")]
    named = ["import", "folder", str(folder), "--name", "hostile"]
    shown("import", measured([*command, *named, *store]))
    listed = shown("cases", measured([*command, "cases", "hostile", *store]))
    assert good_in(listed) == 20
