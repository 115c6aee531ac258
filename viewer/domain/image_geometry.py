"""Geometry of an image's pixels: aspect, spacing, and position in the patient."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointMm, SizePx


class SpacingMeaning(StrEnum):
    """The plane that a pixel spacing refers to (PS3.3 10.7.1).

    The patient, a radiograph's detector, the patient by calibration (by an object of
    known size, or for the geometry of the exposure, if the file says which), a scanned
    film, a region of an ultrasound image, or a plane that the file does not name.
    """

    PATIENT = "patient"
    DETECTOR = "detector"
    CALIBRATED = "calibrated"
    FIDUCIAL = "fiducial"
    MAGNIFIED = "magnified"
    SCANNED = "scanned"
    REGION = "region"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Spacing:
    """Centre-to-centre distance of adjacent rows and columns, in millimetres."""

    row_mm: float
    column_mm: float
    meaning: SpacingMeaning

    @classmethod
    def known(
        cls, row_mm: float, column_mm: float, meaning: SpacingMeaning
    ) -> Self | None:
        """Return a spacing, None unless both distances are positive numbers."""
        pair = (row_mm, column_mm)
        if not all(math.isfinite(value) and value > 0 for value in pair):
            return None
        return cls(row_mm, column_mm, meaning)


_OPPOSITE: Final = {"L": "R", "R": "L", "A": "P", "P": "A", "H": "F", "F": "H"}
_POSITIVE, _NEGATIVE = "LPH", "RAF"
_LEAST_PART: Final = 0.1
"""A letter stands for a part of the direction of at least this, about 6 degrees."""
_UNIT_WITHIN: Final = 0.05


@dataclass(frozen=True, slots=True)
class ImageGeometry:
    """The geometry of one image, a frame or a page, as it is shown.

    ``size`` is rows and columns. ``spacing`` is None if the file does not say how large
    a pixel is; ``aspect_ratio`` is then its height over its width as the file has it
    (Pixel Aspect Ratio, PS3.3 C.7.6.3.1.7), None if it says nothing. ``axes`` are the
    direction cosines of the rows, then of the columns, in the patient (x to the left, y
    to the back, z to the head; PS3.3 C.7.6.2.1.1), and ``position`` is the centre of
    the first pixel. ``patient_orientation`` is used where there are no axes (PS3.3
    C.7.6.1.1.1). ``laterality`` is the side that was imaged (R, L, B or U), "" if the
    file does not say. ``stored_orientation`` is the orientation of the stored rows and
    columns, 1 to 8 as in TIFF 6.0 and EXIF 2.3; 1 means shown as stored.
    """

    size: SizePx
    spacing: Spacing | None = None
    aspect_ratio: float | None = None
    axes: tuple[float, ...] | None = None
    position: PointMm | None = None
    patient_orientation: tuple[str, ...] = ()
    laterality: str = ""
    stored_orientation: int = 1

    @property
    def pixel_aspect(self) -> float:
        """Height of a pixel over its width; 1 if the file does not say."""
        if self.spacing is not None:
            return self.spacing.row_mm / self.spacing.column_mm
        return self.aspect_ratio or 1.0

    @property
    def letters(self) -> tuple[str, ...]:
        """Patient directions of rows and columns: from the axes, else from the file."""
        return orientation_letters(self.axes) or self.patient_orientation

    def scaled(self, size: SizePx) -> "ImageGeometry":
        """Return the geometry of the same picture with another number of pixels.

        The position of the first pixel's centre changes with its size.
        """
        rows, columns = self.size.rows / size.rows, self.size.columns / size.columns
        spacing = self.spacing and replace(
            self.spacing,
            row_mm=self.spacing.row_mm * rows,
            column_mm=self.spacing.column_mm * columns,
        )
        ratio = self.aspect_ratio and self.aspect_ratio * rows / columns
        # A new first pixel covers `columns` old ones from -0.5 on; this is its centre.
        moved = self._position_at((columns - 1) / 2, (rows - 1) / 2)
        return replace(
            self, size=size, spacing=spacing, aspect_ratio=ratio, position=moved
        )

    def turned(self, orientation: int) -> "ImageGeometry":
        """Return the geometry of the image as shown, given how it is stored.

        ``orientation`` is that of TIFF 6.0 and EXIF 2.3: 6 rotates the stored image by
        90° clockwise. Anything but 1 to 8 counts as 1.
        """
        turn = TURNS.get(orientation, TURNS[1])
        shown = self._transposed() if turn.transpose else self
        shown = shown._mirrored() if turn.mirror else shown  # noqa: SLF001 - its own
        shown = shown._flipped() if turn.flip else shown  # noqa: SLF001 - its own
        return replace(
            shown, stored_orientation=orientation if orientation in TURNS else 1
        )

    def _position_at(self, column: float, row: float) -> PointMm | None:
        """Return a pixel centre's position in the patient, None if unknown."""
        if self.position is None or (column, row) == (0, 0):
            return self.position
        if self.axes is None or self.spacing is None:
            return None
        at, (along, down) = self.position, (self.axes[:3], self.axes[3:])
        x, y = column * self.spacing.column_mm, row * self.spacing.row_mm
        start = (at.x, at.y, at.z)
        moved = (p + x * a + y * d for p, a, d in zip(start, along, down, strict=True))
        return PointMm(*moved)

    def _transposed(self) -> "ImageGeometry":
        spacing = self.spacing and replace(
            self.spacing, row_mm=self.spacing.column_mm, column_mm=self.spacing.row_mm
        )
        return replace(
            self,
            size=SizePx(self.size.columns, self.size.rows),
            spacing=spacing,
            aspect_ratio=self.aspect_ratio and 1 / self.aspect_ratio,
            axes=self.axes and (*self.axes[3:], *self.axes[:3]),
            patient_orientation=self.patient_orientation[::-1],
        )

    def _mirrored(self) -> "ImageGeometry":
        """Return the geometry with left and right exchanged."""
        orientation = self.patient_orientation
        return replace(
            self,
            axes=self.axes and (*_negative(self.axes[:3]), *self.axes[3:]),
            position=self._position_at(self.size.columns - 1, 0),
            patient_orientation=(*map(opposite, orientation[:1]), *orientation[1:]),
        )

    def _flipped(self) -> "ImageGeometry":
        """Return the geometry with top and bottom exchanged."""
        orientation = self.patient_orientation
        return replace(
            self,
            axes=self.axes and (*self.axes[:3], *_negative(self.axes[3:])),
            position=self._position_at(0, self.size.rows - 1),
            patient_orientation=(*orientation[:1], *map(opposite, orientation[1:])),
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """How stored rows and columns are turned for display, in this order.

    ``transpose`` exchanges rows and columns, then ``mirror`` left and right, then
    ``flip`` top and bottom.
    """

    transpose: bool
    mirror: bool
    flip: bool


TURNS: Final = {
    1: Turn(transpose=False, mirror=False, flip=False),
    2: Turn(transpose=False, mirror=True, flip=False),
    3: Turn(transpose=False, mirror=True, flip=True),
    4: Turn(transpose=False, mirror=False, flip=True),
    5: Turn(transpose=True, mirror=False, flip=False),
    6: Turn(transpose=True, mirror=True, flip=False),
    7: Turn(transpose=True, mirror=True, flip=True),
    8: Turn(transpose=True, mirror=False, flip=True),
}
"""How stored rows and columns are shown, by the Orientation of TIFF 6.0 (page 36)."""


ROTATED_RIGHT, ROTATED_LEFT, MIRRORED, FLIPPED = 6, 8, 2, 4
"""Orientations: a quarter clockwise, a quarter back, left for right, top for bottom."""


def then(orientation: int, further: int) -> int:
    """Return the orientation of an image that is turned once more."""
    both = _matrix(further) @ _matrix(orientation)
    return next(number for number in TURNS if (_matrix(number) == both).all())


def _matrix(orientation: int) -> npt.NDArray[np.int64]:
    """Return what a turn does to x and y about the middle."""
    turn = TURNS[orientation]
    mirrored = np.diag([-1 if turn.mirror else 1, -1 if turn.flip else 1])
    return mirrored[:, ::-1] if turn.transpose else mirrored


def opposite(direction: str) -> str:
    """Return the opposite of ``L`` or ``PF``; texts that are no direction stay."""
    return "".join(_OPPOSITE.get(letter, letter) for letter in direction)


def is_direction(text: str) -> bool:
    """Tell whether a text consists only of letters for directions in the patient."""
    return all(letter in _OPPOSITE for letter in text)


def orientation_letters(axes: Sequence[float] | None) -> tuple[str, ...]:
    """Return which way the rows and the columns of an image run.

    Parameters
    ----------
    axes : sequence of float or None
        Image Orientation (Patient): the cosines of the row, then of the column, with
        x to the left, y to the back and z to the head (PS3.3 C.7.6.2.1.1).

    Returns
    -------
    tuple of str
        Two values as Patient Orientation has them (PS3.3 C.7.6.1.1.1), the strongest
        direction first: ``("L", "PF")`` for an axial slice with its gantry tilted.
        Empty where the cosines are not two perpendicular unit vectors.
    """
    if axes is None or len(axes) != 6 or not _is_frame(axes[:3], axes[3:]):
        return ()
    return _letters(axes[:3]), _letters(axes[3:])


def _is_frame(row: Sequence[float], column: Sequence[float]) -> bool:
    lengths = (math.hypot(*row), math.hypot(*column))
    across = sum(a * b for a, b in zip(row, column, strict=True))
    units = all(abs(length - 1) < _UNIT_WITHIN for length in lengths)
    return units and abs(across) < _UNIT_WITHIN


def _letters(direction: Sequence[float]) -> str:
    parts = sorted(range(3), key=lambda i: -abs(direction[i]))
    return "".join(
        (_POSITIVE if direction[i] > 0 else _NEGATIVE)[i]
        for i in parts
        if abs(direction[i]) >= _LEAST_PART
    )


def _negative(direction: Sequence[float]) -> tuple[float, ...]:
    return tuple(-value for value in direction)
