import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers.tiny_gguf import write_tiny_model
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.models.gguf_local.adapter import GgufAdapter
from viewer.models.gguf_local.engine import EngineSettings
from viewer.models.gguf_local.files import GgufModel, open_model
from viewer.models.gguf_local.rehearsal import rehearse
from viewer.models.loaded import LoadCancelledError, LoadState, silent

SETTINGS = EngineSettings(512, 0, 1)


@pytest.fixture
def model(tmp_path: Path) -> GgufModel:
    return open_model(*write_tiny_model(tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"v.blk.0.attn_k.weight", b"v.blk.0.attn_k-weight"),
        (
            b"clip.vision.image_size\x04\0\0\0\x70",
            b"clip.vision.image_size\x04\0\0\0\xac",
        ),
    ],
)
def test_that_a_projector_that_breaks_llama_cpp_takes_nothing_with_it(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    llm, eye = write_tiny_model(tmp_path)
    data = eye.read_bytes()
    assert data.count(old) == 1
    eye.write_bytes(data.replace(old, new))
    settings: dict[str, object] = {"model": str(llm), "projector": str(eye)}
    adapter = GgufAdapter(ModelProfile("broken", "gguf_local", settings))
    with pytest.raises(WrongUseError, match=r"crashes on 'llm\.gguf' with the"):
        adapter.load(silent, threading.Event())
    assert adapter.state is LoadState.UNLOADED


def test_that_files_are_tried_once_and_again_after_a_change(model: GgufModel) -> None:
    tried: list[Sequence[str]] = []

    def command(arguments: Sequence[str]) -> Sequence[str]:
        tried.append(arguments)
        return [sys.executable, "-c", ""]

    for _ in range(2):
        rehearse(model, SETTINGS, threading.Event(), command)
    assert tried == [(str(model.llm.path), *tried[0][1:])]
    assert tried[0][1:] == (str(model.eye and model.eye.path), "512", "0", "1")
    model.llm.path.write_bytes(model.llm.path.read_bytes() + b"more")
    rehearse(model, SETTINGS, threading.Event(), command)
    assert len(tried) == 2


def test_that_what_is_refused_in_order_passes_for_the_real_load_says_why(
    model: GgufModel,
) -> None:
    tried = list[Sequence[str]]()

    def command(arguments: Sequence[str]) -> list[str]:
        tried.append(arguments)
        return [sys.executable, "-c", "raise SystemExit(3)"]

    for _ in range(2):
        rehearse(model, SETTINGS, threading.Event(), command)
    assert len(tried) == 1, "it is tried no more, for the load itself will tell"


def test_that_a_trial_that_does_not_end_counts_as_broken(model: GgufModel) -> None:
    with pytest.raises(WrongUseError, match="crashes on"):
        rehearse(
            model,
            SETTINGS,
            threading.Event(),
            lambda _: [sys.executable, "-c", "import time; time.sleep(60)"],
            limit_s=0.2,
        )


def test_that_a_trial_can_be_cancelled_and_leaves_no_process(model: GgufModel) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    with pytest.raises(LoadCancelledError):
        rehearse(
            model,
            SETTINGS,
            cancelled,
            lambda _: [sys.executable, "-c", "import time; time.sleep(3600)"],
        )
