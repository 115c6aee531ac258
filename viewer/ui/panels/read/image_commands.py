"""Actions of the menus View and Image on the images on the screen."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QToolBar, QVBoxLayout, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.domain.slide import SLIDE_MODALITY
from viewer.services.viewing.view_image import Tag, tags_of
from viewer.ui.application import preferences
from viewer.ui.application.action_set import Actions
from viewer.ui.application.actions import HIDE, SHOW, SPECS, Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices, set_aside
from viewer.ui.application.preferences import Keymap, current
from viewer.ui.application.show_once import show_once
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.book import MarkBook
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.mark_files import MarkFiles
from viewer.ui.panels.read.mark_keeping import MarkKeeping
from viewer.ui.panels.read.plane_layer import PlaneLayer
from viewer.ui.panels.read.presentation_layer import PresentationLayer
from viewer.ui.panels.read.provider_look import ProviderLook, ViewShown
from viewer.ui.panels.read.turn_commands import TurnCommands
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.panels.read.window_commands import WindowCommands

if TYPE_CHECKING:
    from viewer.ui.panels.read.object_layer import ObjectLayer
    from viewer.ui.panels.read.pictures import Pictures

TOOLS: Final = (
    "tool.select", "tool.window", "tool.pan", "tool.zoom", "tool.scroll",
    "tool.crosshair", "tool.magnifier", "image.cine", "",
    ("tool.length", "tool.angle", "tool.cobb", "tool.heart"),
    ("tool.rectangle", "tool.ellipse", "tool.polygon", "tool.brush", "tool.eraser"),
    ("tool.arrow", "tool.text", "tool.point", "tool.freehand"), "",
    ("image.fit", "image.one_to_one"), "image.presets", "image.invert", "image.reset",
    "",
    "overlays.grid", "overlays.answers", "overlays.reference", "image.tags",
)  # fmt: skip
"""Every tool; "" is a gap."""
BASIC: Final = (
    "tool.select", "tool.window", "tool.pan", "tool.zoom", "tool.scroll",
    "tool.crosshair", "image.cine", "", "tool.length", "tool.angle", "", "image.fit",
    "image.presets", "image.invert", "image.reset", "", "image.report", "image.print",
    "help.shortcuts",
)  # fmt: skip
"""What IHE BIR lists for everybody who looks at images."""


class ToolBars(QWidget):
    """The tool bar, with every tool or the basic ones; menus and keys have all."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions = actions
        self._bars: dict[bool, QToolBar] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.follow()

    def follow(self) -> None:
        """Show the bar that the reader prefers."""
        basic = current().basic_mode
        if basic not in self._bars:
            bar = self._actions.tool_bar(BASIC if basic else TOOLS, self)
            self._bars[basic] = bar
            self._column.addWidget(bar)
        for is_basic, bar in self._bars.items():
            bar.setVisible(is_basic is basic)
        self._actions.show_basic(basic=basic)


class ImageCommands:
    """Commands for the image with the focus; without one they do nothing."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        self._lightbox, self._notices, self._actions = (
            lightbox,
            context.notices,
            context.actions,
        )
        self._status, self._context = context.status, context
        self._tool, self._tool_chosen = Tool.WINDOW, False
        self._left = {"series": Tool.SCROLL, "image": Tool.WINDOW, "slide": Tool.PAN}
        """The tool of the left button by what is shown."""
        self.tool_bars = ToolBars(context.actions)
        self.provider_look = ProviderLook(lightbox)
        self.provider_look.toggled.connect(self._follow_look)
        self._marks = MarkBook(context.undo, lightbox)
        self.keeping = MarkKeeping(context, lightbox, self._marks)
        context.changes.deleted.connect(self._marks.forget)
        self._windows = WindowCommands(lightbox, context)
        self._turns = TurnCommands(lightbox, context.actions)
        self.files = MarkFiles(lightbox, context, self._marks)
        self._planes = PlaneLayer(lightbox, context)
        self._objects: ObjectLayer | None = None
        self.presentations = PresentationLayer(lightbox, context)
        lightbox.each(self._watch)

    def _watch(self, viewport: Viewport) -> None:
        viewport.view.marks.use(self._marks)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        lightbox = self._lightbox
        return {
            HIDE: partial(lightbox.hide_overlays, hidden=True),
            SHOW: partial(lightbox.hide_overlays, hidden=False),
            "image.fit": partial(self._do, ImageView.fit),
            "image.one_to_one": partial(self._do, ImageView.one_to_one),
            "image.reset": partial(self._do, ImageView.reset),
            "image.tags": self.show_tags,
            "image.detail": self.next_detail,
            "image.icc": self.toggle_profile,
            "file.objects": self.toggle_objects,
            "overlays.planes": self._planes.toggle,
            "image.presentation": self.presentations.offer,
            "image.save": lambda: self._pictures().save(),
            "image.copy": lambda: self._pictures().copy(),
            "image.print": lambda: self._pictures().print(),
            "image.provider": self.provider_look.toggle,
            "view.basic": self.toggle_basic,
            "edit.settings": self.show_settings,
            "edit.keys": lambda: self.show_settings(keys=True),
            "mark.delete": self.delete_mark,
            "mark.wider": lambda: lightbox.view.painting.widen(1),
            "mark.narrower": lambda: lightbox.view.painting.widen(-1),
            "mark.clear": self.delete_marks,
            **{f"tool.{t.value}": partial(self.set_tool, t) for t in Tool},
            **self.files.handlers(),
            **self._windows.handlers(),
            **self._turns.handlers(),
        }

    def _do(self, act: Callable[[ImageView], None]) -> None:
        act(self._lightbox.view)

    def set_tool(self, tool: Tool) -> None:
        """Choose what a drag does from now on, on images like the one shown."""
        self._left[self._kind], self._tool_chosen = tool, True
        self._use_tool(tool)

    def follow_images(self) -> None:
        """Use the left button's tool for what is shown: pan a slide, scroll a series.

        A tool that draws or zooms stays (IHE BIR: scrolling is active on open).
        """
        self._actions.set_checked("image.icc", not current().colours_as_scanned)
        own = self._tool_chosen and self._tool not in {Tool.WINDOW, Tool.SCROLL}
        if current().scroll_first and not own:
            self._use_tool(self._left[self._kind])
            self._tool_chosen = False

    @property
    def _kind(self) -> str:
        header = self._lightbox.active.header
        if header is not None and header.modality == SLIDE_MODALITY:
            return "slide"
        return "series" if len(self._lightbox.active.stack_images) > 1 else "image"

    def _use_tool(self, tool: Tool) -> None:
        """Set a tool; tool bar, cursor and status bar show it."""
        self._tool = tool
        self._lightbox.set_tool(tool)
        spec = SPECS[f"tool.{tool.value}"]
        self._actions.set_checked(spec.id, checked=True)
        self._status.show_tool(spec.text)

    def delete_mark(self) -> None:
        """Delete the selected mark, or say that none is selected."""
        if self._lightbox.view.marks.chosen is None:
            self._notices.say("Click a mark first, then delete it.")
        self._lightbox.view.marks.delete_chosen()

    def delete_marks(self) -> None:
        """Delete every mark of the image with the focus; Undo restores them."""
        self._lightbox.view.marks.remove_all()

    def _pictures(self) -> "Pictures":
        from viewer.ui.panels.read.pictures import Pictures

        return Pictures(self._lightbox, self._context)

    def toggle_objects(self) -> None:
        """Show the objects of a file on the active slide, or remove them."""
        if self._objects is None:
            from viewer.ui.panels.read.object_layer import ObjectLayer

            self._objects = ObjectLayer(self._lightbox, self._context)
        self._objects.toggle()

    def next_detail(self) -> None:
        """Write all, little or nothing over the images, in turn."""
        used = current()
        preferences.use(replace(used, detail=used.detail.next))
        self.follow_preferences()

    def toggle_profile(self) -> None:
        """Show slides by their ICC profile, or in the scanner's colours."""
        used, shown = current(), self._lightbox.active.shown
        if shown is None or shown.slide is None or not shown.slide.profiled:
            self._notices.say("This image has no ICC profile that could be left out.")
        else:
            as_scanned = not used.colours_as_scanned
            preferences.use(replace(used, colours_as_scanned=as_scanned))
        self.follow_preferences()

    def toggle_basic(self) -> None:
        """Enter basic mode, or leave it."""
        used = current()
        preferences.use(replace(used, basic_mode=not used.basic_mode))
        self.follow_preferences()

    def show_settings(self, *, keys: bool = False) -> None:
        """Show the page of settings, where a change is seen at once, or its keys."""
        from viewer.ui.dialogs.settings_page import KEYS, SettingsPage

        parent = self._lightbox.window()

        def make() -> SettingsPage:
            return SettingsPage(self._context, self.follow_preferences, parent)

        show_once(parent, "settings", make)
        for page in parent.findChildren(SettingsPage):
            if keys and page.isVisible():
                page.show_section(KEYS)

    @property
    def choices(self) -> Choices:
        """The settings and the keys, for the next start."""
        return {
            preferences.CHOICE: plain(current()),
            preferences.KEYS: plain(self._actions.keymap),
            preferences.LATELY: list(self._actions.lately),
        }

    def recall(self, choices: Choices) -> None:
        """Use the settings and the keys of the previous session."""
        lately = choices.get(preferences.LATELY)
        self._actions.remember(lately if isinstance(lately, list) else [])
        damaged: list[str] = []
        stored = choices.get(preferences.CHOICE)
        preferences.use(restored(current(), stored, damaged.append))
        keymap = restored(Keymap(), choices.get(preferences.KEYS), damaged.append)
        said = f"Settings are damaged: {', '.join(damaged)}." if damaged else ""
        if keymap.keys:
            from viewer.ui.application.keymap import check_keymap

            try:
                self._actions.use_keys(check_keymap(keymap))
            except OverreadError as error:
                said = f"{said} {error.what}".strip()
        if said:
            self._notices.error(set_aside(self._context.settings.home, said))

    def follow_preferences(self) -> None:
        """Apply the preferences to the images on the screen, and to the tools."""
        self.tool_bars.follow()
        self.follow_images()
        for viewport in self._lightbox.viewports:
            viewport.follow_preferences()
        self._actions.set_checked("image.icc", not current().colours_as_scanned)

    def show_tags(self) -> None:
        """Show the tags of the image with the focus, read in the background."""
        shown = self._lightbox.active.shown
        if shown is None:
            self._notices.say("Open an image first to list its tags.")
            return
        ref = shown.ref
        run_for(
            self._lightbox,
            lambda: tags_of(ref),
            partial(self._list_tags, ref.path),
            self._tell,
        )

    def _list_tags(self, path: Path, tags: tuple[Tag, ...]) -> None:
        from viewer.ui.dialogs.tag_list import TagList

        lightbox = self._lightbox
        show_once(lightbox, f"tags {path}", lambda: TagList(path.name, tags, lightbox))

    def _follow_look(self, event: ViewShown) -> None:
        self._actions.set_checked("image.provider", event.shown)

    def _tell(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._notices.error(error)
