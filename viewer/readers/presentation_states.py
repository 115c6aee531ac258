"""Softcopy presentation states (PS3.3 A.33.1 and A.33.2), as they concern one image."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pydicom
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import LookupTable, PresentationShape, Window
from viewer.domain.image_geometry import MIRRORED, ROTATED_RIGHT, TURNS, then
from viewer.domain.presentation import Note, Outline, PresentationState, Shutter
from viewer.readers.dicom.bounds import held_bytes
from viewer.readers.dicom.geometry import geometry_of
from viewer.readers.dicom.header import PRESENTATION_STATES
from viewer.readers.dicom.luts import lookup_tables
from viewer.readers.dicom.values import modality_transform, windows
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing
from viewer.readers.overlay_planes import GROUPS, embedded, plane_of, together
from viewer.readers.pixels import FileKind, file_kind

_ROUND: Final = 72
"""Corners of a circle or an ellipse."""
_ACTIVATION: Final = 0x1001
"""Overlay Activation Layer (60xx,1001): an overlay that names a layer is drawn."""
_OVERLAY_DATA: Final = 0x3000
_LEFT_OUT: Final = {
    "ModalityLUTSequence": "modality LUT",
    "MaskSubtractionSequence": "mask subtraction",
    "ICCProfile": "ICC profile",
}
_BETWEEN: Final = 8
"""Corners of a curve from one of its points to the next."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The image that a presentation state applies to, read up to its pixel data."""

    ref: ImageRef
    file: Dataset
    uid: str
    frame: int
    size: SizePx
    aspect: float
    signed: bool

    def is_meant(self, item: Dataset) -> bool:
        """Tell whether an item refers to the image, as it does if it names none."""
        named = item.get("ReferencedImageSequence") or ()
        return not named or any(self._is(each) for each in named)

    def is_referred_to(self, state: Dataset) -> bool:
        """Tell whether a whole state refers to the image."""
        series = state.get("ReferencedSeriesSequence") or ()
        images = (i for one in series for i in one.get("ReferencedImageSequence") or ())
        return any(self._is(each) for each in images)

    def _is(self, reference: Dataset) -> bool:
        frames = reference.get("ReferencedFrameNumber") or ()
        numbers = np.atleast_1d(np.array(frames, dtype=int)).tolist()
        same = str(reference.get("ReferencedSOPInstanceUID")) == self.uid
        return same and (not numbers or self.frame + 1 in numbers)


def is_presentation_state(path: Path) -> bool:
    """Tell whether a file is a presentation state that can be read."""
    try:
        head = pydicom.dcmread(path, specific_tags=["SOPClassUID"])
    except (InvalidDicomError, OSError, ValueError, EOFError):
        return False
    return head.get("SOPClassUID") in PRESENTATION_STATES


@isolated
def presentation_state(path: Path, ref: ImageRef) -> PresentationState | None:
    """Return a state as it concerns an image, None if it does not refer to it.

    Raises
    ------
    UnreadableInputError
        If one of the files is damaged.
    """
    if file_kind(ref.path) is not FileKind.DICOM:
        return None
    with refusing(ref.path):
        target = _target(ref)
    with refusing(path):
        held_bytes(path)
        state = pydicom.dcmread(path)
        return _state(path, state, target) if target.is_referred_to(state) else None


def _target(ref: ImageRef) -> _Target:
    image = pydicom.dcmread(ref.path, stop_before_pixels=True, force=True)
    geometry = geometry_of(image, ref.frame)
    below_zero = float(image.get("RescaleIntercept") or 0) < 0
    return _Target(
        ref,
        image,
        str(image.get("SOPInstanceUID")),
        ref.frame,
        SizePx(int(image.Rows), int(image.Columns)),
        geometry.pixel_aspect,
        signed=bool(image.get("PixelRepresentation")) or below_zero,
    )


def _state(path: Path, state: Dataset, target: _Target) -> PresentationState:
    rescale = modality_transform(state, 0, signed=target.signed)
    area, turned = _area(state, target), _orientation(state)
    shape = str(state.get("PresentationLUTShape") or "")
    tables = lookup_tables(state, state, "PresentationLUTSequence", signed=False)
    outlines, notes, missed = _annotations(state, target, area, turned)
    return PresentationState(
        path,
        _name(path, state),
        voi=_voi(state, target),
        rescale=(rescale.slope, rescale.intercept),
        shape=PresentationShape(shape) if shape in set(PresentationShape) else None,
        lut=tables[0] if tables else None,
        orientation=turned,
        area=area,
        **_size(state, target),
        planes=_planes(state, target),
        shutter=_shutter(state, target),
        outlines=outlines,
        notes=notes,
        left_out=(*_left_out(state, target), *missed),
    )


def _left_out(state: Dataset, target: _Target) -> Iterator[str]:
    """Yield the words for what a state has and we do not show."""
    yield from (words for keyword, words in _LEFT_OUT.items() if keyword in state)
    if "BITMAP" in str(state.get("ShutterShape") or "") and _bitmap(state) is None:
        yield "bitmap shutter"
    if _mode(state, target) == "TRUE SIZE" and not _size(state, target):
        yield "true size without a pixel spacing"


def _meant(state: Dataset, target: _Target) -> Dataset:
    """Return the displayed area that is selected, empty if none is."""
    items = state.get("DisplayedAreaSelectionSequence") or ()
    return next((item for item in items if target.is_meant(item)), Dataset())


def _mode(state: Dataset, target: _Target) -> str:
    return str(_meant(state, target).get("PresentationSizeMode") or "")


def _size(state: Dataset, target: _Target) -> dict[str, float]:
    """Return how large pixels are on the screen if not as fits (PS3.3 C.10.4)."""
    item, mode = _meant(state, target), _mode(state, target)
    spacing = item.get("PresentationPixelSpacing")
    if mode == "TRUE SIZE" and spacing and float(spacing[1]) > 0:
        return {"true_size": float(spacing[1])}
    ratio = float(item.get("PresentationPixelMagnificationRatio") or 1)
    return {"magnified": ratio} if mode == "MAGNIFY" and ratio > 0 else {}


def _planes(state: Dataset, target: _Target) -> npt.NDArray[np.bool_] | None:
    """Return what the overlays cover that a state activates (PS3.3 C.11.7).

    A group of the state itself is drawn in place of the image's own.
    """
    layers = {g: state.get((g, _ACTIVATION)) for g in GROUPS}
    active = [g for g, layer in layers.items() if layer is not None and layer.value]
    own = [group for group in active if (group, _OVERLAY_DATA) in state]
    theirs = [group for group in active if group not in own]
    size, frame = target.size, target.frame
    planes = [plane_of(state, group, size, frame) for group in own]
    planes += [plane_of(target.file, group, size, frame) for group in theirs]
    return together([*planes, *embedded(target.ref, target.file, theirs)])


def _name(path: Path, state: Dataset) -> str:
    words = [str(state.get(k) or "") for k in ("ContentLabel", "ContentDescription")]
    return ": ".join(word for word in words if word) or path.name


def _voi(state: Dataset, target: _Target) -> Window | LookupTable | None:
    for item in state.get("SoftcopyVOILUTSequence") or ():
        if target.is_meant(item):
            tables = lookup_tables(state, item, "VOILUTSequence", signed=target.signed)
            found: tuple[Window | LookupTable, ...] = (*tables, *windows(item, 0))
            return found[0] if found else None
    return None


def _orientation(state: Dataset) -> int:
    """Return the turn: clockwise by quarters, then mirrored (PS3.3 C.10.6)."""
    turned = 1
    for _ in range(int(state.get("ImageRotation") or 0) // 90 % 4):
        turned = then(turned, ROTATED_RIGHT)
    mirrored = state.get("ImageHorizontalFlip") == "Y"
    return then(turned, MIRRORED) if mirrored else turned


def _area(state: Dataset, target: _Target) -> BoxPx | None:
    """Return the displayed area, None if it is all of the image.

    Its corners are pixels, counted from 1 (PS3.3 C.10.4).
    """
    item = _meant(state, target)
    if not item:
        return None
    x0, y0 = (int(v) for v in item.DisplayedAreaTopLeftHandCorner)
    x1, y1 = (int(v) for v in item.DisplayedAreaBottomRightHandCorner)
    # Of a turned image the first corner may lie right of, or below, the other.
    (left, right), (top, bottom) = sorted((x0, x1)), sorted((y0, y1))
    whole = left <= 1 and top <= 1 and right >= target.size.columns
    if whole and bottom >= target.size.rows:
        return None
    return BoxPx(left - 1, top - 1, right, bottom)


def _annotations(
    state: Dataset, target: _Target, area: BoxPx | None, turned: int
) -> tuple[tuple[Outline, ...], tuple[Note, ...], tuple[str, ...]]:
    area = area or BoxPx(0, 0, target.size.columns, target.size.rows)
    outlines, notes, missed = list[Outline](), list[Note](), list[str]()
    for annotation in state.get("GraphicAnnotationSequence") or ():
        if not target.is_meant(annotation):
            continue
        for graphic in annotation.get("GraphicObjectSequence") or ():
            outlines.append(_outline(graphic, area, turned))
        for text in annotation.get("TextObjectSequence") or ():
            notes.extend(_note(text, area, turned))
        if annotation.get("CompoundGraphicSequence"):
            missed.append("compound graphics")
    return tuple(outlines), tuple(notes), tuple(missed)


def _outline(graphic: Dataset, area: BoxPx, turned: int) -> Outline:
    data = np.array(graphic.GraphicData, dtype=float).reshape(-1, 2)
    points = [
        _native(x, y, str(graphic.GraphicAnnotationUnits), area, turned)
        for x, y in data.tolist()
    ]
    kind, filled = str(graphic.GraphicType), graphic.get("GraphicFilled") == "Y"
    if kind == "CIRCLE":
        (cx, cy), (x, y) = ((p.x, p.y) for p in points)
        across = (x - cx, y - cy)
        points = list(_around((cx, cy), across, (-across[1], across[0])))
    elif kind == "ELLIPSE":
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = ((p.x, p.y) for p in points)
        middle = ((ax + bx) / 2, (ay + by) / 2)
        one, other = ((bx - ax) / 2, (by - ay) / 2), ((dx - cx) / 2, (dy - cy) / 2)
        points = list(_around(middle, one, other))
    elif kind == "INTERPOLATED":
        points = list(_through(points))
    return Outline(tuple(points), filled)


def _around(
    middle: tuple[float, float], one: tuple[float, float], other: tuple[float, float]
) -> Iterator[PointPx]:
    """Yield the closed outline of an ellipse with two half axes."""
    for number in range(_ROUND + 1):
        a, b = cos(2 * pi * number / _ROUND), sin(2 * pi * number / _ROUND)
        yield PointPx(
            middle[0] + a * one[0] + b * other[0], middle[1] + a * one[1] + b * other[1]
        )


def _through(points: list[PointPx]) -> Iterator[PointPx]:
    """Yield a smooth curve through points, closed if the last is the first.

    The standard leaves the kind of curve open (PS3.3 C.10.5.1.2); this one is Catmull
    and Rom's, whose direction at a point is that from the one before to the one after.
    """
    closed = len(points) > 2 and points[0] == points[-1]
    first = points[-2] if closed else points[0]
    last = points[1] if closed else points[-1]
    padded = np.array([(p.x, p.y) for p in (first, *points, last)])
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        for t in np.arange(_BETWEEN) / _BETWEEN:
            across = (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
            x, y = b + (across + (3 * b - a - 3 * c + d) * t**3) / 2
            yield PointPx(float(x), float(y))
    yield points[-1]


def _note(text: Dataset, area: BoxPx, turned: int) -> Iterator[Note]:
    """Yield a text that has a place: the box that it fills, or else its anchor."""

    def native(keyword: str, units: str) -> PointPx | None:
        if keyword not in text:
            return None
        x, y = (float(v) for v in text[keyword].value)
        return _native(x, y, str(text.get(units)), area, turned)

    anchor = native("AnchorPoint", "AnchorPointAnnotationUnits")
    box = native("BoundingBoxTopLeftHandCorner", "BoundingBoxAnnotationUnits")
    at, visible = box or anchor, text.get("AnchorPointVisibility") == "Y"
    if at is not None:
        words = str(text.get("UnformattedTextValue") or "").replace("\r\n", "\n")
        yield Note(words, at, anchor if visible else None)


def _native(x: float, y: float, units: str, area: BoxPx, turned: int) -> PointPx:
    """Return native pixels of what is in pixels, or in parts of the displayed area.

    The area is seen turned, so its parts have to be turned back (PS3.3 C.10.5.1.1).
    """
    if units != "DISPLAY":
        return PointPx(x, y)
    turn = TURNS[turned]
    x, y = 1 - x if turn.mirror else x, 1 - y if turn.flip else y
    x, y = (y, x) if turn.transpose else (x, y)
    width, height = area.x1 - area.x0, area.y1 - area.y0
    return PointPx(area.x0 + x * width, area.y0 + y * height)


def _shutter(state: Dataset, target: _Target) -> Shutter | None:
    """Return what all shapes hide together (PS3.3 C.7.6.11 and C.7.6.15)."""
    named = state.get("ShutterShape") or ()
    shapes = {named} if isinstance(named, str) else set(named)
    rows, columns = target.size.rows, target.size.columns
    down, across = np.ogrid[1 : rows + 1, 1 : columns + 1]
    hidden = np.zeros((rows, columns), bool)
    if "RECTANGULAR" in shapes:
        hidden |= (across < int(state.ShutterLeftVerticalEdge)) | (
            across > int(state.ShutterRightVerticalEdge)
        )
        hidden |= (down < int(state.ShutterUpperHorizontalEdge)) | (
            down > int(state.ShutterLowerHorizontalEdge)
        )
    if "CIRCULAR" in shapes:
        row, column = (int(v) for v in state.CenterOfCircularShutter)
        # The radius counts pixels along a row; pixels may be taller than wide.
        far = (across - column) ** 2 + ((down - row) * target.aspect) ** 2
        hidden |= far > int(state.RadiusOfCircularShutter) ** 2
    if "POLYGONAL" in shapes:
        corners = np.array(state.VerticesOfThePolygonalShutter, float).reshape(-1, 2)
        hidden |= ~_within(corners, down, across)
    bitmap = _bitmap(state) if "BITMAP" in shapes else None
    if bitmap is not None:
        plane = plane_of(state, bitmap, target.size)
        hidden |= False if plane is None else plane
    if not hidden.any():
        return None
    # Of 16 bits, whatever the image has (PS3.3 C.7.6.11.1).
    value = int(state.get("ShutterPresentationValue") or 0)
    return Shutter(hidden, round(value / 65535 * 255))


def _bitmap(state: Dataset) -> int | None:
    """Return the group of the state's overlay that is a shutter, None without one."""
    group = int(state.get("ShutterOverlayGroup") or 0)
    return group if (group, _OVERLAY_DATA) in state else None


def _within(
    corners: npt.NDArray[np.float64],
    down: npt.NDArray[np.int64],
    across: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Return which pixels lie in a polygon of (row, column) corners, even-odd."""
    inside = np.zeros((down.size, across.size), bool)
    for (r0, c0), (r1, c1) in zip(corners, np.roll(corners, -1, 0), strict=True):
        if r0 != r1:
            crosses = (r0 > down) != (r1 > down)
            inside ^= crosses & (across < (c1 - c0) * (down - r0) / (r1 - r0) + c0)
    return inside
