"""DICOM whole slide images (PS3.3 A.32.8), by wsidicom.

A slide is a series of files in one folder, one for each stored level, and often its
label and a photograph of the whole glass. These two may name the patient; they are
neither listed nor read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.readers.files.refusal import refusing
from viewer.readers.slides.format import EXTRA, SlideFacts

if TYPE_CHECKING:
    from PIL.Image import Image
    from pydicom.dataset import Dataset

START_BYTES: Final = 512
"""Of these the preamble is 128; the SOP class follows within the file meta group."""
_SOP_CLASS: Final = b"1.2.840.10008.5.1.4.1.1.77.1.6"
"""VL Whole Slide Microscopy Image Storage (PS3.4 B.5)."""
_WRONG_TAG: Final = "Levels tagged RGB shown as YCbCr"
_LEVEL: Final = "VOLUME"
"""Image Type's third value of a level of the scan (PS3.3 C.8.12.4.1.1)."""
_TAGS: Final = [
    "ImageType", "LossyImageCompression", "LossyImageCompressionMethod",
    "LossyImageCompressionRatio", "Manufacturer", "ManufacturerModelName",
    "OpticalPathSequence", "PatientID", "SeriesInstanceUID",
    "SharedFunctionalGroupsSequence", "StudyDate", "StudyDescription",
    "StudyInstanceUID", "TotalPixelMatrixColumns", "TotalPixelMatrixRows",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Level:
    """A stored level: its file, its series and its size.

    ``ycbcr`` is True if it contains luminance and chrominance although its tag says
    RGB.
    """

    path: Path
    series: str
    size: SizePx
    ycbcr: bool


def is_dicom_slide(path: Path, start: bytes) -> bool:  # noqa: ARG001 - as its sibling
    """Tell whether a file is part of a whole slide, by its SOP class."""
    # By bytes: every file of a folder comes here, and parsing the group is slow.
    return start[128:132] == b"DICM" and _SOP_CLASS in start


def slide_lead(path: Path) -> Path:
    """Return the file that represents a slide: the one at scan resolution.

    Raises
    ------
    UnreadableInputError
        If no file of this series in the folder has the scan's level.
    """
    levels = _levels_of(path)
    if not levels:
        raise UnreadableInputError(
            f"{path.name} belongs to a whole slide whose scan is not next to it.",
            "Copy all files of its series into one folder.",
        )
    return levels[0].path


def dicom_parts(path: Path) -> tuple[Path, ...]:
    """Return the files of all levels of a slide, largest first."""
    return tuple(level.path for level in _levels_of(path))


def open_dicom_slide(path: Path) -> "DicomSlideFile":
    """Open the slide that a file belongs to; this reads tags, no pixels."""
    return DicomSlideFile(path)


class DicomSlideFile:
    """A slide opened by wsidicom, which locks each file while reading from it."""

    def __init__(self, path: Path) -> None:
        self.facts, levels = dicom_slide_facts(path), _levels_of(path)
        self._slide = _library().WsiDicom.open([level.path for level in levels])
        self._ycbcr = {level.size for level in levels if level.ycbcr}
        self._numbers = {
            SizePx(level.size.height, level.size.width): level.level
            for level in self._slide.pyramids[0]
        }

    def read(self, level: int, box: BoxPx) -> npt.NDArray[np.uint8]:
        """Return whole pixels of a stored level; missing tiles are background."""
        # In pixels of the level itself; OpenSlide wants those of the scan.
        at = (round(box.x0), round(box.y0))
        size = (round(box.x1 - box.x0), round(box.y1 - box.y0))
        number = self._numbers[self.facts.levels[level]]
        region = self._slide.read_region(at, number, size).convert("RGB")
        if self.facts.levels[level] in self._ycbcr:
            region = _as_rgb(region)
        return np.array(region, dtype=np.uint8)

    def __enter__(self) -> Self:
        """Return the slide."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the files."""
        self._slide.close()


def _as_rgb(region: "Image") -> "Image":
    """Convert YCbCr that was decoded as RGB to RGB (T.871)."""
    from PIL.Image import frombytes

    return frombytes("YCbCr", region.size, region.tobytes()).convert("RGB")


def _library() -> Any:  # noqa: ANN401 - a module without types
    try:
        import wsidicom
    except ImportError as error:
        raise MissingDependencyError(
            f"Whole slides of DICOM need wsidicom ({EXTRA})."
        ) from error
    return wsidicom


def _levels_of(path: Path) -> tuple[_Level, ...]:
    """Return the levels of the series that a file belongs to, largest first."""
    series = str(_tags(path).get("SeriesInstanceUID", ""))
    folder = path.parent
    known = _levels_in(folder, folder.stat().st_mtime_ns)
    return known.get(series, ())


@lru_cache(maxsize=16)
def _levels_in(folder: Path, changed_ns: int) -> Mapping[str, tuple[_Level, ...]]:  # noqa: ARG001 - forgets a folder that changed
    """Return a folder's slides by series, reading each file only once."""
    slides: dict[str, list[_Level]] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        level = _level_or_none(path)
        if level is not None:
            slides.setdefault(level.series, []).append(level)
    return {series: _descending(levels) for series, levels in slides.items()}


def _level_or_none(path: Path) -> _Level | None:
    """Return a file as a level, None if it is not one.

    A damaged file counts as none; it is refused when it is opened itself.
    """
    try:
        with refusing(path), path.open("rb") as stream:
            if not is_dicom_slide(path, stream.read(START_BYTES)):
                return None
            return _level(path)
    except UnreadableInputError:
        return None


def _descending(levels: list[_Level]) -> tuple[_Level, ...]:
    return tuple(sorted(levels, key=lambda level: (-level.size.columns, level.path)))


def _level(path: Path) -> _Level | None:
    tags = _tags(path)
    kind = list(tags.get("ImageType") or [])
    rows = int(tags.get("TotalPixelMatrixRows") or 0)
    columns = int(tags.get("TotalPixelMatrixColumns") or 0)
    # Label and overview photographs may show the patient's name: never taken as levels.
    if len(kind) < 3 or kind[2] != _LEVEL or min(rows, columns) < 1:
        return None
    from viewer.readers.codecs.jpeg_color import is_tagged_rgb_in_error

    series = str(tags.get("SeriesInstanceUID", ""))
    size = SizePx(rows, columns)
    return _Level(path, series, size, is_tagged_rgb_in_error(path))


def _tags(path: Path) -> "Dataset":
    # Not at the top: every file of any kind comes here to be recognised.
    import pydicom

    tags: Dataset = pydicom.dcmread(
        path, stop_before_pixels=True, specific_tags=list(_TAGS)
    )
    return tags


def dicom_slide_facts(path: Path) -> SlideFacts:
    """Return the properties of the slide that a file belongs to."""
    from viewer.readers.dicom.compression import lossy_text

    lead = slide_lead(path)
    tags, levels = _tags(lead), _levels_of(path)
    optics = (tags.get("OpticalPathSequence") or [{}])[0]
    power = optics.get("ObjectiveLensPower")
    return SlideFacts(
        lead,
        tuple(dict.fromkeys(level.size for level in levels)),
        _spacing(tags, lead),
        float(power) if power else None,
        scanner=_scanner(tags),
        icc=optics.get("ICCProfile"),
        lossy=lossy_text(tags),
        note=_WRONG_TAG if any(level.ycbcr for level in levels) else "",
        patient_key=str(tags.get("PatientID") or "").strip(),
        study_key=str(tags.get("StudyInstanceUID", "")),
        series_key=str(tags.get("SeriesInstanceUID", "")),
        study_date=str(tags.get("StudyDate") or ""),
        study_description=str(tags.get("StudyDescription") or ""),
    )


def _spacing(tags: "Dataset", path: Path) -> Spacing:
    """Return Pixel Spacing, row first, from Pixel Measures (PS3.3 C.7.6.16.2.1).

    The standard requires it for a level, and wsidicom does not read levels without it.
    """
    groups = (tags.get("SharedFunctionalGroupsSequence") or [{}])[0]
    measures = (groups.get("PixelMeasuresSequence") or [{}])[0]
    spacing = [float(value) for value in measures.get("PixelSpacing") or ()]
    if len(spacing) != 2 or min(spacing) <= 0:
        raise UnreadableInputError(
            f"{path.name} does not say how large its pixels are on the slide.",
            "Export it again with Pixel Spacing.",
        )
    return Spacing(spacing[0], spacing[1], SpacingMeaning.PATIENT)


def _scanner(tags: "Dataset") -> str:
    words = (tags.get("Manufacturer"), tags.get("ManufacturerModelName"))
    parts = (str(word) for word in words if word)
    return " ".join(dict.fromkeys(w for w in parts if w.lower() != "unknown"))
