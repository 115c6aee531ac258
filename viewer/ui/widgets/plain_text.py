"""Text from outside in widgets: never as HTML, without control characters; spoken."""

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPaintEvent
from PySide6.QtWidgets import QLabel, QStylePainter, QWidget

from viewer.domain.escapes import visible

_LEAST = 120
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Label(QLabel):
    """A label that shows text as it is, tags included."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        wordWrap: bool = False,  # noqa: N803 - as Qt names it
        alignment: Qt.AlignmentFlag = _LEFT,
    ) -> None:
        super().__init__(visible(text), parent, wordWrap=wordWrap, alignment=alignment)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show text as it is, never as rich text."""
        super().setText(visible(text))


class ShortLabel(Label):
    """A line that ends in an ellipsis where it has no room; its tip has all of it."""

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show text as it is, and in the tip."""
        super().setText(text)
        self.setToolTip(as_tip(text))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return a size that shows its first words."""
        hint = super().sizeHint()
        return QSize(min(_LEAST, hint.width()), hint.height())

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw as much as there is room for."""
        rect, end = self.contentsRect(), Qt.TextElideMode.ElideRight
        short = self.fontMetrics().elidedText(self.text(), end, rect.width())
        QStylePainter(self).drawItemText(
            rect,
            self.alignment(),
            self.palette(),
            self.isEnabled(),
            short,
            self.foregroundRole(),
        )


def as_tip(text: str) -> str:
    """Return text for a tool tip; Qt would read it as HTML if it contains a tag."""
    seen = visible(text)
    if "<" not in seen and "&lt;" not in seen:
        return seen
    return f'<p style="white-space: pre-wrap">{escape(seen, quote=False)}</p>'


def in_role(text: str, role: int) -> str:
    """Return the text of an item as it is displayed, or as its tool tip."""
    return as_tip(text) if role == Qt.ItemDataRole.ToolTipRole else visible(text)


def as_html(text: str) -> str:
    """Return text escaped for use inside rich text."""
    return escape(visible(text))


def describe(widget: QWidget, words: str) -> None:
    """Let a screen reader say what a widget shows; it is told only of changes."""
    if words != widget.accessibleDescription():
        widget.setAccessibleDescription(words)


def announce(widget: QWidget, words: str, *, at_once: bool = False) -> None:
    """Have a screen reader say something now; ``at_once`` interrupts what it says."""
    if words and widget.isVisible():
        event = QAccessibleAnnouncementEvent(widget, words)
        if at_once:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)
