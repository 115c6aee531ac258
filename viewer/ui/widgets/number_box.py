"""Number fields whose text aligns with that of other fields."""

from typing import Final

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

_INSET: Final = 5
"""The theme's sheet does not reach the line inside, whose text would touch its edge."""


class WholeBox(QSpinBox):
    """A whole number."""

    def __init__(self, minimum: int = 0, maximum: int = 99) -> None:
        super().__init__()
        self.setRange(minimum, maximum)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)


class DecimalBox(QDoubleSpinBox):
    """A decimal number."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)
