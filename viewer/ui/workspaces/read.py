"""Read: browse cases, look at images, ask models and see their answers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.plain import plain
from viewer.services.viewing.open_case import IndexState
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices, KeptImage
from viewer.ui.application.tell import tell_error
from viewer.ui.canvas.display import window_text
from viewer.ui.canvas.events import AnswerClicked, AnswerHovered, CursorMoved, Tool
from viewer.ui.panels.read import case_listing, hanging_control
from viewer.ui.panels.read.case_browser import CaseBrowser, ImageChosen, OpenWanted
from viewer.ui.panels.read.case_commands import CaseCommands
from viewer.ui.panels.read.grid_choice import GridChanged, GridChoice
from viewer.ui.panels.read.hanging_control import HangingControl
from viewer.ui.panels.read.image_commands import ImageCommands
from viewer.ui.panels.read.index_line import words_of
from viewer.ui.panels.read.lightbox import PANELS, ActiveChanged, Lightbox, SidePanels
from viewer.ui.panels.read.open_folders import OpenFolders
from viewer.ui.panels.read.opening import Found, OpenFailed, Opening, Wanted
from viewer.ui.panels.read.slide_navigation import SlideNavigation
from viewer.ui.panels.read.viewport import ImageFailed, ImageShown, Viewport

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer
    from viewer.ui.panels.asking.answering import Answering
    from viewer.ui.panels.asking.answers_panel import AnswersLit, AnswersPanel
    from viewer.ui.panels.asking.ask_panel import AskPanel
    from viewer.ui.panels.asking.ask_side import AskSide
    from viewer.ui.panels.asking.grid_controls import GridControls
    from viewer.ui.panels.read.cine import CineBar

_AT_SIDE: Final = (
    "overlays.grid", "overlays.answers", "overlays.reference", "overlays.read_first",
    "ask.ask", "ask.cancel", "ask.saw", "mark.outline", "mark.heart", "image.report",
    "reply.delete",
)  # fmt: skip
_NARROWEST: Final = 292
"""Of the side at the right, also while it is not made yet."""


class ReadWorkspace(QWidget):
    """Cases at the left, images in the middle, Ask and answers at the right.

    The right-hand side is made when it is first needed, or by ``furnish``: a window
    shows its first image without waiting for it.
    """

    opened = Signal(object)
    """tuple[Path, ...]: every path that is open, for the next start."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._cursor = ""
        self._recalled: Choices = {}
        self._answering: Answering | None = None
        self._cine: CineBar | None = None
        self._opening = Opening(context.decoder, self, context.settings)
        self.lightbox = Lightbox(context.decoder)
        self.browser, self._right = CaseBrowser(context.decoder), QStackedWidget()
        self.browser.thumbnails.hold()
        self._folders = OpenFolders(self._store, self.browser.folder, self)
        self._commands = ImageCommands(self.lightbox, context)
        self.hanging = HangingControl(self.lightbox, context, self.browser.tree)
        self._cases = CaseCommands(context, self.browser, self._folders, self.lightbox)
        self._slides = SlideNavigation(self.lightbox, self.browser.choose, self)
        self._lay_out()
        self._connect()
        self._follow_grid(GridChanged(GridChoice()))
        self._commands.set_tool(Tool.WINDOW)

    def _lay_out(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._commands.tool_bars)
        column.addWidget(self._slides.bar)
        column.addWidget(self.lightbox, 1)
        column.addWidget(self.hanging.line)
        self._middle = column
        self._right.setMinimumWidth(_NARROWEST)
        sides, bars = (self.browser, middle, self._right), self._commands.tool_bars
        self._panels = SidePanels(self._context, *sides, bars)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._panels.splitter)

    def _connect(self) -> None:
        self.browser.image_chosen.connect(self._hang)
        self.browser.row_grew.connect(self._hang_more)
        self.browser.image_entered.connect(self.lightbox.focus_active)
        self.browser.open_wanted.connect(self._open_wanted)
        self.browser.line.cancel_wanted.connect(self._opening.cancel)
        self._opening.found.connect(self._list_found)
        self._opening.failed.connect(self._tell_open_failed)
        self._opening.unpacked.connect(self._context.notices.post)
        self._opening.relisted.connect(
            lambda event: self.browser.show_cases(event.rows, event.entries)
        )
        self._folders.registered.connect(
            lambda told: self._opening.set_views(told.views)
        )
        self.lightbox.active_changed.connect(self._follow_active)
        self.lightbox.active_changed.connect(self._highlight_active)
        self.lightbox.each(self._follow_viewport)
        self._context.changes.deleted.connect(self._opening.forget)
        self._context.changes.deleted.connect(self._list_open)

    def _follow_viewport(self, viewport: Viewport) -> None:
        viewport.image_shown.connect(self._image_shown)
        viewport.image_failed.connect(self._image_failed)
        for ended in (viewport.image_shown, viewport.image_failed):
            ended.connect(self._opening.read_on)
            ended.connect(self.browser.thumbnails.begin)
        viewport.view.files_dropped.connect(lambda event: self.open_paths(event.paths))
        viewport.view.cursor_moved.connect(self._tell_cursor)
        viewport.view.answer_hovered.connect(self._hover)
        viewport.view.answer_clicked.connect(self._choose)
        viewport.view.window_changed.connect(self._tell_window)

    def furnish(self) -> None:
        """Add Ask, the grid's controls and the answers, unless present."""
        if self._answering is not None:
            return
        from viewer.ui.panels.asking.answering import Answering

        made = self._answering = Answering(self._context, self.lightbox, self)
        made.recall(self._recalled)
        made.side.grid.grid_changed.connect(self._follow_grid)
        made.side.answers.answers_lit.connect(self._light)
        self._right.addWidget(made.side)
        made.begin()
        self._folders.registered.connect(made.knowledge.look_again)
        self._folders.begin()

    @property
    def answering(self) -> "Answering":
        """The part that asks about the image and lists answers."""
        self.furnish()
        assert self._answering is not None  # noqa: S101 - made just now
        return self._answering

    @property
    def side(self) -> "AskSide":
        """Ask, the grid's controls and the answers, in one column."""
        return self.answering.side

    @property
    def ask(self) -> "AskPanel":
        """The finding, the models and Ask."""
        return self.side.ask

    @property
    def answers(self) -> "AnswersPanel":
        """The answers about the image that has the focus."""
        return self.side.answers

    @property
    def grid(self) -> "GridControls":
        """The controls of the grid."""
        return self.side.grid

    def handlers(self) -> Handlers:
        """Return this workspace's handlers by the action's id."""
        return {
            **self._commands.handlers(),
            **self.hanging.handlers(),
            **self._cases.handlers(),
            **self._panels.handlers(),
            **{name: partial(self._do_at_side, name) for name in _AT_SIDE},
            "file.close_case": self.close_case,
            "file.close_all": self.close_all,
            "file.open_masks": lambda: self.answering.open_masks(self._commands),
            "ask.compare": lambda: self.hanging.compare(self.answering.compared),
            "image.cine": self.play,
            "edit.find": partial(self._panels.show_cases, self.browser.focus_filter),
            "edit.copy": self.copy,
            "image.next": partial(self.browser.step, 1),
            "image.previous": partial(self.browser.step, -1),
            **self._slides.on_keys(self._commands.handlers()),
        }

    def _do_at_side(self, name: str) -> None:
        self.answering.handlers()[name]()

    def play(self) -> None:
        """Play the images of the active viewport, or pause."""
        if self._cine is None:
            from viewer.ui.panels.read.cine import CineBar

            self._cine = CineBar(self.lightbox)
            self._middle.addWidget(self._cine)
        if not self._cine.toggle():
            self._context.notices.say("There is one image, so nothing to play.")

    def copy(self) -> None:
        """Copy the chosen answer if its list has the focus, else the pixel value."""
        explained = self._answering.explained if self._answering else None
        QGuiApplication.clipboard().setText(explained or self._cursor)

    @property
    def open_now(self) -> tuple[Path, ...]:
        """The files and folders that are open, in the order opened."""
        return self._opening.paths

    @property
    def opened_lately(self) -> tuple[Path, ...]:
        """The files and folders opened since the start, the newest first."""
        return self._opening.lately

    @property
    def image_now(self) -> KeptImage:
        """The image on the screen, for the next start."""
        header = self.lightbox.active.header
        if header is None:
            return KeptImage()
        return KeptImage(str(header.ref.path.absolute()), header.ref.frame)

    @property
    def choices(self) -> Choices:
        """The user's choices in the panels, for the next start."""
        made = self._answering.choices if self._answering else self._recalled
        return {
            **made,
            **self._commands.choices,
            case_listing.CHOICE: plain(self._cases.columns),
            hanging_control.CHOICE: plain(self.hanging.choice),
            PANELS: plain(self._panels.choice),
        }

    def recall(self, choices: Choices) -> None:
        """Restore the choices of the previous session."""
        self._recalled = choices
        self._commands.recall(choices)
        self._cases.recall(choices.get(case_listing.CHOICE))
        self.hanging.recall(choices.get(hanging_control.CHOICE))
        self._panels.recall(choices.get(PANELS))
        self._follow_grid(GridChanged(restored(GridChoice(), choices.get("grid"))))
        if self._answering is not None:
            self._answering.recall(choices)

    def reload_models(self, *also: str) -> None:
        """Read the models and their states again, and tick ``also`` these."""
        if self._answering is not None:
            self._answering.reload_models(*also)

    # Opening

    def open_paths(
        self,
        paths: Sequence[Path],
        *,
        show: bool = True,
        image: KeptImage | None = None,
    ) -> None:
        """Add the images of files and folders as they are found.

        With ``show`` the first comes up, or ``image`` where it is one of them.
        """
        if paths:
            ref = ImageRef(Path(image.path), image.frame) if image else None
            self.browser.line.start(paths[0].name)
            self._say_opening()
            self._opening.open(Wanted(tuple(paths), show, ref))

    def close_case(self) -> None:
        """Close the chosen image's case; show the next one."""
        key = self.browser.current_case
        if key is not None:
            self._opening.close_case(key)
            self._list_open()

    def close_all(self) -> None:
        """Close every case."""
        self._opening.close_all()
        self._list_open()

    def _list_open(self, *_: object) -> None:
        self._folders.forget(self._opening.paths)
        self.browser.show_cases(self._opening.rows())
        self.browser.say("")
        if self.browser.current_case is None and not self.browser.choose_first():
            self.lightbox.clear()
            self._follow_active()

    def show_answer(self, trial: int, beside: tuple[int, ...] = ()) -> None:
        """Show a trial's image with its answer, and those ``beside`` it, drawn."""
        answering = self.answering
        run_for(
            self,
            lambda: answering.answer(trial),
            lambda answer: self._want(answer, beside),
            self._tell,
        )

    def _want(self, answer: "StoredAnswer", beside: tuple[int, ...]) -> None:
        knowledge = self.answering.knowledge
        knowledge.want(answer, beside)
        ref = answer.ref.listed
        if not self.browser.choose(ref):
            self.open_paths([ref.path])
        elif self.lightbox.showing(ref) is not None:
            knowledge.fetch_shown()

    def _list_found(self, found: Found) -> None:
        self.browser.show_cases(found.rows, found.entries)
        self.browser.line.follow(found.event)
        self._say_opening()
        if found.event.state is not IndexState.RUNNING:
            self._end_line()
            self.browser.say(words_of(found.event, found.rows), found.event.others)
            self.lightbox.others = tuple(file.path for file in found.event.others)
            self._folders.register(found.wanted.paths)
        if self._choose_wanted(found.wanted):
            self.lightbox.view.setFocus()
        self.opened.emit(self._opening.paths)

    def _choose_wanted(self, wanted: Wanted) -> bool:
        """Choose, once, a requested image; else the first opened."""
        answer = self._answering.knowledge.wanted if self._answering else None
        if answer is not None and self.browser.choose(answer.ref.listed):
            wanted.show = False
        elif wanted.show:
            asked = wanted.image is not None and self.browser.choose(wanted.image)
            wanted.show = not (asked or self.browser.choose_in(wanted.paths))
            return not wanted.show
        return False

    def _say_opening(self) -> None:
        """Say in an empty view what is being indexed, as the line does."""
        if self.lightbox.active.stack is None:
            self.lightbox.view.waiting.start(self.browser.line.words.text())

    def _tell_open_failed(self, event: OpenFailed) -> None:
        self._end_line()
        self._tell(event.error)

    def _end_line(self) -> None:
        self.browser.line.setVisible(self._opening.running)
        if self.lightbox.active.stack is None and not self._opening.running:
            self.lightbox.view.waiting.end()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Focus the image; with a focus proxy, Tab would skip the cases before it."""
        self.lightbox.view.setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Stop indexing, or the running question, on Esc."""
        if event.key() != Qt.Key.Key_Escape or not self.stop_running():
            super().keyPressEvent(event)

    def stop_running(self) -> bool:
        """Stop indexing, or else the question; tell whether any was running."""
        asking = self._answering.asking if self._answering else None
        if self._opening.running:
            self._opening.cancel()
        elif asking is not None and asking.running:
            asking.cancel()
        else:
            return False
        return True

    def _open_wanted(self, event: OpenWanted) -> None:
        self._context.actions.run("file.open_folder" if event.folder else "file.open")

    def _hang(self, event: ImageChosen) -> None:
        if self._answering is not None:
            self._answering.knowledge.forget()
        self.hanging.hang(event.chosen)
        self._commands.follow_images()
        self._follow_active()

    def _hang_more(self, event: ImageChosen) -> None:
        self.hanging.grow(event.chosen)
        self._commands.follow_images()

    def _image_shown(self, event: ImageShown) -> None:
        if event.viewport is self.lightbox.active:
            self._follow_active()

    def _image_failed(self, event: ImageFailed) -> None:
        self._follow_active()
        tell_error(self._context, event.error, once=True)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Let Undo be about the case that is seen, and list what came meanwhile."""
        super().showEvent(event)
        self._context.undo.look_at(self.lightbox.active.place)
        if self._answering is not None:
            self._answering.knowledge.look_again()

    def _follow_active(self, *_: object) -> None:
        if self.isVisible():
            self._context.undo.look_at(self.lightbox.active.place)
        self._tell_window()
        if self._answering is not None:
            self._answering.follow()
        self._folders.look_at(self.lightbox.active.header)

    def _highlight_active(self, event: ActiveChanged) -> None:
        if event.viewport.stack is not None:
            self.browser.follow(event.viewport.stack)

    def _follow_grid(self, event: GridChanged) -> None:
        self.lightbox.set_grid(event.choice)
        self._context.actions.set_checked("overlays.grid", event.choice.shown)

    def _hover(self, event: AnswerHovered) -> None:
        if self._answering is not None:
            self.answers.hover(event.answer)

    def _choose(self, event: AnswerClicked) -> None:
        if self._answering is not None:
            self.answers.choose(event.answer)

    def _light(self, event: "AnswersLit") -> None:
        """Highlight the chosen answer and the one under the cursor."""
        trials = (one.trial if one else None for one in (event.chosen, event.hovered))
        self.lightbox.light(*trials)

    def _tell_cursor(self, event: CursorMoved) -> None:
        point, shown = event.point, self.lightbox.active.shown
        if point is not None and shown is not None and shown.slide is not None:
            point = shown.slide.on_slide(shown.ref.frame, point)
        at = f"({int(point.x)}, {int(point.y)}) " if point else ""
        self._cursor = f"{at}{event.value_text}" or self._cursor
        self._context.status.show_cursor(f"{at}{event.value_text}")

    def _tell_window(self, *_: object) -> None:
        window = self.lightbox.view.window_shown
        self._context.status.show_window(window_text(window) if window else "")

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)
