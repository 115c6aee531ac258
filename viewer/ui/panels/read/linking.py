"""Viewports that move together, reference lines, and the cross-hair in all of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QObject

from viewer.domain.case import ImageHeader, View
from viewer.domain.geometry import PointMm, PointPx
from viewer.domain.planes import Slices, plane_of
from viewer.ui.canvas.events import PointedAt, Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.stacks import STACKED
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport


@dataclass(frozen=True, slots=True)
class _Pointed:
    """What the cross-hair points at: in one image, and in the patient if known."""

    header: ImageHeader
    point: PointPx
    position: PointMm | None


class Linking(QObject):
    """Carries scroll, zoom, pan and window over to the viewports that compare.

    Those of one frame of reference show the same part of the patient, and have one
    window if they are of one modality. Images of the same projection, or stacks in the
    same direction, of different studies are scrolled, zoomed and moved alike.
    """

    def __init__(self, lightbox: Lightbox) -> None:
        super().__init__(lightbox)
        self._lightbox = lightbox
        self.linked, self.lines = True, False
        self._busy = False
        self._slices: dict[Viewport, tuple[tuple[ImageHeader, ...], Slices]] = {}
        self._pointed: _Pointed | None = None
        self._joined: dict[Viewport, str] = {}
        lightbox.each(self._watch)
        lightbox.active_changed.connect(self.draw)
        lightbox.tool_changed.connect(self.draw)

    def link(self, linked: bool) -> None:
        """Link the viewports, or let each go its own way."""
        self.linked = linked
        if linked:
            self._frame(self._lightbox.active)

    def show_lines(self, shown: bool) -> None:
        """Show where the active image cuts the others, or not."""
        self.lines = shown
        self.draw()

    def draw(self, *_: object) -> None:
        """Draw reference lines and cross-hair in every viewport."""
        for viewport in self._lightbox.viewports:
            self._draw(viewport)

    def _watch(self, viewport: Viewport) -> None:
        view = viewport.view
        view.framed.connect(lambda: self._frame(viewport))
        view.windowed.connect(lambda: self._window(viewport))
        view.pointed.connect(lambda event: self._point(viewport, event))
        viewport.scrolled.connect(lambda event: self._scroll(viewport, event.before))
        viewport.image_shown.connect(lambda _: self._join(viewport))
        viewport.image_shown.connect(self.draw)

    def _join(self, viewport: Viewport) -> None:
        """Let a stack that has just come up show what the active viewport shows."""
        if self._joined.get(viewport) == viewport.place:
            return
        self._joined[viewport] = viewport.place
        active = self._lightbox.active
        if viewport is not active and (self.linked or _one_image(active, viewport)):
            with self._others(active) as others:
                if viewport in others and not active.view.fitted:
                    _frame_alike(active, viewport)
            if active.view.window_set is not None:
                self._window(active)

    @contextmanager
    def _others(self, leader: Viewport) -> Iterator[list[Viewport]]:
        """Give the other viewports with an image; what they do leads no further."""
        if self._busy or leader.header is None:
            yield []
            return
        self._busy = True
        ports = self._lightbox.viewports
        yield [v for v in ports if v is not leader and v.header is not None]
        self._busy = False

    def _scroll(self, leader: Viewport, before: int) -> None:
        with self._others(leader) as others:
            for viewport in others:
                position = self._position_beside(leader, before, viewport)
                if position is not None:
                    viewport.go_to(position)

    def _position_beside(
        self, leader: Viewport, before: int, viewport: Viewport
    ) -> int | None:
        """Return the image that another viewport goes to, None to stay."""
        if _one_image(leader, viewport):
            return leader.position
        if viewport.place == leader.place:  # tiles of one series
            ports = self._lightbox.viewports
            apart = ports.index(viewport) - ports.index(leader)
            return leader.position + apart
        here, there = leader.header, viewport.header
        if not self.linked or here is None or there is None:
            return None
        if _in_one_space(here, there):
            plane, size = plane_of(here.geometry), here.size
            middle = PointPx(size.columns / 2, size.rows / 2)
            return self._nearest(viewport, plane.at(middle)) if plane else None
        if not _compare(here, there):
            return None
        moved = _moved_mm(leader, before)
        plane = plane_of(there.geometry)
        if moved is None or plane is None:
            return viewport.position + leader.position - before
        return self._nearest(viewport, PointMm(*(plane.corner + moved * plane.normal)))

    def _nearest(self, viewport: Viewport, position: PointMm) -> int | None:
        """Return the image of a stack that is nearest; its planes are kept."""
        images = viewport.stack_images
        known = self._slices.get(viewport)
        if known is None or known[0] is not images:
            slices = Slices([image.geometry for image in images])
            known = self._slices[viewport] = images, slices
        return known[1].nearest(position)

    def _frame(self, leader: Viewport) -> None:
        with self._others(leader) as others:
            for viewport in others:
                if self.linked or _one_image(leader, viewport):
                    _frame_alike(leader, viewport)

    def _window(self, leader: Viewport) -> None:
        with self._others(leader) as others:
            for viewport in others:
                here, there = leader.header, viewport.header
                same, linked = _one_image(leader, viewport), self.linked
                linked = linked and bool(here and there and _in_one_space(here, there))
                if here and there and (same or linked):
                    window = leader.view.window_set or viewport.view.first_window
                    if window and here.modality == there.modality:
                        viewport.view.set_window(window)

    def _point(self, leader: Viewport, event: PointedAt) -> None:
        """Go to the slice with the position in every viewport, and mark it."""
        with self._others(leader) as others:
            header = leader.header
            if header is None:
                return
            plane = plane_of(header.geometry)
            position = plane.at(event.point) if plane else None
            self._pointed = _Pointed(header, event.point, position)
            for viewport in others:
                there = viewport.header
                tile = viewport.place == leader.place
                if position and there and not tile and _in_one_space(header, there):
                    found = self._nearest(viewport, position)
                    viewport.go_to(viewport.position if found is None else found)
        self.draw()

    def _draw(self, viewport: Viewport) -> None:
        shown = viewport.shown
        if shown is None or shown.header != viewport.header:
            return
        lines = []
        active = self._lightbox.active.header
        if self.lines and active is not None and viewport is not self._lightbox.active:
            here, there = plane_of(shown.header.geometry), plane_of(active.geometry)
            if here and there and _in_one_space(active, shown.header):
                line = here.line_of(there)
                lines = [line] if line else []
        viewport.view.set_locator(lines, self._cross_in(viewport))

    def _cross_in(self, viewport: Viewport) -> PointPx | None:
        pointed, header = self._pointed, viewport.header
        if pointed is None or header is None:
            return None
        if self._lightbox.tool is not Tool.CROSSHAIR:
            return None
        if header == pointed.header:
            return pointed.point
        plane = plane_of(header.geometry)
        if plane is None or pointed.position is None:
            return None
        if not _in_one_space(header, pointed.header):
            return None
        if self._nearest(viewport, pointed.position) != viewport.position:
            return None
        at = plane.project(pointed.position)
        inside = 0 <= at.x <= header.size.columns and 0 <= at.y <= header.size.rows
        return at if inside else None


def _one_image(a: Viewport, b: Viewport) -> bool:
    """Tell whether two viewports show one image, each with a model's answers."""
    return bool(a.model and b.model) and a.place == b.place


def _in_one_space(a: ImageHeader, b: ImageHeader) -> bool:
    """Tell whether positions in two images are in one frame of reference."""
    return bool(a.frame_of_reference) and a.frame_of_reference == b.frame_of_reference


def _compare(a: ImageHeader, b: ImageHeader) -> bool:
    """Tell whether two images show the same from the same side."""
    if a.view in {View.FRONTAL, View.LATERAL}:
        return a.view is b.view
    stacks = a.modality == b.modality and a.modality in STACKED
    return stacks and a.geometry.letters == b.geometry.letters


def _moved_mm(viewport: Viewport, before: int) -> float | None:
    """Return how far a viewport was scrolled along the normal of its slices."""
    was = plane_of(viewport.stack_images[before].geometry)
    now = plane_of(viewport.stack_images[viewport.position].geometry)
    return float((now.corner - was.corner) @ was.normal) if was and now else None


def _frame_alike(leader: Viewport, viewport: Viewport) -> None:
    here, there = leader.header, viewport.header
    if here is None or there is None:
        return
    same = leader.place == viewport.place
    if not (same or _in_one_space(here, there) or _compare(here, there)):
        return
    if leader.view.fitted:
        viewport.view.fit()
    elif _one_image(leader, viewport):
        viewport.view.look_at(leader.view.centre, leader.view.zoom)
    elif here.geometry.letters == there.geometry.letters:
        _look_at(leader.view, here, viewport.view, there)


def _look_at(
    leader: ImageView, here: ImageHeader, view: ImageView, there: ImageHeader
) -> None:
    """Show the same part of the patient at the same size, or of the image."""
    planes = plane_of(here.geometry), plane_of(there.geometry)
    centre, a, b = leader.centre, here.geometry.spacing, there.geometry.spacing
    if _in_one_space(here, there) and planes[0] and planes[1] and a and b:
        at = planes[1].project(planes[0].at(centre))
        view.look_at(at, leader.zoom * b.column_mm / a.column_mm)
        return
    across = there.size.columns / here.size.columns
    down = there.size.rows / here.size.rows
    at = PointPx(centre.x * across, centre.y * down)
    view.look_at(at, leader.zoom * view.whole_zoom / leader.whole_zoom)
