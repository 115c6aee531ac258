"""A mip pyramid of one image, sampled at the resolution of a viewport.

Level 0 is the image, each further level the mean of 2 × 2 pixels of the previous one.
Grey integers that fit 16 bits are kept as uint16 codes, so that changing the window is
one look-up in a table of 65,536 entries per pixel of the viewport; other pixel types
(float, wide integers, RGB) are windowed from their own values.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.imaging.luts import default_window, to_raster

CODES: Final = 1 << 16
_Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Viewport:
    """A rectangle of device pixels over an image.

    ``size`` is in device pixels, ``origin`` the native position of its top left
    corner, ``step_x`` and ``step_y`` native pixels per device pixel.
    """

    size: SizePx
    origin: PointPx
    step_x: float
    step_y: float


@dataclass(frozen=True, eq=False)
class Patch:
    """The part of a viewport that the image covers, in device pixels.

    ``values`` is (rows, columns[, 3]): codes, or values of the image's dtype;
    ``padding`` (rows, columns) bool or None; ``left`` and ``top`` its position in the
    viewport.
    """

    values: _Values
    padding: npt.NDArray[np.bool_] | None
    left: int
    top: int


_Look = tuple[Window | None, bool]
"""A window, None for the file's own, and whether the grey scale is turned round."""


@dataclass(frozen=True, eq=False)
class _Level:
    values: _Values
    padding: npt.NDArray[np.bool_] | None


class Pyramid:
    """One image at every scale, windowed at the viewport's resolution.

    Parameters
    ----------
    image : PixelImage
        Any image. Further levels are made when a viewport first needs them, or all at
        once by :meth:`build`.
    """

    def __init__(self, image: PixelImage) -> None:
        self.image = image
        self.window = _first_window(image)
        self._low = _code_base(image.values)
        self._levels = [_Level(self._codes(), image.padding)]
        self._table: tuple[_Look, npt.NDArray[np.uint8]] | None = None

    def build(self) -> Self:
        """Make every level now, for use in a background thread; return the pyramid."""
        self._level_for(float(max(self._levels[0].values.shape[:2])))
        return self

    def sample(self, viewport: Viewport, *, smooth: bool = False) -> Patch:
        """Resample the visible part; ``smooth`` interpolates between magnified pixels.

        Every device pixel is the mean of four samples a quarter pixel off its centre,
        taken from the next finer level: at integer zoom these are the image's own
        pixels, unmixed. Images with padding are sampled at the centre only, so that
        padding never bleeds into measured values.
        """
        if smooth and max(viewport.step_x, viewport.step_y) < 1:
            return self._smooth(viewport)
        number = self._level_for(min(viewport.step_x, viewport.step_y))
        level = self._levels[number]
        taps = 1 if level.padding is not None else 2
        size = self.image.size
        top, rows = _taps(
            viewport.origin.y, viewport.step_y, viewport.size.rows, size.rows, taps
        )
        left, columns = _taps(
            viewport.origin.x,
            viewport.step_x,
            viewport.size.columns,
            size.columns,
            taps,
        )
        rows, columns = [r >> number for r in rows], [c >> number for c in columns]
        values = _gather(level.values, rows, columns)
        padding = level.padding
        if padding is not None:
            padding = padding.take(rows[0], 0).take(columns[0], 1)
        return Patch(values, padding, left, top)

    def _smooth(self, viewport: Viewport) -> Patch:
        """Interpolate measured values; next to padding the nearest stays as it is."""
        # Not with the window, whose first image is seldom magnified.
        from viewer.imaging.smooth import Between, interpolated, touched

        level, size, origin = self._levels[0], self.image.size, viewport.origin
        step_x, step_y, screen = viewport.step_x, viewport.step_y, viewport.size
        top, (rows,) = _taps(origin.y, step_y, screen.rows, size.rows, 1)
        left, (columns,) = _taps(origin.x, step_x, screen.columns, size.columns, 1)
        if not rows.size or not columns.size:
            return self.sample(viewport)
        down = origin.y + (np.arange(rows.size) + top + 0.5) * step_y
        across = origin.x + (np.arange(columns.size) + left + 0.5) * step_x
        between = Between.of(down, size.rows), Between.of(across, size.columns)
        values = interpolated(level.values, *between)
        if level.padding is None:
            return Patch(values, None, left, top)
        nearest, edge = self.sample(viewport), touched(level.padding, *between)
        values[edge] = nearest.values[edge]
        return replace(nearest, values=values)

    def table(self, window: Window | None, *, inverted: bool) -> npt.NDArray[np.uint8]:
        """Return the grey level of each of the 65,536 codes; see :func:`to_raster`.

        It is cached until the window changes, as pan and zoom need the same one.
        """
        look, known = (window, inverted), self._table
        if known is None or known[0] != look:
            inputs = np.arange(CODES, dtype=np.int64) + (self._low or 0)
            shown = self._shade(inputs[None, :], None, window, inverted=inverted)
            # Not read again: another thread may need the table of another window.
            known = self._table = look, shown.ravel()
        return known[1]

    def shade(
        self, patch: Patch, window: Window | None, *, inverted: bool
    ) -> npt.NDArray[np.uint8]:
        """Return a patch as displayed: (rows, columns) grey or (…, 3) RGB.

        ``window`` None means the file's VOI; ``inverted`` inverts the grey scale or the
        colours, while padding stays black.
        """
        if self._low is None:
            return self._shade(patch.values, patch.padding, window, inverted=inverted)
        table = self.table(window, inverted=inverted)
        pixels = np.take(table, patch.values)
        if patch.padding is not None:
            # After the look-up: padding stays black under an inverted grey scale too.
            pixels[patch.padding] = 0
        return pixels

    def _shade(
        self,
        values: _Values,
        padding: npt.NDArray[np.bool_] | None,
        window: Window | None,
        *,
        inverted: bool,
    ) -> npt.NDArray[np.uint8]:
        has_voi = bool(self.image.windows or self.image.voi_luts)
        part = replace(self.image, values=values, padding=None)
        pixels = to_raster(part, window or (None if has_voi else self.window)).pixels
        if inverted:
            pixels = 255 - pixels
        if padding is not None:
            pixels[padding] = 0
        return pixels

    def _codes(self) -> _Values:
        """Return level 0: codes if the values fit 16 bits, else the values."""
        values = self.image.values
        if self._low is not None:
            return _as_codes(values, self._low)
        wide = values.dtype.kind in "iu" and values.dtype.itemsize > 2
        return values.astype(np.float64) if wide else np.ascontiguousarray(values)

    def _level_for(self, step: float) -> int:
        """Return the coarsest level not coarser than ``step``, making it if needed."""
        number = max(0, int(np.floor(np.log2(max(step, 1.0)))))
        while len(self._levels) <= number:
            last = self._levels[-1]
            if min(last.values.shape[:2]) <= 1:
                return len(self._levels) - 1
            self._levels.append(_halved(last))
        return number


def _first_window(image: PixelImage) -> Window:
    if image.photometric is Photometric.RGB:
        return Window(127.5, 255.0)
    return default_window(image)


def _code_base(values: _Values) -> int | None:
    """Return the value of code 0, None if the values do not fit codes."""
    if values.ndim == 3 or values.dtype.kind not in "iu":
        return None
    if values.dtype.itemsize <= 2:
        # The dtype's least, not the image's: this needs no pass over the pixels.
        return int(np.iinfo(values.dtype).min)
    low = int(values.min())
    return low if int(values.max()) - low < CODES else None


def _as_codes(values: _Values, low: int) -> npt.NDArray[np.uint16]:
    if values.dtype.itemsize > 2:
        return np.asarray(values - low).astype(np.uint16)
    unsigned = values.view(f"u{values.dtype.itemsize}")
    # Flipping the sign bit adds half the range, without a wider copy.
    codes = unsigned if low == 0 else unsigned ^ unsigned.dtype.type(-low)
    return codes.astype(np.uint16, copy=False)


def _taps(
    origin: float, step: float, n_device: int, n_native: int, taps: int
) -> tuple[int, list[npt.NDArray[np.intp]]]:
    """Return the first device pixel on the image, and native indices for each tap."""
    first = max(0, int(np.ceil(-origin / step - 0.5)))
    last = min(n_device, int(np.ceil((n_native - origin) / step - 0.5)))
    centres = origin + (np.arange(first, max(first, last)) + 0.5) * step
    offsets = (0.0,) if taps == 1 else (-step / 4, step / 4)
    return first, [
        np.clip(np.floor(centres + offset), 0, n_native - 1).astype(np.intp)
        for offset in offsets
    ]


def _gather(
    values: _Values,
    rows: list[npt.NDArray[np.intp]],
    columns: list[npt.NDArray[np.intp]],
) -> _Values:
    """Return the mean of the taps; only the range between them is read."""
    seen_rows, rows = _within(rows)
    seen_columns, columns = _within(columns)
    seen = values[seen_rows, seen_columns]
    if not all(map(_neighbours, (rows[0], columns[0]))):
        seen = np.ascontiguousarray(seen)
    return _along(_along(seen, rows, 0), columns, 1)


def _within(
    taps: list[npt.NDArray[np.intp]],
) -> tuple[slice, list[npt.NDArray[np.intp]]]:
    """Return the slice that spans ascending taps, and the taps relative to it."""
    if not taps[0].size:
        return slice(0, 0), taps
    first = int(taps[0][0])
    return slice(first, int(taps[-1][-1]) + 1), [tap - first for tap in taps]


def _along(values: _Values, taps: list[npt.NDArray[np.intp]], axis: int) -> _Values:
    near, far = taps[0], taps[-1]
    if np.array_equal(near, far):
        return _taken(values, near, axis)
    # Up along the columns, down along the rows: no drift from level to level.
    return _mean(_taken(values, near, axis), _taken(values, far, axis), up=bool(axis))


def _taken(values: _Values, tap: npt.NDArray[np.intp], axis: int) -> _Values:
    """Return the pixels at ascending indices, as a view if they are contiguous."""
    if _neighbours(tap):
        part = slice(int(tap[0]), int(tap[-1]) + 1)
        return values[:, part] if axis else values[part]
    return values.take(tap, axis)


def _neighbours(tap: npt.NDArray[np.intp]) -> bool:
    return bool(tap.size) and bool((np.diff(tap) == 1).all())


def _mean(a: _Values, b: _Values, *, up: bool) -> _Values:
    """Return (a + b) / 2 without overflow, rounded up along one axis only."""
    if a.dtype.kind == "f":
        return np.asarray((a + b) * a.dtype.type(0.5))
    half: _Values = np.bitwise_xor(a, b)
    np.right_shift(half, 1, out=half)
    if up:
        return np.subtract(np.bitwise_or(a, b), half, out=half)
    return np.add(np.bitwise_and(a, b), half, out=half)


def _halved(level: _Level) -> _Level:
    """Return the next coarser level; an odd last row or column is repeated."""
    if level.padding is not None:
        return _halved_around(level.values, level.padding)
    even = _even(level.values)
    if even.dtype.kind == "f":
        return _Level(_sum_of_four(even) * even.dtype.type(0.25), None)
    # Four 16-bit values do not fit 16 bits.
    sums = _sum_of_four(even.astype(np.uint32))
    return _Level(((sums + 2) >> 2).astype(even.dtype), None)


def _halved_around(values: _Values, padding: npt.NDArray[np.bool_]) -> _Level:
    """Return the mean of the measured pixels of each 2 × 2; padding if none is."""
    even, measured = _even(values), ~_even(padding)
    sums = _sum_of_four(np.where(measured, even, 0).astype(np.float64))
    counts = _sum_of_four(measured.astype(np.uint8))
    means = sums / np.maximum(counts, 1)
    if values.dtype.kind != "f":
        means = np.rint(means)
    return _Level(means.astype(values.dtype), counts == 0)


def _even(values: _Values) -> _Values:
    rows, columns = values.shape[:2]
    if rows % 2 == 0 and columns % 2 == 0:
        return values
    more = [(0, rows % 2), (0, columns % 2)] + [(0, 0)] * (values.ndim - 2)
    return np.pad(values, more, mode="edge")


def _sum_of_four(values: _Values) -> _Values:
    rows = values[0::2] + values[1::2]
    return np.asarray(rows[:, 0::2] + rows[:, 1::2])
