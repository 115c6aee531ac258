"""Five scripted models, each with another kind of answer, about one image.

They write in the conventions of models that exist; the study itself asks them all for
a cell.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png


def five_models(
    folder: Path, field: BoxPx, middle: PointPx, half: SizePx
) -> tuple[ModelProfile, ...]:
    """Return models that answer around the native point ``middle`` of an image.

    ``field`` is the native rectangle sent, ``half`` half the size of what they find.
    In this order: a cell, a point, boxes, a mask and a heat map.
    """
    x = (middle.x - field.x0) / (field.x1 - field.x0)
    y = (middle.y - field.y0) / (field.y1 - field.y0)
    w = half.columns / (field.x1 - field.x0)
    h = half.rows / (field.y1 - field.y0)
    heat = folder / "heat.npy"
    np.save(heat, _bump(x, y, w, h))
    around = [round(1000 * v) for v in (x - w, y - h, x + w, y + h)]
    shifted = [v + round(400 * w) for v in around]
    return (
        ModelProfile("names-a-cell", "scripted", {"answer": _cell(x, y)}),
        _speaks(
            "points",
            "molmo",
            f'<point x="{100 * x:.1f}" y="{100 * y:.1f}" alt="it">it</point>',
        ),
        _speaks("draws-boxes", "qwen3_vl", _boxes(shifted)),
        _speaks("segments", "gemini", _mask(around)),
        ModelProfile("maps", "scripted", {"heat_map_file": str(heat)}),
    )


def _speaks(name: str, convention: str, answer: str) -> ModelProfile:
    settings = {"answer": answer, "convention": convention}
    return ModelProfile(name, "scripted", settings)


def _cell(x: float, y: float) -> str:
    return f"{'ABCDEFGH'[int(8 * y)]}{int(8 * x) + 1}"


def _boxes(corners: Sequence[int]) -> str:
    small = [20, 30, 60, 70]
    return json.dumps([{"bbox_2d": list(corners)}, {"bbox_2d": small}])


def _mask(corners: Sequence[int]) -> str:
    x0, y0, x1, y1 = corners
    v, u = np.ogrid[-1:1:64j, -1:1:64j]
    ring = (u**2 + v**2 <= 1) & (u**2 + (v - 0.3) ** 2 > 0.1)
    png = encode_png(Raster((ring * 255).astype(np.uint8)))
    coded = "data:image/png;base64," + base64.b64encode(png).decode()
    return json.dumps([{"box_2d": [y0, x0, y1, x1], "mask": coded}])


def _bump(x: float, y: float, w: float, h: float) -> np.ndarray:
    v, u = (np.arange(56) + 0.5) / 56, (np.arange(56) + 0.5) / 56
    return np.exp(
        -(((u[None, :] - x) / (1.2 * w)) ** 2) - ((v[:, None] - y) / (1.2 * h)) ** 2
    )
