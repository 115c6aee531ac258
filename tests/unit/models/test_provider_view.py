"""What providers' resizing makes of an image: sizes, tokens, coordinates, pixels."""

import itertools
import math
import random

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.resample import FitMode, fit_affine
from viewer.models.provider_view import (
    PROVIDER_VIEWS,
    ProviderView,
    provider_view_named,
    smart_resize,
)

_VIEWS = list(PROVIDER_VIEWS.values())
_IDS = list(PROVIDER_VIEWS)
_SIDES = (40, 100, 256, 511, 512, 768, 1024, 2048, 2320, 2828, 4096)


def test_that_every_promised_provider_is_there() -> None:
    promised = {
        *("none", "openai_low", "openai_high", "openai_patch", "claude", "gemini"),
        *("qwen2_5", "qwen3"),
    }
    assert promised <= set(PROVIDER_VIEWS)
    assert all(view.summary and view.resampling_note for view in _VIEWS)


def test_that_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WrongUseError, match="openai_patch"):
        provider_view_named("oracle")


@pytest.mark.parametrize(
    ("view", "sent", "seen", "tokens"),
    [
        ("openai_high", (256, 256), (256, 256), 255),
        ("openai_high", (1024, 1024), (768, 768), 765),
        ("openai_high", (2828, 2320), (936, 768), 765),
        ("openai_high", (2320, 2828), (768, 936), 765),
        ("openai_low", (2320, 2828), (420, 512), 85),
        ("openai_low", (256, 256), (256, 256), 85),
        ("openai_patch", (256, 256), (256, 256), 77),
        ("openai_patch", (2400, 1800), (1408, 1056), 1743),
        ("qwen2_5", (256, 256), (252, 252), 81),
        ("qwen2_5", (512, 512), (504, 504), 324),
        ("qwen2_5", (1024, 1024), (980, 980), 1225),
        ("qwen2_5", (2320, 2828), (896, 1092), 1248),
        ("qwen2_5", (4000, 3000), (1148, 840), 1230),
        ("qwen2_5", (40, 40), (56, 56), 4),
        ("qwen2_5_hub", (1024, 1024), (1036, 1036), 1369),
        ("qwen2_5_hub", (2320, 2828), (2324, 2828), 8383),
        ("qwen2_5_hub", (8000, 3000), (5852, 2184), 16302),
        ("qwen3", (256, 256), (256, 256), 64),
        ("qwen3", (1024, 1024), (1024, 1024), 1024),
        ("qwen3", (2320, 2828), (2304, 2816), 6336),
        ("qwen3", (4000, 3000), (4000, 3008), 11750),
        ("qwen3", (40, 40), (256, 256), 64),
        ("claude", (256, 256), (256, 256), 100),
        ("claude", (1092, 1092), (1092, 1092), 1521),
        ("gemini", (256, 256), (768, 768), None),
        ("gemini", (4000, 3000), (3072, 2304), None),
        ("none", (2320, 2828), (2320, 2828), None),
        ("gemma3", (2320, 2828), (896, 896), 256),
    ],
)
def test_that_sizes_and_tokens_are_those_of_the_specification(
    view: str, sent: tuple[int, int], seen: tuple[int, int], tokens: int | None
) -> None:
    """Sizes as (rows, columns)."""
    assert PROVIDER_VIEWS[view].seen(SizePx(*sent)) == SizePx(*seen)
    assert PROVIDER_VIEWS[view].tokens(SizePx(*sent)) == tokens


def test_that_smart_resize_is_that_of_transformers() -> None:
    module = pytest.importorskip(
        "transformers.models.qwen2_vl.image_processing_pil_qwen2_vl",
        reason="needs transformers (the extra local)",
    )
    limits = ((28, 3136, 1003520), (28, 3136, 12845056), (32, 65536, 16777216))
    for factor, least, most in limits:
        for rows, columns in itertools.product((*_SIDES, 1, 13, 70), repeat=2):
            if max(rows, columns) > 200 * min(rows, columns):
                continue
            ours = smart_resize(SizePx(rows, columns), factor, least, most)
            theirs = module.smart_resize(rows, columns, factor, least, most)
            assert (ours.rows, ours.columns) == theirs


def test_that_an_image_too_narrow_for_qwen_is_refused_with_a_sentence() -> None:
    with pytest.raises(WrongUseError, match="too long and narrow"):
        PROVIDER_VIEWS["qwen3"].seen(SizePx(10, 2001))
    with pytest.raises(WrongUseError, match="without pixels"):
        PROVIDER_VIEWS["none"].seen(SizePx(0, 10))


def test_that_the_limits_of_each_provider_are_kept() -> None:
    for rows, columns in itertools.product(_SIDES, repeat=2):
        sent = SizePx(rows, columns)
        low, high, patch, claude = (
            PROVIDER_VIEWS[name].seen(sent)
            for name in ("openai_low", "openai_high", "openai_patch", "claude")
        )
        assert max(low.rows, low.columns) <= 512
        assert max(high.rows, high.columns) <= 2048
        assert min(high.rows, high.columns) <= 768
        assert _patches(patch, 32) <= 1536
        assert max(claude.rows, claude.columns) <= 1568
        assert _patches(claude, 28) <= 1568


def _patches(size: SizePx, side: int) -> int:
    return math.ceil(size.rows / side) * math.ceil(size.columns / side)


def test_that_claude_sees_the_largest_size_within_its_limits() -> None:
    for rows, columns in ((2320, 2828), (4000, 3000), (1600, 1600), (500, 4000)):
        seen = PROVIDER_VIEWS["claude"].seen(SizePx(rows, columns))
        edge = max(seen.rows, seen.columns) + 1
        scale = edge / max(rows, columns)
        larger = SizePx(round(rows * scale), round(columns * scale))
        assert edge > 1568 or _patches(larger, 28) > 1568


@pytest.mark.parametrize("view", _VIEWS, ids=_IDS)
def test_that_a_box_comes_back_from_the_providers_view(view: ProviderView) -> None:
    rng = random.Random(0)
    for _ in range(300):
        native = SizePx(rng.randint(200, 4000), rng.randint(200, 4000))
        side, mode = rng.choice((256, 512, 1024)), rng.choice(list(FitMode))
        to_sent = fit_affine(ImageGeometry(native), side, mode)
        to_seen = view.affine(SizePx(side, side))
        for _ in range(2):
            corner = PointPx(
                rng.uniform(0, native.columns), rng.uniform(0, native.rows)
            )
            seen = to_seen.apply(to_sent.apply(corner))
            back = to_sent.inverse().apply(to_seen.inverse().apply(seen))
            assert abs(back.x - corner.x) <= 0.5
            assert abs(back.y - corner.y) <= 0.5


@pytest.mark.parametrize("view", _VIEWS, ids=_IDS)
def test_that_the_pixels_lie_where_the_map_says(view: ProviderView) -> None:
    """A white rectangle's edges, found in the pixels themselves, agree with the map."""
    for rows, columns in ((300, 400), (900, 700), (1400, 1800)):
        top, left = rows // 4 + 3, columns // 3 + 5
        bottom, right = rows // 2 + 7, columns - columns // 5
        pixels = np.zeros((rows, columns), dtype=np.uint8)
        pixels[top:bottom, left:right] = 255
        seen = view.apply(Raster(pixels))
        assert seen.size == view.seen(SizePx(rows, columns))
        across = np.flatnonzero(seen.pixels.max(axis=0) >= 128)
        down = np.flatnonzero(seen.pixels.max(axis=1) >= 128)
        to_seen = view.affine(SizePx(rows, columns))
        upper, lower = (
            to_seen.apply(PointPx(x, y)) for x, y in ((left, top), (right, bottom))
        )
        assert abs(across[0] - upper.x) <= 1.0
        assert abs(across[-1] + 1 - lower.x) <= 1.0
        assert abs(down[0] - upper.y) <= 1.0
        assert abs(down[-1] + 1 - lower.y) <= 1.0


def test_that_colour_stays_colour() -> None:
    pixels = np.zeros((256, 256, 3), dtype=np.uint8)
    pixels[..., 0] = 200
    seen = PROVIDER_VIEWS["qwen2_5"].apply(Raster(pixels))
    assert seen.pixels.shape == (252, 252, 3)
    assert np.all(seen.pixels == (200, 0, 0))


def test_that_an_unchanged_image_is_the_same_object() -> None:
    raster = Raster(np.zeros((256, 256), dtype=np.uint8))
    assert PROVIDER_VIEWS["none"].apply(raster) is raster


def test_that_small_cells_and_labels_are_warned_of() -> None:
    view, sent = PROVIDER_VIEWS["qwen2_5"], SizePx(256, 256)
    assert view.warnings(sent, Grid(8, 8), 9.0) == ()
    assert view.warnings(sent, Grid(16, 16), 7.0) == (
        "A grid cell is smaller than a patch (15.7 < 28 px).",
        "The labels are 6.8 px high after resizing, under 8.",
    )
    assert view.warnings(sent, Grid(16, 16)) == (
        "A grid cell is smaller than a patch (15.7 < 28 px).",
    )


def test_that_a_cell_of_exactly_one_patch_is_large_enough() -> None:
    view = PROVIDER_VIEWS["openai_patch"]
    assert view.warnings(SizePx(256, 256), Grid(8, 8), 8.0) == ()
    assert view.warnings(SizePx(256, 256), Grid(16, 16)) == (
        "A grid cell is smaller than a patch (16 < 32 px).",
    )
