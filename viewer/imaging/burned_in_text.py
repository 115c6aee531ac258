"""Finds text in an image's pixels, for a person to review (extra ``ocr``).

The models are part of rapidocr's package; nothing is downloaded. The recognised text
stays in memory: only whether it may identify somebody is reported.
"""

import importlib.util
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import MissingDependencyError, where_to_get
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Raster
from viewer.imaging.resample import squared

MISSING: Final = (
    f"Looking for burned-in text needs rapidocr ({where_to_get('overread[ocr]')})."
)
_LEGIBLE: Final = 0.3
"""The recogniser's score from which a place is taken for text that can be read."""
_WORD_LONG: Final = 3.0
"""From so many heights on, a place that cannot be read is taken for a word."""
_MARGIN_ACROSS, _MARGIN_ALONG = 0.25, 1.5
"""How far a box is widened above and below, and at both ends, in heights of the text.

The finder cuts the last letter of one line in two hundred; a name with a letter less is
still a name.
"""
_MARKER_WORDS: Final = """
    L R LEFT RIGHT AP PA LL RL LAT LATERAL PORTABLE MOBILE ERECT UPRIGHT SUPINE SITTING
    SEMIERECT DECUBITUS INSPIRATION EXPIRATION
"""
_MARKERS: Final = frozenset(_MARKER_WORDS.split())
"""Words on films that say how, not who (no name is spelled like one)."""

_PARAMETERS: Final = {
    "Global.log_level": "critical",  # it calls a film without text a warning
    "Global.text_score": 0.0,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}

_UNREAD: Final = "?"

_lock = Lock()


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A region that looks like text, in native pixels.

    ``telling`` is False for side and position markers, single characters and unreadable
    text no longer than a letter or two, which are outlined but identify nobody.
    """

    box: BoxPx
    telling: bool


def text_finder_missing() -> str | None:
    """Return how to install the text finder as a sentence, None if it is installed."""
    needed = ("rapidocr", "onnxruntime")
    found = all(importlib.util.find_spec(name) is not None for name in needed)
    return None if found else MISSING


def find_text(raster: Raster) -> tuple[TextPlace, ...]:
    """Return every region of an image that looks like text, best first.

    Raises
    ------
    MissingDependencyError
        If the extra ``ocr`` is not installed.
    """
    if text_finder_missing() is not None:
        raise MissingDependencyError(MISSING)
    shown = squared(raster)
    pixels = shown.pixels
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    found = _read(pixels)
    if any(float(score) < _LEGIBLE for _, _, score in found):
        # upside down, or written from bottom to top
        found += _read(pixels, turned=True)
    places = dict.fromkeys(
        _native(_place(corners, text, score), shown.size, raster.size)
        for corners, text, score in found
    )
    telling = {place.box for place in places if place.telling}
    return tuple(p for p in places if p.telling or p.box not in telling)


def _read(pixels: npt.NDArray[np.uint8], *, turned: bool = False) -> list[Any]:
    """Return (corners, text, score) of regions, read as they are or rotated upright."""
    with _lock:
        found = _engine()(pixels, use_cls=turned)
    if found.boxes is None:
        return []
    return list(zip(found.boxes.tolist(), found.txts, found.scores, strict=True))


@lru_cache(maxsize=1)
def _engine() -> Any:  # noqa: ANN401 - its results are a union that no call narrows
    with _environment_kept():
        from rapidocr import RapidOCR

        engine: Any = RapidOCR(params=dict(_PARAMETERS))
    recognize = engine.recognize_txt
    engine.recognize_txt = lambda crops: _with_unread(recognize(crops))
    return engine


def _with_unread(result: Any) -> Any:  # noqa: ANN401 - the library's own
    """Add regions that were detected but not read; the library drops them."""
    result.txts = tuple(text if text.strip() else _UNREAD for text in result.txts)
    return result


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Restore the environment after OpenCV, which redirects Qt to its own plug-ins."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _place(corners: Sequence[Sequence[float]], text: str, score: Any) -> TextPlace:  # noqa: ANN401 - a number or its text
    xs, ys = [p[0] for p in corners], [p[1] for p in corners]
    height = max(ys) - min(ys)
    along, across = _MARGIN_ALONG * height, _MARGIN_ACROSS * height
    box = BoxPx(min(xs) - along, min(ys) - across, max(xs) + along, max(ys) + across)
    legible = float(score) >= _LEGIBLE
    telling = _names_somebody(text) if legible else _is_line(corners)
    return TextPlace(box, telling)


def _is_line(corners: Sequence[Sequence[float]]) -> bool:
    """Tell whether an unread region is as long as a word."""
    first, second, third = corners[:3]
    sides = math.dist(first, second), math.dist(second, third)
    return max(sides) >= _WORD_LONG * min(sides)


def _names_somebody(text: str) -> bool:
    words = ["".join(filter(str.isalnum, word)) for word in text.upper().split()]
    return any(len(word) > 1 and word not in _MARKERS for word in words)


def _native(place: TextPlace, shown: SizePx, size: SizePx) -> TextPlace:
    """Clip a region to the image, in native pixels."""
    box, x, y = place.box, size.columns / shown.columns, size.rows / shown.rows
    cut = BoxPx(
        max(0.0, box.x0 * x),
        max(0.0, box.y0 * y),
        min(float(size.columns), box.x1 * x),
        min(float(size.rows), box.y1 * y),
    )
    return TextPlace(cut, place.telling)
