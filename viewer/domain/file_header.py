"""What a file says of its images, and what sorts them, before a pixel is decoded."""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import PointMm, SizePx


@dataclass(frozen=True, slots=True)
class FileHeader:
    """An image file's header: what its frames share, and what sorts it.

    Keys are empty where the file names no patient, study or series. ``position`` is
    that of the slice's first pixel, ``axes`` the six direction cosines of its rows and
    columns; both are None unless the file has them.
    """

    path: Path
    size: SizePx
    frames: int
    modality: str = ""
    view: View = View.UNKNOWN
    laterality: str = ""
    patient_orientation: tuple[str, ...] = ()
    patient_key: str = ""
    study_key: str = ""
    series_key: str = ""
    study_date: str = ""
    study_description: str = ""
    series_description: str = ""
    instance: int | None = None
    position: PointMm | None = None
    axes: tuple[float, ...] | None = None

    def images(self) -> tuple[ImageHeader, ...]:
        """Return a header for every frame, in the file's order."""
        return tuple(
            ImageHeader(
                ImageRef(self.path, frame),
                self.size,
                self.frames,
                self.modality,
                self.view,
                self.laterality,
                self.patient_orientation,
                self.patient_key,
                self.study_key,
                self.series_key,
            )
            for frame in range(self.frames)
        )
