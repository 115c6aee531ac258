"""What the model saw: the exact bytes that were sent, decoded, and the text."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.private_files import share
from viewer.ui.widgets.file_choice import choose_to_write
from viewer.ui.widgets.labels import selectable
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen, scrolled

_FACTOR_MAX: Final = 3
_WIDTHS: Final = (570, 430)


class WhatModelSaw(QDialog):
    """A window beside the image; it decodes the very bytes and hashes them itself.

    Parameters
    ----------
    name : str
        The model's name, for the title.
    images : sequence of bytes
        The PNG files as they were sent.
    text : sequence of (role, text)
        The messages' text as it was sent.
    request_sha256 : str
        The hash of the request they belong to.
    """

    def __init__(
        self,
        name: str,
        images: Sequence[bytes],
        text: Sequence[tuple[str, str]],
        request_sha256: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"What {name} saw")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.images, self.request_sha256 = tuple(images), request_sha256
        self.text = text_view(text)
        split = Splitter(Qt.Orientation.Horizontal)
        split.addWidget(image_column(self.images))
        split.addWidget(self.text)
        split.setStretchFactor(1, 1)
        split.setSizes(_WIDTHS)
        column = QVBoxLayout(self)
        column.addWidget(split, 1)
        column.addWidget(selectable(f"Request {request_sha256}"))
        column.addLayout(self._buttons())
        resize_on_screen(self, 1000, 700)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        copy, close = QPushButton("Copy text"), QPushButton("Close")
        copy_hash = QPushButton("Copy request hash")
        copy.clicked.connect(self._copy)
        copy_hash.clicked.connect(self._copy_hash)
        close.clicked.connect(self.close)
        if self.images:
            save = QPushButton("Save image…")
            save.clicked.connect(self._save)
            row.addWidget(save)
        row.addWidget(copy)
        row.addWidget(copy_hash)
        row.addStretch(1)
        row.addWidget(close)
        return row

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _copy_hash(self) -> None:
        QGuiApplication.clipboard().setText(self.request_sha256)

    def _save(self) -> None:
        title = "Save the image as it was sent"
        choose_to_write(self, title, "sent.png", "PNG (*.png)", self.save_image)

    def save_image(self, path: Path) -> None:
        """Write the first image's bytes unchanged; a failure stands in the title."""
        try:
            path.write_bytes(self.images[0])
            share(path)
        except OSError as error:
            self.setWindowTitle(f"Not saved: {error.strerror}. Choose another folder.")


def describe(png: bytes, width: int, height: int) -> str:
    """Return size in pixels and bytes, and the SHA-256 of those bytes."""
    digest = hashlib.sha256(png).hexdigest()
    return f"PNG, {width} × {height} px, {len(png):,} bytes\nSHA-256 {digest}"


def image_column(images: Sequence[bytes]) -> QWidget:
    """Return images as they are sent, each with its size and hash, below each other."""
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 8, 0)
    if not images:
        column.addWidget(Label("No image was sent with this request."))
    for number, png in enumerate(images, 1):
        several = f"Image {number} of {len(images)}, " if len(images) > 1 else ""
        _add_image(column, png, several)
    column.addStretch(1)
    return scrolled(page)


def _add_image(column: QVBoxLayout, png: bytes, which: str) -> None:
    """Put an image below the others, and below it ``which`` it is and what."""
    pixmap = QPixmap()
    pixmap.loadFromData(png)
    picture = Label()
    picture.setObjectName("sentImage")
    enlarged = _enlarged(pixmap)
    picture.setPixmap(enlarged)
    picture.setFixedSize(enlarged.size())
    picture.setAccessibleName("The image as it was sent")
    column.addWidget(picture)
    about = describe(png, pixmap.width(), pixmap.height())
    column.addWidget(selectable(which + about))


def _enlarged(pixmap: QPixmap) -> QPixmap:
    """Show every pixel sent as a square, so that nothing is smoothed over."""
    longest = max(pixmap.width(), pixmap.height(), 1)
    factor = max(1, min(_FACTOR_MAX, 520 // longest))
    return pixmap.scaled(pixmap.width() * factor, pixmap.height() * factor)


def text_view(text: Sequence[tuple[str, str]]) -> QPlainTextEdit:
    """Return the (role, words) of a request as they are sent."""
    view = QPlainTextEdit(readOnly=True)
    view.setAccessibleName("The text as it was sent")
    view.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    view.setPlainText(visible("\n\n".join(f"[{r}]\n{words}" for r, words in text)))
    return view
