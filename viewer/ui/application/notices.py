"""Notices: a sentence on what, one on how, and Details for the rest."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from viewer.domain.errors import OverreadError


@dataclass(frozen=True, slots=True)
class Offer:
    """An action offered with a notice: the button's text, and its handler."""

    words: str
    act: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that interrupts nothing."""

    what: str
    how: str = ""
    details: str = ""
    warning: bool = True
    offer: Offer | None = None


class Notices(QObject):
    """Where every part of the window reports errors and results."""

    posted = Signal(object)
    """Notice"""

    def __init__(self) -> None:
        super().__init__()
        self._once: set[Notice] = set()

    def post_once(self, notice: Notice) -> None:
        """Show a notice unless this object has already shown it."""
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
