"""How long the way from a file to the sent bytes takes; printed, never asserted."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from viewer.domain.case import ImageRef
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster, Window
from viewer.imaging.corruptions import LEVELS, Corruption, corrupt
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit, fit_mask
from viewer.readers.catalog import read_headers, scan
from viewer.readers.pixels import load_pixels
from viewer.services.synthetic.phantom.tissue_picture import picture
from viewer.services.synthetic.phantom.tissue_questions import make_tile


def median_ms(action: Callable[[], object], rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


@pytest.fixture
def radiograph(tmp_path: Path) -> ImageRef:
    generator = np.random.default_rng(0)
    ramp = np.linspace(500, 3500, 2000)[None, :] + np.zeros((2500, 1))
    pixels = (ramp + generator.normal(0, 30, ramp.shape)).clip(0, 4095)
    path = make_dicom(
        tmp_path / "dx.dcm",
        pixels.astype(np.uint16),
        bits_stored=12,
        Modality="DX",
        WindowCenter=2048,
        WindowWidth=4096,
    )
    return ImageRef(path)


def test_how_long_a_radiograph_takes_from_file_to_sent_bytes(
    radiograph: ImageRef,
) -> None:
    image = load_pixels(radiograph)
    raster = to_raster(image)
    sent = fit(raster, 256, FitMode.CROP_RESIZE)
    gridded = draw_grid(sent, Grid(16, 16))
    mask = raster.pixels > 128
    steps: dict[str, Callable[[], object]] = {
        "load 2000 × 2500": lambda: load_pixels(radiograph),
        "to raster": lambda: to_raster(image),
        "to raster, another window": lambda: to_raster(image, Window(1000, 900)),
        "load and raster": lambda: to_raster(load_pixels(radiograph)),
        "fit to 256": lambda: fit(raster, 256, FitMode.CROP_RESIZE),
        "fit a mask": lambda: fit_mask(mask, 1.0, 256, FitMode.CROP_RESIZE),
        "grid 8 × 8": lambda: draw_grid(sent, Grid(8, 8)),
        "grid 16 × 16": lambda: draw_grid(sent, Grid(16, 16)),
        "PNG of 256 × 256 RGB": lambda: encode_png(gridded),
    }
    for name, action in steps.items():
        print(f"{name:30} {median_ms(action):8.2f} ms")
    print(f"{'PNG size':30} {len(encode_png(gridded)):8} bytes")
    assert gridded.pixels.shape == (256, 256, 3)


def test_how_many_headers_are_read_in_a_second(tmp_path: Path) -> None:
    pixels = np.zeros((64, 64), np.uint16)
    for number in range(500):
        make_dicom(
            tmp_path / f"{number}.dcm",
            pixels,
            Modality="CT",
            InstanceNumber=number,
            ImagePositionPatient=[0, 0, float(number)],
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        )
    paths = sorted(tmp_path.iterdir())
    each = median_ms(lambda: [read_headers(path) for path in paths], 5)
    whole = median_ms(lambda: scan([tmp_path]), 5)
    print(f"headers {500e3 / each:.0f}/s, scan {500e3 / whole:.0f}/s")
    assert len(scan([tmp_path])[0].studies[0].series[0].images) == 500


def test_time_of_each_corruption_of_a_pathology_image() -> None:
    image = Raster(picture(make_tile(0, 1, SizePx(700, 900)).field))
    total = 0.0
    for kind in Corruption:
        own = [
            median_ms(lambda k=kind, n=n: corrupt(image, k, n), rounds=3)  # type: ignore[misc]
            for n in LEVELS
        ]
        total += sum(own)
        print(f"{kind.value}: {statistics.mean(own):.0f} ms at 900 x 700")
        assert corrupt(image, kind, LEVELS[-1]).pixels.shape == image.pixels.shape
    print(f"all 40: {40e3 / total:.1f} images a second on one core")
