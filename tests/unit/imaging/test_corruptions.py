import colorsys
import hashlib
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import ceil, cos, exp, radians, sin

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from scipy import ndimage

from viewer.domain.errors import WrongUseError
from viewer.domain.image import Raster
from viewer.imaging.corruption_blur import Scale, defocused, moved, scale_of
from viewer.imaging.corruptions import (
    LEVELS,
    Corruption,
    corrupt,
    gallery,
    pixels_sha256,
)
from viewer.imaging.jpeg_loss import compressed
from viewer.imaging.seeded_bits import SeededBits

GOLDEN = {
    "brightness": "7517853fb7576df5097aa452379c9f9c",
    "bubble": "64e8a9808d9e4622ab8fec4d8b418d81",
    "defocus": "fb1be82cace871d6a3e035254916fe46",
    "hue": "d5c93825f46e407545303b6a93d32d9b",
    "jpeg": "bd1feb990a4e6e2eeffef137215ac747",
    "motion": "e4bc6d901c6a3e863901056ea30215c1",
    "pixelate": "9923e89effd096f4e93a1c3bd75e2ecb",
    "saturate": "4ec15bcb43db8bf81edd58ab255b611e",
}
"""Of :func:`digests`; a change here changes what every corruption arm has asked."""


def image(rows: int, columns: int, seed: int = 0) -> Raster:
    """Return a raster of smooth colours with some hard edges, from whole numbers."""
    y, x = np.indices((rows, columns))
    channels = [(x * (2 + i) + y * (3 - i) + seed * 37) % 256 for i in range(3)]
    pixels = np.stack(channels, axis=2).astype(np.uint8)
    pixels[rows // 3 : rows // 2, columns // 4 : columns // 2] = (240, 12, 200)
    return Raster(np.ascontiguousarray(pixels))


def digests() -> dict[str, str]:
    """Return one hash for all levels of every kind, of an odd and a larger image."""
    rasters = (image(61, 83), image(240, 300, 1))
    return {
        kind.value: hashlib.sha256(
            b"".join(
                corrupt(raster, kind, level, 7).pixels.tobytes()
                for raster in rasters
                for level in LEVELS
            )
        ).hexdigest()[:32]
        for kind in Corruption
    }


@pytest.mark.statement("E003-06")
def test_that_every_byte_is_as_it_was_when_the_hashes_were_written() -> None:
    assert digests() == GOLDEN


@pytest.mark.statement("E003-06")
def test_that_threads_beside_one_another_make_the_same_bytes() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert all(found == GOLDEN for found in pool.map(lambda _: digests(), range(2)))


@pytest.mark.statement("E003-06")
def test_that_bytes_depend_on_no_order_and_on_nothing_done_before() -> None:
    rasters = (image(61, 83), image(240, 300, 1))
    tasks = list(product(range(2), Corruption, LEVELS))
    forth = {t: corrupt(rasters[t[0]], t[1], t[2], 7).pixels.tobytes() for t in tasks}
    np.random.default_rng(0).shuffle(tasks)
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda t: corrupt(rasters[t[0]], t[1], t[2], 7), tasks)
        back = {t: one.pixels.tobytes() for t, one in zip(tasks, made, strict=True)}
    assert forth == back
    for kept, again in zip(rasters, (image(61, 83), image(240, 300, 1)), strict=True):
        assert kept.pixels.tobytes() == again.pixels.tobytes()


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize(
    "setting",
    [
        {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8", "PYTHONHASHSEED": "9"},
        {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3", "OPENBLAS_CORETYPE": "Nehalem"},
    ],
)
def test_that_bytes_depend_on_no_thread_count_and_no_processor(
    setting: dict[str, str],
) -> None:
    code = (
        "from tests.unit.imaging.test_corruptions import GOLDEN, digests\n"
        "assert digests() == GOLDEN"
    )
    env = {**os.environ, **setting}
    run = subprocess.run([sys.executable, "-c", code], env=env, check=False)
    assert run.returncode == 0


@pytest.mark.statement("E003-06")
def test_that_image_kind_seed_and_level_each_change_the_bytes() -> None:
    raster = image(128, 160)
    pairs = list(product(Corruption, LEVELS))
    made = {pixels_sha256(corrupt(raster, *pair)) for pair in pairs}
    assert len(made | {pixels_sha256(raster)}) == 41
    for kind in (Corruption.BUBBLE, Corruption.MOTION):
        seeds = {pixels_sha256(corrupt(raster, kind, 3, seed)) for seed in range(5)}
        assert len(seeds) == 5
    narrow = corrupt(raster, Corruption.DEFOCUS, 3, reference=96)
    assert pixels_sha256(narrow) not in made


@pytest.mark.statement("E003-06")
def test_that_level_0_is_the_image_itself_and_grey_becomes_colour() -> None:
    raster = image(32, 40)
    shown = gallery(raster, 3)
    assert set(shown) == set(Corruption)
    for kind, row in shown.items():
        assert row[0] is raster
        assert len(row) == 6
        assert row[2].pixels.tobytes() == corrupt(raster, kind, 2, 3).pixels.tobytes()
    grey = Raster(np.full((20, 30), 99, dtype=np.uint8))
    for kind in Corruption:
        assert corrupt(grey, kind, 5).pixels.shape == (20, 30, 3)
    assert corrupt(grey, Corruption.JPEG, 0) is grey


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize(("level", "reference"), [(6, 224), (-1, 224), (1, 128)])
def test_that_an_unknown_level_or_side_gets_a_sentence(
    level: int, reference: int
) -> None:
    with pytest.raises(WrongUseError, match="No corruption is defined"):
        corrupt(image(8, 8), Corruption.HUE, level, 0, reference)


@pytest.mark.statement("E003-06", "E003-19")
def test_that_colours_change_as_pythons_own_colorsys_changes_them() -> None:
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    pixels[:5] = pixels[:5, :, :1]
    pixels[0, :3] = ((0, 0, 0), (255, 255, 255), (255, 0, 0))
    raster = Raster(pixels)
    for level, step, hue in ((level, 0.05 * level, 0.02 * level) for level in LEVELS):
        brighter, saturated, turned = (
            corrupt(raster, kind, level).pixels.reshape(-1, 3).tolist()
            for kind in (Corruption.BRIGHTNESS, Corruption.SATURATE, Corruption.HUE)
        )
        for i, rgb in enumerate(pixels.reshape(-1, 3).tolist()):
            h, s, v = colorsys.rgb_to_hsv(*(value / 255 for value in rgb))
            assert _near(brighter[i], (h, s, min(v + step, 1)))
            assert _near(saturated[i], (h, min(s + step, 1), v))
            assert _near(turned[i], ((h + hue) % 1, s, v))


def _near(found: list[int], hsv: tuple[float, float, float]) -> bool:
    """Tell whether grey levels are nearest to a colour; ties may go either way."""
    wanted = [255 * value for value in colorsys.hsv_to_rgb(*hsv)]
    return all(abs(a - b) <= 0.5 + 1e-9 for a, b in zip(found, wanted, strict=True))


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize("size", [(61, 83), (224, 224), (100, 37)])
def test_that_pixelating_is_pillows_box_filter(size: tuple[int, int]) -> None:
    raster = image(*size)
    for level, scale in zip(LEVELS, (0.6, 0.5, 0.4, 0.3, 0.25), strict=True):
        whole = Image.fromarray(raster.pixels)
        small = int(size[1] * scale), int(size[0] * scale)
        again = whole.resize(small, Image.Resampling.BOX).resize(
            whole.size, Image.Resampling.BOX
        )
        made = corrupt(raster, Corruption.PIXELATE, level).pixels
        far = np.abs(np.asarray(again).astype(int) - made) > 1
        # A centre on an edge goes where the division rounds, theirs a bit below.
        assert far.mean() < 0.1
        assert not far.any() or size != (224, 224)


@pytest.mark.statement("E003-06")
def test_that_jpeg_loses_what_pillows_jpeg_loses() -> None:
    smooth = ndimage.gaussian_filter(image(120, 168).pixels.astype(float), (3, 3, 0))
    raster = Raster(smooth.astype(np.uint8))
    for level, quality in zip(LEVELS, (25, 18, 15, 10, 7), strict=True):
        stream = io.BytesIO()
        Image.fromarray(raster.pixels).save(stream, "JPEG", quality=quality)
        with Image.open(stream) as opened:
            theirs = np.asarray(opened.convert("RGB")).astype(int)
        ours = corrupt(raster, Corruption.JPEG, level).pixels.astype(int)
        lost = np.abs(theirs - raster.pixels).mean()
        assert np.abs(ours - theirs).mean() < 0.05 * lost
        assert abs(np.abs(ours - raster.pixels).mean() / lost - 1) < 0.01
    assert np.abs(compressed(raster, 100).pixels.astype(int) - raster.pixels).max() < 12


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize("side", [224, 96, 61, 300])
def test_that_defocus_is_a_convolution_with_a_softened_disc(side: int) -> None:
    raster = image(side, side + 12)
    for radius, alias in ((3, 0.1), (4, 0.5), (8, 0.5), (10, 0.5)):
        scale = Scale(side, 224)
        kernel = _disc(scale.length(radius), alias, 1 if radius <= 8 else 2)
        made = defocused(raster, radius, alias, scale).pixels.astype(float)
        for channel in range(3):
            wanted = ndimage.convolve(
                raster.pixels[..., channel].astype(float), kernel, mode="mirror"
            )
            assert np.abs(made[..., channel] - wanted).max() <= 0.5 + 1e-2


def _disc(radius: float, alias: float, soft: int) -> npt.NDArray[np.float64]:
    reach = int(radius) + soft
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = (x * x + y * y <= radius * radius).astype(float)
    taps = np.exp(-np.square(np.arange(-soft, soft + 1)) / (2 * alias * alias))
    gauss = np.outer(taps, taps)
    whole = ndimage.convolve(disc, gauss, mode="constant")
    return np.asarray(whole / whole.sum())


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize("angle", [-45.0, -20.0, 0.0, 33.3, 45.0])
def test_that_motion_is_imagemagicks_weighted_trail(angle: float) -> None:
    raster = image(70, 90)
    own, large = scale_of(raster, 224), Scale(4000, 224)
    assert (own.side, own.reference) == (70, 224)
    for radius, sigma, scale in (
        *((10, 3, own), (15, 8, own), (20, 15, own), (20, 15, large)),
    ):
        made = moved(raster, radius, sigma, angle, scale).pixels.astype(float)
        wanted = np.zeros(made.shape)
        width = 2 * ceil(scale.length(radius)) + 1
        weights = [exp(-i * i / (2 * scale.length(sigma) ** 2)) for i in range(width)]
        y, x = np.indices((70, 90))
        for i, weight in enumerate(weights):
            down = np.clip(y + ceil(i * sin(radians(angle)) - 0.5), 0, 69)
            across = np.clip(x + ceil(i * cos(radians(angle)) - 0.5), 0, 89)
            wanted += weight / sum(weights) * raster.pixels[down, across]
        assert np.abs(made - wanted).max() <= 0.5 + 1e-2


@pytest.mark.statement("E003-06")
def test_that_bubbles_blend_more_at_every_level_and_only_within_themselves() -> None:
    raster = image(200, 240)
    changed, strength = [], []
    for level in LEVELS:
        made = corrupt(raster, Corruption.BUBBLE, level).pixels.astype(int)
        far = np.abs(made - raster.pixels).sum(axis=2)
        changed.append(far > 0)
        strength.append(far.sum())
    assert strength == sorted(strength)
    assert 0.05 < changed[4].mean() < 0.7
    assert not np.any(changed[0] & ~changed[4])


A5_DISCS = {
    224: [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)],
    96: [(3, 0.05), (4, 0.3), (5, 0.3), (6, 0.3), (7, 0.3)],
}
A5_DRAGS = [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)]
"""Appendix A.5 of the specification, by level."""


@pytest.mark.statement("E003-06")
@pytest.mark.parametrize("reference", [224, 96])
def test_that_each_level_of_defocus_has_the_specified_disc(reference: int) -> None:
    raster = image(100, 140)
    scale = Scale(100, reference)
    for level, (radius, alias) in zip(LEVELS, A5_DISCS[reference], strict=True):
        made = corrupt(raster, Corruption.DEFOCUS, level, 3, reference)
        wanted = defocused(raster, radius, alias, scale)
        assert made.pixels.tobytes() == wanted.pixels.tobytes()


@pytest.mark.statement("E003-06")
def test_that_each_level_of_motion_has_the_specified_drag_in_one_direction() -> None:
    raster = image(100, 140)
    angles = []
    for seed in range(40):
        bits = SeededBits(seed, pixels_sha256(raster), "motion")
        angles.append(bits.uniform(-45, 45))
    assert min(angles) < -35
    assert max(angles) > 35
    for level, (radius, sigma) in zip(LEVELS, A5_DRAGS, strict=True):
        made = corrupt(raster, Corruption.MOTION, level, 7)
        wanted = moved(raster, radius, sigma, angles[7], Scale(100, 224))
        assert made.pixels.tobytes() == wanted.pixels.tobytes()


@pytest.mark.statement("E003-06")
def test_that_bubbles_are_blended_by_the_specified_parts() -> None:
    raster = Raster(np.full((200, 240, 3), 100, dtype=np.uint8))
    far = [
        corrupt(raster, Corruption.BUBBLE, level, 2).pixels.astype(int) - 100
        for level in LEVELS
    ]
    whole = far[4] / 0.9
    assert np.abs(whole).max() > 100
    for change, part in zip(far, (0.1, 0.3, 0.5, 0.7, 0.9), strict=True):
        assert np.abs(change - part * whole).max() <= 0.5 + 0.56 * part
