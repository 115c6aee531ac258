"""What was asked and answered in a trial, in a separate window."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.services.inspecting.trial_detail import TrialDetail, is_placed, trial_detail
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.measure.filmstrip import TrialChosen, WordsWanted
from viewer.ui.panels.measure.han_notice import tell_of_han
from viewer.ui.panels.measure.trial_page import TrialPage


class TrialDetails:
    """Reads a trial in the background, then shows its images and full text.

    ``open_`` opens a trial's image in Read.
    """

    def __init__(
        self, context: AppContext, parent: QWidget, open_: Callable[[TrialChosen], None]
    ) -> None:
        self._context, self._parent, self._open_in_read = context, parent, open_
        self._background_tasks = BackgroundTasks(parent)
        self.shown: TrialPage | None = None

    def show(self, wanted: WordsWanted) -> None:
        """Show a trial in a window beside earlier ones."""
        store = self._context.settings.store
        self._background_tasks.start(
            "words", lambda: trial_detail(store, wanted.trial), self._open, self._fail
        )

    def route(self, event: TrialChosen, place: Callable[[TrialChosen], None]) -> None:
        """Pass on a trial whose answer is a location on its image; show any other."""
        store = self._context.settings.store
        self._background_tasks.start(
            "route",
            lambda: is_placed(store, event.trial),
            lambda placed: (
                place(event) if placed else self.show(WordsWanted(event.trial))
            ),
            self._fail,
        )

    def _open(self, told: TrialDetail) -> None:
        # Read first is chosen for every case, so it holds for cases shown here too.
        read_first = self._context.actions["overlays.read_first"].isChecked()
        self.shown = TrialPage(told, self._parent, read_first=read_first)
        self.shown.read_wanted.connect(self._open_in_read)
        self.shown.other_wanted.connect(self.show)
        self.shown.show()
        tell_of_han(self._context.notices, (text for _, text in told.words))

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._context.notices.error(error)
