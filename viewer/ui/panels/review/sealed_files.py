"""Sessions that travel in files: opened, merged and exported from the window."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.reading import SessionId
from viewer.settings import ANSWERS_ENDING, SEALED_ENDING, Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.show_once import show_once
from viewer.ui.panels.review.work_bar import WorkBar


class SealedFiles(WorkBar):
    """What the commands on sealed sessions and their answers do.

    It is seen only while answers are merged: how far, and a way to cancel. ``fail`` is
    called with errors, as Review shows them.
    """

    told = Signal(str)
    """What is being done, or what became of it, in sentences."""
    registered = Signal(object)
    """SessionId: a sealed session that is to be read"""
    merged = Signal()
    """Answers were merged, or refused."""

    def __init__(
        self, settings: Settings, fail: Callable[[Exception], None], parent: QWidget
    ) -> None:
        super().__init__("Merged", parent)
        self._settings, self._fail = settings, fail
        self._background_tasks = BackgroundTasks(self)
        self.read_last: SessionId | None = None
        """The session that the page of exports begins at."""

    def handlers(self) -> dict[str, Callable[[], None]]:
        """Return the handlers by the action's id."""
        return {
            "file.open_session": lambda: self._ask(
                "Open sealed session", "Sealed sessions", SEALED_ENDING
            ),
            "file.merge_answers": lambda: self._ask(
                "Merge answers", "Answers", ANSWERS_ENDING
            ),
            "file.export_session": self.export,
        }

    def open(self, paths: Sequence[Path]) -> None:
        """Register sealed sessions, of which the first is read, and merge answers."""
        answers = [path for path in paths if path.suffix == ANSWERS_ENDING]
        sealed = [path for path in paths if path not in answers]
        if answers:
            self._merge(answers)
        if sealed:
            self._register(sealed)

    def _register(self, paths: Sequence[Path]) -> None:
        def register() -> SessionId:
            from viewer.services.readings.sealed import open_sealed

            first, *_ = [open_sealed(self._settings, path.absolute()) for path in paths]
            return first

        self.told.emit(f"Opening {_names(paths)} …")
        self._background_tasks.start("open", register, self.registered.emit, self._fail)

    def _merge(self, paths: Sequence[Path]) -> None:
        """Merge answer files, and say in a sentence what happened to each."""
        told, stop = self.begin(), self.stop

        def merged(path: Path) -> str:
            from viewer.services.readings.merging import merge_answers

            try:
                return merge_answers(
                    self._settings.store, path, progress=told, stop=stop
                ).sentence
            except OverreadError as error:
                return f"{error.what} {error.how}"

        def show(sentences: Sequence[str]) -> None:
            self.hide()
            self.told.emit("\n".join(sentences))
            self.merged.emit()

        def fail(error: Exception) -> None:
            self.hide()
            self._fail(error)

        self.told.emit(f"Merging {_names(paths)} …")
        self.show()
        self._background_tasks.start(
            "merge", lambda: [merged(path) for path in paths], show, fail
        )

    def _ask(self, title: str, kind: str, ending: str) -> None:
        from viewer.ui.widgets.file_choice import choose_to_read

        choose_to_read(
            self.window(), title, f"{kind} (*{ending})", lambda path: self.open([path])
        )

    def export(self) -> None:
        """Show the page that writes sessions, at the one that was read last."""
        from viewer.ui.dialogs.export_session import ExportSession

        window, store = self.window(), self._settings.store
        show_once(
            window,
            "file.export_session",
            lambda: ExportSession(store, window, self.read_last),
        )


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths)
