"""The field for the most that a run may cost."""

from typing import Final

from viewer.ui.widgets.number_box import DecimalBox

_LARGEST: Final = 1_000_000
"""Dollars."""


class Ceiling(DecimalBox):
    """Dollars that a run may cost, to the micro-dollar; 0 means any amount."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(6)
        self.setMaximum(_LARGEST)
        self.setPrefix("$")
        self.setSpecialValueText("no ceiling")
        self.setToolTip("The run pauses before exceeding it")

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Write cents, and what is finer only where there is any."""
        cents = f"{value:.2f}"
        return cents if float(cents) == round(value, 6) else f"{value:.6f}"
