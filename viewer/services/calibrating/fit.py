"""Find the coordinate convention of replies about known locations."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from viewer.domain.geometry import BoxPx, PointPx, PolygonPx
from viewer.domain.places import PlacesReading
from viewer.models.coordinates.convention import NumberConvention, centre_of
from viewer.models.coordinates.conventions import (
    CONVENTIONS,
    convention_named,
    detect,
)
from viewer.models.coordinates.frame import Frame
from viewer.models.provider_view import PROVIDER_VIEWS, provider_view_named
from viewer.services.calibrating.marker_images import Marker
from viewer.services.calibrating.questions import GRID

Y_FIRST: Final = frozenset({"gemini", "paligemma"})
"""Conventions that write the row before the column."""
_SPREAD: Final = 0.03
"""How far off a good answer may be, as a part of the image's diagonal."""
_BETTER: Final = 1.02
_NEAR_PX: Final = 30.0
"""How far off a place may be that found its marker; or a step, where that is more."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A model's reply about a marker, to a question in a certain wording."""

    marker: Marker
    wording: str
    text: str


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a convention explains the replies to one wording.

    Errors are in pixels of the image sent: the farthest edge of a box, the distance of
    a point or of a cell's centre. ``resolution_px`` is the coarsest step of the
    convention, ``scale`` the factor by which widths and heights must be multiplied to
    fit. ``near`` counts the markers found: within a step or 30 px, whichever is larger.
    """

    convention: str
    provider_view: str
    wording: str
    read: int
    near: int
    asked: int
    median_px: float
    worst_px: float
    resolution_px: float
    scale: tuple[float, float]
    swapped: bool
    weight: float
    confidence: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether most markers were found under this convention."""
        return 2 * self.near > self.asked


@dataclass(frozen=True, slots=True)
class _Read:
    """A reply parsed under a convention."""

    marker: Marker
    shape: PointPx | BoxPx | PolygonPx
    sign: float
    step_px: float


def fits(heard: Sequence[Heard], provider_view: str | None) -> tuple[Fit, ...]:
    """Return every convention that can parse a reply, best first.

    Parameters
    ----------
    heard : sequence of Heard
        Every reply.
    provider_view : str or None
        The provider's resizing, for conventions in pixels; every view is tried if it is
        unknown.
    """
    views = [provider_view] if provider_view else _distinct_views(heard)
    best: dict[str, Fit] = {}
    for view in views:
        for fit in _fits_seen_by(view, heard):
            known = best.get(fit.convention)
            if known is None or fit.weight > _BETTER * known.weight:
                best[fit.convention] = fit
    total = sum(fit.weight for fit in best.values())
    sure = [replace(f, confidence=f.weight / total) for f in best.values() if total]
    return tuple(sorted(sure, key=lambda f: (not f.holds, -f.confidence, f.convention)))


def _distinct_views(heard: Sequence[Heard]) -> list[str]:
    """Return one view for each distinct resizing of the images, the simplest first."""
    sizes = {one.marker.size: None for one in heard}
    by_seen: dict[object, str] = {}
    for name, view in PROVIDER_VIEWS.items():
        by_seen.setdefault(tuple(view.seen(size) for size in sizes), name)
    return list(by_seen.values())


def _fits_seen_by(view: str, heard: Sequence[Heard]) -> Iterable[Fit]:
    read = [(one, _read(one, view)) for one in heard]
    for wording in dict.fromkeys(one.wording for one in heard):
        replies = [places for one, places in read if one.wording == wording]
        for name in CONVENTIONS:
            places = [found[name] for found in replies if name in found]
            if places:
                yield _fit(name, view, wording, places, len(replies))


def _read(heard: Heard, view: str) -> Mapping[str, _Read]:
    sent = heard.marker.size
    seen = provider_view_named(view).seen(sent)
    frame = replace(Frame.of_sent(sent, seen), grid=GRID)
    return {
        candidate.name: _Read(
            heard.marker,
            candidate.reading.places[0].shape,
            candidate.confidence,
            _step(candidate.name, frame),
        )
        for candidate in detect(heard.text, frame)
        if _is_one(candidate.reading)
    }


def _is_one(reading: PlacesReading) -> bool:
    return len(reading.scored) == 1


def _step(convention: str, frame: Frame) -> float:
    step = convention_named(convention).bin_native(frame)
    return max(step.x, step.y)


def _fit(
    name: str, view: str, wording: str, places: Sequence[_Read], asked: int
) -> Fit:
    errors = [_error(p.marker, p.shape) for p in places]
    swapped = [_error(p.marker, _swapped(p.shape, p.marker)) for p in places]
    return Fit(
        convention=name,
        provider_view=view,
        wording=wording,
        read=len(places),
        near=sum(map(_is_near, places, errors)),
        asked=asked,
        median_px=median(errors),
        worst_px=max(errors),
        resolution_px=max(p.step_px for p in places),
        scale=_scale(places),
        swapped=median(swapped) < median(errors) / 2,
        weight=sum(map(_weight, places, errors)) / asked,
    )


def _is_near(place: _Read, error: float) -> bool:
    return error <= max(place.step_px, _NEAR_PX)


def _weight(place: _Read, error: float) -> float:
    """Return how well a location fits, 0 to 1, by syntax and position."""
    size = place.marker.size
    spread = _SPREAD * math.hypot(size.rows, size.columns)
    beyond = max(0.0, error - place.step_px) / spread
    return place.sign * math.exp(-beyond * beyond / 2)


def _error(marker: Marker, shape: PointPx | BoxPx | PolygonPx) -> float:
    truth = marker.box
    is_cell = isinstance(shape, BoxPx) and _is_cell(shape, marker)
    if isinstance(shape, BoxPx) and not is_cell:
        first = max(abs(shape.x0 - truth.x0), abs(shape.y0 - truth.y0))
        return max(first, abs(shape.x1 - truth.x1), abs(shape.y1 - truth.y1))
    found, centre = centre_of(shape), marker.centre
    return math.hypot(found.x - centre.x, found.y - centre.y)


def _is_cell(box: BoxPx, marker: Marker) -> bool:
    """Tell whether a box is a cell of the grid, which is only a rough location."""
    width, height = marker.size.columns / GRID.columns, marker.size.rows / GRID.rows
    return math.isclose(box.x1 - box.x0, width) and math.isclose(
        box.y1 - box.y0, height
    )


def _swapped(
    shape: PointPx | BoxPx | PolygonPx, marker: Marker
) -> PointPx | BoxPx | PolygonPx:
    """Return a shape with its axes exchanged."""
    across = marker.size.columns / marker.size.rows
    if isinstance(shape, BoxPx):
        x0, x1 = shape.y0 * across, shape.y1 * across
        return BoxPx(x0, shape.x0 / across, x1, shape.x1 / across)
    centre = centre_of(shape)
    return PointPx(centre.y * across, centre.x / across)


def _scale(places: Sequence[_Read]) -> tuple[float, float]:
    """Return the factors through 0 that bring the centres closest to the truth."""
    found = [centre_of(place.shape) for place in places]
    true = [place.marker.centre for place in places]
    across = _slope([p.x for p in found], [p.x for p in true])
    return across, _slope([p.y for p in found], [p.y for p in true])


def _slope(read: Sequence[float], true: Sequence[float]) -> float:
    square = sum(value * value for value in read)
    return sum(map(lambda a, b: a * b, read, true)) / square if square else 1.0


def axis_order(convention: str) -> str:
    """Return which axis a convention writes first: x, y, or neither."""
    if not isinstance(convention_named(convention), NumberConvention):
        return "cell"
    return "y first" if convention in Y_FIRST else "x first"


def scale_name(convention: str) -> str:
    """Return the name of the unit of a convention's numbers."""
    chosen = convention_named(convention)
    if not isinstance(chosen, NumberConvention):
        return "cells"
    divisions, cropped = chosen.space.divisions, chosen.space.cropped
    if divisions is None:
        return "pixels as seen"
    return f"{divisions:g} to a side" + (" of the middle square" if cropped else "")


def shares(found: Sequence[Fit], what: str) -> Mapping[str, float]:
    """Return the confidence in each ``axis order`` or ``scale``, highest first.

    It is empty if no convention holds.
    """
    name = axis_order if what == "axis order" else scale_name
    totals: dict[str, float] = {}
    if not any(fit.holds for fit in found):
        return totals
    for fit in found:
        key = name(fit.convention)
        totals[key] = totals.get(key, 0.0) + fit.confidence
    return dict(sorted(totals.items(), key=lambda item: -item[1]))
