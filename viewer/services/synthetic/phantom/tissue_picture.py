"""A field of tissue as haematoxylin and eosin show it.

Stains absorb light: a pixel is 255 · 10^-(h · H + e · E), with the colour of each stain
after Ruifrok and Johnston 2001, eosin a little more orange, as scanners show it.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from viewer.services.synthetic.phantom.tissue_scene import (
    Ellipse,
    Field,
    Nucleus,
    Tissue,
)

_Floats = npt.NDArray[np.float32]
_HAEMATOXYLIN = (0.650, 0.704, 0.286)
_EOSIN = (0.085, 0.870, 0.400)
_EOSIN_OF = {
    Tissue.MUCOSA: 0.20,
    Tissue.CARCINOMA: 0.22,
    Tissue.LYMPHOID: 0.13,
    Tissue.STROMA: 0.30,
    Tissue.FAT: 0.26,
    Tissue.NECROSIS: 0.36,
}
"""Eosin's density between the cells."""
_DARKNESS = {
    Nucleus.EPITHELIAL: 0.46,
    Nucleus.LYMPHOCYTE: 0.78,
    Nucleus.FIBROBLAST: 0.58,
    Nucleus.MITOSIS: 1.05,
}
"""Haematoxylin's density in a nucleus."""
_CELL = 0.12
"""Haematoxylin's density in the cells of a gland."""


def picture(field: Field) -> npt.NDArray[np.uint8]:
    """Return a field as (rows, columns, 3) RGB."""
    rng = np.random.default_rng([*field.seed, 1])
    blue, pink = _ground(field, rng)
    for vacuole in field.vacuoles:
        _clear(vacuole, blue, pink)
    for gland in field.glands:
        _line(gland.outline, gland.lumen, blue, pink)
    for kind, shape in field.nuclei:
        _stain(kind, shape, blue, pink, rng)
    blue *= 1 + 0.05 * _clouds(blue.shape, 40, rng)
    grain = rng.standard_normal((*blue.shape, 3), dtype=np.float32) * 2.2
    stains = np.stack((blue, pink), axis=2)
    colours = np.array((_HAEMATOXYLIN, _EOSIN), dtype=np.float32)
    density = (stains[..., None] * colours).sum(axis=2)
    light = 244 * np.power(np.float32(10), -density) + grain
    return np.asarray(np.clip(light + 0.5, 0, 255), dtype=np.uint8)


def _ground(field: Field, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
    """Return the background between cells: fibres, or grains in necrosis."""
    shape = (field.size.rows, field.size.columns)
    base = np.float32(_EOSIN_OF[field.tissue])
    if field.tissue is Tissue.NECROSIS:
        grains = _clouds(shape, 5, rng) + 0.6 * _clouds(shape, 2, rng)
        blue = np.float32(0.05) + 0.07 * np.maximum(_clouds(shape, 4, rng) - 0.8, 0)
        return np.asarray(blue, np.float32), np.asarray(base * (1 + 0.22 * grains))
    fibres = _fibres(shape, rng)
    blue = np.full(shape, 0.025, dtype=np.float32) + 0.01 * _clouds(shape, 12, rng)
    return np.maximum(blue, 0), np.asarray(base * (1 + 0.34 * fibres), np.float32)


def _fibres(shape: tuple[int, int], rng: np.random.Generator) -> _Floats:
    """Return wavy bands in one main direction, about 0 with a deviation near 1."""
    rows, columns = np.indices(shape, dtype=np.float32)
    turn = rng.uniform(0, np.pi)
    along = columns * np.float32(np.cos(turn)) + rows * np.float32(np.sin(turn))
    across = rows * np.float32(np.cos(turn)) - columns * np.float32(np.sin(turn))
    across = across + 9 * _clouds(shape, 60, rng) + 3 * np.sin(along / 34)
    bands = np.sin(across / 3.1) + 0.8 * np.sin(across / 7.3 + 1)
    return np.asarray(0.6 * bands + 0.5 * _clouds(shape, 16, rng), np.float32)


def _clouds(shape: tuple[int, ...], width: int, rng: np.random.Generator) -> _Floats:
    """Return smooth noise of a width in pixels with a deviation of 1."""
    from scipy.ndimage import gaussian_filter

    raw = rng.standard_normal(shape, dtype=np.float32)
    smooth = gaussian_filter(raw, width / 2, mode="wrap")
    return np.asarray(smooth / smooth.std(), dtype=np.float32)


def _clear(vacuole: Ellipse, blue: _Floats, pink: _Floats) -> None:
    """Draw a fat cell: empty, with a thin wall."""
    for rows, columns, far in _near(vacuole, blue.shape):
        inside = np.clip((1 - far) * vacuole.reach / 2, 0, 1)
        blue[rows, columns] *= 1 - inside
        pink[rows, columns] *= 1 - 0.97 * inside


def _line(outline: Ellipse, lumen: float, blue: _Floats, pink: _Floats) -> None:
    """Draw a gland's cells around its empty lumen."""
    for rows, columns, far in _near(outline, blue.shape):
        cells = np.clip((1 - far) * outline.reach / 2.5, 0, 1)
        empty = np.clip((lumen - far) * outline.reach / 2.5, 0, 1)
        blue[rows, columns] += cells * (_CELL - blue[rows, columns])
        pink[rows, columns] += cells * (0.17 - pink[rows, columns])
        blue[rows, columns] *= 1 - empty
        pink[rows, columns] *= 1 - 0.94 * empty


def _stain(
    kind: Nucleus,
    shape: Ellipse,
    blue: _Floats,
    pink: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw a nucleus: uniform if it divides, else chromatin in a membrane."""
    darkness = _DARKNESS[kind] * float(rng.uniform(0.9, 1.1))
    for rows, columns, far in _near(shape, blue.shape):
        edge = np.clip((1 - far) * shape.short / 1.3, 0, 1)
        if kind is Nucleus.MITOSIS:
            ragged = far + 0.22 * rng.standard_normal(far.shape, dtype=np.float32)
            edge = np.clip((1 - ragged) * shape.short / 1.6, 0, 1)
            texture = np.ones_like(far)
        else:
            texture = 0.86 + 0.3 * np.clip(far, 0, 1) ** 4
            texture += 0.14 * rng.standard_normal(far.shape, dtype=np.float32)
        blue[rows, columns] += edge * (darkness * texture - blue[rows, columns])
        pink[rows, columns] *= 1 - 0.55 * edge


def _near(
    shape: Ellipse, within: tuple[int, ...]
) -> Iterator[tuple[slice, slice, _Floats]]:
    """Yield the rows and columns around an ellipse, and each pixel's distance.

    Distances from the centre are relative: 1 on the ellipse.
    """
    reach = shape.reach + 4
    top, left = max(0, int(shape.y - reach)), max(0, int(shape.x - reach))
    bottom = min(within[0], int(shape.y + reach) + 1)
    right = min(within[1], int(shape.x + reach) + 1)
    y = np.arange(top, bottom, dtype=np.float32)[:, None] + 0.5 - shape.y
    x = np.arange(left, right, dtype=np.float32)[None, :] + 0.5 - shape.x
    along = x * np.cos(shape.angle) + y * np.sin(shape.angle)
    across = y * np.cos(shape.angle) - x * np.sin(shape.angle)
    far = np.sqrt(np.square(along / shape.long) + np.square(across / shape.short))
    yield slice(top, bottom), slice(left, right), np.asarray(far, dtype=np.float32)
