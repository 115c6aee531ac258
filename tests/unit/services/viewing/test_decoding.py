"""Decoding in real processes: the same images, and what happens when one dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.small_datasets import write_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.models import keys
from viewer.services.viewing.decoder import DecodingProcess
from viewer.services.viewing.decoder_limits import DecoderLimits
from viewer.services.viewing.decoder_process import decoder_command, decoder_environment
from viewer.services.viewing.decoding import Decoder, LocalDecoder, ProcessDecoder

LIMIT_S = 20.0


@pytest.fixture
def decoder() -> Iterator[ProcessDecoder]:
    made = ProcessDecoder(DecoderLimits(seconds=LIMIT_S))
    yield made
    made.close()


@pytest.fixture
def ref(tmp_path: Path) -> ImageRef:
    return ImageRef(write_dicom(tmp_path / "a.dcm"))


def process_of(decoder: ProcessDecoder) -> "subprocess.Popen[bytes]":
    process = decoder._screen._process
    assert process is not None
    return process


def read_endlessly(decoder: DecodingProcess) -> None:
    """Let a process read what no decoder ever has enough of."""
    decoder.call(time.sleep, Path("endless.png"), (600.0,))


def test_that_a_process_returns_what_decoding_here_returns(
    decoder: ProcessDecoder, ref: ImageRef
) -> None:
    there, here = decoder.open(ref), LocalDecoder().open(ref)
    assert there.shown.header == here.shown.header
    assert there.shown.corners == here.shown.corners
    assert there.field == here.field
    assert there.shown.image.windows == here.shown.image.windows
    assert there.shown.image.values.dtype == here.shown.image.values.dtype
    np.testing.assert_array_equal(there.shown.image.values, here.shown.image.values)
    assert there.pyramid.image is there.shown.image
    loaded = decoder.load(ref)
    np.testing.assert_array_equal(loaded.image.values, here.shown.image.values)


def test_that_pictures_are_the_same_too(decoder: ProcessDecoder, ref: ImageRef) -> None:
    field = BoxPx(-3, 2, 30, 35)

    def pictures(one: Decoder) -> list[np.ndarray]:
        rasters = one.thumbnail(ref, 16), one.field_raster(ref, field, 16)
        return [raster.pixels for raster in rasters]

    np.testing.assert_array_equal(pictures(decoder), pictures(LocalDecoder()))


def test_that_a_file_that_is_no_image_says_so_in_the_same_words(
    decoder: ProcessDecoder, tmp_path: Path
) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear colleague")
    said = []
    for one in (decoder, LocalDecoder()):
        with pytest.raises(UnreadableInputError) as caught:
            one.open(ImageRef(path))
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert process_of(decoder).poll() is None


def test_that_a_process_that_dies_is_a_sentence_and_the_next_call_works(
    decoder: ProcessDecoder, ref: ImageRef
) -> None:
    decoder.load(ref)
    first = process_of(decoder)
    threading.Timer(0.2, first.kill).start()
    with pytest.raises(UnreadableInputError, match=r"endless\.png crashed its decoder"):
        read_endlessly(decoder._screen)
    assert decoder.load(ref).ref == ref
    assert process_of(decoder).pid != first.pid


def test_that_a_process_that_died_meanwhile_is_replaced(
    decoder: ProcessDecoder, ref: ImageRef
) -> None:
    decoder.load(ref)
    process_of(decoder).kill()
    process_of(decoder).wait()
    assert decoder.load(ref).ref == ref


def test_that_decoding_for_too_long_is_a_sentence() -> None:
    decoder = ProcessDecoder(DecoderLimits(seconds=1.5))
    with pytest.raises(UnreadableInputError, match=r"not decoded within 1\.5 s"):
        read_endlessly(decoder._screen)
    decoder.close()


def test_that_the_screen_does_not_wait_for_thumbnails(
    decoder: ProcessDecoder, ref: ImageRef
) -> None:
    failed = threading.Event()

    def draw() -> None:
        with pytest.raises(UnreadableInputError):
            read_endlessly(decoder._small)
        failed.set()

    waiting = threading.Thread(target=draw)
    waiting.start()
    assert decoder.load(ref).ref == ref
    assert not failed.is_set()
    decoder.close()
    waiting.join(300)
    assert failed.is_set()


def test_that_nothing_is_decoded_after_closing(
    decoder: ProcessDecoder, ref: ImageRef
) -> None:
    decoder.start()
    decoder.close()
    with pytest.raises(UnreadableInputError):
        decoder.load(ref)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_that_a_process_ends_with_its_parent() -> None:
    script = (
        "import time; from viewer.services.viewing.decoding import ProcessDecoder;"
        "d = ProcessDecoder(); d.start(); print(d._screen._process.pid, flush=True);"
        "time.sleep(3600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=-1) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 300
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_that_a_process_imports_neither_window_nor_models(ref: ImageRef) -> None:
    script = (
        "import sys; from pathlib import Path; from viewer.domain.case import ImageRef;"
        "from viewer.services.viewing.decoder_process import Call;"
        "from viewer.services.viewing.decoding import open_image;"
        f"open_image(ImageRef(Path({str(ref.path)!r}))); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "pydicom" in loaded
    heavy = {"PySide6", "httpx2", "torch", "highdicom", "sqlite_utils", "pandas"}
    assert not heavy & loaded


def test_that_only_a_dicom_file_makes_it_import_what_reads_dicom(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.png"
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(path)
    script = (
        "import sys; from pathlib import Path; from viewer.domain.case import ImageRef;"
        "from viewer.readers.headers import read_file_header;"
        "from viewer.readers.pixels import load_pixels;"
        "from viewer.services.viewing import decoder_process;"
        f"path = Path({str(path)!r}); read_file_header(path);"
        "load_pixels(ImageRef(path)); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "PIL.Image" in loaded
    assert "pydicom" not in loaded


def test_that_the_process_is_the_program_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert decoder_command()[1:] == ["-m", "viewer", "_decoder"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert decoder_command() == [sys.executable, "_decoder"]


def test_that_no_key_reaches_the_process_that_reads_files_of_any_origin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither by a name that tells it, nor by any other, nor in a needed variable."""
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "MY_THING", "PYTHONX"):
        monkeypatch.setenv(name, "sk-CANARY0123456789abcdef")
    monkeypatch.setenv("OPAQUE", "opaque/CANARY+of=nobody")
    keys.remember_key("OPAQUE", "opaque/CANARY+of=nobody")
    monkeypatch.setenv("LC_ALL", "opaque/CANARY+of=nobody")
    try:
        environment = decoder_environment()
    finally:
        keys.remember_key("OPAQUE", "")
    assert "CANARY" not in " ".join(environment.values())
    assert environment["PATH"] == os.environ["PATH"]
