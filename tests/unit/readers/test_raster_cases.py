"""Picture files of every kind against what NumPy makes of their standards' words."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.raster_cases import RasterCase, raster_cases, upright
from viewer.domain.case import ImageRef
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric
from viewer.imaging.luts import to_raster
from viewer.readers.headers import load_geometry
from viewer.readers.pixels import load_pixels

CASES = raster_cases()
SUFFIXES = sorted({Path(case.name).suffix for case in CASES})


def _of(suffix: str) -> Iterator[RasterCase]:
    return (case for case in CASES if case.name.endswith(suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_values_are_as_stored_and_upright(tmp_path: Path, suffix: str) -> None:
    wrong = []
    for case in _of(suffix):
        image = load_pixels(ImageRef(case.written(tmp_path), case.frame))
        wanted = case.shown if case.values is None else case.values
        assert (image.photometric is Photometric.RGB) == (case.values is None)
        if image.values.shape != wanted.shape:
            wrong.append(f"{case.name} {image.values.shape}")
        elif np.abs(image.values.astype(float) - wanted).max() > case.within:
            wrong.append(case.name)
    assert wrong == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_what_is_shown_is_what_the_standard_says(
    tmp_path: Path, suffix: str
) -> None:
    wrong = []
    for case in _of(suffix):
        image = load_pixels(ImageRef(case.written(tmp_path), case.frame))
        wanted = case.shown
        if case.values is not None and not image.windows:  # shown over its full range
            low, high = wanted.min(), wanted.max()
            wanted = 255 * (wanted - low) / (high - low)
        if (
            np.abs(to_raster(image).pixels.astype(float) - wanted).max()
            > 0.5 + case.within
        ):
            wrong.append(case.name)
    assert wrong == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_a_header_has_the_size_that_is_shown(tmp_path: Path, suffix: str) -> None:
    for case in _of(suffix):
        path = case.written(tmp_path)
        geometry = load_geometry(ImageRef(path, case.frame))
        assert geometry.size == SizePx(*case.shown.shape[:2]), case.name
        assert geometry == load_pixels(ImageRef(path, case.frame)).geometry


def test_that_the_eight_orientations_are_all_different() -> None:
    stored = np.arange(6).reshape(2, 3)
    shown = {upright(stored, turn).tobytes() for turn in range(1, 9)}
    assert len(shown) == 8
    assert upright(stored, 6).tolist() == np.rot90(stored, -1).tolist()
    assert upright(stored, 8).tolist() == np.rot90(stored).tolist()
