"""A picture of a figure, fitted to the width or zoomed."""

from math import ceil
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollArea, QWidget

from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label

_WIDEST_PX: Final = 1200
"""A page wider than that would have letters larger than the window's own."""
_MARGIN_PX: Final = 8
_ANY_PX: Final = 16_777_215
"""Qt's own word for no limit."""
_STEP: Final = 1.25
_ZOOMS: Final = (0.5, 4.0)
_SETTLED_MS: Final = 200
"""After the last change of size, a picture is asked for."""


class _Sheet(Label):
    """Words, or a picture in the size that it is shown in."""

    image = QImage()
    shown = QSizeF()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the picture in the size that it is shown in."""
        if self.image.isNull():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        source, target = QRectF(self.image.rect()), QRectF(0, 0, 0, 0)
        target.setSize(self.shown)
        painter.drawImage(target, self.image, source)
        painter.end()


class FigureView(QScrollArea):
    """Shows a scrollable picture on the background of the theme.

    Until a sharper picture comes, the one that is there is stretched.
    """

    redraw_wanted = Signal()
    """The picture has another size on the screen than it was drawn for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._zoom = 1.0
        self._drawn_for = 1
        self._sheet = _Sheet(alignment=Qt.AlignmentFlag.AlignCenter)
        self._sheet.setWordWrap(True)
        self._sheet.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._tell_if_blurred)
        self.setAccessibleName("The figure")
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setWidgetResizable(True)
        self.setWidget(self._sheet)
        self._style()

    @property
    def words(self) -> str:
        """The text in place of a picture, "" if there is one."""
        return str(self._sheet.text())

    @property
    def picture(self) -> QImage:
        """The picture as it was drawn; null without one."""
        return self._sheet.image

    @property
    def page_px(self) -> int:
        """The width of a page in device pixels."""
        return round(self._page_width * self.devicePixelRatioF())

    @property
    def _page_width(self) -> float:
        # Always less a scroll bar: one that came or went would change the width.
        room = self.maximumViewportSize().width() - 2 * _MARGIN_PX
        bar = self.verticalScrollBar().sizeHint().width()
        return max(200, min(room - bar, _WIDEST_PX)) * self._zoom

    def offer(self, actions: tuple[QAction, ...]) -> None:
        """Offer actions to a right click and the key for menus, then those of size."""
        line = QAction(self)
        line.setSeparator(True)
        self.addActions([*actions, line])
        for text, keys, zoom in (
            ("Zoom in", ("Ctrl++", "Ctrl+="), _STEP),
            ("Zoom out", ("Ctrl+-",), 1 / _STEP),
            ("Fit to the width", ("Ctrl+0",), 0.0),
        ):
            action = QAction(text, self)
            action.setShortcuts([QKeySequence(one) for one in keys])
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _=False, by=zoom: self._zoom_by(by))
            self.addAction(action)

    def show_words(self, words: str) -> None:
        """Show text in place of a picture, centred."""
        self._sheet.image = QImage()
        self.setWidgetResizable(True)
        self.setMaximumHeight(_ANY_PX)
        self._sheet.setText(words)

    def show_picture(self, picture: QImage, page_px: int) -> None:
        """Show a picture, drawn for a page of ``page_px`` of the screen's pixels."""
        self._sheet.clear()
        self._drawn_for = page_px
        self._sheet.image = picture
        self.setWidgetResizable(False)
        self._stretch()
        self._settled.start()

    def _stretch(self) -> None:
        if self._sheet.image.isNull():
            return
        by = self.page_px / self._drawn_for / self.devicePixelRatioF()
        size = QSizeF(self._sheet.image.size()) * by
        self._sheet.resize(ceil(size.width()), ceil(size.height()))
        self._sheet.shown = size
        bar = self.horizontalScrollBar().sizeHint().height()
        wider = self._sheet.width() > self.maximumViewportSize().width()
        self.setMaximumHeight(self._sheet.height() + wider * bar)
        self._sheet.update()

    def _zoom_by(self, by: float) -> None:
        """Show the picture larger or smaller; 0 fits it to the width."""
        least, most = _ZOOMS
        self._zoom = min(most, max(least, self._zoom * by)) if by else 1.0
        self._stretch()
        self._settled.start()

    def _tell_if_blurred(self) -> None:
        if not self._sheet.image.isNull() and self._drawn_for != self.page_px:
            self.redraw_wanted.emit()

    def _style(self) -> None:
        palette = self._sheet.palette()
        palette.setColor(self.backgroundRole(), theme.current().panel)
        palette.setColor(self.foregroundRole(), theme.current().text)
        self.viewport().setPalette(palette)
        self.viewport().setAutoFillBackground(True)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the picture to the new width at once, and sharply soon."""
        super().resizeEvent(event)
        self._stretch()
        self._settled.start()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom with Ctrl held, else scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom_by(_STEP if event.angleDelta().y() > 0 else 1 / _STEP)
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Scroll to the beginning and the end, as to other places."""
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: self.verticalScrollBar().maximum()}
        at = ends.get(Qt.Key(event.key()))
        if at is None:
            super().keyPressEvent(event)
        else:
            self.verticalScrollBar().setValue(at)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Take the background of the new theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._style()
        elif event.type() == QEvent.Type.DevicePixelRatioChange:
            self._settled.start()
