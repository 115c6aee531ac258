"""The grid over the image: rows, columns, labels, letters, colour and opacity."""

from typing import Final, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QSlider,
    QSpinBox,
    QWidget,
)

from viewer.domain.grid import MAX_CELLS, MIN_CELLS, Grid, LetterAxis
from viewer.imaging.grid_overlay import LabelStyle, Rgb
from viewer.ui.panels.read.grid_choice import GridChanged, GridChoice
from viewer.ui.widgets.plain_text import Label, as_tip

_COLOURS: Final[tuple[tuple[str, Rgb], ...]] = (
    ("yellow", (255, 230, 0)),
    ("sky blue", (86, 180, 233)),
    ("white", (255, 255, 255)),
    ("green", (0, 158, 115)),
)
_LABELS: Final = (
    ("in every cell", LabelStyle.CELL),
    ("along the margin", LabelStyle.MARGIN),
    ("cells and margin", LabelStyle.BOTH),
)
_LETTERS: Final = (
    ("letters are rows", LetterAxis.ROW),
    ("letters are columns", LetterAxis.COLUMN),
)

_Choice = TypeVar("_Choice")


class GridControls(QWidget):
    """Every control takes effect at once; there is no Apply button."""

    grid_changed = Signal(object)
    """Carries a GridChanged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gridControls")
        start = GridChoice()
        self.shown = QCheckBox("Show grid")
        self.rows, self.columns = _spin("Rows"), _spin("Columns")
        self.letters = _combo("Letters", _LETTERS)
        self.labels = _combo("Labels", _LABELS)
        self.colour = _combo("Grid colour", _COLOURS)
        for i, (_, colour) in enumerate(_COLOURS):
            self.colour.setItemIcon(i, _swatch(colour))
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.opacity.setRange(5, 100)
        self.opacity.setAccessibleName("Grid opacity")
        self._lay_out()
        self.set_choice(start)
        self._connect()

    def _lay_out(self) -> None:
        form, cells = QFormLayout(self), QHBoxLayout()
        form.setContentsMargins(0, 0, 0, 0)
        for widget in (self.rows, Label("×"), self.columns):
            cells.addWidget(widget)
        cells.addStretch(1)
        form.addRow(self.shown)
        form.addRow("Grid", cells)
        form.addRow("Letters", self.letters)
        form.addRow("Labels", self.labels)
        form.addRow("Colour", self.colour)
        form.addRow("Opacity", self.opacity)

    def _connect(self) -> None:
        self.shown.toggled.connect(self._tell)
        self.opacity.valueChanged.connect(self._tell)
        for spin in (self.rows, self.columns):
            spin.valueChanged.connect(self._tell)
        for combo in (self.letters, self.labels, self.colour):
            combo.currentIndexChanged.connect(self._tell)

    @property
    def choice(self) -> GridChoice:
        """The current settings of the controls."""
        letters = LetterAxis(self.letters.currentData())
        return GridChoice(
            self.shown.isChecked(),
            Grid(self.rows.value(), self.columns.value(), letters),
            LabelStyle(self.labels.currentData()),
            _COLOURS[self.colour.currentIndex()][1],
            self.opacity.value() / 100,
        )

    def set_choice(self, choice: GridChoice) -> None:
        """Set every control; a colour that is not offered leaves the colour as is."""
        self.shown.setChecked(choice.shown)
        self.rows.setValue(choice.grid.rows)
        self.columns.setValue(choice.grid.columns)
        _set(self.letters, _LETTERS, choice.grid.letters)
        _set(self.labels, _LABELS, choice.labels)
        _set(self.colour, _COLOURS, choice.colour)
        self.opacity.setValue(round(100 * choice.opacity))

    def _tell(self, *_: object) -> None:
        self.grid_changed.emit(GridChanged(self.choice))


def _spin(name: str) -> QSpinBox:
    spin = QSpinBox(minimum=MIN_CELLS, maximum=MAX_CELLS)
    spin.setAccessibleName(name)
    spin.setToolTip(as_tip(f"{name}, {MIN_CELLS} to {MAX_CELLS}"))
    return spin


def _combo(name: str, offered: tuple[tuple[str, _Choice], ...]) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    for words, value in offered:
        combo.addItem(words, value)
    return combo


def _set(
    combo: QComboBox, offered: tuple[tuple[str, _Choice], ...], value: _Choice
) -> None:
    values = [v for _, v in offered]
    if value in values:
        combo.setCurrentIndex(values.index(value))


def _swatch(colour: Rgb) -> QIcon:
    pixmap = QPixmap(12, 12)
    pixmap.fill(QColor(*colour))
    return QIcon(pixmap)
