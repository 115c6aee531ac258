"""Any part of what is compressed in a file, in any order."""

import gzip
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from viewer.readers.files.inflating import inflated

PLAIN = np.resize(np.repeat(np.arange(251, dtype=np.uint8), 97), 30 << 20).tobytes()
PARTS = [(0, 10), (29 << 20, 1 << 20), (20_000_000, 70_000), (0, 1), (25 << 20, 9)]


def gzipped(path: Path, members: int = 1, start: bytes = b"") -> Path:
    """Write the bytes as members of a gzip file that follow one another."""
    each = len(PLAIN) // members
    cuts = [PLAIN[n * each : (n + 1) * each] for n in range(members)]
    packed = b"".join(gzip.compress(cut, 1) for cut in cuts)
    path.write_bytes(start + packed)
    return path


@pytest.mark.parametrize("members", [1, 3, 1024])
def test_that_parts_are_those_of_the_whole(tmp_path: Path, members: int) -> None:
    path = gzipped(tmp_path / "a.gz", members, b"header")
    for first, length in PARTS:
        expected = PLAIN[first : first + length]
        assert inflated(path, 6, first, length) == expected


def test_that_zlib_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "a.z"
    path.write_bytes(zlib.compress(PLAIN, 1))
    assert inflated(path, 0, 12_345_678, 90) == PLAIN[12_345_678:12_345_768]


def test_that_threads_do_not_disturb_one_another(tmp_path: Path) -> None:
    path = gzipped(tmp_path / "a.gz")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda part: inflated(path, 0, *part), PARTS * 4))
    assert found == [PLAIN[first : first + n] for first, n in PARTS * 4]


def test_that_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = gzipped(tmp_path / "a.gz")
    assert inflated(path, 0, 20 << 20, 5) == PLAIN[20 << 20 : (20 << 20) + 5]
    path.write_bytes(gzip.compress(bytes(30 << 20), 1))
    assert inflated(path, 0, 20 << 20, 5) == bytes(5)


def test_that_the_end_of_a_file_is_told(tmp_path: Path) -> None:
    path = gzipped(tmp_path / "a.gz")
    with pytest.raises(EOFError):
        inflated(path, 0, len(PLAIN) - 5, 6)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(EOFError):
        inflated(path, 0, len(PLAIN) - 5, 5)


def test_that_little_is_kept_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)) * 400)
    tracemalloc.start()
    assert inflated(path, 0, 399 << 20, 1000) == bytes(1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
