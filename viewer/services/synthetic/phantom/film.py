"""From line integrals to a 12-bit radiograph: scatter, blur, noise and response."""

from dataclasses import dataclass

import numpy as np

from viewer.services.synthetic.phantom.rays import (
    FIELD_HEIGHT_MM,
    FIELD_WIDTH_MM,
    Bools,
    Floats,
    UInts,
)

MAX_VALUE = 4095
_CLUTTER = 0.014
"""Standard deviation of the line integral at each of the scales of unevenness."""
_CLUTTER_MM = (14.0, 7.0, 3.5)
_LOWEST, _HIGHEST, _STEPS = -3.0, 6.0, 2**15
"""Range and resolution of the response curve; 0 is dark lung, 1 dense tissue."""


@dataclass(frozen=True)
class Film:
    """The properties of one exposure.

    ``scatter`` is the scattered share of the mean primary, ``focus_mm`` the standard
    deviation of the blur, ``noise`` that of the quantum noise behind 100 mm of water,
    ``local`` the weight of the local contrast enhancement, ``collimation`` the
    shuttered margins left, right, top, bottom in millimetres.
    """

    scatter: float
    focus_mm: float
    noise: float
    local: float
    toe: float
    softness: float
    collimation: tuple[float, float, float, float]


def draw_film(rng: np.random.Generator) -> Film:
    """Return a random exposure."""
    margins = rng.uniform(-6, 7, 4)
    left, right, top, bottom = (float(max(m, 0)) for m in margins)
    return Film(
        scatter=float(rng.uniform(0.05, 0.12)),
        focus_mm=float(rng.uniform(0.16, 0.24)),
        noise=float(rng.uniform(0.02, 0.032)),
        local=float(rng.uniform(0.45, 0.62)),
        toe=float(rng.uniform(0.16, 0.26)),
        softness=float(rng.uniform(0.5, 0.62)),
        collimation=(left, right, top, bottom),
    )


def develop(
    attenuation: Floats, lungs: Bools, body: Bools, rng: np.random.Generator
) -> UInts:
    """Return the 12-bit radiograph of line integrals, dense tissue bright.

    Scatter is added to the transmitted intensity, noise grows as quanta grow few, the
    logarithm is taken, large-area contrast is compressed, and an S-shaped response
    between the darkest lung and the densest tissue gives the grey value.
    """
    from scipy.ndimage import gaussian_filter

    film = draw_film(rng)
    rows, columns = attenuation.shape
    pitch = max(FIELD_WIDTH_MM / columns, FIELD_HEIGHT_MM / rows)
    primary = np.exp(-attenuation)
    received = primary + film.scatter * _smooth(primary, 35 / pitch)
    density = -np.log(received)
    grain = rng.standard_normal(attenuation.shape, dtype=np.float32)
    amplitude = film.noise * np.exp(np.float32(0.5) * (density - np.float32(1.85)))
    density += np.minimum(amplitude, np.float32(0.08)) * grain * min(1.0, 0.35 / pitch)
    density = gaussian_filter(density, film.focus_mm / pitch, truncate=3)
    inside = np.minimum(density, np.float32(5.5))
    density += _clutter(attenuation.shape, pitch, rng)
    density -= np.float32(film.local) * _smooth(inside, 28 / pitch)
    values = _respond(density, lungs, body, film)
    _collimate(values, film, pitch)
    return values


def _clutter(shape: tuple[int, int], pitch: float, rng: np.random.Generator) -> Floats:
    """Return the uneven shadow of fat and muscle, random at several scales."""
    total = np.zeros(shape, dtype=np.float32)
    for scale_mm in _CLUTTER_MM:
        step = max(1, round(scale_mm / pitch))
        coarse = [-(-n // step) + 1 for n in shape]
        field = rng.standard_normal(coarse, dtype=np.float32)
        fine = _enlarge(_enlarge(field.T, step, shape[1]).T, step, shape[0])
        total += np.float32(_CLUTTER) * fine
    return total


def _smooth(image: Floats, sigma: float) -> Floats:
    """Return a wide Gaussian blur, computed on a coarse copy."""
    from scipy.ndimage import gaussian_filter

    step = max(1, int(sigma // 4))
    rows, columns = image.shape
    padded = np.pad(image, ((0, -rows % step), (0, -columns % step)), mode="edge")
    coarse = padded.reshape(
        padded.shape[0] // step, step, padded.shape[1] // step, step
    ).mean(axis=(1, 3))
    blurred = gaussian_filter(coarse, sigma / step, mode="nearest")
    return _enlarge(_enlarge(blurred.T, step, columns).T, step, rows)


def _enlarge(image: Floats, step: int, rows: int) -> Floats:
    """Return an image with its rows interpolated linearly between block centres."""
    at = np.clip((np.arange(rows) + 0.5) / step - 0.5, 0, len(image) - 1)
    low = np.minimum(at.astype(np.intp), max(len(image) - 2, 0))
    share = (at - low).astype(np.float32)[:, np.newaxis]
    high = np.minimum(low + 1, len(image) - 1)
    base = image[low]
    out = image[high]
    out -= base
    out *= share
    out += base
    return np.asarray(out)


def _respond(density: Floats, lungs: Bools, body: Bools, film: Film) -> UInts:
    """Return grey values: black air, dark lungs, the rest compressed towards white."""
    step = slice(None, None, max(1, density.shape[0] // 300))
    coarse = density[step, step]
    dark = np.percentile(coarse[lungs[step, step]], 10)
    bright = np.percentile(coarse[body[step, step]], 88)
    level = np.linspace(_LOWEST, _HIGHEST, _STEPS)
    toe = (level + film.toe) / film.softness
    grey = -np.expm1(-np.logaddexp(0, toe * 6) / 6) * (MAX_VALUE * 0.97)
    curve = np.rint(grey).astype(np.uint16)
    scale = (_STEPS - 1) / (_HIGHEST - _LOWEST)
    slope = np.float32(scale / (bright - dark))
    index = (density - np.float32(dark)) * slope - np.float32(_LOWEST * scale)
    return np.asarray(curve[np.clip(index, 0, _STEPS - 1).astype(np.intp)])


def _collimate(values: UInts, film: Film, pitch: float) -> None:
    left, right, top, bottom = (int(m / pitch) for m in film.collimation)
    rows, columns = values.shape
    values[:top] = 0
    values[rows - bottom :] = 0
    values[:, :left] = 0
    values[:, columns - right :] = 0
