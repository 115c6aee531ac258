"""A server that looks at the images it gets, and finds a coloured mark in them."""

import base64
import io
import re
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from tests.helpers.scripted_server import Received, Script, completion
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.places import Place
from viewer.models.coordinates.conventions import convention_named
from viewer.models.coordinates.frame import Frame

_IMAGE = re.compile(rb"data:image/png;base64,([A-Za-z0-9+/=]+)")
_COLOURED = 100
"""How much the channels of a coloured pixel differ; drawn lines and noise are grey."""


@dataclass
class Seeing(Script):
    """Answers with the box of the mark in the first image, in its own convention."""

    convention: str = "grid"
    called: str = "scripted-1"

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return the place of the mark, under the model's name."""
        found = _IMAGE.search(request.body)
        assert found is not None
        box, size = _mark(base64.b64decode(found[1]))
        frame = replace(Frame.of_sent(size), grid=Grid(8, 8))
        written = convention_named(self.convention).write([Place(box, "mark")], frame)
        document = completion(written)
        document["model"] = self.called
        return 200, document


def _mark(png: bytes) -> tuple[BoxPx, SizePx]:
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    rows, columns = np.nonzero(np.ptp(pixels, axis=2) > _COLOURED)
    box = BoxPx(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    return box, SizePx(*pixels.shape[:2])
