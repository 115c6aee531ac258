"""Questions answered by one of several: a choice, a scale, options revealed later."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    LikertQuestion,
    Option,
    RevealedChoiceQuestion,
)
from viewer.domain.form_values import Value
from viewer.domain.reading import Task
from viewer.ui.panels.review.question import GAP, QuestionBox
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import as_tip

_LEFT: Final = "text-align: left; padding: 6px 8px;"
_PLAIN: Final = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.KeypadModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


class Options(QWidget):
    """A button for each option, with its key in front."""

    def __init__(self, box: QuestionBox) -> None:
        super().__init__(box)
        self._box = box
        self.buttons: dict[Value, QPushButton] = {}
        self._keys: dict[str, Value] = {}
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GAP // 2)

    def offer(self, options: Sequence[tuple[Value, Option]]) -> None:
        """Show these options instead of those before; each has its value."""
        for old in self.findChildren(QWidget):
            old.setParent(None)
            old.deleteLater()
        self.buttons, self._keys = {}, {}
        for number, (value, option) in enumerate(options, 1):
            self._keys[str(number)] = value
            self._add(value, option)
        self._keys |= {option.key.upper(): value for value, option in options}

    def _add(self, value: Value, option: Option) -> None:
        button = QPushButton(f"{option.key}   {option.text}")
        button.setCheckable(True)
        button.setStyleSheet(_LEFT)
        button.setToolTip(as_tip(option.help))
        button.setAccessibleName(option.text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._choose, value))
        self.buttons[value] = button
        self._rows.addWidget(button)
        if option.help:
            self._rows.addWidget(caption(option.help))

    def _choose(self, value: Value, _checked: bool = False) -> None:
        self._box.choose(value)
        self._box.paint_value()  # or a second click would leave nothing pressed

    def paint(self, *chosen: Value | None) -> None:
        """Show which options are chosen."""
        for key, button in self.buttons.items():
            button.setChecked(key in chosen)

    def of_key(self, event: QKeyEvent) -> Value | None:
        """Return the option of a key: its own, or its number."""
        if event.modifiers() not in _PLAIN:
            return None
        return self._keys.get(event.text().upper())


class ChoiceBox(QuestionBox):
    """One option out of several."""

    def __init__(
        self,
        question: ChoiceQuestion | RevealedChoiceQuestion | ChecklistQuestion,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(question, parent)
        self._fixed = question.options
        self._offered: tuple[Option, ...] = ()
        self.options = Options(self)
        self.column.addWidget(self.options)
        self._offer(self._fixed)

    def show_task(self, task: Task) -> None:
        """Offer the case's own options if the form has none."""
        if not self._fixed:
            self._offer(tuple(task.options.get(self.name, ())))
        super().show_task(task)

    def _offer(self, options: tuple[Option, ...]) -> None:
        if options != self._offered:
            self._offered = options
            self.options.offer([(option.key, option) for option in options])

    def paint_value(self) -> None:
        """Press the chosen option's button."""
        self.options.paint(self.value)

    def take_key(self, event: QKeyEvent) -> bool:
        """Choose by an option's key, or by its number."""
        value = self.options.of_key(event)
        if value is not None:
            self.set_value(value)
        return value is not None


class ChecklistBox(ChoiceBox):
    """Any number of options."""

    def paint_value(self) -> None:
        """Press the buttons of what is ticked."""
        self.options.paint(*self._ticked)

    def take_key(self, event: QKeyEvent) -> bool:
        """Tick by an option's key, or by its number."""
        value = self.options.of_key(event)
        if value is not None:
            self.choose(value)
        return value is not None

    def choose(self, value: Value) -> None:
        """Tick an option, or clear it."""
        others = [one for one in self._ticked if one != value]
        added = [] if value in self._ticked else [str(value)]
        self.set_value(tuple(sorted((*others, *added))) or None)

    @property
    def _ticked(self) -> tuple[str, ...]:
        return self.value if isinstance(self.value, tuple) else ()


class LikertBox(QuestionBox):
    """A level of a scale, each with its anchor."""

    def __init__(self, question: LikertQuestion, parent: QWidget | None = None) -> None:
        super().__init__(question, parent)
        self.options = Options(self)
        self.options.offer(
            [(level, Option(str(level), anchor)) for level, anchor in question.levels]
        )
        self.column.addWidget(self.options)

    def paint_value(self) -> None:
        """Press the chosen level's button."""
        self.options.paint(self.value)

    def take_key(self, event: QKeyEvent) -> bool:
        """Choose by the level's number."""
        value = self.options.of_key(event)
        if value is not None:
            self.set_value(value)
        return value is not None
