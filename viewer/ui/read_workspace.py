"""Read: browse cases, look at images, ask models and see their answers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from viewer.domain.case import Case
from viewer.domain.image import Window
from viewer.services.answers import StoredAnswer, answer_of_trial
from viewer.services.batch_form import ModelState, finding_names, model_states
from viewer.services.open_case import open_case
from viewer.ui.actions import Handlers
from viewer.ui.canvas.events import CursorMoved, FilesDropped
from viewer.ui.choices import plain, restored
from viewer.ui.desk import Desk
from viewer.ui.errands import run_for
from viewer.ui.layout_memory import Choices
from viewer.ui.panels.answers_panel import details
from viewer.ui.panels.ask_panel import AskChoice
from viewer.ui.panels.ask_side import AskSide
from viewer.ui.panels.asking import Asking
from viewer.ui.panels.case_browser import CaseBrowser, ImageChosen, OpenWanted
from viewer.ui.panels.grid_controls import GridChanged
from viewer.ui.panels.image_commands import ImageCommands
from viewer.ui.panels.knowledge import Knowledge
from viewer.ui.panels.tell import tell_error
from viewer.ui.panels.viewport import ImageFailed, ImageShown
from viewer.ui.panels.viewport_pair import ViewportPair

_TOOLS: Final = (
    "tool.window", "tool.pan", "tool.zoom", "tool.length", "",
    "image.fit", "image.one_to_one", "image.invert", "image.reset", "",
    "overlays.grid", "overlays.reference", "image.tags",
)  # fmt: skip
_WIDTHS: Final = (270, 900, 320)


@dataclass(frozen=True)
class _Opened:
    """What was found at the paths, and how long finding took in seconds."""

    paths: tuple[Path, ...]
    cases: tuple[Case, ...]
    seconds: float


class ReadWorkspace(QWidget):
    """Cases at the left, images in the middle, Ask and answers at the right."""

    opened = Signal(object)
    """tuple[Path, ...]: every path that is open, for the next start."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._store = desk, desk.settings.store
        self._paths: tuple[Path, ...] = ()
        self._cursor = ""
        self.pair = ViewportPair(desk.decoder)
        self.browser, self.side = CaseBrowser(), AskSide()
        self.ask, self.answers, self.grid = (
            self.side.ask,
            self.side.answers,
            self.side.grid,
        )
        self._asking = Asking(desk, self.pair, self.side, self)
        self._knowledge = Knowledge(desk, self.pair, self.side, self)
        self.questions = self._asking.questions
        self._commands = ImageCommands(self.pair, desk.notices)
        self._lay_out()
        self._connect()
        self.ask.set_findings(finding_names())
        self.reload_models()
        self._follow_grid(GridChanged(self.grid.choice))
        desk.actions.set_checked("tool.window", True)

    def _lay_out(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._desk.actions.tool_bar(_TOOLS, middle))
        column.addWidget(self.pair, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("readSplitter")
        split.setChildrenCollapsible(False)
        for widget in (self.browser, middle, self.side):
            split.addWidget(widget)
        split.setStretchFactor(1, 1)
        split.setSizes(_WIDTHS)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(split)
        self.setFocusProxy(self.pair.viewports[0].view)

    def _connect(self) -> None:
        self.browser.image_chosen.connect(self._hang)
        self.browser.open_wanted.connect(self._open_wanted)
        self.pair.active_changed.connect(self._follow_active)
        for viewport in self.pair.viewports:
            viewport.image_shown.connect(self._image_shown)
            viewport.image_failed.connect(self._image_failed)
            viewport.view.files_dropped.connect(self._dropped)
            viewport.view.cursor_moved.connect(self._tell_cursor)
            viewport.view.window_changed.connect(self._tell_window)
        self.grid.grid_changed.connect(self._follow_grid)
        self._asking.answer_stored.connect(self._knowledge.refresh)

    def handlers(self) -> Handlers:
        """Return what this workspace does, by the action's id."""
        return {
            **self._commands.handlers(),
            "overlays.grid": self.grid.shown.toggle,
            "overlays.reference": self.answers.reference.toggle,
            "edit.find": self.focus_filter,
            "edit.copy": self.copy,
            "image.next": partial(self.browser.step, 1),
            "image.previous": partial(self.browser.step, -1),
            "ask.ask": self.ask.send,
            "ask.cancel": self._asking.cancel,
            "ask.saw": self.answers.show_saw,
        }

    def focus_filter(self) -> None:
        """Go to the filter of the cases."""
        self.browser.filter.setFocus()
        self.browser.filter.selectAll()

    def copy(self) -> None:
        """Copy the chosen answer where its list has the focus, else the pixel value."""
        answer = self.answers.current
        listed = self.answers.tree.hasFocus() and answer is not None
        text = details(answer) if listed and answer else self._cursor
        QGuiApplication.clipboard().setText(text)

    @property
    def open_now(self) -> tuple[Path, ...]:
        """The files and folders that are open, in the order opened."""
        return self._paths

    @property
    def choices(self) -> Choices:
        """What a person chose in the panels, for the next start."""
        return {"grid": plain(self.grid.choice), "ask": plain(self.ask.choice)}

    def recall(self, choices: Choices) -> None:
        """Choose again what was chosen when the window was left."""
        self.grid.set_choice(restored(self.grid.choice, choices.get("grid")))
        self.ask.set_choice(restored(AskChoice(), choices.get("ask")))

    def reload_models(self) -> None:
        """Read the models and their states again."""
        states: tuple[ModelState, ...] = model_states(self._desk.settings)
        ready = [state.name for state in states if state.ready]
        default = "asymmetry" if "asymmetry" in ready else next(iter(ready), "")
        self.ask.set_models(states, self.ask.ticked or (default,))

    # Opening

    def open_paths(self, paths: Sequence[Path], *, show: bool = True) -> None:
        """Add the images of files and folders; with ``show`` the first comes up."""
        wanted = tuple(paths)
        self.browser.say(f"Looking through {wanted[0].name}…" if wanted else "")
        run_for(
            self,
            partial(_open, wanted),
            partial(self._add_cases, show=show),
            self._tell_open_failed,
        )

    def show_answer(self, trial: int) -> None:
        """Bring up a trial's image with that answer alone drawn."""
        run_for(
            self, lambda: answer_of_trial(self._store, trial), self._want, self._tell
        )

    def _want(self, answer: StoredAnswer) -> None:
        self._knowledge.want(answer)
        if not self.browser.choose(answer.ref):
            self.open_paths([answer.ref.path])
        elif self.pair.showing(answer.ref) is not None:
            self._knowledge.fetch(answer.ref)

    def _add_cases(self, found: _Opened, *, show: bool) -> None:
        first = self.browser.add_cases(found.cases, found.seconds)
        self._paths = tuple(dict.fromkeys((*self._paths, *found.paths)))
        self.opened.emit(self._paths)
        wanted = self._knowledge.wanted
        if wanted is not None and self.browser.choose(wanted.ref):
            return
        if show and first is not None:
            self.browser.choose(first.stack.images[0].ref)
            self.pair.view.setFocus()

    def _tell_open_failed(self, error: Exception) -> None:
        self.browser.say_count()
        self._tell(error)

    def _open_wanted(self, event: OpenWanted) -> None:
        self._desk.actions.run("file.open_folder" if event.folder else "file.open")

    def _dropped(self, event: FilesDropped) -> None:
        self.open_paths(event.paths)

    # The images on the screen

    def _hang(self, event: ImageChosen) -> None:
        self._knowledge.forget()
        self.pair.hang(event.chosen)
        self._follow_active()

    def _image_shown(self, event: ImageShown) -> None:
        if event.viewport is self.pair.active:
            self._follow_active()

    def _image_failed(self, event: ImageFailed) -> None:
        self._follow_active()
        self._tell(event.error)

    def _follow_active(self, *_: object) -> None:
        shown = self.pair.active.shown
        self.ask.set_image(shown.header.view if shown else None)
        self._tell_window()
        self._knowledge.list_now()

    def _follow_grid(self, event: GridChanged) -> None:
        self.pair.set_grid(event.choice)
        self._desk.actions.set_checked("overlays.grid", event.choice.shown)

    def _tell_cursor(self, event: CursorMoved) -> None:
        point = event.point
        at = f"({int(point.x)}, {int(point.y)}) " if point else ""
        self._cursor = f"{at}{event.value_text}" or self._cursor
        self._desk.status.show_cursor(f"{at}{event.value_text}")

    def _tell_window(self, *_: object) -> None:
        window = self.pair.view.window_shown
        self._desk.status.show_window(_window_words(window) if window else "")

    def _tell(self, error: Exception) -> None:
        tell_error(self._desk, error)


def _open(paths: tuple[Path, ...]) -> _Opened:
    started = time.perf_counter()
    cases = open_case(paths)
    return _Opened(paths, cases, time.perf_counter() - started)


def _window_words(window: Window) -> str:
    return f"W {window.width:g} L {window.center:g}"
