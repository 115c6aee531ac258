"""Review pixels: text burned into an image, blacked out before it may be sent."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.domain.image import PixelImage
from viewer.domain.privacy import PixelReview
from viewer.imaging.luts import to_raster
from viewer.services.commands import PixelLook
from viewer.ui.dialogs.pixel_boxes import PixelBoxes
from viewer.ui.widgets.labels import caption, primary, title
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

_SIDE_PX: Final = 300
_HOW: Final = (
    "Drag on the image to black out more. Select a box and press Delete to remove it. "
    "Dashed outlines are marks that identify nobody."
)


@dataclass(frozen=True, slots=True)
class PixelsDecided:
    """The user reviewed an image's pixels and decided."""

    review: PixelReview


class PixelReviewDialog(QDialog):
    """The image with the places that look like text, for a person to decide."""

    decided = Signal(object)
    """Carries a PixelsDecided."""

    def __init__(
        self, look: PixelLook, image: PixelImage, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Review pixels")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self._look = look
        self.canvas = PixelBoxes(to_raster(image))
        self.boxes = QListWidget()
        self.boxes.setAccessibleName("Boxes to black out")
        self.remove = QPushButton("Remove the selected box")
        self.as_sent = QCheckBox("Show as sent")
        self.allow, self.block = primary(""), QPushButton("Do not send this image")
        self.cancel = QPushButton("Cancel")
        self._lay_out()
        self._connect()
        self.canvas.outline(look.outlined)
        for box in look.proposed:
            self.canvas.add(box)
        self._list()
        resize_on_screen(self, 1100, 780)

    def _lay_out(self) -> None:
        side = QWidget()
        side.setFixedWidth(_SIDE_PX)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(title("May these pixels be sent?"))
        column.addWidget(Label(_why(self._look), wordWrap=True))
        column.addWidget(caption(_HOW))
        column.addWidget(self.boxes, 1)
        for widget in (self.remove, self.as_sent, self.allow, self.block, self.cancel):
            column.addWidget(widget)
        row = QHBoxLayout(self)
        row.addWidget(self.canvas, 1)
        row.addWidget(side)

    def _connect(self) -> None:
        self.canvas.changed.connect(self._list)
        self.boxes.currentRowChanged.connect(self.canvas.choose)
        self.remove.clicked.connect(self._remove)
        self.as_sent.toggled.connect(self.canvas.show_as_sent)
        self.allow.clicked.connect(self._allow)
        self.block.clicked.connect(lambda: self._decide(self._look.blocked))
        self.cancel.clicked.connect(self.reject)

    def _remove(self) -> None:
        self.canvas.choose(self.boxes.currentRow())
        self.canvas.remove_chosen()

    def _list(self) -> None:
        row, boxes = self.boxes.currentRow(), self.canvas.boxes
        self.boxes.clear()
        for n, box in enumerate(boxes, start=1):
            width, height = box.x1 - box.x0, box.y1 - box.y0
            self.boxes.addItem(
                f"{n}   {width:.0f} × {height:.0f} at ({box.x0:.0f}, {box.y0:.0f})"
            )
        self.boxes.setCurrentRow(min(row, len(boxes) - 1))
        self.remove.setEnabled(bool(boxes))
        self.allow.setText(_offer(len(boxes)))

    def _allow(self) -> None:
        self._decide(self._look.decided(self.canvas.boxes))

    def _decide(self, review: PixelReview) -> None:
        self.decided.emit(PixelsDecided(review))
        self.accept()


def _offer(n: int) -> str:
    if not n:
        return "Nothing identifies a person"
    return f"Black out {counted(n, 'box', 'boxes')}"


def _why(look: PixelLook) -> str:
    why = look.reason or "nobody has reviewed it yet"
    words = f"This image must be reviewed before it may leave this machine: {why}."
    return f"{words} {look.missing}" if look.missing else words
