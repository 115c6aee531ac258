import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("captum", reason="needs captum")

import torch

from tests.helpers.requests import noise
from tests.helpers.tiny_cnn import WithMaps, tiny_net
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.resample import FitMode, fit_affine
from viewer.models.cnn_cam.cam import grad_cam, laid_over, shown_numbers
from viewer.models.cnn_cam.card import Card, NetworkInput, NetworkSource
from viewer.models.cnn_cam.network import Network


def seen(
    side: int = 16, fit: FitMode = FitMode.STRETCH, **changes: object
) -> NetworkInput:
    values: dict[str, object] = {
        "side": side,
        "channels": 1,
        "low": 0.0,
        "high": 1.0,
        "mean": (0.5,),
        "std": (0.25,),
        "fit": fit,
        **changes,
    }
    return NetworkInput(**values)  # type: ignore[arg-type]


NO_CARD = Card("none", "", NetworkSource("exported", Path("none")), seen(), {}, "")


def network(module: Any, layer: Any) -> Network:  # noqa: ANN401 - as torch has them
    return Network(module, layer, "cpu", NO_CARD)


@pytest.mark.statement("E000-30")
def test_that_the_map_of_a_linear_head_is_the_one_derived_by_hand() -> None:
    # A_k = w_k·x, score = Σ_k v_k·mean(A_k): ∂score/∂A_k = v_k/(rows·columns) all over,
    # so the map is ReLU(Σ_k v_k·w_k·x)/(rows·columns).
    w, v = (2.0, -1.0, 0.5), (1.0, 3.0, -2.0)
    conv = torch.nn.Conv2d(1, 3, 1, bias=False)
    head = torch.nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        conv.weight[:] = torch.tensor(w).view(3, 1, 1, 1)
        head.weight[:] = torch.tensor(v)
    pool = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    net = torch.nn.Sequential(conv, pool, head).eval()
    x = np.random.default_rng(0).normal(size=(1, 1, 5, 7)).astype(np.float32)
    found, score = grad_cam(network(net, conv), x, 0)
    slope = sum(a * b for a, b in zip(w, v, strict=True))
    np.testing.assert_allclose(found, np.maximum(slope * x[0, 0], 0) / 35, atol=1e-6)
    assert score == pytest.approx(slope * x.mean(), abs=1e-6)


@pytest.mark.statement("E000-30")
@pytest.mark.parametrize("score", [0, 1, 2])
def test_that_the_map_equals_one_from_finite_differences(score: int) -> None:
    net: Any = tiny_net().double()
    net.head = torch.nn.Sequential(net.head, torch.nn.Tanh())
    x = np.random.default_rng(score).normal(size=(1, 1, 16, 16))
    found, value = grad_cam(network(net, net.features), x, score)
    with torch.no_grad():
        maps = net.features(torch.from_numpy(x))

        def told(changed: torch.Tensor) -> float:
            return float(net.head(changed.mean(dim=(2, 3)))[0, score])

        slopes = np.zeros(maps.shape[1:])
        for k, i, j in itertools.product(*(range(n) for n in maps.shape[1:])):
            up, down = maps.clone(), maps.clone()
            up[0, k, i, j] += 1e-4
            down[0, k, i, j] -= 1e-4
            slopes[k, i, j] = (told(up) - told(down)) / 2e-4
        by_hand = np.maximum(
            np.tensordot(slopes.mean(axis=(1, 2)), maps[0].numpy(), axes=1), 0
        )
        assert value == pytest.approx(told(maps))
    assert by_hand.max() > 0
    np.testing.assert_allclose(found, by_hand, rtol=1e-5, atol=1e-12)


def test_that_a_network_that_returns_its_maps_gives_the_same() -> None:
    net = tiny_net()
    x = np.random.default_rng(1).normal(size=(1, 1, 16, 16)).astype(np.float32)
    named = grad_cam(network(net, net.features), x, 1)
    own = grad_cam(network(WithMaps(net), None), x, 1)
    np.testing.assert_allclose(own[0], named[0], rtol=1e-6)
    assert own[1] == pytest.approx(named[1])


@pytest.mark.parametrize(("coarse", "side"), [((8, 8), 64), ((7, 7), 10), ((1, 3), 5)])
def test_that_the_map_is_interpolated_as_torch_does(
    coarse: tuple[int, int], side: int
) -> None:
    found = np.random.default_rng(3).random(coarse)
    wide = laid_over(found, SizePx(40, 30), seen(16), side)
    theirs = torch.nn.functional.interpolate(
        torch.from_numpy(found)[None, None],
        size=(side, side),
        mode="bilinear",
        align_corners=False,
    )[0, 0].numpy()
    np.testing.assert_allclose(wide, theirs / theirs.max(), atol=1e-12)


@pytest.mark.parametrize("mode", list(FitMode))
@pytest.mark.parametrize("size", [SizePx(60, 100), SizePx(90, 30), SizePx(64, 64)])
def test_that_a_bright_place_stays_where_it_is_however_it_was_fitted(
    mode: FitMode, size: SizePx
) -> None:
    shown = seen(32, mode)
    middle = PointPx(size.columns * 0.5, size.rows * 0.45)
    at = fit_affine(ImageGeometry(size), 32, mode).apply(middle)
    found = np.zeros((32, 32))
    found[int(at.y), int(at.x)] = 1.0
    wide = laid_over(found, size, shown, 64)
    row, column = np.unravel_index(int(np.argmax(wide)), wide.shape)
    scale = max(size.rows, size.columns) / 32
    assert abs((column + 0.5) * size.columns / 64 - middle.x) <= 1.5 * scale
    assert abs((row + 0.5) * size.rows / 64 - middle.y) <= 1.5 * scale


def test_that_what_was_cropped_away_has_no_evidence() -> None:
    wide = laid_over(
        np.ones((4, 4)), SizePx(50, 100), seen(16, FitMode.CROP_RESIZE), 100
    )
    assert not wide[:, :25].any()
    assert not wide[:, 75:].any()
    assert (wide[:, 25:75] == 1).all()


def test_that_a_map_without_evidence_stays_empty() -> None:
    assert not laid_over(np.zeros((4, 4)), SizePx(9, 9), seen(), 8).any()


def test_that_numbers_shown_are_those_of_the_card() -> None:
    raster = noise(16, 5)
    grey = raster.pixels / 255
    shown = seen(
        channels=3, low=-1024.0, high=1024.0, mean=(1.0, 2, 3), std=(1.0, 2, 4)
    )
    numbers = shown_numbers(raster, shown)
    assert numbers.shape == (1, 3, 16, 16)
    assert numbers.dtype == np.float32
    for channel, (mean, std) in enumerate([(1, 1), (2, 2), (3, 4)]):
        expected = (-1024 + grey * 2048 - mean) / std
        np.testing.assert_allclose(numbers[0, channel], expected, rtol=1e-5, atol=1e-4)


def test_that_colour_is_seen_as_its_brightness() -> None:
    colour = np.zeros((16, 16, 3), np.uint8)
    colour[..., 1] = 255
    numbers = shown_numbers(Raster(colour), seen(mean=(0.0,), std=(1.0,)))
    np.testing.assert_allclose(numbers, 0.587, atol=1e-6)
