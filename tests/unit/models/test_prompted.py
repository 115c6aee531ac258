"""What outlining a box took, and how it is read."""

import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

from dataclasses import replace

from tests.helpers.requests import facts, request
from tests.helpers.tiny_sam import write_tiny_sam
from viewer.domain.exchange import BoxPrompt, ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.models import segmenter as segmenting
from viewer.models.prompted import PromptedSegmenter
from viewer.models.transformers_local.files import ModelFiles

LOADING_S = 0.4


@pytest.mark.statement("E002-13")
def test_that_loading_a_segmenter_is_no_time_of_its_outline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = segmenting._loaded

    def slowly(files: ModelFiles, device: str) -> object:
        time.sleep(LOADING_S)
        return made(files, device)

    monkeypatch.setattr(segmenting, "_loaded", slowly)
    folder = write_tiny_sam(tmp_path / "sam")
    profile = ModelProfile("s", "segmenter", {"model": str(folder), "device": "cpu"})
    model = PromptedSegmenter(profile)
    raster = Raster(np.zeros((40, 30), dtype=np.uint8))
    prompt = BoxPrompt(raster, (BoxPx(2, 3, 20, 30),))
    asked = request(replace(facts(), prompt=prompt))
    started = time.perf_counter()
    first = model.read(model.generate(asked))
    whole_ms = (time.perf_counter() - started) * 1000
    assert first.work_ms is not None
    assert first.work_ms <= whole_ms - LOADING_S * 1000 + 1
    assert first.latency_ms == first.work_ms
    assert first.mask is not None
    assert model.read(model.generate(asked)).mask == first.mask
