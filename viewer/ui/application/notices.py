"""The one bridge for notices: a sentence of what, one of how, Details for the rest."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from viewer.domain.errors import OverreadError


@dataclass(frozen=True, slots=True)
class Offer:
    """What a person can do about a notice: the words of a button, and what it does."""

    words: str
    act: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know; nothing stops for it."""

    what: str
    how: str = ""
    details: str = ""
    warning: bool = True
    offer: Offer | None = None


class Notices(QObject):
    """Where every part of the window says what went wrong, or was done."""

    posted = Signal(object)
    """Notice"""

    def __init__(self) -> None:
        super().__init__()
        self._once: set[Notice] = set()

    def post_once(self, notice: Notice) -> None:
        """Show a notice unless it was shown by this before, however long ago."""
        if notice not in self._once:
            self._once.add(notice)
            self.post(notice)

    def post(self, notice: Notice) -> None:
        """Show a notice."""
        self.posted.emit(notice)

    def say(self, what: str) -> None:
        """Show that something was done."""
        self.post(Notice(what, warning=False))

    def error(self, error: OverreadError, details: str = "") -> None:
        """Show an error's two sentences."""
        self.post(Notice(error.what, error.how, details))
