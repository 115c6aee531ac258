"""From line integrals to a 12-bit radiograph: scatter, blur, noise and response."""

from dataclasses import dataclass

import numpy as np

from viewer.phantom.rays import FIELD_HEIGHT_MM, FIELD_WIDTH_MM, Floats, UInts

MAX_VALUE = 4095


@dataclass(frozen=True)
class Film:
    """How one exposure turns out.

    ``scatter`` is the scattered share of the mean primary, ``focus_mm`` the standard
    deviation of the blur, ``noise`` that of the quantum noise behind 100 mm of water,
    ``local`` the weight of the local contrast enhancement, ``collimation`` the
    shuttered margins left, right, top, bottom in millimetres.
    """

    scatter: float
    focus_mm: float
    noise: float
    local: float
    gamma: float
    collimation: tuple[float, float, float, float]


def draw_film(rng: np.random.Generator) -> Film:
    """Return a random exposure."""
    margins = rng.uniform(-6, 7, 4)
    left, right, top, bottom = (float(max(m, 0)) for m in margins)
    return Film(
        scatter=float(rng.uniform(0.2, 0.4)),
        focus_mm=float(rng.uniform(0.16, 0.24)),
        noise=float(rng.uniform(0.008, 0.014)),
        local=float(rng.uniform(0.25, 0.5)),
        gamma=float(rng.uniform(0.85, 1.2)),
        collimation=(left, right, top, bottom),
    )


def develop(attenuation: Floats, rng: np.random.Generator) -> UInts:
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
    density = density - np.float32(film.local) * (
        _smooth(inside, 28 / pitch) - np.float32(3)
    )
    values = _respond(density, film.gamma)
    _collimate(values, film, pitch)
    return values


def _smooth(image: Floats, sigma: float) -> Floats:
    """Return a wide Gaussian blur, computed on a coarse copy."""
    from scipy.ndimage import gaussian_filter, zoom

    step = max(1, int(sigma // 4))
    rows, columns = image.shape
    padded = np.pad(image, ((0, -rows % step), (0, -columns % step)), mode="edge")
    coarse = padded.reshape(
        padded.shape[0] // step, step, padded.shape[1] // step, step
    ).mean(axis=(1, 3))
    blurred = gaussian_filter(coarse, sigma / step, mode="nearest")
    if step == 1:
        return np.asarray(blurred)
    fine = zoom(blurred, step, order=1, mode="nearest", grid_mode=True)
    return np.asarray(fine[:rows, :columns], dtype=np.float32)


def _respond(density: Floats, gamma: float) -> UInts:
    sample = density[::8, ::8]
    rows, columns = sample.shape
    middle = sample[rows // 6 : rows * 5 // 6, columns // 8 : columns * 7 // 8]
    low, high = np.percentile(middle, [6.0, 97.0])
    level = (density - np.float32(low)) / np.float32(high - low)
    grey = 1 / (1 + np.exp(np.float32(-4.2) * (level - np.float32(0.48))))
    grey = np.power(grey, np.float32(gamma)) * np.float32(MAX_VALUE)
    return np.asarray(np.clip(np.rint(grey), 0, MAX_VALUE).astype(np.uint16))


def _collimate(values: UInts, film: Film, pitch: float) -> None:
    left, right, top, bottom = (int(m / pitch) for m in film.collimation)
    rows, columns = values.shape
    values[:top] = 0
    values[rows - bottom :] = 0
    values[:, :left] = 0
    values[:, columns - right :] = 0
