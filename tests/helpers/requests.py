"""Small questions as a study would ask them, and a clock, for tests of adapters."""

import hashlib
import io
from threading import Lock

import numpy as np
import numpy.typing as npt
from PIL import Image

from viewer.domain.exchange import (
    Asked,
    Facts,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
)
from viewer.domain.image import Raster


def png_of(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a PNG of a grey (rows, columns) or RGB array."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def noise(side: int = 32, seed: int = 0) -> Raster:
    """Return a square grey raster of noise."""
    rng = np.random.default_rng(seed)
    return Raster(rng.integers(0, 256, (side, side), dtype=np.uint8))


def facts(
    item: str = "patient1_study1_view1_frontal|Pneumothorax",
    rows: int = 8,
    columns: int = 8,
    plain: Raster | None = None,
    **changes: object,
) -> Facts:
    """Return facts about a grid of noise, with ``changes`` to any field."""
    raster = plain or noise()
    values: dict[str, object] = {
        "rows": rows,
        "columns": columns,
        "letters": "row",
        "finding": item.rpartition("|")[2],
        "view": "frontal",
        "item": item,
        "condition": f"grid={rows}" if rows == columns else f"grid={rows}x{columns}",
        "seed": 0,
        "repeat": 0,
        "plain": raster,
        "plain_sha256": hashlib.sha256(raster.pixels.tobytes()).hexdigest(),
        "asked": Asked("m", "answer"),
        **changes,
    }
    return Facts(**values)  # type: ignore[arg-type]


def request(
    about: Facts | None = None,
    text: str = "Where is the abnormality ‘Pneumothorax’?",
    png: bytes | None = None,
    detail: str | None = None,
) -> ModelRequest:
    """Return a question with one image and one text, like paper 000's."""
    about = about or facts()
    image = ImagePart(png or png_of(about.plain.pixels), detail=detail)
    messages = (
        Message("system", (TextPart("You are an expert chest radiologist."),)),
        Message("user", (image, TextPart(text))),
    )
    prompt = hashlib.sha256(text.encode()).hexdigest()
    return ModelRequest(messages, about, prompt)


class ScriptedClock:
    """Stands for the module ``time`` where only ``perf_counter`` is asked of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = Lock()

    def pass_(self, seconds: float) -> None:
        """Let so much time go by."""
        with self._lock:
            self.seconds += seconds

    def perf_counter(self) -> float:
        """Return the seconds since the clock was made."""
        return self.seconds
