"""Every DICOM file at hand is read or refused with its sentence, and read right."""

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.public_files import pydicom_files, shared_data
from tests.helpers.public_frames import public_files
from viewer.domain.errors import UnreadableInputError
from viewer.imaging.luts import to_raster
from viewer.readers.catalog import read_headers
from viewer.readers.dicom.decoding import load_dicom, stored_pixels
from viewer.readers.pixels import load_pixels

pytestmark = pytest.mark.proof

_LOSSY = {"JPEG 2000 Image Compression", "JPEG Baseline (Process 1)"}


@pytest.mark.parametrize("path", public_files(), ids=lambda path: path.name)
def test_that_every_file_is_read_or_refused_with_its_sentence(path: Path) -> None:
    try:
        headers = read_headers(path)
        for header in headers:
            raster = to_raster(load_pixels(header.ref))
            assert raster.size == header.size
    except UnreadableInputError as error:
        sentences = (error.what, error.how)
    else:
        return
    assert sentences[0].startswith(path.name)
    assert all(sentence.endswith(".") for sentence in sentences)


def manifest() -> list[tuple[str, str, str]]:
    """Return file, transfer syntax and hash of each DICOM file of the manifest."""
    rows = []
    for line in shared_data("MANIFEST.md").read_text().splitlines():
        cells = line.split("|")[1:-1]
        if len(cells) == 11 and cells[0].startswith("dicom/"):
            rows.append((cells[0], cells[3], cells[8]))
    return rows


def test_that_pixels_are_those_of_the_manifest() -> None:
    compared: Counter[str] = Counter()
    for name, syntax, expected in manifest():
        path = shared_data(*name.split("/"))
        if expected.startswith("AttributeError"):
            with pytest.raises(UnreadableInputError):
                stored_pixels(path)
            compared["refused"] += 1
            continue
        pixels = stored_pixels(path)
        digest = hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()[:16]
        if syntax not in _LOSSY:
            assert digest == expected, name
        compared["lossless" if syntax not in _LOSSY else "lossy"] += 1
        compared["lossy and equal"] += syntax in _LOSSY and digest == expected
    print(dict(compared))
    assert compared["lossless"] >= 30


def damaged(data: bytes, generator: random.Random) -> bytes:
    """Return ``data`` with bytes changed, and in one case of three cut short."""
    out = bytearray(data)
    for _ in range(generator.choice([1, 2, 4, 16, 64])):
        out[generator.randrange(len(out))] = generator.randrange(256)
    if generator.random() < 0.3:
        del out[generator.randrange(len(out)) :]
    return bytes(out)


def _read_damaged(seed: int, rounds: int, folder: Path) -> None:
    """Read damaged copies of small files; run in a process of its own."""
    generator = random.Random(seed)
    sources = [path for path in pydicom_files() if path.stat().st_size < 150_000]
    outcomes: Counter[str] = Counter()
    for number in range(rounds):
        source = generator.choice(sources)
        copy = folder / f"damaged{seed}.dcm"
        copy.write_bytes(damaged(source.read_bytes(), generator))
        print(number, source.name, flush=True)
        try:
            to_raster(load_dicom(copy))
        except UnreadableInputError:
            outcomes["refused"] += 1
        else:
            outcomes["read"] += 1
    print(dict(outcomes), flush=True)


@pytest.mark.parametrize("seed", range(2))
def test_that_damaged_files_of_every_coding_are_read_or_refused(
    seed: int, tmp_path: Path
) -> None:
    rounds = int(os.environ.get("OVERREAD_DAMAGE_ROUNDS", "1500"))
    code = (
        "from pathlib import Path;"
        "from tests.proof.test_reading_proof import _read_damaged;"
        f"_read_damaged({seed}, {rounds}, Path({str(tmp_path)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
    )
    tail = done.stdout.splitlines()[-2:]
    print(tail[-1])
    assert done.returncode == 0, (tail, done.stderr[-2000:])
    assert not done.stderr, done.stderr[-2000:]
