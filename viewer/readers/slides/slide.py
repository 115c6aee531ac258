"""Whole slides: recognising them, their properties, and their fields as pixels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.annotation import PROFILE_LINE
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.slide import SlideMap, is_region
from viewer.readers.files.refusal import refusing
from viewer.readers.slides.dicom import (
    START_BYTES,
    dicom_parts,
    dicom_slide_facts,
    is_dicom_slide,
    open_dicom_slide,
    slide_lead,
)
from viewer.readers.slides.format import SlideFacts, SlideFile, map_of
from viewer.readers.slides.openslide import (
    is_openslide,
    open_openslide,
    openslide_facts,
    openslide_parts,
)

__all__ = [
    "START_BYTES",
    "Slide",
    "colour_words",
    "is_slide",
    "load_field",
    "read_slide",
    "slide_parts",
]

_BLOCK_PX: Final = 2048
"""The most rows and columns that are read of a level at a time: 16 MB of RGBA."""
_MARGIN: Final = 2
"""Pixels beyond a block that the filter looks at, in those of the result."""


@dataclass(frozen=True, slots=True)
class SlideFormat:
    """One way of reading slides."""

    recognises: Callable[[Path, bytes], bool]
    open: Callable[[Path], SlideFile]
    facts: Callable[[Path], SlideFacts]
    lead: Callable[[Path], Path]
    """Which file stands for a slide of several."""
    parts: Callable[[Path], tuple[Path, ...]]
    """All files of a slide."""


FORMATS: Final = (
    SlideFormat(
        is_dicom_slide, open_dicom_slide, dicom_slide_facts, slide_lead, dicom_parts
    ),
    SlideFormat(
        is_openslide,
        open_openslide,
        openslide_facts,
        lambda path: path,
        openslide_parts,
    ),
)


@dataclass(frozen=True)
class Slide:
    """A slide's facts and the frames that follow from them."""

    facts: SlideFacts
    map: SlideMap


def is_slide(path: Path, start: bytes) -> bool:
    """Tell whether a file, given its first START_BYTES, is a slide or part of one."""
    return any(kind.recognises(path, start) for kind in FORMATS)


def read_slide(path: Path) -> Slide:
    """Return the properties of a slide and its frames; no pixel is read.

    ``facts.path`` is the file that represents a slide of several files.

    Raises
    ------
    UnreadableInputError
        If the slide is damaged or incomplete.
    MissingDependencyError
        If the library that reads such slides is not installed.
    """
    with refusing(path):
        lead = _format_of(path).lead(path)
        changed = lead.stat()
        return _read_slide(lead, changed.st_mtime_ns, changed.st_size)


def load_field(path: Path, frame: int, *, as_scanned: bool = False) -> PixelImage:
    """Return a frame of a slide, or a region of it, as RGB with its spacing.

    Only the tiles of the field are decoded, block by block. Colours are those of the
    file, converted to sRGB by its ICC profile if it has one, unless ``as_scanned``.
    """
    slide = read_slide(path)
    if frame not in slide.map:
        raise UnreadableInputError(
            f"{path.name} has {slide.map.frames} fields; there is no field {frame}.",
            f"Choose 0 to {slide.map.frames - 1}.",
        )
    size, field = slide.map.scale_of(frame).size, slide.map.field(frame)
    with refusing(path):
        if is_region(frame):
            pixels = _OPEN.read(slide.facts.path, size, field)
        else:
            with _format_of(path).open(slide.facts.path) as file:
                pixels = _read_at(file, size, field)
    shown = pixels if as_scanned else _to_srgb(pixels, slide.facts.icc)
    return PixelImage(shown, Photometric.RGB, geometry=slide.map.geometry(frame))


class _OpenSlide:
    """The slide read last stays open: opening takes longer than reading a tile."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._file: SlideFile | None = None
        self._known: tuple[object, ...] = ()

    def read(self, path: Path, size: SizePx, field: BoxPx) -> npt.NDArray[np.uint8]:
        """Return a field of the whole slide at a display size."""
        with self._lock:
            try:
                return _read_at(self._opened(path), size, field)
            except BaseException:
                # After one error OpenSlide refuses whatever else is asked of a slide.
                self._close()
                raise

    def _opened(self, path: Path) -> SlideFile:
        stat = path.stat()
        known = (path, stat.st_mtime_ns, stat.st_size)
        if self._file is None or known != self._known:
            self._close()
            self._file, self._known = _format_of(path).open(path), known
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            self._file.__exit__(None, None, None)
        self._file = None


_OPEN: Final = _OpenSlide()


def slide_parts(path: Path) -> tuple[Path, ...]:
    """Return the files that a slide is made of."""
    return _format_of(path).parts(path)


def colour_words(facts: SlideFacts) -> str:
    """Return a description of the colour conversion."""
    if facts.icc is None:
        return "Colours as scanned, no ICC profile"
    usable = _transform(facts.icc) is not None
    return PROFILE_LINE if usable else "ICC profile not usable, not applied"


def _format_of(path: Path) -> SlideFormat:
    with path.open("rb") as stream:
        start = stream.read(START_BYTES)
    found = next((kind for kind in FORMATS if kind.recognises(path, start)), None)
    if found is None:
        raise UnreadableInputError(
            f"{path.name} is not a whole slide.", "Open an image."
        )
    return found


@lru_cache(maxsize=64)
def _read_slide(path: Path, changed_ns: int, length: int) -> Slide:  # noqa: ARG001 - forgets a file that changed
    facts = _format_of(path).facts(path)
    profiled = facts.icc is not None and _transform(facts.icc) is not None
    return Slide(facts, map_of(facts, profiled=profiled))


def _read_at(file: SlideFile, size: SizePx, field: BoxPx) -> npt.NDArray[np.uint8]:
    """Return a field of the whole slide at a display size."""
    level = _level_for(file.facts, size)
    stored = file.facts.levels[level]
    if stored == size:
        return file.read(level, field)
    x_factor, y_factor = stored.columns / size.columns, stored.rows / size.rows
    # In pixels of the result: with its margins a block is _BLOCK_PX of the level.
    step = max(1, floor(_BLOCK_PX / max(x_factor, y_factor)) - 2 * _MARGIN)
    rows, columns = int(field.y1 - field.y0), int(field.x1 - field.x0)
    pixels = np.empty((rows, columns, 3), dtype=np.uint8)
    for y in range(0, rows, step):
        for x in range(0, columns, step):
            bottom, right = min(y + step, rows), min(x + step, columns)
            wanted = BoxPx(
                (field.x0 + x) * x_factor,
                (field.y0 + y) * y_factor,
                (field.x0 + right) * x_factor,
                (field.y0 + bottom) * y_factor,
            )
            block = _shrunk(file, level, wanted, (right - x, bottom - y))
            pixels[y:bottom, x:right] = block
    return pixels


def _level_for(facts: SlideFacts, size: SizePx) -> int:
    """Return the smallest stored level that is not smaller than a size."""
    fitting = [
        n for n, level in enumerate(facts.levels) if level.columns >= size.columns
    ]
    return fitting[-1] if fitting else 0


def _shrunk(
    file: SlideFile, level: int, wanted: BoxPx, size: tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """Return a rectangle of a level reduced with a triangle filter.

    A margin is read as well, so that no seams appear between blocks.
    """
    from PIL import Image

    stored = file.facts.levels[level]
    x_margin = _MARGIN * (wanted.x1 - wanted.x0) / size[0]
    y_margin = _MARGIN * (wanted.y1 - wanted.y0) / size[1]
    read = BoxPx(
        max(0, floor(wanted.x0 - x_margin)),
        max(0, floor(wanted.y0 - y_margin)),
        min(stored.columns, ceil(wanted.x1 + x_margin)),
        min(stored.rows, ceil(wanted.y1 + y_margin)),
    )
    inside = (
        wanted.x0 - read.x0,
        wanted.y0 - read.y0,
        min(wanted.x1, stored.columns) - read.x0,
        min(wanted.y1, stored.rows) - read.y0,
    )
    source = Image.fromarray(file.read(level, read))
    small = source.resize(size, Image.Resampling.BILINEAR, box=inside)
    return np.array(small, dtype=np.uint8)


def _to_srgb(pixels: npt.NDArray[np.uint8], icc: bytes | None) -> npt.NDArray[np.uint8]:
    from PIL import Image, ImageCms

    transform = None if icc is None else _transform(icc)
    if transform is None:
        return pixels
    turned = ImageCms.applyTransform(Image.fromarray(pixels), transform)
    return np.array(turned, dtype=np.uint8)


@lru_cache(maxsize=4)
def _transform(icc: bytes) -> Any:  # noqa: ANN401 - Pillow's, which has no public type
    """Return the transform from a profile's colours to sRGB, None if it is unusable."""
    from io import BytesIO

    from PIL import ImageCms

    srgb = ImageCms.createProfile("sRGB")
    try:
        profile = ImageCms.ImageCmsProfile(BytesIO(icc))
        return ImageCms.buildTransform(profile, srgb, "RGB", "RGB")
    except (ImageCms.PyCMSError, OSError):
        return None
