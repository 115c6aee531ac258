"""Questions answered by options: a choice, a checklist, a scale."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QCheckBox,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    LikertQuestion,
    Option,
    RevealedChoiceQuestion,
)
from viewer.domain.form_values import Value
from viewer.domain.reading import Task
from viewer.ui.panels.review.question import GAP, QuestionBox, wrapped
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import as_tip

_LEFT: Final = "text-align: left; padding: 6px 8px;"
_LEVEL: Final = "padding: 4px 0;"
_PLAIN: Final = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.KeypadModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
_NUMBERS: Final = "1234567890"


class Options(QWidget):
    """A button for each option, with its key in front."""

    def __init__(self, box: QuestionBox) -> None:
        super().__init__(box)
        self._box = box
        self.buttons: dict[Value, QAbstractButton] = {}
        self._keys: dict[str, Value] = {}
        self._rows = self._layout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GAP // 2)

    def _layout(self) -> QBoxLayout:
        return QVBoxLayout(self)

    def offer(self, options: Sequence[tuple[Value, Option]]) -> None:
        """Show these options instead of those before; each has its value."""
        for old in self.findChildren(QWidget):
            old.setParent(None)
            old.deleteLater()
        self.buttons = {}
        self._keys = dict(zip(_NUMBERS, (value for value, _ in options), strict=False))
        for number, (value, option) in enumerate(options):
            # A name is stored and not typed: its number is.
            typed = (
                option.key if len(option.key) == 1 else _NUMBERS[number : number + 1]
            )
            self._add(value, option, typed)
        self._keys |= {option.key.upper(): value for value, option in options}

    def _add(self, value: Value, option: Option, typed: str) -> None:
        button = self._button()
        button.setText(wrapped(f"{typed}   {option.text}", button.fontMetrics()))
        button.setToolTip(as_tip(option.help))
        button.setAccessibleName(option.text)
        self._enlist(value, button)
        if option.help:
            self._rows.addWidget(caption(option.help))

    def _button(self) -> QAbstractButton:
        button = QPushButton()
        button.setStyleSheet(_LEFT)
        return button

    def _enlist(self, value: Value, button: QAbstractButton) -> None:
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._choose, value))
        self.buttons[value] = button
        self._rows.addWidget(button)

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


class Checks(Options):
    """A check box for each option."""

    def _button(self) -> QAbstractButton:
        return QCheckBox()


class Levels(Options):
    """A row of levels, whose anchors are told by the one that the mouse is over."""

    pointed_at = Signal(object)
    """int: the level under the mouse, or None"""

    def _layout(self) -> QBoxLayout:
        return QHBoxLayout(self)

    def _add(self, value: Value, option: Option, typed: str) -> None:
        button = QPushButton(typed)
        button.setStyleSheet(_LEVEL)
        button.setToolTip(as_tip(option.text))
        button.setAccessibleName(f"{typed}: {option.text}")
        button.installEventFilter(self)
        self._enlist(value, button)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Tell which level the mouse is over."""
        if event.type() in {QEvent.Type.Enter, QEvent.Type.Leave}:
            over = event.type() is QEvent.Type.Enter
            levels = [v for v, button in self.buttons.items() if button is watched]
            self.pointed_at.emit(levels[0] if over and levels else None)
        return super().eventFilter(watched, event)


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
        self.options = self._options()
        self.column.addWidget(self.options)
        self._offer(self._fixed)

    def _options(self) -> Options:
        return Options(self)

    def show_task(self, task: Task) -> None:
        """Offer the case's own options if the form has none."""
        if not self._fixed:
            self._offer(tuple(task.options.get(self.name, ())))
        super().show_task(task)

    def words_of(self, value: Value | None) -> str:
        """Return an option's key and text."""
        found = next((one for one in self._offered if one.key == value), None)
        return f"{found.key}   {found.text}" if found else super().words_of(value)

    def _offer(self, options: tuple[Option, ...]) -> None:
        if options != self._offered:
            self._offered = options
            self.options.offer([(option.key, option) for option in options])

    @property
    def chosen(self) -> Option | None:
        """The option chosen, None without one."""
        return next((one for one in self._offered if one.key == self.value), None)

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

    def _options(self) -> Options:
        return Checks(self)

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
    """A level of a scale; while it is asked each level has its anchor below.

    Otherwise it takes three lines: what is rated, the levels, and the chosen anchor.
    """

    def __init__(self, question: LikertQuestion, parent: QWidget | None = None) -> None:
        super().__init__(question, parent)
        self._anchors = dict(question.levels)
        self._pointed: int | None = None
        self.anchor = caption()
        self.options = Levels(self)
        self.options.offer(
            [(level, Option(str(level), anchor)) for level, anchor in question.levels]
        )
        self.options.pointed_at.connect(self._point)
        self.column.addWidget(self.options)
        self.column.addWidget(self.anchor)
        self.show_asked(asked=False)

    def show_asked(self, *, asked: bool) -> None:
        """Show the whole question and every anchor while keys go to this question."""
        super().show_asked(asked=asked)
        self._tell_anchor()

    def _heading(self) -> str:
        return self._text if self._asked else self._text.split(": ")[0]

    def paint_value(self) -> None:
        """Press the chosen level's button."""
        self.options.paint(self.value)
        self._tell_anchor()

    def take_key(self, event: QKeyEvent) -> bool:
        """Choose by the level's number."""
        value = self.options.of_key(event)
        if value is not None:
            self.set_value(value)
        return value is not None

    def choose(self, value: Value) -> None:
        """Choose a level; a second click turns to the scale."""
        if value == self.value:
            self.turned_to.emit()
        self.set_value(value)

    def _point(self, level: int | None) -> None:
        self._pointed = level
        self._tell_anchor()

    def _tell_anchor(self) -> None:
        level = self.value if self._pointed is None else self._pointed
        words = self._anchors.get(level, "") if isinstance(level, int) else ""
        if self._asked:
            words = "\n".join(f"{n}  {text}" for n, text in self._anchors.items())
        self.anchor.setText(words)
        self.anchor.setVisible(bool(words))
