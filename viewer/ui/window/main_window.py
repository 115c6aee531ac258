"""The window: a switch of workspaces, menus from the table, notices, the status bar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.application.action_spec import Place
from viewer.ui.application.actions import HIDE, MENUS, SHOW, Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.layout_memory import (
    RECENT,
    Choices,
    KeptImage,
    Layout,
    LayoutKeeper,
    bytes_of,
    digits_of,
    read_layout,
    restore_splitters,
    splitter_states,
    without,
)
from viewer.ui.application.show_once import show_once
from viewer.ui.application.status_bar import StatusBar
from viewer.ui.widgets import theme
from viewer.ui.window.crash import CrashHandler
from viewer.ui.window.notice_bar import NoticeBar
from viewer.ui.window.recent_menu import RecentMenu
from viewer.ui.window.session_meter import SessionMeter
from viewer.ui.window.switch import Switch
from viewer.ui.window.undoing import Undoing
from viewer.ui.window.workspaces import (
    SEALED,
    KeepsModels,
    ReadsCases,
    ReviewsCases,
    ShowsRuns,
    TrialEvent,
    dropped,
    meant,
)

if TYPE_CHECKING:
    from viewer.services.worker.background import WorkerMessage
    from viewer.ui.application.batch_line import BatchLine

_SIZE: Final = (1440, 900)
_TAKES_RETURN: Final = (QAbstractButton, QAbstractItemView, QLineEdit, QPlainTextEdit)
"""Widgets for which Return means something of their own."""


@dataclass(frozen=True, eq=False)
class _Shown:
    place: Place
    widget: QWidget


class MainWindow(theme.ThemedWindow):
    """The program's window; workspaces are added to it one by one."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self._shown: list[_Shown] = []
        self._read: ReadsCases | None = None
        self._measure: ShowsRuns | None = None
        self._review: ReviewsCases | None = None
        self._models: KeepsModels | None = None
        self._sealed: Sequence[Path] = ()
        self.crash = CrashHandler(context.settings, context.notices, self)
        self.setWindowTitle("Overread")
        self.setAcceptDrops(True)
        self._build()
        self._layout = read_layout(context.settings.home, context.notices.error)
        self._keeper = LayoutKeeper(context.settings.home, self._as_left, self)
        self._undoing = Undoing(context, self)
        context.actions.handle(self._handlers())
        context.end_with(self)
        context.worker.message.connect(self._hear)
        context.changes.models_written.connect(self.reload_models)
        context.actions.mode_changed.connect(self._fill_menus)
        context.changes.deleted.connect(self._forget)
        self.apply_theme(theme.THEMES.get(self._layout.theme, theme.DARK))
        self._place()

    @property
    def remembered(self) -> Layout:
        """The layout of the previous session."""
        return self._layout

    def _build(self) -> None:
        self.stack = QStackedWidget(self)
        self.switch = Switch(self.context.actions, self)
        context = self.context
        self.notice_bar = NoticeBar(context.notices, context.actions, self)
        self._told, column = QWidget(self), QVBoxLayout()
        told = QVBoxLayout(self._told)
        told.addWidget(self.notice_bar)
        column.addWidget(self._told)
        column.addWidget(self.stack, 1)
        row = QHBoxLayout(central := QWidget(self))
        row.addWidget(self.switch)
        row.addLayout(column, 1)
        for layout in (row, column, told):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        self.setCentralWidget(central)
        self.status = StatusBar(self.context.status, self)
        self.meter = SessionMeter(self.context, self)
        self.setStatusBar(self.status)
        self._recent = RecentMenu(self._opened_lately, self)
        self._recent.chosen.connect(lambda path: self.open_paths([path]))
        self._menus = {name: self._menu(name) for name in MENUS}

    def _menu(self, name: str) -> QMenu:
        menu = QMenu(name, self)
        menu.setToolTipsVisible(True)
        self.menuBar().addMenu(menu)
        return menu

    def _handlers(self) -> Handlers:
        return {
            "file.quit": self._quit,
            **self._undoing.handlers(),
            **self.notice_bar.handlers(),
            "view.theme": lambda: self.apply_theme(theme.other()),
            "view.full_screen": self._full_screen,
            "window.palette": self._show_palette,
            "help.shortcuts": self._show_shortcuts,
            "help.about": self._show_about,
        }

    def add_read(self, widget: QWidget, read: ReadsCases) -> None:
        """Add the workspace that opens images."""
        self._read = read
        handlers = {
            **read.handlers(),
            "file.open": lambda: self._ask_for_images(folder=False),
            "file.open_folder": lambda: self._ask_for_images(folder=True),
        }
        self._add(_Shown(Place.READ, widget), handlers)
        read.recall(self._layout.choices)
        if self._layout.tool in read.handlers():
            self.context.actions.run(self._layout.tool)
            self.context.actions.set_checked(self._layout.tool, checked=True)

    def add_measure(self, widget: QWidget, measure: ShowsRuns) -> None:
        """Add the workspace that shows results."""
        self._measure = measure
        measure.recall(self._layout.choices)
        in_read = {"measure.back": self.back_to_results, **measure.tour_handlers()}
        self.context.actions.handle(in_read, Place.READ)
        self._add(_Shown(Place.MEASURE, widget), measure.handlers())

    def add_review(self, widget: QWidget, review: ReviewsCases) -> None:
        """Add the workspace for reviews."""
        self._review = review
        review.recall(self._layout.choices)
        review.visits_changed.connect(self._show_what_is_around)
        self._add(_Shown(Place.REVIEW, widget), review.handlers())
        review.open_files(self._sealed)

    def _show_what_is_around(self, place: Place | None = None) -> None:
        """Hide what would name models, and from a visiting reader all but the task."""
        review = self._review if (place or self.place) is Place.REVIEW else None
        for told in (self.status, self._told):
            told.setHidden(review is not None)
        for around in (self.switch, self.menuBar()):
            around.setHidden(review is not None and review.visiting)

    def add_models(self, widget: QWidget, models: KeepsModels) -> None:
        """Add the workspace for models."""
        self._models = models
        models.recall(self._layout.choices)
        self._add(_Shown(Place.MODELS, widget), models.handlers())

    def reload_models(self) -> None:
        """Reload the models in Read."""
        if self._read is not None:
            self._read.reload_models()

    def _add(self, shown: _Shown, handlers: Handlers) -> None:
        self._shown.append(shown)
        self.hold(shown.widget)
        self.stack.addWidget(shown.widget)
        restore_splitters(self._layout, shown.place, shown.widget)
        enter = f"window.{shown.place}"
        self.context.actions.handle({enter: lambda: self.enter(shown.place)})
        self.context.actions.handle(handlers, shown.place)
        self.switch.refresh()
        self._fill_menus()
        self.enter(self.place)

    def _fill_menus(self) -> None:
        for menu in self._menus.values():
            menu.clear()
        for spec, action in self.context.actions:
            if not self.context.actions.in_menu(spec):
                self.addAction(action)  # its key works without a line in the menu
                continue
            menu = self._menus[spec.menu]
            if spec.section and menu.actions():
                menu.addSeparator()
            menu.addAction(action)
            if spec.id == "file.open_folder":
                menu.addMenu(self._recent)
        for menu in self._menus.values():
            menu.menuAction().setVisible(bool(menu.actions()))

    def enter(self, place: Place) -> None:
        """Show a workspace; disable commands of the others."""
        for shown in self._shown:
            if shown.place is not place:
                shown.widget.hide()  # or it would be laid out once more
        for shown in self._shown:
            if shown.place is place:
                self._show_what_is_around(place)
                self.stack.setCurrentWidget(shown.widget)
                self.show_in_theme()
                shown.widget.setFocus(Qt.FocusReason.OtherFocusReason)
                self.context.actions.enter(place)
                self.context.actions.set_checked(f"window.{place}", True)
                self.context.actions.bar("results", ("measure.back",))
                self._undoing.enter(place)

    @property
    def place(self) -> Place:
        """The current workspace."""
        widget = self.stack.currentWidget()
        return next((s.place for s in self._shown if s.widget is widget), Place.READ)

    def open_paths(self, paths: Sequence[Path], *, show: bool = True) -> None:
        """Open files in Read, sealed ones in Review; unless ``show``, just list."""
        self._sealed = [path for path in paths if path.suffix in SEALED]
        if self._sealed and self._review is not None:
            self._review.open_files(self._sealed)
        images = [meant(path) for path in paths if path not in self._sealed]
        show = show and not self._sealed
        if images and self._read is not None:
            if show:
                self.enter(Place.READ)
            self._read.open_paths(images, show=show)

    def reopen(self) -> None:
        """Open what was open last, if it still exists."""
        paths = [path for path in map(Path, self._layout.paths) if path.exists()]
        if self._read is not None and paths:
            image = self._layout.image
            self._read.open_paths(paths, image=image if image.path else None)

    def return_to_workspace(self) -> None:
        """Show the workspace of the previous session; keep changes from now on."""
        from viewer.ui.widgets.file_choice import set_last_folders

        set_last_folders(self._layout.folders)
        known = self._layout.workspace in {shown.place for shown in self._shown}
        if known and not self._sealed:
            self.enter(Place(self._layout.workspace))
        self._keeper.start()

    def open_trial(self, event: TrialEvent) -> None:
        """Open the case of a trial in Read; Esc returns."""
        if self._read is not None:
            self.enter(Place.READ)
            self.context.actions.bar("results", ())
            self._read.show_answer(event.trial, event.beside)

    def back_to_results(self) -> None:
        """Return to the row that the case was opened from; first stop running work."""
        if self._read is not None and self._read.stop_running():
            return
        if self._measure is not None:
            self.enter(Place.MEASURE)
            self._measure.return_to_row()

    def _ask_for_images(self, *, folder: bool) -> None:
        from viewer.ui.widgets.file_choice import choose_images

        choose_images(self, self._opened_lately(), self.open_paths, folder=folder)

    def _show_palette(self) -> None:
        from viewer.ui.window.palette_dialog import PaletteDialog

        PaletteDialog(self.context.actions, self).show_over(self)

    def _show_shortcuts(self) -> None:
        from viewer.ui.window.shortcuts_sheet import ShortcutsSheet

        show_once(self, "shortcuts", lambda: ShortcutsSheet(self.context.actions, self))

    def _show_about(self) -> None:
        from viewer.ui.window.about import about_box

        show_once(self, "about", lambda: about_box(self))

    def _quit(self) -> None:
        self.close()

    def inner_parts(self) -> Iterator[QWidget]:
        """Yield the switch, the notices and the parts of the workspaces."""
        yield from (self.switch, self._told)
        for one in self._shown:
            yield from theme.held(one.widget)

    def apply_theme(self, palette: theme.Palette) -> None:
        """Apply a theme to the application, and tick its command."""
        super().apply_theme(palette)
        self.context.actions.set_checked("view.theme", not palette.dark)

    def _full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    @cached_property
    def batch(self) -> "BatchLine":
        """The runs in the status bar; made with the worker's first message."""
        from viewer.ui.application.batch_line import BatchLine

        line = BatchLine(self.context.run_states, self.status)
        self.status.addPermanentWidget(line)
        return line

    def _hear(self, message: "WorkerMessage") -> None:
        self.batch.hear(message)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Press the focused button on Return; ask if nothing else handles it."""
        focus = self.focusWidget()
        if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)
        elif isinstance(focus, QPushButton | QToolButton):
            if not event.isAutoRepeat():  # one press of the key, one of the button
                focus.click()
        elif not isinstance(focus, _TAKES_RETURN):
            self.context.actions["ask.ask"].trigger()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Show the overlays again when the key that hides them is released."""
        # While a key is held, repeats of it send releases as well.
        actions = self.context.actions
        if actions.holds(HIDE, event.key()) and not event.isAutoRepeat():
            actions.run(SHOW)
        super().keyReleaseEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Show the overlays again when another window takes the keyboard."""
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.context.actions.run(SHOW)
        super().changeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Accept files and folders."""
        if dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Open files dropped anywhere on the window."""
        event.acceptProposedAction()
        self.open_paths(dropped(event))

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Save the layout, unless something is unsaved: then a person decides."""
        pages = (page for page in (self._models, self._review) if page is not None)
        if not all(page.may_close(self.close) for page in pages):
            event.ignore()
            return
        self.keep()
        super().closeEvent(event)

    def keep(self) -> None:
        """Save the layout; the worker stores what is in flight."""
        if self._review is not None:
            self._review.close_session()
        self._keeper.keep_now()
        self.context.changes.stop()
        self.context.worker.close()

    def _forget(self, gone: frozenset[Path]) -> None:
        """Name no deleted file again; the keeper writes it within a second."""
        self._layout = without(self._layout, gone)

    def _paths(self) -> tuple[str, ...]:
        if self._read is None or not self._read.opened_lately:
            return self._layout.paths  # what could not be opened may be back then
        return tuple(str(path.absolute()) for path in self._read.open_now)

    def _image(self) -> KeptImage:
        """Return the image shown, until there is one that of the previous session."""
        shown = self._read.image_now if self._read else KeptImage()
        return shown if shown.path or not self._paths() else self._layout.image

    def _choices(self) -> Choices:
        """Return the choices of every workspace; stored ones if it is missing."""
        choices = dict(self._layout.choices)
        for workspace in (self._read, self._measure, self._review, self._models):
            if workspace is not None:
                choices |= workspace.choices
        return choices

    def _tool(self) -> str:
        used = (s.id for s, a in self.context.actions if s.group and a.isChecked())
        return next((name for name in used if name.startswith("tool.")), "")

    def _opened_lately(self) -> tuple[Path, ...]:
        """Return the recently opened paths, in this session and before it."""
        now = self._read.opened_lately if self._read else ()
        paths = (*(path.absolute() for path in now), *map(Path, self._layout.recent))
        return tuple(dict.fromkeys(paths))

    def _place(self) -> None:
        self.resize(*_SIZE)
        self.restoreGeometry(bytes_of(self._layout.geometry))

    def _as_left(self) -> Layout:
        from viewer.ui.widgets.file_choice import last_folders

        return Layout(
            geometry=digits_of(self.saveGeometry()),
            theme=theme.current().name,
            workspace=self.place.value,
            tool=self._tool(),
            paths=self._paths(),
            image=self._image(),
            recent=tuple(map(str, self._opened_lately()[:RECENT])),
            choices=self._choices(),
            folders={**self._layout.folders, **last_folders()},
            splitters={
                key: state
                for one in self._shown
                for key, state in splitter_states(one.place, one.widget).items()
            },
        )
