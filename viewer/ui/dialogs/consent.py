"""Consent: exactly what would be sent to another machine, shown before it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.dialogs.what_model_saw import image_column, text_view
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.asking.preview import Preview

_WIDTHS: Final = (570, 430)
_IN_NO_SET: Final = (
    "The image is in no data set, so this allows any image to be sent there, until you "
    "withdraw it with overread allow --withdraw."
)
_ONLY: Final = (
    "Only this is sent: a freshly written image and the text, no header and no file "
    "name. A provider may keep what it receives for some time."
)

_READABLE: Final = "not encrypted: anyone on the way can read them"
_ALLOW_READABLE: Final = (
    "Send it unencrypted: anyone on the way can read the images and questions"
)


@dataclass(frozen=True, slots=True)
class ConsentGiven:
    """The user allows an endpoint, for the data set shown or for any image.

    ``unencrypted``: even if what is sent can be read on the way.
    """

    for_any: bool
    unencrypted: bool = False


class ConsentDialog(QDialog):
    """Shows the first request to an endpoint and asks whether it may be sent."""

    given = Signal(object)
    """Carries a ConsentGiven."""

    def __init__(self, preview: "Preview", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Send to {preview.origin}?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.planned = Label(_planned(preview), wordWrap=True)
        self.text = text_view(preview.text)
        self.this_set, self.any = _choices(preview)
        self.send, self.keep = primary("Allow and send"), QPushButton("Do not send")
        self.send.clicked.connect(self._give)
        self.unencrypted = QCheckBox(_ALLOW_READABLE, self)
        self.unencrypted.setVisible(not preview.is_encrypted)
        self.unencrypted.toggled.connect(self.send.setEnabled)
        self.send.setEnabled(preview.is_encrypted)
        self.keep.clicked.connect(self.reject)
        self._lay_out(preview)
        self.keep.setDefault(True)
        self.keep.setFocus()
        resize_on_screen(self, 1000, 760)

    def _lay_out(self, preview: "Preview") -> None:
        split = Splitter(Qt.Orientation.Horizontal)
        split.addWidget(image_column(preview.images))
        split.addWidget(self.text)
        split.setStretchFactor(1, 1)
        split.setSizes(_WIDTHS)
        column = QVBoxLayout(self)
        where = f"Nothing has been sent yet. {preview.origin} is another machine."
        column.addWidget(title(where))
        column.addWidget(self.planned)
        column.addWidget(split, 1)
        column.addWidget(selectable(_sized(preview)))
        column.addWidget(caption(_ONLY))
        column.addLayout(self._choice())
        column.addWidget(self.unencrypted)
        column.addLayout(self._buttons())

    def _choice(self) -> QHBoxLayout:
        row, self._group = QHBoxLayout(), QButtonGroup(self)
        for button in (self.this_set, self.any):
            self._group.addButton(button)
        if self.this_set.isChecked():
            row.addWidget(self.this_set)
            row.addWidget(self.any)
            row.addStretch(1)
        else:  # one button would be no choice
            row.addWidget(Label(_IN_NO_SET, wordWrap=True))
        return row

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.keep)
        row.addWidget(self.send)
        return row

    def _give(self) -> None:
        self.given.emit(
            ConsentGiven(self.any.isChecked(), self.unencrypted.isChecked())
        )
        self.accept()


def _choices(preview: "Preview") -> tuple[QRadioButton, QRadioButton]:
    """Return the buttons for the data set and for any image, the narrower chosen."""
    dataset_only = QRadioButton(f"For the data set '{preview.dataset}'")
    every = QRadioButton("For any image")
    (dataset_only if preview.dataset else every).setChecked(True)
    return dataset_only, every


def _planned(preview: "Preview") -> str:
    n = preview.requests
    what = "one request" if n == 1 else f"{n:,} requests; this is the first"
    return f"The model {preview.model} would be sent {what}, exactly as shown here:"


def _sized(preview: "Preview") -> str:
    how = "encrypted" if preview.is_encrypted else _READABLE
    return (
        f"To {preview.origin}, {preview.body_bytes:,} bytes in all, {how}\n"
        f"SHA-256 {preview.body_sha256}"
    )
