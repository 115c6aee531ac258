"""What the window needs from its workspaces."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QDropEvent

from viewer.settings import ANSWERS_ENDING, SEALED_ENDING
from viewer.ui.application.actions import Handlers
from viewer.ui.application.layout_memory import Choices, KeptImage

SEALED: Final = (SEALED_ENDING, ANSWERS_ENDING)
"""What Review opens."""


class Workspace(Protocol):
    """What a workspace offers beside being a widget."""

    def handlers(self) -> Handlers:
        """Return its handlers by the action's id."""


class ReadsCases(Workspace, Protocol):
    """The workspace that opens images."""

    @property
    def open_now(self) -> tuple[Path, ...]:
        """The files and folders that are open."""

    @property
    def choices(self) -> Choices:
        """The user's choices in its panels, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Restore the choices of the previous session."""

    @property
    def opened_lately(self) -> tuple[Path, ...]:
        """The files and folders opened since the start, the newest first."""

    @property
    def image_now(self) -> KeptImage:
        """The image on the screen."""

    def open_paths(
        self,
        paths: Sequence[Path],
        /,
        *,
        show: bool = True,
        image: KeptImage | None = None,
    ) -> None:
        """Add files and folders, and show that image, else the first of them."""

    def stop_running(self) -> bool:
        """Stop the work here, as Esc does; return whether any was running."""

    def reload_models(self, *also: str) -> None:
        """Read the models and their states again, and tick ``also`` these."""

    def show_answer(self, trial: int, /, beside: tuple[int, ...] = ()) -> None:
        """Open a trial's case with its answer drawn, and those of others beside it."""


class ShowsRuns(Workspace, Protocol):
    """The workspace that shows results."""

    @property
    def choices(self) -> Choices:
        """The user's choices in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Restore the choices of the previous session."""

    def tour_handlers(self) -> Handlers:
        """Return the handlers of the tour of disagreements, which Read offers too."""

    def return_to_row(self) -> None:
        """Return the focus to the row that a case was opened from."""


class ReviewsCases(Workspace, Protocol):
    """The workspace for reviews."""

    @property
    def choices(self) -> Choices:
        """The user's choices in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Restore the choices of the previous session."""

    def close_session(self) -> None:
        """Save what is on the screen and release the session."""

    @property
    def visiting(self) -> bool:
        """Whether a sealed session from another store is open."""

    @property
    def visits_changed(self) -> SignalInstance:
        """Tells that ``visiting`` may have changed."""

    def may_close(self, close: Callable[[], object], /) -> bool:
        """Return True if the answers shown are saved; else ask as for models."""

    def open_files(self, paths: Sequence[Path], /) -> None:
        """Open sessions that were sealed elsewhere, or merge the answers of some."""


class KeepsModels(Workspace, Protocol):
    """The workspace for models."""

    @property
    def choices(self) -> Choices:
        """The user's choices in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Restore the choices of the previous session."""

    def may_close(self, close: Callable[[], object], /) -> bool:
        """Return True if nothing would be lost by closing the window.

        Otherwise the user is asked, and ``close`` called once changes are saved or may
        be discarded.
        """


class TrialEvent(Protocol):
    """A trial was chosen."""

    @property
    def trial(self) -> int:
        """The trial's number in the store."""

    @property
    def beside(self) -> tuple[int, ...]:
        """Other trials about the same image, whose answers are drawn too."""


def meant(path: Path) -> Path:
    """Return the absolute path to open; for a DICOMDIR the folder that it lists."""
    whole = path.absolute()
    return whole.parent if whole.name.upper() == "DICOMDIR" else whole


def dropped(event: QDropEvent) -> list[Path]:
    """Return the paths of what is dropped."""
    urls = event.mimeData().urls()
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
