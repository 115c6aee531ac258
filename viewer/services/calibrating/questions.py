"""Prompts that ask for a marker: neutral, and in each convention's own words."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from viewer.domain.exchange import Facts, ImagePart, Message, ModelRequest, TextPart
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.imaging.grid_overlay import GridStyle, draw_grid
from viewer.imaging.png import encode_png
from viewer.models.coordinates.asking import ASKING
from viewer.services.calibrating.marker_images import Marker, draw

NEUTRAL: Final = "neutral"
GRID: Final = Grid(8, 8)
"""The grid drawn where a cell is asked for."""

WORDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **ASKING,
        NEUTRAL: (
            "Where is the {condition} in this image? Answer with its bounding box and "
            "nothing else."
        ),
        "grid": (
            "In which cell of the grid is the {condition} most prominent? Answer with "
            "the cell's name only, such as D4."
        ),
    }
)
"""What is asked, by the convention whose words they are: those that studies use."""


def question(marker: Marker, wording: str) -> ModelRequest:
    """Return the question for a marker; a grid is drawn if a cell is asked for."""
    plain = draw(marker)
    text = WORDINGS[wording].replace("{condition}", marker.name)
    image = ImagePart(_png(marker, gridded=wording == "grid"))
    messages = (Message("user", (image, TextPart(text))),)
    prompt = hashlib.sha256(WORDINGS[wording].encode()).hexdigest()
    return ModelRequest(messages, _facts(marker, wording, plain), prompt)


@lru_cache(maxsize=32)
def _png(marker: Marker, *, gridded: bool) -> bytes:
    plain = draw(marker)
    style = GridStyle(font_scale=2)
    return encode_png(draw_grid(plain, GRID, style) if gridded else plain)


def _facts(marker: Marker, wording: str, plain: Raster) -> Facts:
    box = marker.box
    where = f"{box.x0:g},{box.y0:g},{box.x1:g},{box.y1:g}"
    return Facts(
        rows=GRID.rows,
        columns=GRID.columns,
        letters=GRID.letters.value,
        finding=marker.name,
        view="",
        item=f"marker{marker.number}",
        condition=f"{wording}@{where}",
        seed=0,
        repeat=0,
        plain=plain,
        plain_sha256=hashlib.sha256(plain.pixels.tobytes()).hexdigest(),
    )
