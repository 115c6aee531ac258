"""The line below the images: the hanging protocol, its stage, and the layout."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QToolButton, QWidget

from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.menus import pop_up
from viewer.ui.widgets.plain_text import as_tip

_HEIGHT: Final = 32
_SHORT: Final = 64


@dataclass(frozen=True, slots=True)
class LayoutChosen:
    """The user wants so many viewports; ``tiled`` all of the same series."""

    rows: int
    columns: int
    tiled: bool = False


class HangingLine(QWidget):
    """Empty, at its final height, until the first image has been painted."""

    protocol_chosen = Signal(str)
    """The name of a protocol."""
    stepped = Signal(int)
    """So many stages on; negative is back."""
    layout_chosen = Signal(object)
    """Carries a LayoutChosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(_HEIGHT)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 2, 8, 2)

    def furnish(self) -> None:
        """Add the controls."""
        self.protocols = QComboBox()
        self.protocols.setAccessibleName("Hanging protocol")
        adjusted = QComboBox.SizeAdjustPolicy.AdjustToContents
        self.protocols.setSizeAdjustPolicy(adjusted)
        self.protocols.setMinimumWidth(_SHORT)  # a small window has room for no more
        self.protocols.setToolTip("How the images of the study hang")
        self.protocols.textActivated.connect(self.protocol_chosen)
        self.back = self._button("‹", "Previous stage (,)")
        self.on = self._button("›", "Next stage (.)")
        self.back.clicked.connect(lambda: self.stepped.emit(-1))
        self.on.clicked.connect(lambda: self.stepped.emit(1))
        self.stage = caption()
        self.stage.setWordWrap(False)
        self.linked = caption("linked")
        self.linked.setWordWrap(False)
        self.linked.setToolTip(
            "Viewports of one frame of reference, or of the same projection, scroll, "
            "zoom and move together (L, U)"
        )
        self.layouts = self._button("Layout ▾", "Rows and columns of viewports (Y)")
        self.menu = layout_menu(self)
        self.layouts.clicked.connect(self.offer_layouts)
        for widget in (self.protocols, self.back, self.stage, self.on):
            self._row.addWidget(widget)
        self._row.addStretch(1)
        self._row.addWidget(self.linked)
        self._row.addWidget(self.layouts)

    def offer_layouts(self) -> None:
        """Offer the layouts, at their button."""
        pop_up(self.menu, self.layouts)

    def show_stage(
        self,
        names: Sequence[str],
        protocol: str,
        words: str,
        number: int,
        count: int,
        viewports: int,
    ) -> None:
        """Show the protocols that fit, the one in use, and its stage from 0.

        ``protocol`` is "" for a layout of the user's own.
        """
        shown = [*names] if protocol else [words, *names]
        self.protocols.clear()
        self.protocols.addItems(shown)
        self.protocols.setCurrentText(protocol or words)
        self.linked.setVisible(viewports > 1)
        several = bool(protocol) and count > 1
        for widget in (self.back, self.on, self.stage):
            widget.setVisible(several)
        self.back.setEnabled(number > 0)
        self.on.setEnabled(number < count - 1)
        self.stage.setText(f"{words}, stage {number + 1} of {count}")

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(as_tip(tip))
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        return button


def layout_menu(line: HangingLine) -> QMenu:
    """Return a menu of every layout, of viewports and of tiles of one series."""
    from viewer.domain.hanging import MOST_VIEWPORTS

    menu = QMenu("Layout", line)
    for tiled, title in ((False, "Viewports"), (True, "Tiles of this series")):
        part = menu.addMenu(title)
        for rows in range(1, MOST_VIEWPORTS + 1):
            for columns in range(1, MOST_VIEWPORTS + 1):
                chosen = LayoutChosen(rows, columns, tiled)
                action = part.addAction(f"{rows} × {columns}")
                action.triggered.connect(
                    lambda _=False, event=chosen: line.layout_chosen.emit(event)
                )
    return menu
