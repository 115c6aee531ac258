"""Review words…: a dialog, independent of the window, for one data set."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from viewer.domain.run import ModelStopped
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice, Offer
from viewer.ui.application.show_once import show_once

_PAGE: Final = "review words"


@dataclass(frozen=True, slots=True)
class ShowWords:
    """Shows the page; equal where it shows the same, so that a notice is told once.

    Parameters
    ----------
    window, context : QWidget, AppContext
        What the page belongs to.
    dataset : str
        What is read, as it is now; "" is the data set chosen on the page.
    """

    window: QWidget
    context: AppContext
    dataset: str = ""

    def __call__(self) -> None:
        """Show the page, or bring it to the front."""
        from viewer.ui.dialogs.word_review import WordReview

        window, settings = self.window, self.context.settings
        show_once(window, _PAGE, lambda: WordReview(settings, window))
        for page in window.findChildren(WordReview, _PAGE):
            if page.isVisible():
                page.read(self.dataset)


def handlers(window: QWidget, context: AppContext) -> Handlers:
    """Return what the command does; its page belongs to the window."""
    return {"dataset.words": ShowWords(window, context)}


def stopped_notice(window: QWidget, context: AppContext, event: ModelStopped) -> Notice:
    """Return why a batch stopped, with an action that opens pending word reviews."""
    if not event.words_of:
        return Notice(event.sentence)
    show = ShowWords(window, context, event.words_of)
    return Notice(event.sentence, offer=Offer("Review words…", show))
