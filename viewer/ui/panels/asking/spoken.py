"""What a screen reader says of an image: whose it is, its window, marks and answers.

No more than is drawn: corner text that is off, answers that are hidden or locked, and
overlays held away with H are not said either.
"""

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QEvent, QObject, QTimer

from viewer.domain.counting import counted
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.application.preferences import Detail, current
from viewer.ui.canvas.display import window_text
from viewer.ui.canvas.overlays.outcome_glyph import words_of
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.widgets.plain_text import announce, describe

NAME: Final = "Image"
_PAUSE_MS: Final = 300
"""A drag changes the window with every frame; nobody can listen that fast."""


def name_of(viewport: Viewport) -> str:
    """Return whose image a viewport shows, as its top left corner says it."""
    shown = viewport.shown
    if shown is None or current().detail is Detail.NONE:
        return NAME
    who = ", ".join(line.text for line in shown.corners.top_left)
    return f"{NAME} of {who}" if who else NAME


def words_of_image(viewport: Viewport) -> str:
    """Return what can be seen of an image, besides whose it is."""
    if viewport.shown is None:
        return ""
    return "; ".join((*_looks(viewport), *_marks(viewport), *answers_of(viewport)))


def _looks(viewport: Viewport) -> Iterator[str]:
    window, count = viewport.view.window_shown, len(viewport.stack_images)
    if window is not None:
        yield window_text(window)
    if viewport.view.inverted:
        yield "inverted"
    if count > 1:
        yield f"image {viewport.position + 1} of {count}"
    if role := viewport.role.text():
        yield role


def _marks(viewport: Viewport) -> Iterator[str]:
    drawn = viewport.view.mark_items
    if drawn:
        yield counted(len(drawn), "mark")
    for item in drawn:
        yield from item.words


def answers_of(viewport: Viewport) -> tuple[str, ...]:
    """Return each answer that is drawn, with its outcome."""
    items = viewport.view.answer_items
    return tuple(_said(item.answer) for item in items if item.isVisible())


def _said(answer: StoredAnswer) -> str:
    where = f" {answer.score.answer}" if answer.score.answer else ""
    return f"{answer.model}{where}: {words_of(answer.score)}"


class SpokenImage(QObject):
    """Keeps what is said of a viewport up to date: at once for another image."""

    def __init__(self, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._answers: tuple[str, ...] = ()
        self._soon = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._soon.timeout.connect(self._tell)
        viewport.view.viewport().installEventFilter(self)
        viewport.image_shown.connect(self._tell)
        self._tell()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Look again after whatever was painted."""
        if event.type() is QEvent.Type.Paint and not self._soon.isActive():
            self._soon.start()
        return super().eventFilter(watched, event)

    def _tell(self, _: object = None) -> None:
        view, name = self._viewport.view, name_of(self._viewport)
        if name != view.accessibleName():
            view.setAccessibleName(name)
        describe(view, words_of_image(self._viewport))
        answers = answers_of(self._viewport)
        if answers != self._answers:
            self._answers = answers
            announce(view, "; ".join(answers))
