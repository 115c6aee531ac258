"""The images on the screen: one, or frontal and lateral side by side."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.services.viewing.decoding import Decoder
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.panels.read.grid_choice import GridChanged, GridChoice
from viewer.ui.panels.read.hanging import Chosen, hanging
from viewer.ui.panels.read.viewport import ImageShown, Viewport, ViewportEntered

_SIDES: Final = 2


@dataclass(frozen=True, eq=False)
class ActiveChanged:
    """Commands now apply to this viewport."""

    viewport: Viewport


class ViewportPair(QWidget):
    """Two viewports, the second shown where a study has both projections."""

    active_changed = Signal(object)
    """Carries an ActiveChanged."""
    grid_changed = Signal(object)
    """Carries a GridChanged."""

    def __init__(
        self, decoder: Decoder | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.viewports = tuple(Viewport(decoder) for _ in range(_SIDES))
        self.active = self.viewports[0]
        self._grid = GridChoice()
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("viewportSplitter")
        split.setChildrenCollapsible(False)
        for viewport in self.viewports:
            split.addWidget(viewport)
            viewport.entered.connect(self._enter)
            viewport.image_shown.connect(self._draw_over)
        self.viewports[1].hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(split)

    @property
    def view(self) -> ImageView:
        """The image view that commands apply to."""
        return self.active.view

    def hang(self, chosen: Chosen) -> None:
        """Show a chosen stack, beside its other projection if there is one."""
        stacks = hanging(chosen)
        self.viewports[0].show()
        self.viewports[1].setVisible(len(stacks) > 1)
        for viewport, stack in zip(self.viewports, (*stacks, None), strict=False):
            first = stack == chosen.stack
            viewport.show_stack(stack, chosen.position if first else 0)
            if first:
                self._activate(viewport)
        self._mark_active()

    def clear(self) -> None:
        """Show nothing."""
        for viewport in self.viewports:
            viewport.show_stack(None)
        self.viewports[1].hide()
        self._activate(self.viewports[0])

    def showing(self, ref: ImageRef) -> Viewport | None:
        """Return the viewport that shows an image."""
        for viewport in self.viewports:
            if viewport.shown is not None and viewport.shown.ref == ref:
                return viewport
        return None

    def set_tool(self, tool: Tool) -> None:
        """Choose what a drag does, in both."""
        for viewport in self.viewports:
            viewport.view.set_tool(tool)

    def set_grid(self, choice: GridChoice) -> None:
        """Draw another grid, in both."""
        self._grid = choice
        self.grid_changed.emit(GridChanged(choice))
        for viewport in self.viewports:
            self._draw_grid(viewport)

    @property
    def grid_choice(self) -> GridChoice:
        """The grid for questions."""
        return self._grid

    def hide_overlays(self, *, hidden: bool) -> None:
        """Hide every overlay, or show them again."""
        for viewport in self.viewports:
            viewport.view.hide_overlays(hidden)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Show the image clicked alone, or both again; a single one whole."""
        event.accept()
        first, second = self.viewports
        if second.stack is None:
            self.view.fit()
            return
        alone = not (first.isVisible() and second.isVisible())
        for viewport in self.viewports:
            viewport.setVisible(alone or viewport is self.active)
        self._mark_active()

    def _enter(self, event: ViewportEntered) -> None:
        self._activate(event.viewport)

    def _activate(self, viewport: Viewport) -> None:
        if viewport is not self.active:
            self.active = viewport
            self._mark_active()
            self.active_changed.emit(ActiveChanged(viewport))

    def _mark_active(self) -> None:
        """Mark the active viewport, if there are two."""
        both = not any(viewport.isHidden() for viewport in self.viewports)
        for viewport in self.viewports:
            viewport.mark.show_active(viewport is self.active)
            viewport.mark.setVisible(both)

    def _draw_over(self, event: ImageShown) -> None:
        self._draw_grid(event.viewport)

    def _draw_grid(self, viewport: Viewport) -> None:
        field, choice = viewport.field, self._grid
        if viewport.shown is None or field is None or not choice.shown:
            viewport.view.set_grid(None)
            return
        viewport.view.set_grid(
            GridOverlay(
                choice.grid,
                field,
                choice.labels,
                choice.colour,
                choice.opacity,
            )
        )
