"""The questions of a probe, about generated images, never a patient's."""

import hashlib
from collections.abc import Mapping
from typing import Final

import numpy as np

from viewer.domain.exchange import Facts, ImagePart, Message, ModelRequest, TextPart
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png

SIDE: Final = 128
"""Rows and columns of the marker images."""
_TEXT: Final = "Name the grid cell of what stands out, such as D4, and nothing else."
CELLS: Final = tuple(f"{row}{column}" for row in "ABCDEFGH" for column in range(1, 9))
"""The answers that the probe's schema allows."""
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"cell": {"type": "string", "enum": list(CELLS)}},
    "required": ["cell"],
    "additionalProperties": False,
}


def plain_marker() -> Raster:
    """Return a black square with one white corner: few bytes as a PNG."""
    pixels = np.zeros((SIDE, SIDE), np.uint8)
    pixels[: SIDE // 4, : SIDE // 4] = 255
    return Raster(pixels)


def busy_marker() -> Raster:
    """Return grey noise with a black corner: the same size, but many bytes as a PNG.

    A server that reads an image's bytes as text counts far more tokens for it.
    """
    pixels = np.random.default_rng(0).integers(96, 255, (SIDE, SIDE), dtype=np.uint8)
    pixels[-SIDE // 4 :, -SIDE // 4 :] = 0
    return Raster(pixels)


def question(marker: Raster | None = None) -> ModelRequest:
    """Return the probe's question, about a marker image or without one.

    The schema of the answer lists every cell, so that even a rambling model ends.
    """
    image = () if marker is None else (ImagePart(encode_png(marker)),)
    messages = (
        Message("system", (TextPart("You answer in one word."),)),
        Message("user", (*image, TextPart(_TEXT))),
    )
    facts, prompt = _facts(marker or plain_marker()), _sha256(_TEXT.encode())
    return ModelRequest(messages, facts, prompt, _SCHEMA)


def _facts(raster: Raster) -> Facts:
    return Facts(
        rows=8,
        columns=8,
        letters="row",
        finding="",
        view="",
        item="probe",
        condition="probe",
        seed=0,
        repeat=0,
        plain=raster,
        plain_sha256=_sha256(raster.pixels.tobytes()),
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
