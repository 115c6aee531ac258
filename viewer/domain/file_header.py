"""What a file says of its images, and what sorts them, before a pixel is decoded."""

from dataclasses import dataclass, replace
from pathlib import Path

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.slide import SlideMap, SlideScale


@dataclass(frozen=True, slots=True)
class FileHeader:
    """An image file's header: what its frames share, and what sorts it.

    Keys are empty where the file names no patient, study or series. ``position`` is
    that of the slice's first pixel, ``axes`` the six direction cosines of its rows and
    columns; both are None unless the file has them. ``slide`` tells the frames of a
    whole slide, which differ in size; ``size`` is then the scan's. ``scale`` is the
    one magnification of a slide that a header is about, None for all of them.
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
    slide: SlideMap | None = None
    scale: SlideScale | None = None

    def images(self) -> tuple[ImageHeader, ...]:
        """Return a header for every frame, in the file's order."""
        if self.scale is not None:
            return self._fields(self.scale)
        if self.slide is not None:
            return tuple(image for part in self.stacks() for image in part.images())
        return tuple(self._image(frame) for frame in range(self.frames))

    def stacks(self) -> tuple["FileHeader", ...]:
        """Return a header for each series that the file holds.

        A file is of one; a whole slide holds one for each magnification.
        """
        if self.slide is None or self.scale is not None:
            return (self,)
        return tuple(
            replace(
                self,
                frames=scale.count,
                series_key=f"{self.series_key} {scale.name}",
                series_description=scale.name,
                scale=scale,
            )
            for scale in self.slide.scales
        )

    def _fields(self, scale: SlideScale) -> tuple[ImageHeader, ...]:
        return tuple(
            replace(self._image(scale.first + n), size=scale.field_size(n))
            for n in range(scale.count)
        )

    def _image(self, frame: int) -> ImageHeader:
        return ImageHeader(
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
