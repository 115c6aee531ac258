"""Commit reading: store what a reader marked and wrote, then unlock the case."""

from functools import partial

from PySide6.QtCore import QObject

from viewer.domain.case import ImageRef
from viewer.domain.mark import Mark
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.canvas.marks.book import absolute
from viewer.ui.panels.asking.blinding import CommitWanted, LockedPage
from viewer.ui.panels.asking.stored_answers import Knowledge
from viewer.ui.panels.read.lightbox import Lightbox


class Committing(QObject):
    """Commits what is on the screen: both projections, or a whole series."""

    def __init__(
        self,
        context: AppContext,
        lightbox: Lightbox,
        page: LockedPage,
        knowledge: Knowledge,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._lightbox, self._page = context, lightbox, page
        self._knowledge = knowledge
        self._place, self._words = "", dict[str, str]()
        page.commit_wanted.connect(self._commit)

    def follow(self) -> None:
        """Save the text of the previous case, and show that of the case in focus."""
        place = self._lightbox.active.place
        if place != self._place:
            self._words[self._place] = self._page.words.text()
            self._place = place
            self._page.begin(self._words.pop(place, ""))

    def _commit(self, event: CommitWanted) -> None:
        from viewer.services.readings.committed import commit_reading

        store, marks = self._context.settings.store, self._marks()
        self._page.commit.setEnabled(False)
        run_for(
            self,
            partial(commit_reading, store, marks, event.words),
            self._committed,
            self._failed,
        )

    def _marks(self) -> dict[ImageRef, tuple[Mark, ...]]:
        """Return the marks of every image that can be scrolled to."""
        book = self._lightbox.view.marks.book
        shown = (
            image.ref
            for port in self._lightbox.viewports
            for image in port.stack_images
        )
        return {absolute(ref): book.of(ref) for ref in shown}

    def _committed(self, _: object) -> None:
        self._page.commit.setEnabled(True)
        self._page.begin("")
        self._knowledge.learn_anew()
        self._context.notices.say("Your reading is committed; the case is unlocked.")

    def _failed(self, error: Exception) -> None:
        self._page.commit.setEnabled(True)
        tell_error(self._context, error)
