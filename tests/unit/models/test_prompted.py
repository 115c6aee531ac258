"""What outlining a box took, and how it is read."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

from collections.abc import Sequence
from dataclasses import replace

from tests.helpers.requests import ScriptedClock, facts, request
from tests.helpers.tiny_transformers import write_tiny_sam
from viewer.domain.exchange import BoxPrompt, ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.models import prompted
from viewer.models import segmenter as segmenting
from viewer.models.prompted import PromptedSegmenter
from viewer.models.segmenter import Segmenter
from viewer.models.transformers_local.files import ModelFiles

LOADING_S = 400.0
OUTLINING_S = 0.25


@pytest.mark.statement("E002-13")
def test_that_loading_a_segmenter_is_no_time_of_its_outline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, clock = segmenting._loaded, ScriptedClock()
    outline = Segmenter.segment

    def slowly(files: ModelFiles, device: str) -> object:
        clock.pass_(LOADING_S)
        return made(files, device)

    def outlined(self: Segmenter, raster: Raster, boxes: Sequence[BoxPx]) -> object:
        clock.pass_(OUTLINING_S)
        return outline(self, raster, boxes)

    monkeypatch.setattr(prompted, "time", clock)
    monkeypatch.setattr(segmenting, "_loaded", slowly)
    monkeypatch.setattr(Segmenter, "segment", outlined)
    folder = write_tiny_sam(tmp_path / "sam")
    profile = ModelProfile("s", "segmenter", {"model": str(folder), "device": "cpu"})
    model = PromptedSegmenter(profile)
    raster = Raster(np.zeros((40, 30), dtype=np.uint8))
    prompt = BoxPrompt(raster, (BoxPx(2, 3, 20, 30),))
    asked = request(replace(facts(), prompt=prompt))
    first = model.read(model.generate(asked))
    assert clock.seconds == LOADING_S + OUTLINING_S
    assert first.work_ms == 1000 * OUTLINING_S
    assert first.latency_ms == first.work_ms
    assert first.mask is not None
    assert model.read(model.generate(asked)).mask == first.mask
