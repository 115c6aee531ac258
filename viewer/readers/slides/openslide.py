"""Slides of scanners' own formats (SVS, NDPI, MRXS, SCN, BIF, …), by OpenSlide."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.readers.files.regular import regular_file
from viewer.readers.files.side_files import beside
from viewer.readers.slides.format import EXTRA, SlideFacts, is_scanned_at

_STARTS: Final = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+", b"ZISRAWFILE")
"""TIFF, BigTIFF and CZI: what most slides begin with, and many that are none."""
_OWN_SUFFIXES: Final = frozenset(
    {".svs", ".ndpi", ".mrxs", ".scn", ".bif", ".svslide", ".vms", ".vmu", ".czi"}
)
_MIRAX: Final = re.compile(
    rb"^\s*(?:FILE_\d+|INDEXFILE)\s*=([^\r\n]+)", re.IGNORECASE | re.MULTILINE
)
_HAMAMATSU: Final = re.compile(
    rb"(?im)^\s*(?:ImageFile|MapFile|OptimisationFile|MacroImage)[^=\r\n]*="
    rb"([^\r\n]+)"
)
"""The fields that name further files."""
_LARGEST_INDEX: Final = 1 << 24
_GENERIC: Final = "generic-tiff"
_COMPRESSION: Final = re.compile(r"\b(JPEG|J2K)\b(?:/\w+)?(?: Q=(\d+))?")


def is_openslide(path: Path, start: bytes) -> bool:
    """Tell whether OpenSlide reads a file, by its content.

    A tiled TIFF of an unknown scanner counts as a slide if it has several levels, or
    more pixels than an image may have.
    Without OpenSlide, suffixes that only scanners use count as slides, so that the
    missing package is reported when one is opened.
    """
    is_known = path.suffix.lower() in _OWN_SUFFIXES
    if not (is_known or start.startswith(_STARTS)):
        return False
    try:
        from openslide import OpenSlide
    except ImportError:
        return is_known
    # First: OpenSlide itself would follow an index to files anywhere.
    openslide_parts(path)
    vendor = OpenSlide.detect_format(path)
    return vendor is not None and (vendor != _GENERIC or _needs_tiles(path))


def openslide_parts(path: Path) -> tuple[Path, ...]:
    """Return the files of a slide: the named one, and those it refers to.

    Raises
    ------
    UnreadableInputError
        If it refers to a file outside its folder, a link, or something else than a
        file.
    """
    suffix = path.suffix.lower()
    if suffix in {".vms", ".vmu"}:
        return (path, *_named(path, path.parent, _HAMAMATSU))
    index = path.with_suffix("") / "Slidedat.ini"
    if suffix != ".mrxs" or not index.exists():
        return (path,)
    if index.parent.is_symlink():
        raise UnreadableInputError(
            f"{path.name} takes its pixels from a link to a folder.",
            "Put that folder itself next to the file.",
        )
    beside(path, index.parent, index.name)
    return (path, index, *_named(index, index.parent, _MIRAX))


def _named(index: Path, folder: Path, fields: re.Pattern[bytes]) -> list[Path]:
    """Return the files in a folder that the slide's index lists."""
    regular_file(index, _LARGEST_INDEX)
    names = dict.fromkeys(fields.findall(index.read_bytes()))
    return [beside(index, folder, os.fsdecode(name.strip())) for name in names]


def open_openslide(path: Path) -> "OpenSlideFile":
    """Open a slide; this reads its directory, no pixels."""
    return OpenSlideFile(path)


class OpenSlideFile:
    """A slide opened by OpenSlide, which is thread-safe."""

    def __init__(self, path: Path) -> None:
        self._slide = _library().OpenSlide(path)
        self.facts = _facts_of(path, self._slide)
        color = self._slide.properties.get("openslide.background-color", "FFFFFF")
        self._ground = tuple(bytes.fromhex(color))

    def read(self, level: int, box: BoxPx) -> npt.NDArray[np.uint8]:
        """Return whole pixels of a stored level, blended with the background colour."""
        from PIL import Image

        factor = self._slide.level_downsamples[level]
        # OpenSlide takes the place in pixels of the scan, but the size in the level's.
        at = (round(box.x0 * factor), round(box.y0 * factor))
        size = (round(box.x1 - box.x0), round(box.y1 - box.y0))
        region = self._slide.read_region(at, level, size)
        blended = Image.new("RGB", size, self._ground)
        blended.paste(region, mask=region.getchannel("A"))
        return np.array(blended, dtype=np.uint8)

    def __enter__(self) -> Self:
        """Return the slide."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self._slide.close()


def openslide_facts(path: Path) -> SlideFacts:
    """Return the properties of a slide."""
    with open_openslide(path) as slide:
        return slide.facts


def properties(path: Path) -> Mapping[str, str]:
    """Return OpenSlide's properties of a slide."""
    with _library().OpenSlide(path) as slide:
        return dict(slide.properties)


def _library() -> Any:  # noqa: ANN401 - a module without types
    try:
        import openslide
    except ImportError as error:
        raise MissingDependencyError(
            f"Whole slides need openslide ({EXTRA})."
        ) from error
    return openslide


def _needs_tiles(path: Path) -> bool:
    from PIL import Image

    library, most = _library(), 2 * (Image.MAX_IMAGE_PIXELS or 0)
    try:
        with library.OpenSlide(path) as slide:
            columns, rows = slide.dimensions
            return bool(slide.level_count > 1 or columns * rows > most)
    except library.OpenSlideError:
        return False  # a tiled TIFF that its own reader may still open


def _facts_of(path: Path, slide: Any) -> SlideFacts:  # noqa: ANN401 - untyped library
    properties = slide.properties
    profile = slide.color_profile
    spacing, note = _spacing(properties)
    return SlideFacts(
        path,
        tuple(SizePx(rows, columns) for columns, rows in slide.level_dimensions),
        spacing,
        _number(properties, "openslide.objective-power"),
        scanner=_scanner(properties),
        icc=None if profile is None else profile.tobytes(),
        lossy=_lossy(properties.get("openslide.comment", "")),
        note=note,
        # A slide without a person's identifier is a case of its own, all its fields
        # together; its content names it, so that its place does not matter.
        patient_key=path.name,
        study_key=properties.get("openslide.quickhash-1", ""),
        series_key=path.name,
    )


def _spacing(properties: Mapping[str, str]) -> tuple[Spacing | None, str]:
    """Return the scan's spacing, and a remark if it is implausible."""
    row = _number(properties, "openslide.mpp-y")
    column = _number(properties, "openslide.mpp-x")
    if row is None or column is None:
        return None, ""
    found = Spacing(row / 1000, column / 1000, SpacingMeaning.PATIENT)
    if is_scanned_at(found):
        return found, ""
    return None, f"Pixel size in the file, {column:.4g} µm, is implausible: not used"


def _number(properties: Mapping[str, str], name: str) -> float | None:
    """Return a positive number, None if the file has none."""
    try:
        number = float(properties.get(name, ""))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _scanner(properties: Mapping[str, str]) -> str:
    words = (
        properties.get("tiff.Make", "")
        or properties.get("openslide.vendor", "").capitalize(),
        properties.get("tiff.Model", ""),
    )
    return " ".join(dict.fromkeys(word for word in words if word))


def _lossy(comment: str) -> str:
    """Return the compression in an Aperio description (``JPEG/RGB Q=30``)."""
    found = _COMPRESSION.search(comment)
    if found is None:
        return ""
    quality = f" Q={found[2]}" if found[2] else ""
    return f"Lossy {'JPEG 2000' if found[1] == 'J2K' else 'JPEG'}{quality}"
