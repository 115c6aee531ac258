"""The line over a whole slide: at which magnification it is shown, and how to go on."""

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from viewer.domain.slide import SlideMap, SlideScale
from viewer.ui.labels import caption
from viewer.ui.plain_text import Label


@dataclass(frozen=True, slots=True)
class ScaleChosen:
    """A person wants to see the slide at this magnification."""

    scale: SlideScale


class SlideBar(QWidget):
    """Names the magnification, and lets a person choose another."""

    scale_chosen = Signal(object)
    """Carries a ScaleChosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scales = QComboBox()
        self.scales.setAccessibleName("Magnification")
        self.scales.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.scales.activated.connect(self._tell)
        self.place, self.hint = Label(), caption()
        self.hint.setWordWrap(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        label = Label("Magnification")
        label.setBuddy(self.scales)
        for widget in (label, self.scales, self.place):
            row.addWidget(widget)
        row.addWidget(self.hint, 1)
        self.hide()

    def show_slide(self, slide: SlideMap | None, frame: int = 0) -> None:
        """Show where a frame of a slide is; without a slide the line is gone."""
        self.setVisible(slide is not None)
        if slide is None:
            return
        scale = slide.scale_of(frame)
        self.scales.clear()
        for offered in slide.scales:
            self.scales.addItem(scale_words(offered), offered)
        self.scales.setCurrentIndex(slide.scales.index(scale))
        number = f"field {frame - scale.first + 1} of {scale.count}"
        self.place.setText(number if scale.count > 1 else "")
        finer = slide.finer(frame)
        self.hint.setText(
            f"Double-click, or Enter, opens {finer.name} there" if finer else ""
        )

    def _tell(self, row: int) -> None:
        self.scale_chosen.emit(ScaleChosen(self.scales.itemData(row)))


def scale_words(scale: SlideScale) -> str:
    """Return ``10x · 48 fields``, or ``Overview`` where one image shows it all."""
    return scale.name if scale.count == 1 else f"{scale.name} · {scale.count} fields"
