"""Opened folders as data sets: one line over the cases, and a batch on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from viewer.domain.case import NAMED_VIEWS, ImageHeader, ImageRef, View
from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.ui.application.background_tasks import run_for
from viewer.ui.panels.read.opening import lies_in
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.menus import pop_up
from viewer.ui.widgets.plain_text import as_tip

if TYPE_CHECKING:
    from viewer.services.importing.open_folder import FolderSummary

_VIEW_WORDS: Final = {
    "frontal": "frontal",
    "lateral": "lateral",
    "other": "not radiographs",
}
"""What a person may say of several images."""


@dataclass(frozen=True, slots=True)
class FolderRegistered:
    """A folder is a data set now, or why not; neither if it needs to be none."""

    folder: Path
    summary: "FolderSummary | None" = None
    why: str = ""
    views: Mapping[Path, View] = field(default_factory=dict)
    """Of its files, by absolute path."""

    @property
    def words(self) -> str:
        """The text shown for the folder, empty for none."""
        if self.summary is None:
            return self.why
        from viewer.services.importing.open_folder import folder_words

        return folder_words(self.summary)


@dataclass(frozen=True, slots=True)
class ViewChosen:
    """A person says which view images of a folder show.

    Without ``refs`` those whose view is unknown.
    """

    folder: Path
    view: View
    refs: tuple[ImageRef, ...] = ()


class OpenFolders(QObject):
    """Registers opened folders in the background, and shows them in their line."""

    registered = Signal(object)
    """Carries a FolderRegistered."""

    def __init__(self, store: Path, line: "FolderLine", parent: QObject) -> None:
        super().__init__(parent)
        self._store, self._line = store, line
        self._header: ImageHeader | None = None
        self._known: dict[Path, FolderRegistered] = {}
        self._waiting: list[Path] = []
        self._stop = Event()
        self._one_at_a_time = Lock()
        self._running = True
        line.view_chosen.connect(self._set_views)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self._stop.set)

    def begin(self) -> None:
        """Begin to register; a window shows its first image without waiting for it."""
        self._go_on()

    def look_at(self, header: ImageHeader | None) -> None:
        """Show the folder that an image lies in; None without an image."""
        self._header = header
        self._line.show_folder(self._folder_of(header.ref.path) if header else None)

    def register(self, paths: Iterable[Path]) -> None:
        """Register those of the paths that are folders."""
        self._waiting += [path for path in paths if path.is_dir()]
        self._start_next()

    def correct(self, refs: Sequence[ImageRef], view: View) -> bool:
        """Give images a view; False if they are in no folder that is a data set."""
        told = self._folder_of(refs[0].path)
        if told is None or told.summary is None:
            return False
        absolute = (replace(ref, path=ref.path.absolute()) for ref in refs)
        self._set_views(ViewChosen(told.folder, view, tuple(absolute)))
        return True

    def _set_views(self, event: ViewChosen) -> None:
        """Give images of a folder a view."""
        known, store = self._known.get(event.folder), self._store
        if known is None or known.summary is None:
            return
        from viewer.services.importing.open_folder import correct_views

        name = known.summary.dataset
        self._run(
            event.folder,
            lambda: correct_views(store, name, event.view, event.refs),
            lambda: None,
        )

    def forget(self, opened: Iterable[Path]) -> None:
        """Forget the folders that are not open any more."""
        left = set(opened)
        self._waiting = [folder for folder in self._waiting if folder in left]
        self._known = {f: known for f, known in self._known.items() if f in left}

    def _folder_of(self, path: Path) -> FolderRegistered | None:
        inside = (one for one in self._known.values() if lies_in(path, one.folder))
        return next(inside, None)

    def _start_next(self) -> None:
        if self._running or not self._waiting:
            return
        from viewer.services.importing.open_folder import register_folder

        folder, store, stop = self._waiting.pop(0), self._store, self._stop
        self._running = True
        self._run(
            folder,
            lambda: register_folder(store, folder.absolute(), stop),
            self._go_on,
        )

    def _go_on(self) -> None:
        self._running = False
        self._start_next()

    def _run(
        self,
        folder: Path,
        work: "Callable[[], FolderSummary | None]",
        then: Callable[[], None],
    ) -> None:
        """Do something about a folder in the background, and tell of it."""

        def all_of_it() -> FolderRegistered:
            from viewer.services.importing.open_folder import views_in

            with self._one_at_a_time:
                summary = work()
                views = views_in(self._store, summary.dataset) if summary else {}
            return FolderRegistered(folder, summary, views=views)

        def done(told: FolderRegistered) -> None:
            self._keep(told)
            then()

        def failed(error: Exception) -> None:
            if not isinstance(error, OverreadError):
                raise error
            self._keep(FolderRegistered(folder, why=str(error)))
            then()

        run_for(self, all_of_it, done, failed, priority=-1)

    def _keep(self, told: FolderRegistered) -> None:
        self._known[told.folder] = told
        self.look_at(self._header)
        self.registered.emit(told)


class FolderLine(QWidget):
    """What the folder of the current image holds; hidden without one."""

    batch_wanted = Signal(str)
    """The name of a data set"""
    read_wanted = Signal(str)
    """The name of a data set that somebody wants to read"""
    view_chosen = Signal(object)
    """Carries a ViewChosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told: FolderRegistered | None = None
        self.words, self.batch = caption(), QPushButton()
        self.read = QPushButton("Read this data set…")
        self.views, self.menu = QPushButton("Set the unknown views"), QMenu(self)
        for view in NAMED_VIEWS:
            action = self.menu.addAction(f"All are {_VIEW_WORDS[view]}")
            action.triggered.connect(partial(self._choose_view, View(view)))
        self.views.clicked.connect(partial(pop_up, self.menu, self.views))
        self.views.setToolTip(
            as_tip("Say once what these images show; models are told the view")
        )
        self.batch.setToolTip(
            as_tip("Choose models and ask them about every image of this folder")
        )
        self.batch.clicked.connect(self._want_batch)
        self.read.setToolTip(
            as_tip("Answer the same questions yourself, alone or beside a model")
        )
        self.read.clicked.connect(self._want_reading)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.words)
        column.addWidget(self.views)
        column.addWidget(self.batch)
        column.addWidget(self.read)
        self.hide()

    def show_folder(self, told: FolderRegistered | None) -> None:
        """Show a folder's contents, with a batch where something can be scored."""
        self._told, summary = told, told.summary if told is not None else None
        unknown = summary.views.get(View.UNKNOWN, 0) if summary is not None else 0
        self.views.setVisible(unknown > 0)
        self.words.setText(told.words if told is not None else "")
        for button in (self.batch, self.read):
            button.setVisible(summary is not None and summary.references > 0)
        if summary is not None:
            verb = "Batch on this" if summary.images == 1 else "Batch on these"
            self.batch.setText(f"{verb} {counted(summary.images, 'image')}…")
        self.setVisible(bool(self.words.text()))

    def _want_batch(self) -> None:
        if self._told is not None and self._told.summary is not None:
            self.batch_wanted.emit(self._told.summary.dataset)

    def _want_reading(self) -> None:
        if self._told is not None and self._told.summary is not None:
            self.read_wanted.emit(self._told.summary.dataset)

    def _choose_view(self, view: View) -> None:
        if self._told is not None:
            self.view_chosen.emit(ViewChosen(self._told.folder, view))
