"""Every setting of the program, by subject; a change takes effect at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.plain import made, plain
from viewer.services.configuring.toml_files import read_toml, write_toml
from viewer.settings import HOME_VARIABLE, STORE_VARIABLE, read_policy
from viewer.ui.application import preferences
from viewer.ui.application.action_spec import ActionSpec
from viewer.ui.application.actions import SPECS
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.keymap import check_keymap
from viewer.ui.application.preferences import (
    DETAILS,
    WORDS,
    Detail,
    Keymap,
    Preferences,
)
from viewer.ui.dialogs.keymap_editor import KeymapEditor, having
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import choose_to_read, choose_to_write
from viewer.ui.widgets.labels import caption, selectable, title
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import scrolled

KEYS: Final = "Keys"
_FILES: Final = "Files"
SECTIONS: Final = {
    "Window": ("basic_mode", "view.theme", "view.cases", "view.ask"),
    "Images": (
        "detail", "nearest_pixel", "window_of_stored", "minimap", "colours_as_scanned",
    ),
    "Overlays": (
        "overlays.answers", "overlays.reference", "overlays.grid", "overlays.planes",
        "hang.lines",
    ),
    "Mouse and tools": (
        "scroll_first", "wheel_zooms_single", "up_darkens", "reset_keeps_marks",
    ),
    "Reading and privacy": (
        "overlays.read_first", "pictures_name_patient", "image.review", "dataset.words",
    ),
    KEYS: (),
    "Models and lists": (
        "window.models", "model.new", "hang.protocols", "cases.columns",
    ),
    _FILES: ("store.backup", "store.restore", "store.compact"),
}  # fmt: skip
"""By the title of a section the preferences and commands in it."""
_KINDS: Final = "Settings (*.toml)"
_SIZE: Final = QSize(860, 560)
_SIDE: Final = 180
_INDENT: Final = 20
"""How far right of a box to tick its text begins."""
_HOW: Final = "Correct the file and import it again; no setting was changed."


@dataclass(frozen=True, slots=True)
class UserSettings:
    """What a file of settings has: the name of the theme, preferences and keys."""

    theme: str = theme.DARK.name
    preferences: Preferences = field(default_factory=Preferences)
    keymap: Keymap = field(default_factory=Keymap)


def read_settings(
    table: Mapping[str, object], where: str, now: UserSettings
) -> UserSettings:
    """Return the settings of a file; what it does not name stays as it is ``now``.

    Raises
    ------
    WrongUseError
        If it has settings, values or keys that are not known; the sentence names them.
    """
    whole: dict[str, Any] = {**plain(now), **table}
    if isinstance(own := whole["preferences"], dict):
        whole["preferences"] = {**plain(now.preferences), **own}
    try:
        read = made(UserSettings, whole, where=where)
        keymap = check_keymap(read.keymap)
    except OverreadError as error:
        raise WrongUseError(error.what, _HOW) from None
    if read.theme not in theme.THEMES:
        known = " and ".join(theme.THEMES)
        raise WrongUseError(
            f"There is no theme '{read.theme}'; {known} are known.", _HOW
        )
    return replace(read, keymap=keymap)


class SettingsPage(QDialog):
    """The sections with a search over all of them; each is made when first shown.

    Parameters
    ----------
    context : AppContext
        The commands, and the folders in use.
    follow : callable
        Called after each change, so that images on the screen follow.
    parent : QWidget, optional
        The owner.
    """

    def __init__(
        self,
        context: AppContext,
        follow: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._follow = context, follow
        self._before = self.settings
        self.boxes: dict[str, QCheckBox] = {}
        self._rows: dict[str, list[tuple[str, QWidget]]] = {}
        self._made: dict[str, QWidget] = {}
        self.detail = NamedChoice()
        self.detail.offer({detail.value: words for detail, words in DETAILS.items()})
        self.detail.activated.connect(
            lambda _: self._set("detail", Detail(self.detail.name))
        )
        self.search = QLineEdit(placeholderText="Search all settings")
        self.search.setAccessibleName("Search all settings")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.sections, self.pages = QListWidget(), QStackedWidget()
        self.sections.setAccessibleName("Sections")
        self.sections.setFixedWidth(_SIDE)
        self.sections.currentTextChanged.connect(self._show)
        self.told, self.back = Label(wordWrap=True), _button("Undo", self._go_back)
        self._lay_out()
        self.sections.setCurrentRow(0)
        self.resize(_SIZE.boundedTo(self.screen().availableSize()))

    def show_section(self, name: str) -> None:
        """Show a section by its title."""
        self.sections.setCurrentRow(list(SECTIONS).index(name))
        self.sections.setFocus()

    # Layout

    def _lay_out(self) -> None:
        column, middle, line, foot = (
            QVBoxLayout(self), QHBoxLayout(), QHBoxLayout(), QHBoxLayout(),
        )  # fmt: skip
        self.sections.addItems(list(SECTIONS))
        column.addWidget(self.search)
        middle.addWidget(self.sections)
        middle.addWidget(self.pages, 1)
        column.addLayout(middle, 1)
        line.addWidget(self.told, 1)
        line.addWidget(self.back)
        column.addLayout(line)
        for name, act in (
            ("Import settings…", self._ask_for_file),
            ("Export settings…", self._ask_where),
            ("Restore defaults", self.restore),
        ):
            foot.addWidget(_button(name, act))
        foot.addStretch(1)
        foot.addWidget(_button("Close", self.close))
        column.addLayout(foot)
        self._say("")

    @cached_property
    def keys(self) -> KeymapEditor:
        """The keys of all commands."""
        editor = KeymapEditor(self._context.actions)
        editor.replaced.connect(self._offer_back)
        return editor

    def _show(self, name: str) -> None:
        """Show a section by its title, made now if it was not shown before."""
        if name not in self._made:
            self._made[name] = self._section(name)
            self.pages.addWidget(self._made[name])
            self._show_preferences()
            self._show_found(name)
        self.pages.setCurrentWidget(self._made[name])

    def _section(self, name: str) -> QWidget:
        page, rows = QWidget(), list[tuple[str, QWidget]]()
        column = QVBoxLayout(page)
        column.addWidget(title(name))
        for each in SECTIONS[name]:
            rows.append((_told_of(each), row := self._row(each)))
            column.addWidget(row)
        self._rows[name] = rows
        if name == KEYS:
            column.addWidget(self.keys, 1)
            return page
        if name == _FILES:
            rows.append((self._folders, label := selectable(self._folders)))
            column.addWidget(label)
        column.addStretch(1)
        return scrolled(page)

    def _row(self, name: str) -> QWidget:
        """Return the controls of a preference or command, and what explains them."""
        if name in WORDS:
            own = name == "detail"
            control = self._detail_row() if own else self._preference_box(name)
            return _above(control, WORDS[name].tip)
        spec, action = SPECS[name], self._context.actions[name]
        if spec.checkable and not spec.group:
            return _above(_CommandBox(spec, action), spec.tip)
        return _beside(_CommandButton(spec, action), caption(spec.tip))

    def _preference_box(self, name: str) -> QCheckBox:
        box = self.boxes[name] = QCheckBox(WORDS[name].line)
        box.setAccessibleDescription(WORDS[name].tip)
        box.toggled.connect(partial(self._set, name))
        return box

    def _detail_row(self) -> QWidget:
        label = Label(WORDS["detail"].line)
        label.setBuddy(self.detail)
        return _beside(label, self.detail, QWidget())

    @property
    def _folders(self) -> str:
        settings, policy = self._context.settings, read_policy()
        movable = (
            HOME_VARIABLE if policy.store else f"{HOME_VARIABLE} or {STORE_VARIABLE}"
        )
        movable = f"Set {movable} in the environment to have them elsewhere from"
        lines = [f"Data folder: {settings.home}", f"Store: {settings.store}"]
        lines.append(f"{movable} the next start on.")
        if policy.rules:
            lines += ["", "Set by the administrator of this computer:", *policy.rules]
            lines.append(policy.how)
        return "\n".join(lines)

    # Values

    @property
    def settings(self) -> UserSettings:
        """All settings in use that a file can have."""
        return UserSettings(
            theme.current().name, preferences.current(), self._context.actions.keymap
        )

    def _set(self, name: str, value: object) -> None:
        used, values = preferences.current(), {name: value}
        if getattr(used, name) != value:
            preferences.use(replace(used, **values))  # type: ignore[arg-type]
            self._follow()

    def _show_preferences(self) -> None:
        used = preferences.current()
        for name, box in self.boxes.items():
            box.setChecked(getattr(used, name))
        self.detail.choose(used.detail.value)

    def _show_values(self) -> None:
        self._show_preferences()
        if KEYS in self._made:
            self.keys.show_keymap()

    def use(self, settings: UserSettings, words: str) -> None:
        """Use other settings, and offer to go back; ``words`` say what was done."""
        self._offer_back(words)
        self._use(settings)

    def _use(self, settings: UserSettings) -> None:
        preferences.use(settings.preferences)
        self._context.actions.use_keys(settings.keymap)
        if settings.theme != theme.current().name:
            self._context.actions["view.theme"].trigger()
        self._follow()
        self._show_values()

    def restore(self) -> None:
        """Give every setting and key its default; Undo takes it back."""
        self.use(UserSettings(), "Every setting and key has its default.")

    def import_from(self, path: Path) -> None:
        """Use the settings of a file, or say what is wrong with it."""
        try:
            read = read_settings(read_toml(path), path.name, self.settings)
        except OverreadError as error:
            self._say(str(error))
        else:
            self.use(read, f"The settings are those of {path.name}.")

    def export_to(self, path: Path) -> None:
        """Write all settings and keys to a file."""
        try:
            write_toml(path, plain(self.settings))
        except OverreadError as error:
            self._say(str(error))
        else:
            self._say(f"The settings are in {path.name}.")

    def _ask_for_file(self) -> None:
        choose_to_read(self, "Import settings", _KINDS, self.import_from)

    def _ask_where(self) -> None:
        choose_to_write(
            self, "Export settings", "settings.toml", _KINDS, self.export_to
        )

    def _offer_back(self, words: str) -> None:
        self._before = self.settings
        self._say(words)
        self.back.show()

    def _go_back(self) -> None:
        self._use(self._before)
        self._say("")

    def _say(self, words: str) -> None:
        self.told.setText(words)
        self.told.setVisible(bool(words))
        self.back.hide()

    def _filter(self, words: str) -> None:
        """Show what has the words, and the first section that has any."""
        fitting = []
        for at, name in enumerate(SECTIONS):
            texts = (name, *map(_told_of, SECTIONS[name]))
            texts += (self._folders,) if name == _FILES else ()
            found = any(words.casefold() in text.casefold() for text in texts)
            found |= name == KEYS and bool(having(words, self._context.actions))
            self.sections.item(at).setHidden(not found)
            fitting += [at] * found
        for name in self._made:
            self._show_found(name)
        if fitting and self.sections.currentRow() not in fitting:
            self.sections.setCurrentRow(fitting[0])
        self._say("" if fitting else "No setting has these words.")

    def _show_found(self, name: str) -> None:
        """Show of a section what has the words of the search."""
        words = self.search.text().casefold()
        words = "" if words in name.casefold() else words
        for text, row in self._rows[name]:
            row.setVisible(words in text.casefold())
        if name == KEYS:
            self.keys.filter(words)


def _told_of(name: str) -> str:
    """Return the words and the explanation of a preference or command."""
    if name in WORDS:
        return f"{WORDS[name].line} {WORDS[name].tip}"
    return f"{SPECS[name].text} {SPECS[name].tip}"


class _CommandBox(QCheckBox):
    """A box to tick that shows and changes the state of a command."""

    def __init__(self, spec: ActionSpec, action: QAction) -> None:
        super().__init__(spec.text)
        self._action = action
        self.setAccessibleDescription(spec.tip)
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    def _follow(self) -> None:
        self.setChecked(self._action.isChecked())
        self.setEnabled(self._action.isEnabled())


class _CommandButton(QPushButton):
    """Runs a command where it is available."""

    def __init__(self, spec: ActionSpec, action: QAction) -> None:
        super().__init__(spec.text)
        self._action = action
        self.setAutoDefault(False)
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    def _follow(self) -> None:
        self.setEnabled(self._action.isEnabled())


def _above(control: QWidget, words: str) -> QWidget:
    """Return a control above the words that explain it."""
    row, told = QWidget(), caption(words)
    told.setIndent(_INDENT)
    box = QVBoxLayout(row)
    box.setContentsMargins(0, theme.STEP, 0, theme.STEP)
    box.setSpacing(0)
    box.addWidget(control)
    box.addWidget(told)
    return row


def _beside(*parts: QWidget) -> QWidget:
    """Return a row of widgets, the last of which takes the room."""
    row = QWidget()
    box = QHBoxLayout(row)
    box.setContentsMargins(0, 0, 0, 0)
    for part in parts:
        box.addWidget(part, int(part is parts[-1]))
    return row


def _button(text: str, act: Callable[[], object]) -> QPushButton:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button
