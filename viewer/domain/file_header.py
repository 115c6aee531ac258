"""File headers: metadata of images and their sort keys, read without pixels."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import SlideMap, SlideScale

MOST_FRAMES: Final = 1 << 16
"""More than the longest film or the fields of the largest slide."""


@dataclass(frozen=True, slots=True)
class FileHeader:
    """An image file's header: what its frames share, and its sort keys.

    ``geometries`` has one geometry per frame, or a single one for all; a whole slide's
    is the scan's. Keys are empty if the file names no patient, study or series.
    ``slide`` has the frames of a whole slide, which differ in size. ``scale`` is the
    one magnification of a slide that the header is about, None for all.
    """

    path: Path
    geometries: tuple[ImageGeometry, ...]
    frames: int
    modality: str = ""
    view: View = View.UNKNOWN
    patient_key: str = ""
    study_key: str = ""
    series_key: str = ""
    study_date: str = ""
    study_description: str = ""
    series_description: str = ""
    instance: int | None = None
    slide: SlideMap | None = None
    scale: SlideScale | None = None
    body_part: str = ""
    view_position: str = ""
    frame_of_reference: str = ""
    patient_name: str = ""
    birth_date: str = ""
    study_time: str = ""

    def __contains__(self, frame: int) -> bool:
        """Tell whether the file has a frame, or its slide such a region."""
        if self.slide is not None:
            return frame in self.slide
        return 0 <= frame < self.frames

    def geometry(self, frame: int = 0) -> ImageGeometry:
        """Return the geometry of a frame, counted from 0."""
        if self.slide is not None:
            return self.slide.geometry(frame)
        return self.geometries[frame if len(self.geometries) > 1 else 0]

    def images(self) -> tuple[ImageHeader, ...]:
        """Return a header for every frame, in the order of the file."""
        if self.scale is not None:
            fields = range(self.scale.first, self.scale.first + self.scale.count)
            return tuple(self.image(field) for field in fields)
        if self.slide is not None:
            return tuple(image for part in self.stacks() for image in part.images())
        return tuple(self.image(frame) for frame in range(self.frames))

    def stacks(self) -> tuple["FileHeader", ...]:
        """Return a header for each series in the file.

        Files have one series, except whole slides, which have one per magnification.
        """
        if self.slide is None or self.scale is not None:
            return (self,)
        return tuple(map(self._part, self.slide.scales))

    def _part(self, scale: SlideScale) -> "FileHeader":
        return replace(
            self,
            frames=scale.count,
            series_key=f"{self.series_key} {scale.name}",
            series_description=scale.name,
            scale=scale,
        )

    def image(self, frame: int) -> ImageHeader:
        """Return the header of one frame; of a slide, under its magnification."""
        if self.slide is not None and self.scale is None:
            return self._part(self.slide.scale_of(frame)).image(frame)
        return ImageHeader(
            ImageRef(self.path, frame),
            self.geometry(frame),
            self.frames,
            self.modality,
            self.view,
            self.patient_key,
            self.study_key,
            self.series_key,
            self.body_part,
            self.view_position,
            self.frame_of_reference,
            self.patient_name,
            self.birth_date,
        )
