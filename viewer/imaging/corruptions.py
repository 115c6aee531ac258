"""Eight corruptions of pathology images at five levels (Zhang 2022; App. A.5).

Each depends only on the image's pixels, the kind, the level and a seed: the bytes are
the same in every process, thread and order.

Zhang et al., *Benchmarking the Robustness of Deep Neural Networks to Common Corruptions
in Digital Pathology*, MICCAI 2022. Sun 2024 probably used these parameters but does not
say so.
"""

import hashlib
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Final

import numpy as np

from viewer.domain.errors import WrongUseError
from viewer.domain.image import Raster
from viewer.imaging.corruption_blur import defocused, moved, scale_of
from viewer.imaging.corruption_colour import brighter, more_saturated, other_hue
from viewer.imaging.corruption_quality import bubbled, pixelated
from viewer.imaging.jpeg_loss import compressed
from viewer.imaging.seeded_bits import SeededBits


class Corruption(StrEnum):
    """A kind of corruption, in the order of Sun 2024, Table 2."""

    BRIGHTNESS = "brightness"
    BUBBLE = "bubble"
    DEFOCUS = "defocus"
    HUE = "hue"
    JPEG = "jpeg"
    MOTION = "motion"
    PIXELATE = "pixelate"
    SATURATE = "saturate"


LEVELS: Final = (1, 2, 3, 4, 5)
_STEPS: Final = (0.05, 0.10, 0.15, 0.20, 0.25)
_HUES: Final = (0.02, 0.04, 0.06, 0.08, 0.10)
_QUALITIES: Final = (25, 18, 15, 10, 7)
_SCALES: Final = (0.6, 0.5, 0.4, 0.3, 0.25)
_PARTS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
_DISCS: Final = {
    224: ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    96: ((3, 0.05), (4, 0.3), (5, 0.3), (6, 0.3), (7, 0.3)),
}
"""Radius and alias blur in pixels, by the side they are for."""
_DRAGS: Final = {
    224: ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    96: ((5, 1), (5, 2), (5, 3), (5, 4), (6, 5)),
}
"""Radius and sigma in pixels, by the side they are for."""
_WIDEST_TURN: Final = 45.0

Change = Callable[[Raster, SeededBits], Raster]


def corrupt(
    raster: Raster, kind: Corruption, level: int, seed: int = 0, reference: int = 224
) -> Raster:
    """Return an image corrupted.

    Parameters
    ----------
    raster : Raster
        Grey or RGB; the result is RGB and of the same size.
    kind : Corruption
        The corruption to apply.
    level : int
        1, the mildest, to 5; 0 returns the image itself.
    seed : int
        Seed of the bubbles' positions and of the direction of motion, which are the
        same at every level of one image.
    reference : int
        224 or 96: the side in pixels for which the radii of the blurs are given.

    Raises
    ------
    WrongUseError
        There is no such level or side.
    """
    if level == 0:
        return raster
    if level not in LEVELS or reference not in _DISCS:
        raise WrongUseError(
            f"No corruption is defined for level {level} at {reference} pixels.",
            "Choose a level from 0 to 5, and 224 or 96 pixels.",
        )
    colour = raster if raster.pixels.ndim == 3 else _coloured(raster)
    bits = SeededBits(seed, pixels_sha256(colour), kind.value)
    return _changes(level, reference)[kind](colour, bits)


def pixels_sha256(raster: Raster) -> str:
    """Return the SHA-256 of a raster's size and pixels, in hexadecimal."""
    shape = "x".join(str(n) for n in raster.pixels.shape)
    digest = hashlib.sha256(f"{shape}\n".encode())
    digest.update(raster.pixels.tobytes())
    return digest.hexdigest()


def gallery(
    raster: Raster, seed: int = 0, reference: int = 224
) -> Mapping[Corruption, tuple[Raster, ...]]:
    """Return one image under every kind at every level, from 0."""
    return {
        kind: tuple(
            corrupt(raster, kind, level, seed, reference) for level in (0, *LEVELS)
        )
        for kind in Corruption
    }


def _changes(level: int, reference: int) -> Mapping[Corruption, Change]:
    at = level - 1
    return {
        Corruption.BRIGHTNESS: lambda raster, _: brighter(raster, _STEPS[at]),
        Corruption.BUBBLE: lambda raster, bits: bubbled(raster, _PARTS[at], bits),
        Corruption.DEFOCUS: partial(_defocus, at, reference),
        Corruption.HUE: lambda raster, _: other_hue(raster, _HUES[at]),
        Corruption.JPEG: lambda raster, _: compressed(raster, _QUALITIES[at]),
        Corruption.MOTION: partial(_move, at, reference),
        Corruption.PIXELATE: lambda raster, _: pixelated(raster, _SCALES[at]),
        Corruption.SATURATE: lambda raster, _: more_saturated(raster, _STEPS[at]),
    }


def _defocus(at: int, reference: int, raster: Raster, _: SeededBits) -> Raster:
    radius, alias = _DISCS[reference][at]
    return defocused(raster, radius, alias, scale_of(raster, reference))


def _move(at: int, reference: int, raster: Raster, bits: SeededBits) -> Raster:
    radius, sigma = _DRAGS[reference][at]
    angle = bits.uniform(-_WIDEST_TURN, _WIDEST_TURN)
    return moved(raster, radius, sigma, angle, scale_of(raster, reference))


def _coloured(raster: Raster) -> Raster:
    return Raster(np.repeat(raster.pixels[..., None], 3, axis=2))
