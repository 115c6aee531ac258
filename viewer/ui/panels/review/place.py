"""A location on the image: its kind, what is placed, and removing it."""

from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QPushButton,
    QWidget,
)

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.answer_json import type_of
from viewer.domain.counting import counted
from viewer.domain.form import PlaceKind, PlaceQuestion
from viewer.domain.form_values import Absent, Value
from viewer.domain.reading import Task
from viewer.domain.reference import Mask
from viewer.metrics.regions import box_around, region
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.panels.review.question import GAP, QuestionBox
from viewer.ui.widgets.labels import caption, link
from viewer.ui.widgets.plain_text import Label, as_tip

_PLACES: Final = (PointAnswer, BoxesAnswer, MaskAnswer, CellAnswer, HeatMapAnswer)
_WORDS: Final = {
    PlaceKind.CELL: ("Cell", "Click a cell. Shift and the arrow keys move it."),
    PlaceKind.POINT: ("Point", "Click on it. Shift and the arrow keys move it."),
    PlaceKind.BOXES: ("Box", "Drag from corner to corner; with Shift one more box."),
    PlaceKind.MASK: (
        "Mask",
        "Paint it; with Shift draw around it, with Alt erase. + and - set the brush.",
    ),
}
_AREAS: Final = frozenset({PlaceKind.MASK, PlaceKind.BOXES})
_TURNS: Final = "Mask fills a drawn box, and Box frames a drawn mask."
_ARROWS: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_BRUSH: Final = {"+": 1, "=": 1, "]": 1, "-": -1, "[": -1}


class PlaceBox(QuestionBox):
    """Lets the reader place something on the image; number keys choose the kind."""

    def __init__(
        self,
        question: PlaceQuestion,
        image: ReviewImage,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(question, parent)
        self._image, self._question = image, question
        self._kind, self._placing = question.kinds[0], False
        self.kinds: dict[PlaceKind, QPushButton] = {}
        self._group = QButtonGroup(self)
        self.hint, self.answer_words = caption(), Label()
        self.remove = link("Remove it", "Remove what is placed (Del)")
        self.absent = QCheckBox("It is not on this image")
        self._lay_out(question)
        self.remove.clicked.connect(self._remove)
        self.absent.clicked.connect(self._say_absent)
        image.placed.connect(self._take)
        self.paint_value()

    def _lay_out(self, question: PlaceQuestion) -> None:
        self._choice = row = QWidget(self)
        across = QHBoxLayout(row)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(GAP // 2)
        for kind in question.kinds:
            button = QPushButton(_WORDS[kind][0])
            button.setCheckable(True)
            button.setToolTip(as_tip(_WORDS[kind][1]))
            button.clicked.connect(partial(self.choose_kind, kind))
            self.kinds[kind] = button
            self._group.addButton(button)
            across.addWidget(button)
        self.absent.setVisible(question.can_be_absent)
        for widget in (row, self.hint, self.answer_words, self.remove, self.absent):
            self.column.addWidget(widget)

    def show_asked(self, *, asked: bool) -> None:
        """Say how to draw while keys go to this question."""
        super().show_asked(asked=asked)
        self.hint.setVisible(asked)
        self._choice.setVisible(asked and len(self.kinds) > 1)

    def show_task(self, task: Task) -> None:
        """Show the saved answer of a case, in the kind it was drawn in."""
        self.release()
        value = task.values.get(self.name)
        if isinstance(value, _PLACES):
            self._kind = PlaceKind(type_of(value))
        super().show_task(task)

    def choose_kind(self, kind: PlaceKind, _checked: bool = False) -> None:
        """Place another kind of answer instead of that of the previous kind.

        A mask becomes the box around it, boxes become the mask that they cover, and
        anything else is removed.
        """
        self._kind = kind
        self.turned_to.emit()
        value = self.value
        if isinstance(value, _PLACES) and type_of(value) != kind:
            self.set_value(self._turned(value, kind))
        self.paint_value()

    def _turned(self, value: Answer, kind: PlaceKind) -> Answer | None:
        canvas = self._image.canvas
        if canvas is None or not {PlaceKind(type_of(value)), kind} <= _AREAS:
            return None
        covered = region(value, canvas.grid, canvas.field, canvas.size)
        if covered is None or not covered.any():
            return None
        if kind is PlaceKind.MASK:
            return MaskAnswer(Mask.of_array(covered))
        return BoxesAnswer((box_around(covered),))

    def enter(self, *, take_keyboard: bool) -> None:  # noqa: ARG002 - the mouse's
        """Let the mouse place the answer."""
        self._placing = True
        self.paint_value()

    def release(self) -> None:
        """Return the mouse to window and level; else continue placing."""
        if self._placing:
            self._placing = False
            self._image.stop_placing()

    def paint_value(self) -> None:
        """Draw the placed answer, and describe it."""
        value = self.value
        self.kinds[self._kind].setChecked(True)
        turns = [_TURNS] if set(self.kinds) >= _AREAS else []
        self.hint.setText(" ".join((_WORDS[self._kind][1], *turns)))
        self.answer_words.setText(self.words_of(value))
        self.remove.setVisible(isinstance(value, _PLACES) and self.isEnabled())
        self.absent.setChecked(isinstance(value, Absent))
        placed = value if isinstance(value, _PLACES) else None
        if self._placing:
            self._image.place(self._kind, placed)
        elif self._image.canvas is not None:
            self._image.set_answer(placed)

    def words_of(self, value: Value | None) -> str:
        """Return what is placed in words."""
        canvas = self._image.canvas
        if isinstance(value, CellAnswer) and canvas is not None:
            return f"Cell {canvas.grid.label(value.cell)}"
        if isinstance(value, PointAnswer):
            return f"Point ({value.point.x:.0f}, {value.point.y:.0f})"
        if isinstance(value, BoxesAnswer):
            count = len(value.boxes)
            return "One box" if count == 1 else counted(count, "box", "boxes")
        if isinstance(value, MaskAnswer):
            return "A mask"
        return (
            "Not on this image" if isinstance(value, Absent) else "Nothing placed yet"
        )

    def take_key(self, event: QKeyEvent) -> bool:
        """Move with Shift and arrows, remove with Del, choose the kind by number."""
        key, text = Qt.Key(event.key()), event.text()
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if shift and key in _ARROWS:
            return self._image.step(*_ARROWS[key])
        if key in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}:
            self._remove()
            return True
        if text in _BRUSH and self._kind is PlaceKind.MASK:
            self._image.widen_brush(_BRUSH[text])
            return True
        kinds = self._question.kinds
        if text.isdecimal() and 1 <= int(text) <= len(kinds) > 1:
            self.choose_kind(kinds[int(text) - 1])
            return True
        return False

    def _take(self, answer: object) -> None:
        if self._placing and (answer is None or isinstance(answer, _PLACES)):
            self.set_value(answer)

    def _remove(self) -> None:
        self.set_value(None)

    def _say_absent(self, absent: bool) -> None:
        self.set_value(Absent() if absent else None)
