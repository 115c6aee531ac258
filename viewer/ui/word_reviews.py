"""Review words…: a page beside the window, of the data set that somebody asks for."""

from functools import partial
from typing import Final

from PySide6.QtWidgets import QWidget

from viewer.domain.run import ModelStopped
from viewer.ui.actions import Handlers
from viewer.ui.desk import Desk
from viewer.ui.notices import Notice, Offer
from viewer.ui.show_once import show_once

_PAGE: Final = "review words"


def handlers(window: QWidget, desk: Desk) -> Handlers:
    """Return what the command does; its page belongs to the window."""
    return {"dataset.words": partial(show_words, window, desk)}


def stopped_notice(window: QWidget, desk: Desk, event: ModelStopped) -> Notice:
    """Return why a batch stopped; where words wait to be read, it leads to them."""
    if not event.words_of:
        return Notice(event.sentence)
    show = partial(show_words, window, desk, event.words_of)
    return Notice(event.sentence, offer=Offer("Review words…", show))


def show_words(window: QWidget, desk: Desk, dataset: str = "") -> None:
    """Show the page, and read what a data set holds now; "" is the one chosen there."""
    from viewer.ui.dialogs.word_review import WordReview

    show_once(window, _PAGE, lambda: WordReview(desk.settings, window))
    for page in window.findChildren(WordReview, _PAGE):
        if page.isVisible():
            page.read(dataset)
