"""The value of a mark, with its unit and the plane it refers to.

A length is in pixels if the file has no spacing; a radiograph's spacing is that of the
detector, where the patient appears magnified (PS3.3 10.7.1.3). Angles only need the
aspect ratio of the pixels.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import atan2, ceil, degrees, hypot, pi
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointPx
from viewer.domain.image import PixelImage
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.mark import REGIONS, Mark, MarkKind
from viewer.domain.reference import Mask
from viewer.ui.canvas.display import value_text
from viewer.ui.canvas.overlays.scale_bar import SUFFIX

_HEART: Final = ("heart", "cardiac silhouette")
_LUNGS: Final = (
    ("lungs",), ("lung",), ("both lungs",), ("left lung", "right lung"),
    ("lung left", "lung right"),
)  # fmt: skip
"""What data sets call masks of the heart, and together of both lungs."""


def words(mark: Mark, image: PixelImage, *, final: bool = True) -> tuple[str, ...]:
    """Return the text of a mark, in lines; what a reader wrote comes first.

    A region that is not ``final`` follows the mouse and says its area only.
    """
    own = tuple(mark.text.splitlines())
    return (*own, *_values_of(mark, image, final=final)) if mark.complete else own


def _values_of(mark: Mark, image: PixelImage, *, final: bool) -> tuple[str, ...]:
    geometry, ends = image.geometry, mark.points[:2]
    if mark.kind in REGIONS:
        values = region_values(mark, image) if final else np.empty(0)
        return (*value_lines(values, image), area_text(mark, geometry))
    match mark.kind:
        case MarkKind.COBB:
            return (f"Cobb {cobb_angle(mark, geometry):.1f}°",)
        case MarkKind.ANGLE:
            return (f"{vertex_angle(mark, geometry):.1f}°",)
        case MarkKind.LENGTH:
            return (length_text(ends[0], ends[1], geometry),)
        case MarkKind.HEART:
            return heart_lines(mark, geometry)
        case MarkKind.POINT:
            return (point_text(ends[0], image),)
    return ()


def length_of(start: PointPx, end: PointPx, geometry: ImageGeometry) -> float:
    """Return a length in mm, or in widths of a pixel without a spacing."""
    return hypot(*_vector(start, end, geometry))


def length_text(start: PointPx, end: PointPx, geometry: ImageGeometry) -> str:
    """Return a length with its unit and where it holds."""
    return _with_unit(length_of(start, end, geometry), geometry)


def _with_unit(length: float, geometry: ImageGeometry) -> str:
    """Return a length in words, with no more digits than its pixels can tell."""
    spacing = geometry.spacing
    if spacing is None:
        unit = "px" if geometry.pixel_aspect == 1 else "pixel widths"
        return f"{length:.1f} {unit}, uncalibrated"
    if length < 1:
        return f"{length * 1000:.1f} µm{SUFFIX[spacing.meaning]}"
    digits = 1 if max(spacing.row_mm, spacing.column_mm) < 1 else 0
    return f"{length:.{digits}f} mm{SUFFIX[spacing.meaning]}"


def cardiothoracic_ratio(mark: Mark) -> float:
    """Return the width of the heart over that of the thorax, both across the image.

    Both lie in one plane, so that magnification cancels out.
    """
    a, b, c, d = mark.points
    return abs(b.x - a.x) / max(abs(d.x - c.x), 1e-9)


def proposed_heart(masks: Mapping[str, Mask]) -> Mark | None:
    """Return a cardiothoracic ratio between the outermost edges of heart and lungs.

    Each edge lies at the middle height of the pixels that reach as far. None without
    masks, by name, of the heart and of both lungs.
    """
    found = {name.casefold().replace("_", " "): m for name, m in masks.items()}
    heart = next((found[name] for name in _HEART if name in found), None)
    lungs = next((names for names in _LUNGS if found.keys() >= set(names)), None)
    if heart is None or lungs is None:
        return None
    thorax = np.logical_or.reduce([found[name].array() for name in lungs])
    ends = (_ends_across(heart.array()), _ends_across(thorax))
    points = tuple(point for pair in ends for point in pair)
    mark = Mark(MarkKind.HEART, points)
    return mark if mark.complete else None


def _ends_across(bits: npt.NDArray[np.bool_]) -> tuple[PointPx, ...]:
    """Return the ends of a mask across the image, none of an empty one."""
    columns = np.flatnonzero(bits.any(axis=0))
    if not len(columns):
        return ()
    first, last = int(columns[0]), int(columns[-1])
    heights = [float(np.flatnonzero(bits[:, n]).mean()) + 0.5 for n in (first, last)]
    return PointPx(float(first), heights[0]), PointPx(last + 1.0, heights[1])


def heart_lines(mark: Mark, geometry: ImageGeometry) -> tuple[str, ...]:
    """Return ratio and widths; only distances along the rows count."""
    a, b, c, d = mark.points
    heart = length_text(a, PointPx(b.x, a.y), geometry)
    thorax = length_text(c, PointPx(d.x, c.y), geometry)
    ratio = f"Cardiothoracic ratio {cardiothoracic_ratio(mark):.2f}"
    return (ratio, f"heart {heart}", f"thorax {thorax}")


def point_text(at: PointPx, image: PixelImage) -> str:
    """Return the measured value under a point with its unit, "" off the image."""
    return value_text(image, at) or ""


def vertex_angle(mark: Mark, geometry: ImageGeometry) -> float:
    """Return the angle at the second of three points, in degrees from 0 to 180."""
    end, vertex, other = mark.points
    return _between(_vector(vertex, end, geometry), _vector(vertex, other, geometry))


def cobb_angle(mark: Mark, geometry: ImageGeometry) -> float:
    """Return the smaller angle between two lines, in degrees from 0 to 90.

    Which way a line was drawn makes no difference.
    """
    a, b, c, d = mark.points
    angle = _between(_vector(a, b, geometry), _vector(c, d, geometry))
    return min(angle, 180.0 - angle)


def area_of(mark: Mark, geometry: ImageGeometry) -> float:
    """Return a region's area in mm², or in px² without a spacing."""
    spacing = geometry.spacing
    pixel = spacing.column_mm * spacing.row_mm if spacing else 1.0
    if mark.painted is not None:
        return mark.painted.count * pixel
    xs, ys = ([getattr(p, axis) for p in mark.points] for axis in "xy")
    if mark.kind is MarkKind.POLYGON:
        pixels = abs(np.dot(xs[:-1], ys[1:]) - np.dot(xs[1:], ys[:-1])) / 2
    else:
        pixels = abs((xs[1] - xs[0]) * (ys[1] - ys[0]))
        pixels *= pi / 4 if mark.kind is MarkKind.ELLIPSE else 1.0
    return float(pixels * pixel)


def area_text(mark: Mark, geometry: ImageGeometry) -> str:
    """Return a region's area with its unit and where it holds."""
    area, spacing = area_of(mark, geometry), geometry.spacing
    if spacing is None:
        return f"area {area:.0f} px², uncalibrated"
    if area < 0.1:
        return f"area {area * 1e6:.0f} µm²{SUFFIX[spacing.meaning]}"
    digits = 1 if area < 1000 else 0
    return f"area {area:.{digits}f} mm²{SUFFIX[spacing.meaning]}"


def region_values(mark: Mark, image: PixelImage) -> npt.NDArray[Any]:
    """Return the measured values whose pixels' centres lie in a region, (n,).

    In modality units, without padding; empty for a colour image.
    """
    box = mark.box
    if image.values.ndim == 3 or box is None:
        return image.values.ravel()[:0]
    rows = _centres(box.y0, box.y1, image.size.rows)
    columns = _centres(box.x0, box.x1, image.size.columns)
    inside = _inside(mark, rows, columns)
    part = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    if image.padding is not None:
        inside = inside & ~image.padding[part]
    return np.asarray(image.values[part][inside])


def _inside(mark: Mark, rows: range, columns: range) -> npt.NDArray[np.bool_]:
    """Return which pixels of a region's box have their centres in the region."""
    if mark.painted is not None:
        return mark.painted.mask.array()[: len(rows), : len(columns)]
    xs, ys = ([getattr(p, axis) for p in mark.points] for axis in "xy")
    if mark.kind is MarkKind.ELLIPSE:
        return _off(rows, ys)[:, None] ** 2 + _off(columns, xs) ** 2 <= 1.0
    if mark.kind is MarkKind.POLYGON:
        return _in_ring(rows, columns, xs, ys)
    return np.ones((len(rows), len(columns)), bool)


def _in_ring(
    rows: range, columns: range, xs: list[float], ys: list[float]
) -> npt.NDArray[np.bool_]:
    """Return which pixels' centres lie in a closed ring, by the even-odd rule."""
    down = (np.array(rows, float) + 0.5)[:, None]
    across = np.array(columns, float) + 0.5
    inside = np.zeros((len(rows), len(columns)), bool)
    for (x0, x1), (y0, y1) in zip(pairwise(xs), pairwise(ys), strict=True):
        if y0 != y1:
            crosses = (y0 > down) != (y1 > down)
            inside ^= crosses & (across < (x1 - x0) * (down - y0) / (y1 - y0) + x0)
    return inside


def value_lines(values: npt.NDArray[Any], image: PixelImage) -> tuple[str, ...]:
    """Return mean, standard deviation (with n, not n - 1) and range of the pixels."""
    if not values.size:
        return ()
    # float32 pixels would also be summed in float32, and lose the last digits shown.
    wide = values.astype(np.float64)
    mean, deviation = f"{wide.mean():.5g}", f"{wide.std():.4g}"
    low, high = f"{values.min():.6g}", f"{values.max():.6g}"
    unit = f" {image.units}" if image.units else ""
    return (
        f"mean {mean}{unit}, SD {deviation}{unit}",
        f"{low} to {high}{unit}, {values.size} px",
    )


def _vector(
    start: PointPx, end: PointPx, geometry: ImageGeometry
) -> tuple[float, float]:
    """Return the way from one point to another in mm.

    In widths of a pixel without a spacing.
    """
    width = geometry.spacing.column_mm if geometry.spacing else 1.0
    height = width * geometry.pixel_aspect
    return (end.x - start.x) * width, (end.y - start.y) * height


def _between(a: tuple[float, float], b: tuple[float, float]) -> float:
    across, along = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    # atan2: acos of a rounded cosine is inexact near 0° and 180°, or undefined.
    return abs(degrees(atan2(across, along)))


def _centres(low: float, high: float, count: int) -> range:
    """Return the pixels of an axis whose centres lie between two positions."""
    # The centre of pixel n is at n + 0.5.
    first = min(max(ceil(low - 0.5), 0), count)
    return range(first, min(max(ceil(high - 0.5), first), count))


def _off(pixels: range, ends: list[float]) -> npt.NDArray[np.float64]:
    """Return how far each centre is off the middle; 1 is the ellipse's edge."""
    # 1e-9: an ellipse without width contains nothing, and divides by nothing.
    middle, half = sum(ends) / 2, max(abs(ends[1] - ends[0]) / 2, 1e-9)
    return (np.array(pixels, float) + 0.5 - middle) / half
