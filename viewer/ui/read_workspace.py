"""Read: browse cases, look at images, ask models and see their answers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from viewer.domain.case import Case, ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.grid import LetterAxis
from viewer.domain.image import Window
from viewer.services.answers import (
    StoredAnswer,
    answer_of_trial,
    sent_images,
    sent_text,
)
from viewer.services.background import AskCommand
from viewer.services.batch_form import ModelState, finding_names, model_states
from viewer.services.open_case import open_case
from viewer.ui.actions import Handlers
from viewer.ui.canvas.events import CursorMoved, FilesDropped
from viewer.ui.desk import Desk
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.notices import Notice
from viewer.ui.panels.about_image import (
    About,
    load_about,
    newest_per_model,
    reference_words,
)
from viewer.ui.panels.answers_panel import AnswersShown, SawWanted, details
from viewer.ui.panels.ask_panel import AskWanted
from viewer.ui.panels.ask_side import AskSide
from viewer.ui.panels.case_browser import CaseBrowser, ImageChosen, OpenWanted
from viewer.ui.panels.grid_controls import GridChanged
from viewer.ui.panels.image_commands import ImageCommands
from viewer.ui.panels.questions import Answered, Ended, Failed, Questions
from viewer.ui.panels.viewport import ImageFailed, ImageShown
from viewer.ui.panels.viewport_pair import ViewportPair
from viewer.ui.panels.while_alive import run_for

_TOOLS: Final = (
    "tool.window", "tool.pan", "tool.zoom", "tool.length", "",
    "image.fit", "image.one_to_one", "image.invert", "image.reset", "",
    "overlays.grid", "overlays.reference", "image.tags",
)  # fmt: skip
_WIDTHS: Final = (270, 900, 320)
_SETTLED_MS: Final = 120


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
        self._about: dict[ImageRef, About] = {}
        self._paths: tuple[Path, ...] = ()
        self._wanted: StoredAnswer | None = None
        self._cursor = ""
        self.browser, self.pair, self.side = CaseBrowser(), ViewportPair(), AskSide()
        self.ask, self.answers, self.grid = (
            self.side.ask,
            self.side.answers,
            self.side.grid,
        )
        self.questions = Questions(desk.worker, self)
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
        self._connect_asking()

    def _connect_asking(self) -> None:
        self.ask.ask_wanted.connect(self._ask)
        self.ask.cancel_wanted.connect(self._cancel)
        self.ask.finding.currentTextChanged.connect(self._finding_changed)
        self.grid.grid_changed.connect(self._follow_grid)
        self.answers.answers_shown.connect(self._draw_answers)
        self.answers.saw_wanted.connect(self._show_saw)
        self.answers.reference_toggled.connect(self._finding_changed)
        self.answers.first_ask_wanted.connect(self._ask_first)
        self.questions.answered.connect(self._answered)
        self.questions.failed.connect(self._failed)
        self.questions.ended.connect(self._ended)

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
            "ask.cancel": self.questions.cancel,
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
        self._wanted = answer
        self._about.pop(answer.ref, None)
        if not self.browser.choose(answer.ref):
            self.open_paths([answer.ref.path])
        elif self.pair.showing(answer.ref) is not None:
            self._fetch_about(answer.ref)

    def _add_cases(self, found: _Opened, *, show: bool) -> None:
        first = self.browser.add_cases(found.cases, found.seconds)
        self._paths = tuple(dict.fromkeys((*self._paths, *found.paths)))
        self.opened.emit(self._paths)
        wanted = self._wanted.ref if self._wanted else None
        if wanted is not None and self.browser.choose(wanted):
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
        self._about.clear()
        self.pair.hang(event.chosen)
        self._follow_active()

    def _image_shown(self, event: ImageShown) -> None:
        ref = event.shown.ref
        if event.viewport is self.pair.active:
            self._follow_active()
        if ref in self._about:
            self._draw_about(self._about[ref])
        elif len(event.viewport.stack_images) > 1:
            QTimer.singleShot(_SETTLED_MS, partial(self._fetch_if_shown, ref))
        else:
            self._fetch_about(ref)

    def _fetch_if_shown(self, ref: ImageRef) -> None:
        """Ask the store only about the slice that scrolling came to rest on."""
        if self.pair.showing(ref) is not None:
            self._fetch_about(ref)

    def _image_failed(self, event: ImageFailed) -> None:
        self._follow_active()
        self._tell(event.error)

    def _follow_active(self, *_: object) -> None:
        shown = self.pair.active.shown
        self.ask.set_image(shown.header.view if shown else None)
        self._tell_window()
        self._list_about()

    def _follow_grid(self, event: GridChanged) -> None:
        self.pair.set_grid(event.choice)
        self._desk.actions.set_checked("overlays.grid", event.choice.shown)
        rows = event.choice.grid.letters is LetterAxis.ROW
        self.ask.set_grid(event.choice.grid.name if rows else "")

    def _tell_cursor(self, event: CursorMoved) -> None:
        point = event.point
        at = f"({int(point.x)}, {int(point.y)}) " if point else ""
        self._cursor = f"{at}{event.value_text}" or self._cursor
        self._desk.status.show_cursor(f"{at}{event.value_text}")

    def _tell_window(self, *_: object) -> None:
        window = self.pair.view.window_shown
        self._desk.status.show_window(_window_words(window) if window else "")

    # What the store knows of them

    def _fetch_about(self, ref: ImageRef) -> None:
        run_for(
            self, lambda: load_about(self._store, ref), self._keep_about, self._tell
        )

    def _keep_about(self, about: About) -> None:
        self._about[about.ref] = about
        self._draw_about(about)

    def _draw_about(self, about: About) -> None:
        viewport = self.pair.showing(about.ref)
        if viewport is None:
            return
        if viewport is self.pair.active:
            self._choose_finding(about)
            self._list_about()
        else:
            shown = newest_per_model(about.answers, self.ask.asked_finding)
            drawn = tuple(a for a in about.answers if a.trial in shown)
            viewport.view.set_answers(drawn)
        self._draw_references()

    def _choose_finding(self, about: About) -> None:
        """Go to a finding that the image has a reference of, unless one was chosen."""
        if self._wanted is not None and self._wanted.ref == about.ref:
            self.ask.finding.setCurrentText(self._wanted.finding)
        elif about.masks and self.ask.asked_finding not in about.masks:
            self.ask.finding.setCurrentText(min(about.masks))

    def _current_about(self) -> About | None:
        shown = self.pair.active.shown
        return self._about.get(shown.ref) if shown else None

    def _list_about(self) -> None:
        about = self._current_about()
        finding = self.ask.asked_finding
        answers = about.answers if about else ()
        wanted = self._wanted
        if about and wanted and wanted.ref == about.ref:
            self.answers.set_answers(answers, frozenset({wanted.trial}), wanted.trial)
            self._wanted = None
        else:
            self.answers.set_answers(answers, newest_per_model(answers, finding))
        masks = about.masks if about else {}
        self.answers.set_reference_words(reference_words(masks, finding))
        self.answers.set_image(image_open=self.pair.active.shown is not None)

    def _finding_changed(self, *_: object) -> None:
        on = self.answers.reference.isChecked()
        self._desk.actions.set_checked("overlays.reference", on)
        self._draw_references()
        about = self._current_about()
        words = reference_words(about.masks if about else {}, self.ask.asked_finding)
        self.answers.set_reference_words(words)

    def _draw_references(self) -> None:
        on = self.answers.reference.isChecked()
        for viewport in self.pair.viewports:
            about = self._about.get(viewport.shown.ref) if viewport.shown else None
            masks = about.masks if about and on else {}
            viewport.view.set_reference(masks.get(self.ask.asked_finding))

    def _draw_answers(self, event: AnswersShown) -> None:
        self.pair.view.set_answers(event.answers)

    # Asking

    def _ask(self, wanted: AskWanted) -> None:
        shown = self.pair.active.shown
        if shown is None:
            return
        self.questions.ask(
            AskCommand(
                ref=shown.ref,
                finding=wanted.finding,
                models=wanted.models,
                grid=self.grid.choice.grid.name,
                view=wanted.view,
                window=self.pair.active.chosen_window,
            )
        )
        self.ask.set_running(True)

    def _ask_first(self, *_: object) -> None:
        self.ask.send()

    def _cancel(self, *_: object) -> None:
        self.questions.cancel()
        self.ask.set_running(True, "Finishing what is in flight…")

    def _answered(self, event: Answered) -> None:
        run_for(
            self,
            lambda: answer_of_trial(self._store, event.trial),
            self._refresh,
            self._tell,
        )

    def _refresh(self, answer: StoredAnswer) -> None:
        self._fetch_about(answer.ref)

    def _failed(self, event: Failed) -> None:
        self._desk.notices.post(Notice(event.sentence))

    def _ended(self, event: Ended) -> None:
        words = "Cancelled. What had been answered is kept." if event.cancelled else ""
        self.ask.set_running(False, words)

    def _show_saw(self, event: SawWanted) -> None:
        answer, store = event.answer, self._store
        sha256 = answer.request_sha256

        def show(sent: tuple[tuple[bytes, ...], tuple[tuple[str, str], ...]]) -> None:
            WhatModelSaw(answer.model, *sent, sha256, self).show()

        run_for(
            self,
            lambda: (sent_images(store, sha256), sent_text(store, sha256)),
            show,
            self._tell,
        )

    def _tell(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._desk.notices.error(error)


def _open(paths: tuple[Path, ...]) -> _Opened:
    started = time.perf_counter()
    cases = open_case(paths)
    return _Opened(paths, cases, time.perf_counter() - started)


def _window_words(window: Window) -> str:
    return f"W {window.width:g} L {window.center:g}"
