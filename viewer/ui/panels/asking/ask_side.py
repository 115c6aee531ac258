"""The right-hand side of Read: Ask, the grid and the answers in one column."""

from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QToolButton, QVBoxLayout, QWidget

from viewer.ui.panels.asking.answers_panel import AnswersPanel
from viewer.ui.panels.asking.ask_panel import AskPanel
from viewer.ui.panels.asking.grid_controls import GridControls
from viewer.ui.panels.read.grid_choice import GridChanged

_ANSWERS_MIN: Final = 220


class AskSide(QScrollArea):
    """Scrolls where the window is low; the grid's controls unfold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ask, self.answers = AskPanel(), AnswersPanel()
        self.grid = GridControls()
        self.unfold = QToolButton()
        self._lay_out()
        self.unfold.setCheckable(True)
        self.unfold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unfold.toggled.connect(self._unfold)
        self.grid.grid_changed.connect(self._name_grid)
        self._name_grid(GridChanged(self.grid.choice))
        self._unfold(False)

    def _lay_out(self) -> None:
        inside = self._inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(12)
        self.answers.setMinimumHeight(_ANSWERS_MIN)
        column.addWidget(self.ask)
        column.addWidget(self.unfold)
        column.addWidget(self.grid)
        column.addWidget(self.answers, 1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keys
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size that cuts nothing off at the right."""
        bar, hint = self.verticalScrollBar(), super().minimumSizeHint()
        inside = self._inside.minimumSizeHint().width() + bar.sizeHint().width()
        return QSize(inside, hint.height())

    def _unfold(self, on: bool) -> None:
        arrow = Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow
        self.unfold.setArrowType(arrow)
        self.grid.setVisible(on)

    def _name_grid(self, event: GridChanged) -> None:
        grid = event.choice.grid
        self.unfold.setText(
            f"Grid {grid.rows} × {grid.columns}, letters are {grid.letters.value}s"
        )
