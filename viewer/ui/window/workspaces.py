"""What the window needs of its workspaces."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from viewer.ui.application.actions import Handlers
from viewer.ui.application.layout_memory import Choices, KeptImage


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
        """What a person chose in its panels, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Choose again what was chosen when the window was left."""

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

    def reload_models(self) -> None:
        """Read the models and their states again."""

    def show_answer(self, trial: int, /, beside: tuple[int, ...] = ()) -> None:
        """Open the case of a trial, its answer drawn, and those of others beside it."""


class ShowsRuns(Workspace, Protocol):
    """The workspace that shows results."""

    @property
    def choices(self) -> Choices:
        """What a person chose in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Choose again what was chosen when the window was left."""

    def return_to_row(self) -> None:
        """Give the focus back to the row that a case was chosen from."""


class ReviewsCases(Workspace, Protocol):
    """The workspace in which a reader works."""

    @property
    def choices(self) -> Choices:
        """What a person chose in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Choose again what was chosen when the window was left."""

    def close_session(self) -> None:
        """Keep what is on the screen and let others work on the session."""


class KeepsModels(Workspace, Protocol):
    """The workspace that shows which models there are."""

    @property
    def choices(self) -> Choices:
        """What a person chose in it, for the next start."""

    def recall(self, choices: Choices, /) -> None:
        """Choose again what was chosen when the window was left."""

    def may_close(self, close: Callable[[], object], /) -> bool:
        """Return True if nothing would be lost by closing the window.

        Else a person is asked, and ``close`` called once nothing is lost any more, or
        what is may be.
        """


class TrialEvent(Protocol):
    """The choice of a trial."""

    @property
    def trial(self) -> int:
        """The trial's number in the store."""

    @property
    def beside(self) -> tuple[int, ...]:
        """Other trials about the same image, whose answers are drawn too."""
