"""Readers in the decoding processes that a command shares, and their limits."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_slide import tissue, write_dicom_slide
from tests.helpers.small_datasets import write_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.readers.files.isolation import isolate_with
from viewer.readers.headers import read_file_header
from viewer.readers.pixels import load_pixels
from viewer.services.viewing import decoder_limits
from viewer.services.viewing.decoder_limits import (
    DecoderLimits,
    default_memory,
    free_memory,
    read_limits,
)
from viewer.services.viewing.decoder_pool import DecoderPool

MB = 1 << 20
PATH = Path("scan.dcm")
LIMITS = DecoderLimits(memory=400 * MB, seconds=60.0, output=64 * MB)


@pytest.fixture
def pool() -> Iterator[DecoderPool]:
    made = DecoderPool(LIMITS, 2)
    isolate_with(made)
    yield made
    isolate_with(None)
    made.close()


def pid(pool: DecoderPool) -> int:
    return pool(os.getpid, PATH, (), {})


def test_that_readers_run_in_another_process_and_say_the_same(
    pool: DecoderPool, tmp_path: Path
) -> None:
    path = write_dicom(tmp_path / "a.dcm")
    header = read_file_header(path)
    pixels = load_pixels(ImageRef(path))
    isolate_with(None)
    here = load_pixels(ImageRef(path))
    np.testing.assert_array_equal(pixels.values, here.values)
    assert pixels.windows == here.windows
    assert header == read_file_header(path)
    assert pid(pool) != os.getpid()


@pytest.mark.usefixtures("pool")
@pytest.mark.parametrize("is_first", [True, False])
def test_that_a_slide_of_dicom_opens_as_the_first_image_or_a_later_one(
    is_first: bool, tmp_path: Path
) -> None:
    pytest.importorskip("wsidicom")
    slide = ImageRef(write_dicom_slide(tmp_path, [tissue(200, 300)], 0.5)[0])
    if not is_first:
        load_pixels(ImageRef(write_dicom(tmp_path / "film.dcm")))
    values = load_pixels(slide).values
    isolate_with(None)
    np.testing.assert_array_equal(values, load_pixels(slide).values)


def test_that_one_process_is_used_again_until_two_are_needed(pool: DecoderPool) -> None:
    first = pid(pool)
    assert pid(pool) == first
    waiting = threading.Thread(target=pool, args=(time.sleep, PATH, (5.0,), {}))
    waiting.start()
    while pool._free.qsize() == 2:
        time.sleep(0.01)
    assert pid(pool) != first
    waiting.join()


def test_that_a_dead_process_is_a_sentence_and_another_goes_on(
    pool: DecoderPool,
) -> None:
    first = pid(pool)
    with pytest.raises(UnreadableInputError, match=r"scan\.dcm crashed its decoder"):
        pool(os.abort, PATH, (), {})
    assert pid(pool) != first


def test_that_too_much_memory_is_refused(pool: DecoderPool) -> None:
    with pytest.raises(MemoryError):
        pool(bytearray, PATH, (800 * MB,), {})
    assert len(pool(bytes, PATH, (MB,), {})) == MB


def test_that_too_long_an_answer_is_not_even_read(pool: DecoderPool) -> None:
    with pytest.raises(UnreadableInputError, match="decodes to more than 64 MB"):
        pool(bytes, PATH, (65 * MB,), {})
    assert pid(pool)


def test_that_what_never_ends_is_ended() -> None:
    pool = DecoderPool(DecoderLimits(seconds=1.0), 1)
    with pytest.raises(UnreadableInputError, match="not decoded within 1 seconds"):
        pool(time.sleep, PATH, (600.0,), {})
    pool.close()


def test_that_half_of_what_is_free_may_be_used_and_never_more_than_2_gb(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert free_memory() > 0
    for free, may in ((1 << 40, 2048 * MB), (1000 * MB, 500 * MB), (0, 256 * MB)):
        monkeypatch.setattr(decoder_limits, "free_memory", lambda free=free: free)
        assert default_memory() == DecoderLimits().memory_now() == may


def test_that_the_environment_sets_the_limits() -> None:
    assert read_limits({}) == DecoderLimits()
    told = {
        "OVERREAD_DECODER_MEMORY_MB": "512",
        "OVERREAD_DECODER_SECONDS": "7.5",
        "OVERREAD_DECODER_OUTPUT_MB": "10",
    }
    assert read_limits(told) == DecoderLimits(512 * MB, 7.5, 10 * MB)
    assert DecoderLimits(512 * MB).memory_now() == 512 * MB


@pytest.mark.parametrize("text", ["much", "-1", "0", "nan", "inf"])
def test_that_a_limit_that_is_no_number_is_a_sentence(text: str) -> None:
    with pytest.raises(WrongUseError, match="OVERREAD_DECODER_SECONDS is"):
        read_limits({"OVERREAD_DECODER_SECONDS": text})


def test_that_every_command_reads_files_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "viewer", "runs", "--store", str(tmp_path / "s")]
    environment = {**os.environ, "OVERREAD_DECODER_SECONDS": "never"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "OVERREAD_DECODER_SECONDS is 'never'" in done.stderr
