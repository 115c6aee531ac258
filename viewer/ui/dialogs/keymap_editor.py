"""The keys of all commands by workspace, to search and to change."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.services.configuring.toml_files import read_toml, write_toml
from viewer.ui.application.action_set import Actions, as_displayed
from viewer.ui.application.action_spec import ActionSpec, Place
from viewer.ui.application.actions import ACTIONS
from viewer.ui.application.keymap import (
    holders,
    keymap_table,
    objection,
    preset_of,
    presets,
    read_keymap,
    spelled,
    with_key,
)
from viewer.ui.application.preferences import Keymap
from viewer.ui.widgets.file_choice import choose_to_read, choose_to_write
from viewer.ui.widgets.labels import caption, selectable
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import Label, as_tip

_PLACES: Final = {
    Place.EVERYWHERE: "Everywhere",
    Place.HERE: "In Read, Measure and Models",
    Place.READ: "In Read",
    Place.MEASURE: "In Measure",
    Place.MODELS: "In Models",
    Place.REVIEW: "In Review",
}
_KINDS: Final = "Keymaps (*.toml)"
_MODIFIERS: Final = {
    Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta, Qt.Key.Key_unknown,
}  # fmt: skip
_LEAVES: Final = {Qt.Key.Key_Tab, Qt.Key.Key_Backtab}
_SPEC: Final = Qt.ItemDataRole.UserRole


class KeyField(QLineEdit):
    """Takes the next key that is pressed, but for Tab, which leaves it."""

    pressed = Signal(str)
    """The key in Qt's portable spelling."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, readOnly=True)
        self.setPlaceholderText("Press a key")

    def event(self, event: QEvent) -> bool:
        """Take keys before they run the commands that have them."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Report a key together with what is held beside it."""
        if event.key() in _LEAVES:
            super().keyPressEvent(event)
        elif event.key() not in _MODIFIERS and (key := _pressed(event)):
            self.pressed.emit(key)


def _pressed(event: QKeyEvent) -> str:
    """Return the key of an event as spelled, "" for one without a name.

    Shift is a part of signs such as ? already.
    """
    held, typed = event.modifiers(), event.text()
    if typed.isprintable() and typed.strip() and not typed.isalpha():
        held &= ~Qt.KeyboardModifier.ShiftModifier
    sequence = QKeySequence(QKeyCombination(held, Qt.Key(event.key())))
    text = sequence.toString()
    return spelled(text) if QKeySequence(text) == sequence else ""


def having(words: str, actions: Actions) -> frozenset[str]:
    """Return the ids of the commands whose name, menu or key has the words."""

    def has(spec: ActionSpec) -> bool:
        texts = (spec.text, spec.menu, spec.tip, actions.shown_key(spec))
        return any(words.casefold() in text.casefold() for text in texts)

    return frozenset(spec.id for spec in ACTIONS if has(spec))


class KeymapEditor(QWidget):
    """Changes are in use at once; nothing takes another command's key unasked.

    Parameters
    ----------
    actions : Actions
        The commands, whose keymap is changed.
    parent : QWidget, optional
        The owner.
    """

    replaced = Signal(str)
    """Every key was replaced; the words say by what."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions = actions
        self._wanted = ""
        self.preset = LongChoice("The keymap to begin with")
        self.preset.setAccessibleName("Keymap")
        self.about = selectable()
        self.tree = QTreeWidget(columnCount=2)
        self.tree.setHeaderLabels(("Command", "Key"))
        self.tree.setAccessibleName("Commands and their keys")
        self.field = KeyField()
        self.problem = Label(wordWrap=True)
        self.take = _button("Take the key", self._take)
        self._groups: dict[Place, QTreeWidgetItem] = {}
        self._items: dict[str, QTreeWidgetItem] = {}
        self._lay_out()
        self._fill()
        self.preset.activated.connect(self._choose_preset)
        self.tree.currentItemChanged.connect(self._show_command)
        self.tree.itemActivated.connect(lambda *_: self.field.setFocus())
        self.field.pressed.connect(self.press)
        self.show_keymap()

    def _lay_out(self) -> None:
        head = self.tree.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        beside, below, column = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        label = Label("Keys of")
        label.setBuddy(self.preset)
        top = QHBoxLayout()
        top.addWidget(label)
        top.addWidget(self.preset, 1)
        self.remove = _button("No key", lambda: self.press(""))
        self.reset = _button("Reset", self.reset_one)
        for widget in (self.field, self.take, self.remove, self.reset):
            beside.addWidget(widget)
        for text, act in (
            ("Reset all keys", self.reset_all),
            ("Import keys…", self._ask_for_file),
            ("Export keys…", self._ask_where),
        ):
            below.addWidget(_button(text, act))
        below.addStretch(1)
        column.addLayout(top)
        column.addWidget(self.about)
        column.addWidget(self.tree, 1)
        column.addLayout(beside)
        column.addWidget(self.problem)
        column.addLayout(below)
        help_words = (
            "Select a command and press its new key in the field; Enter in the list "
            "goes there, Tab leaves it."
        )
        column.addWidget(caption(help_words))

    def _fill(self) -> None:
        for place, title in _PLACES.items():
            group = self._groups[place] = QTreeWidgetItem(self.tree, [title])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            group.setExpanded(True)
            for spec in ACTIONS:
                if spec.place is place:
                    item = QTreeWidgetItem(group, [spec.text])
                    item.setToolTip(0, as_tip(spec.tip))
                    item.setData(0, _SPEC, spec)
                    self._items[spec.id] = item

    def filter(self, words: str) -> None:
        """Show only commands whose name, menu or key has the words."""
        shown = having(words, self._actions)
        for name, item in self._items.items():
            item.setHidden(name not in shown)
        for place, group in self._groups.items():
            inside = (self._items[spec.id] for spec in ACTIONS if spec.place is place)
            group.setHidden(all(item.isHidden() for item in inside))

    def show_keymap(self) -> None:
        """Show the keys in use."""
        keymap = self._actions.keymap
        names = [one.name for one in presets()]
        if keymap.name not in names:
            names.append(keymap.name)
        self.preset.clear()
        self.preset.addItems(names)
        self.preset.setCurrentText(keymap.name)
        own = _changed(keymap)
        told = f"{own} changed. " if own else ""
        at = f"Documented at {keymap.source}" if keymap.source else ""
        self.about.setText(told + at)
        self.about.setVisible(bool(told + at))
        for spec in ACTIONS:
            self._items[spec.id].setText(1, self._actions.shown_key(spec))
        self._show_command()

    @property
    def chosen(self) -> ActionSpec | None:
        """The selected command."""
        item = self.tree.currentItem()
        return item.data(0, _SPEC) if item else None

    def _show_command(self, *_: object) -> None:
        spec = self.chosen
        for widget in (self.field, self.remove, self.reset):
            widget.setEnabled(spec is not None)
        self.field.setText(self._actions.shown_key(spec) if spec else "")
        self.field.setAccessibleName(f"Key of {spec.text}" if spec else "Key")
        self._say("")

    def press(self, key: str) -> None:
        """Give the selected command a key, or say why not; "" takes its key away."""
        spec = self.chosen
        if spec is None:
            return
        problem = objection(spec, key)
        held = holders(self._actions.keymap, spec, key) if key else ()
        if problem:
            self._say(f"{problem}. Choose another key.")
        elif held:
            self._wanted = key
            names = " and ".join(one.text for one in held)
            self._say(f"{as_displayed(key)} is already {names}; take it from there?")
            self.take.show()
            self.take.setFocus()
        else:
            self._use(with_key(self._actions.keymap, spec, key))

    def _take(self) -> None:
        spec = self.chosen
        if spec is not None:
            self._use(with_key(self._actions.keymap, spec, self._wanted))
            self.field.setFocus()

    def reset_one(self) -> None:
        """Give the selected command the key that the chosen keymap has for it."""
        if self.chosen is not None:
            preset = preset_of(self._actions.keymap)
            self.press(preset.key_of(self.chosen))

    def reset_all(self) -> None:
        """Give every command the key of the chosen keymap."""
        self._replace(preset_of(self._actions.keymap))

    def _choose_preset(self, at: int) -> None:
        if at < len(presets()):
            self._replace(presets()[at])

    def import_from(self, path: Path) -> None:
        """Use the keymap of a file, or say what is wrong with it."""
        try:
            keymap = read_keymap(read_toml(path), path.name)
        except OverreadError as error:
            self._say(str(error))
        else:
            self._replace(keymap)

    def export_to(self, path: Path) -> None:
        """Write the keys in use to a file."""
        try:
            write_toml(path, keymap_table(self._actions.keymap))
        except OverreadError as error:
            self._say(str(error))
        else:
            self._say(f"The keys are in {path.name}.")

    def _ask_for_file(self) -> None:
        choose_to_read(self, "Import keys", _KINDS, self.import_from)

    def _ask_where(self) -> None:
        choose_to_write(self, "Export keys", "keys.toml", _KINDS, self.export_to)

    def _replace(self, keymap: Keymap) -> None:
        self.replaced.emit(f"Every key is that of {keymap.name}.")
        self._use(keymap)

    def _use(self, keymap: Keymap) -> None:
        self._actions.use_keys(keymap)
        self.show_keymap()

    def _say(self, words: str) -> None:
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.take.hide()


def _changed(keymap: Keymap) -> str:
    """Return how many keys differ from those of the preset, "" for none."""
    preset = preset_of(keymap)
    count = sum(keymap.key_of(spec) != preset.key_of(spec) for spec in ACTIONS)
    return f"{count} {'key' if count == 1 else 'keys'}" if count else ""


def _button(text: str, act: Callable[[], object]) -> QPushButton:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button
