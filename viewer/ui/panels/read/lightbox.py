"""The lightbox: up to 3 × 3 viewports, one of them active, and what is beside it."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QTransform
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.slide import is_region
from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.choices import restored
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.canvas.waiting import EMPTY, EMPTY_BESIDE
from viewer.ui.panels.read.ahead import Ahead
from viewer.ui.panels.read.grid_choice import GridChanged, GridChoice
from viewer.ui.panels.read.hanging import Chosen, Hung
from viewer.ui.panels.read.patients_bar import PatientsBar
from viewer.ui.panels.read.viewport import ImageShown, Viewport, ViewportEntered
from viewer.ui.widgets.lighter import Splitter

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer

PANELS: Final = "panels"
_CASES, _ASK, _ALONE = "view.cases", "view.ask", "view.image_only"
_WIDTHS: Final = (310, 880, 300)
_GAP_PX: Final = 1
_HALF: Final = 0.5
"""Of the view: a chosen region of a slide spans no less."""
_IMAGE_SHARE: Final = 0.45
"""Of the width; a window narrower than usual takes from the sides first."""


@dataclass(frozen=True, eq=False)
class ActiveChanged:
    """Commands now apply to this viewport."""

    viewport: Viewport


class Lightbox(QWidget):
    """Viewports in rows and columns; those beyond the first are made when needed."""

    active_changed = Signal(object)
    """Carries an ActiveChanged."""
    grid_changed = Signal(object)
    """Carries a GridChanged."""
    tool_changed = Signal()
    arranged = Signal()
    """Other viewports are in use."""
    compared = Signal()
    """Viewports show the answers of a model each, or those of all models again."""
    held_changed = Signal()
    """Images kept in memory are more, or fewer."""

    def __init__(
        self, decoder: Decoder | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._decoder = decoder or LocalDecoder()
        self.ahead = Ahead(self._decoder, self)
        self.ahead.held_changed.connect(self.held_changed)
        self._grid, self.tool = GridChoice(), Tool.WINDOW
        self._prepare: list[Callable[[Viewport], object]] = []
        self._made: list[Viewport] = []
        self._stand_ins: dict[Viewport, QWidget] = {}
        self.rows, self.columns = 1, 1
        self.others: tuple[Path, ...] = ()
        """The opened files that are no images, such as reports of the studies."""
        self._alone: Viewport | None = None
        self.patients = PatientsBar()
        column, self._places = QVBoxLayout(self), QGridLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.patients)
        column.addLayout(self._places, 1)
        self._places.setSpacing(_GAP_PX)
        self.active = self._viewport(0)
        self._lay_out()

    @property
    def viewports(self) -> tuple[Viewport, ...]:
        """The viewports of the layout, row by row."""
        return tuple(self._made[: self.rows * self.columns])

    @property
    def view(self) -> ImageView:
        """The image view that commands apply to."""
        return self.active.view

    @property
    def held_bytes(self) -> int:
        """The size of all images kept in memory, as decoded."""
        return self.ahead.held_bytes + sum(v.held_bytes for v in self._made)

    def focus_active(self) -> None:
        """Let the active viewport have the keyboard."""
        self.view.setFocus()

    def each(self, prepare: Callable[[Viewport], object]) -> None:
        """Prepare every viewport, and those that are made later."""
        self._prepare.append(prepare)
        for viewport in self._made:
            prepare(viewport)

    def hang(
        self, chosen: Chosen, rows: Sequence[Sequence[Hung | None]] | None = None
    ) -> None:
        """Show a chosen stack alone, or among the others in rows of viewports."""
        rows = rows or [[Hung(chosen.stack)]]
        before = [v.model for v in self._made if v.model]
        self.arrange(len(rows), len(rows[0]))
        first = True
        for viewport, hung in zip(self.viewports, chain(*rows), strict=True):
            if hung is None:
                viewport.show_role("")
                viewport.show_stack(None)
                continue
            viewport.show_role(hung.role, hung.model)
            is_chosen = hung.stack == chosen.stack
            position = chosen.position + hung.tile if is_chosen else None
            viewport.show_stack(hung.stack, position)
            if is_chosen and first:
                self._activate(viewport)
                first = False
        if before != [v.model for v in self._made if v.model]:
            self.compared.emit()

    def clear(self) -> None:
        """Show nothing."""
        self.arrange(1, 1)
        self.viewports[0].show_stack(None)
        self._activate(self.viewports[0])

    def forget(self, gone: AbstractSet[Path]) -> None:
        """Show, and keep in memory, none of some deleted files, by absolute path."""
        self.ahead.expect(())
        for viewport in self._made:
            paths = {image.ref.path.absolute() for image in viewport.stack_images}
            if paths & gone:
                viewport.show_stack(None)

    def showing(self, ref: ImageRef) -> Viewport | None:
        """Return the viewport that shows an image."""
        for viewport in self.viewports:
            if viewport.shown is not None and viewport.shown.ref == ref:
                return viewport
        return None

    def at(self, point: QPoint) -> Viewport | None:
        """Return the viewport at a point of the screen."""
        for viewport in self.viewports:
            here = viewport.rect().contains(viewport.mapFromGlobal(point))
            if viewport.isVisible() and here:
                return viewport
        return None

    def set_tool(self, tool: Tool) -> None:
        """Choose what a drag does, in every viewport."""
        self.tool = tool
        for viewport in self._made:
            viewport.view.set_tool(tool)
        self.tool_changed.emit()

    def set_grid(self, choice: GridChoice) -> None:
        """Draw another grid, in every viewport."""
        self._grid = choice
        self.grid_changed.emit(GridChanged(choice))
        for viewport in self._made:
            self._draw_grid(viewport)

    @property
    def grid_choice(self) -> GridChoice:
        """The grid for questions."""
        return self._grid

    def hide_overlays(self, *, hidden: bool) -> None:
        """Hide every overlay, or show them again."""
        for viewport in self._made:
            viewport.view.hide_overlays(hidden)

    def light(self, chosen: int | None, hovered: int | None) -> None:
        """Highlight the answers of two trials: the chosen one and the one hovered."""
        items = [item for v in self.viewports for item in v.view.answer_items]
        known = any(item.answer.trial == hovered for item in items)
        for item in items:
            trial = item.answer.trial
            item.light(chosen=trial == chosen, faded=known and trial != hovered)

    def go_to_answer(self, answer: "StoredAnswer") -> None:
        """Bring an answer about the active image in sight, on a slide its region."""
        shown, frame = self.active.shown, answer.ref.frame
        if shown is not None and shown.slide is not None and is_region(frame):
            region = shown.slide.to_whole(frame).apply_box(answer.field)
            self.view.bring_in_sight(region, _HALF)
            return
        for item in self.view.answer_items:
            if item.answer.trial == answer.trial:
                box = QRectF()
                for part in item.frames(QTransform()):
                    box = box.united(part)
                if not box.isNull():
                    corners = (box.left(), box.top(), box.right(), box.bottom())
                    self.view.bring_in_sight(BoxPx(*corners))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Show the image clicked whole and alone, or all of them again."""
        event.accept()
        several = len(self.viewports) > 1
        self._alone = self.active if several and self._alone is None else None
        self._show_viewports()
        self.view.fit()

    def arrange(self, rows: int, columns: int) -> None:
        """Use so many viewports, at most 3 × 3; those left over show nothing."""
        if (rows, columns) != (self.rows, self.columns):
            self.rows, self.columns = rows, columns
            self._lay_out()
        self._alone = None
        self._show_viewports()
        if self.active not in self.viewports:
            self._activate(self.viewports[0])

    def _lay_out(self) -> None:
        count = self.rows * self.columns
        for place in range(count):
            viewport = self._viewport(place)
            seen = self._stand_ins.get(viewport, viewport)
            self._places.addWidget(seen, *divmod(place, self.columns))
            viewport.share_memory(count)
            viewport.view.waiting.empty = EMPTY_BESIDE if count > 1 else EMPTY
        for viewport in self._made[count:]:
            viewport.show_stack(None)
        # QGridLayout keeps emptied rows and columns; without stretch they take no room.
        for n in range(max(self._places.rowCount(), self._places.columnCount())):
            self._places.setRowStretch(n, int(n < self.rows))
            self._places.setColumnStretch(n, int(n < self.columns))

    def place_of(self, viewport: Viewport) -> int:
        """Return the place of a viewport, counted row by row from 0."""
        return self._made.index(viewport)

    def stand_in(self, viewport: Viewport, widget: QWidget | None) -> None:
        """Show a widget in the place of a viewport, or with None the viewport again."""
        before = self._stand_ins.pop(viewport, None)
        if widget is not None:
            self._stand_ins[viewport] = widget
        self._lay_out()
        self._show_viewports()
        if before is not None:
            before.deleteLater()

    def _viewport(self, place: int) -> Viewport:
        if place < len(self._made):
            return self._made[place]
        viewport = Viewport(self._decoder, self, self.ahead)
        self._made.append(viewport)
        viewport.entered.connect(self._enter)
        viewport.image_shown.connect(self._draw_over)
        viewport.stack_changed.connect(self._compare_patients)
        viewport.held_changed.connect(self.held_changed)
        viewport.view.set_tool(self.tool)
        viewport.view.seen_changed.connect(partial(self._follow_slide, viewport))
        for prepare in self._prepare:
            prepare(viewport)
        return viewport

    def _show_viewports(self) -> None:
        for place, viewport in enumerate(self._made):
            used = place < self.rows * self.columns
            seen = self._stand_ins.get(viewport, viewport)
            seen.setVisible(used and self._alone in {None, viewport})
        self._mark_active()
        self._compare_patients()
        self.arranged.emit()

    def _compare_patients(self) -> None:
        """Warn if the images side by side are of several patients."""
        hung = self.viewports if self._alone is None else (self._alone,)
        self.patients.look_at([v.stack.images[0] for v in hung if v.stack])

    def _enter(self, event: ViewportEntered) -> None:
        self._activate(event.viewport)

    def _activate(self, viewport: Viewport) -> None:
        if viewport is not self.active:
            if self.active.view.hasFocus():
                viewport.view.setFocus()
            self.active = viewport
            self._mark_active()
            self.active_changed.emit(ActiveChanged(viewport))

    def _mark_active(self) -> None:
        """Mark the active viewport, if there are several."""
        several = len(self.viewports) > 1 and self._alone is None
        for viewport in self._made:
            viewport.mark.show_active(viewport is self.active)
            viewport.mark.setVisible(several)

    def _draw_over(self, event: ImageShown) -> None:
        self._draw_grid(event.viewport)

    def _follow_slide(self, viewport: Viewport) -> None:
        """Keep the grid on the part of a slide that a question is about."""
        if viewport.shown is not None and viewport.shown.slide is not None:
            self._draw_grid(viewport)

    def _draw_grid(self, viewport: Viewport) -> None:
        field, choice = _field(viewport), self._grid
        if field is None or not choice.shown:
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


class ImageSplitter(Splitter):
    """A page with an image between two others, which give way where it is narrow."""

    def __init__(self, left: QWidget, image: QWidget, right: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setChildrenCollapsible(False)
        for widget in (left, image, right):
            self.addWidget(widget)
        self.setStretchFactor(1, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the image its share of the width."""
        super().resizeEvent(event)
        left, image, right = self.sizes()
        missing = _IMAGE_SHARE * (left + image + right) - image
        if missing > 0 and left + right > 0:
            kept = 1 - missing / (left + right)
            self.setSizes([int(left * kept), int(image + missing), int(right * kept)])


@dataclass(frozen=True, slots=True)
class PanelsChoice:
    """Which panels are shown beside the images."""

    cases: bool = True
    ask: bool = True


class SidePanels:
    """Cases at the left of the images, Ask and answers at their right.

    Parameters
    ----------
    context : AppContext
        The source of the commands.
    left, images, right : QWidget
        What stands side by side.
    bars : QWidget
        The tool bars over the images; hidden with both panels.
    """

    def __init__(
        self,
        context: AppContext,
        left: QWidget,
        images: QWidget,
        right: QWidget,
        bars: QWidget,
    ) -> None:
        self._context, self._bars = context, bars
        self._left, self._images, self._right = left, images, right
        self.choice, self._alone = PanelsChoice(), False
        self.splitter = ImageSplitter(left, images, right)
        self.splitter.setObjectName("readSplitter")
        self.splitter.setSizes(_WIDTHS)
        self._apply()

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {
            _CASES: lambda: self._show(replace(self._seen, cases=not self._seen.cases)),
            _ASK: lambda: self._show(replace(self._seen, ask=not self._seen.ask)),
            _ALONE: self._toggle_alone,
        }

    def recall(self, stored: object) -> None:
        """Show the panels of the previous session, as they were stored."""
        self._show(restored(PanelsChoice(), stored))

    def show_cases(self, enter: Callable[[], object]) -> None:
        """Show the list of cases, then let the user enter it."""
        self._show(replace(self._seen, cases=True))
        enter()

    @property
    def _seen(self) -> PanelsChoice:
        return PanelsChoice(False, False) if self._alone else self.choice

    def _show(self, choice: PanelsChoice) -> None:
        self.choice, self._alone = choice, False
        self._apply()

    def _toggle_alone(self) -> None:
        self._alone = not self._alone
        self._apply()

    def _apply(self) -> None:
        seen, actions = self._seen, self._context.actions
        for panel, shown in ((self._left, seen.cases), (self._right, seen.ask)):
            hides_focus = panel.isAncestorOf(self.splitter.focusWidget() or panel)
            panel.setVisible(shown)
            if hides_focus and not shown:
                self._images.setFocus(Qt.FocusReason.OtherFocusReason)
        self._bars.setVisible(not self._alone)
        actions.set_checked(_CASES, seen.cases)
        actions.set_checked(_ASK, seen.ask)
        actions.set_checked(_ALONE, self._alone)


def _field(viewport: Viewport) -> "BoxPx | None":
    """Return the native rectangle that a question is about, None without an image."""
    shown = viewport.shown
    if shown is None or shown.slide is None:
        return viewport.field if shown else None
    from viewer.ui.panels.read.asked_part import asked_part

    part = asked_part(viewport)
    return part.field if part else None
