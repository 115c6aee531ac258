"""Every kind of pixels that IHE asks a viewer to show (RAD-Y5), in the window."""

from functools import cache
from pathlib import Path

import numpy as np
import pydicom
import pytest

from tests.helpers import reference_pipeline
from tests.helpers.gauntlet_codestreams import all_cases
from tests.helpers.gauntlet_words import Case
from tests.ui.bir.conftest import Open
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.workspaces.read import ReadWorkspace

KINDS = ("grey/explicit/", "color/explicit/", "palette/explicit/", "bit/explicit/",
         "lut/explicit/", "rle/frames", "j2k/frames")  # fmt: skip
EVERY = 6
"""Of each kind, one case in so many; the gauntlet reads them all."""


cases_at_hand = cache(all_cases)


def _cases(kind: str) -> list[Case]:
    named = [c for c in cases_at_hand() if c.name.startswith(kind) and not c.refused]
    return named[::EVERY]


def _painted(view: ImageView) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    view.one_to_one()
    assert view._display is not None
    seen = view._camera.viewport(view._turned.size_before)
    return view._display.frame(seen, view._turned).pixels


def _expected(case: Case, path: Path) -> reference_pipeline.Floats:
    flat = reference_pipeline.of_frame(pydicom.dcmread(path), 0)
    samples = case.samples[0]
    if case.color == "PALETTE":
        return reference_pipeline.paletted(flat, samples)
    if case.color == "GREY":
        return reference_pipeline.shown(flat, samples)
    return reference_pipeline.colored(samples, case.color, case.bits)


@pytest.mark.parametrize("kind", KINDS)
def test_b38_pixels_of_every_kind_are_painted_as_the_standard_says(
    opened: Open,
    read: ReadWorkspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    settings = pydicom.config.settings
    monkeypatch.setattr(settings, "writing_validation_mode", pydicom.config.IGNORE)
    cases = _cases(kind)
    assert cases
    for number, case in enumerate(cases):
        path = tmp_path / f"{number}.dcm"
        case.dataset.save_as(path, enforce_file_format=True)
        view = opened(path)
        found = _painted(view)
        expected = _expected(case, path)
        assert found.shape == expected.shape, case.name
        assert np.abs(found - expected).max() <= max(case.tolerance, 1), case.name
    frames = read.lightbox.active.stack_images
    assert len(frames) == int(cases[-1].dataset.get("NumberOfFrames") or 1)
