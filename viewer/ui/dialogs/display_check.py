"""Help ▸ Display check…: a test pattern on the screen, and what to look for in it."""

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QMoveEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.geometry import SizePx
from viewer.imaging.display_pattern import LEAST, DisplayPattern, display_pattern
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.show_once import show_once
from viewer.ui.widgets import theme
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen, scrolled

_SIZE: Final = (1100, 760)
_COLUMN: Final = 290
_LABEL: Final = QColor("#c8c8c8")
LOOK_FOR: Final = """\
In the black and in the white bar all five squares are seen; on a screen for reading, \
in a dim room, those of 1 and 99 % too.
Each of the 18 grey steps differs from its neighbours, and none has a colour.
The ramp at the foot has no bands.
The bars in the corners are single lines, across and down, not grey or moiré; \
otherwise the screen does not run at its own resolution.
The circle is round, the lines are straight, and the white frame is seen whole."""
CANNOT: Final = """\
The pattern shows what your eye can tell apart; it measures nothing. Whether equal \
steps of the image look equally large is a matter of the greyscale standard display \
function (GSDF, DICOM PS3.14). Whether a screen keeps to it, and how bright it is, \
only a luminance meter can tell. Overread sends pixel values as they are: a screen \
that is not calibrated shows them by its own curve."""


def handlers(window: QWidget, context: AppContext) -> Handlers:
    """Return what the command does."""
    del context
    return {
        "help.display": lambda: show_once(
            window, "display", lambda: DisplayCheck(window)
        )
    }


class PatternView(QWidget):
    """The pattern, one value for each pixel of the screen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(QSize(LEAST.columns, LEAST.rows))
        self.setAccessibleName("Test pattern")
        self.setAccessibleDescription(
            "Grey steps, faint squares on black and on white, bars and lines"
        )
        self._size, self._drawn = SizePx(0, 0), QImage()
        self._pattern: DisplayPattern | None = None

    @property
    def screen_size(self) -> SizePx:
        """The size in pixels of the screen, which a scaled desktop has more of."""
        ratio = self.devicePixelRatioF()
        return SizePx(int(self.height() * ratio), int(self.width() * ratio))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the pattern unscaled, then its labels."""
        del event
        pattern = self._redrawn()
        painter = QPainter(self)
        painter.drawImage(QPoint(0, 0), self._drawn)
        painter.setFont(theme.caption_font(self.font()))
        painter.setPen(_LABEL)
        ratio, high = self.devicePixelRatioF(), painter.fontMetrics().height()
        for label in pattern.labels:
            at = QPoint(int(label.x / ratio) - 40, int(label.y / ratio))
            place = QRect(at, QSize(80, high))
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, label.text)

    def _redrawn(self) -> DisplayPattern:
        """Return the pattern for the size it has now."""
        size = self.screen_size
        if self._pattern is None or size != self._size:
            self._pattern, self._size = display_pattern(size), size
            pixels = self._pattern.pixels
            self._drawn = QImage(
                pixels.data,
                size.columns,
                size.rows,
                size.columns,
                QImage.Format.Format_Grayscale8,
            )
            self._drawn.setDevicePixelRatio(self.devicePixelRatioF())
        return self._pattern


class DisplayCheck(QDialog):
    """The pattern beside words; over the whole screen without them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Display check")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_on_screen(self, *_SIZE)
        page = QWidget()
        self.pattern, self.words = PatternView(self), scrolled(page)
        self.screen_text = Label(wordWrap=True)
        self.whole = QCheckBox("Whole screen")
        self.whole.setToolTip("Only the pattern, over the whole screen; Esc goes back")
        self.whole.toggled.connect(self._use_screen)
        self._close = QPushButton("Close")
        self._close.clicked.connect(self.close)
        self._lay_out(page)

    def _lay_out(self, page: QWidget) -> None:
        row, column = QHBoxLayout(self), QVBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.pattern, 1)
        row.addWidget(self.words)
        self.words.setFixedWidth(_COLUMN)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.screen_text)
        for words in LOOK_FOR.splitlines():
            column.addWidget(Label(words, wordWrap=True))
        column.addStretch(1)
        cannot = caption(CANNOT)
        cannot.setWordWrap(True)
        column.addWidget(cannot)
        foot = QHBoxLayout()
        foot.addWidget(self.whole)
        foot.addStretch(1)
        foot.addWidget(self._close)
        column.addLayout(foot)

    def event(self, event: QEvent) -> bool:
        """Say on which screen the pattern is, once that is known or another one."""
        if event.type() in {QEvent.Type.Show, QEvent.Type.ScreenChangeInternal}:
            self._tell_screen()
        return super().event(event)

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802 - Qt's name
        """Say on which screen the pattern is."""
        super().moveEvent(event)
        self._tell_screen()

    def reject(self) -> None:
        """Leave the whole screen on Esc, then the page."""
        if self.whole.isChecked():
            self.whole.setChecked(False)
        else:
            super().reject()

    def _tell_screen(self) -> None:
        screen = self.screen()
        ratio, size = screen.devicePixelRatio(), screen.size()
        wide, high = round(size.width() * ratio), round(size.height() * ratio)
        self.screen_text.setText(
            f"{screen.name() or 'Screen'}: {wide} × {high} pixels, {screen.depth()} "
            f"bits, scaled to {100 * ratio:.0f} %. One value of the pattern is one "
            "pixel."
        )

    def _use_screen(self, whole: bool) -> None:
        self.words.setVisible(not whole)
        if whole:
            self.showFullScreen()
            self.setFocus()
        else:
            self.showNormal()
            self.whole.setFocus()
