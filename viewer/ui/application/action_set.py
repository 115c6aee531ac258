"""The commands of the window as Qt's actions, their keys, and who handles each."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Final, cast

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QToolBar, QToolButton, QWidget

from viewer.ui.application.action_spec import ActionSpec, Place
from viewer.ui.application.actions import (
    ACTIONS,
    ADVANCED,
    SHOW,
    SPECS,
    Handlers,
)
from viewer.ui.application.preferences import Keymap
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.plain_text import as_tip

_TOOL_ICON: Final = 18
_LATELY: Final = 12
"""How many commands are remembered."""


class Actions(QObject):
    """The table's actions; a command is enabled if it has a handler."""

    mode_changed = Signal()
    """The menus have more or fewer commands."""

    def __init__(self) -> None:
        super().__init__()
        self.keymap = Keymap()
        self.basic = False
        """Whether menus leave out what is advanced."""
        self.lately: tuple[str, ...] = ()
        """The ids of the commands run lately, the latest first."""
        self._place = Place.READ
        self._groups: dict[str, QActionGroup] = {}
        self._handlers: dict[Place, dict[str, Callable[[], None]]] = {}
        self._barred: dict[str, frozenset[str]] = {}
        self._actions = {spec.id: self._made(spec) for spec in ACTIONS}
        self.use_keys(self.keymap)

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __iter__(self) -> Iterator[tuple[ActionSpec, QAction]]:
        """Yield the actions with a handler, in the order of the table."""
        handled: set[str] = set().union(*self._handlers.values())
        for spec in ACTIONS:
            if spec.id in handled:
                yield spec, self._actions[spec.id]

    def handle(self, handlers: Handlers, place: Place = Place.EVERYWHERE) -> None:
        """Set the handlers of a workspace, or of the window itself.

        Raises
        ------
        KeyError
            If an id is not in the table.
        """
        unknown = handlers.keys() - SPECS.keys() - {SHOW}
        if unknown:
            raise KeyError(f"no action is called {sorted(unknown)}")
        self._handlers.setdefault(place, {}).update(handlers)
        for name in handlers.keys() & SPECS.keys():
            self._actions[name].setVisible(True)
        self.enter(self._place)

    def run(self, name: str) -> None:
        """Run an action, or the release of a held key."""
        handler = self._handler(name)
        if handler is not None:
            self.remember([name, *self.lately])
            handler()

    def remember(self, names: Iterable[str]) -> None:
        """Take commands for those that were run lately; what is none is left out."""
        known = (name for name in dict.fromkeys(names) if name in SPECS)
        self.lately = tuple(known)[:_LATELY]

    def use_keys(self, keymap: Keymap) -> None:
        """Give each command the key that a keymap has for it, from now on."""
        self.keymap = keymap
        for spec in ACTIONS:
            self._set_key(spec)

    def shown_key(self, spec: ActionSpec) -> str:
        """Return the key of a command as displayed."""
        return as_displayed(self.keymap.key_of(spec))

    def holds(self, name: str, key: int) -> bool:
        """Tell whether a key is that of a command, whatever is held beside it."""
        return main_key(self.keymap.key_of(SPECS[name])) == key

    def show_basic(self, *, basic: bool) -> None:
        """Enter or leave basic mode, whose menus have no advanced commands."""
        self.set_checked("view.basic", basic)
        if basic is not self.basic:
            self.basic = basic
            self.mode_changed.emit()

    def in_menu(self, spec: ActionSpec) -> bool:
        """Tell whether a command has a line in its menu."""
        return not spec.held and not (self.basic and spec.id in ADVANCED)

    def _handler(self, name: str) -> Callable[[], None] | None:
        spec = SPECS.get(name)
        places = [self._place]
        if spec is None or spec.place is not Place.HERE:
            places += Place
        found = (self._handlers.get(place, {}).get(name) for place in places)
        return next((handler for handler in found if handler), None)

    def enter(self, place: Place) -> None:
        """Enable the actions of a workspace, and those that are always available."""
        self._place, own = place, self._handlers.get(place, {})
        for spec, action in self:
            here = spec.place in {Place.EVERYWHERE, place} or (
                spec.place is Place.HERE and spec.id in own
            )
            barred = any(spec.id in names for names in self._barred.values())
            action.setEnabled(here and not barred)

    def bar(self, subject: str, names: Iterable[str]) -> None:
        """Disable actions that are of no use now.

        Parameters
        ----------
        subject : str
            What they act on; the names replace earlier ones of the same subject.
        names : iterable of str
            Ids of actions.
        """
        barred = frozenset(names)
        if barred != self._barred.get(subject):
            self._barred[subject] = barred
            self.enter(self._place)

    def set_checked(self, name: str, checked: bool) -> None:
        """Show a state that was not changed through the action itself."""
        self._actions[name].setChecked(checked)

    def tool_bar(
        self, names: Iterable[str | tuple[str, ...]], parent: QWidget
    ) -> QToolBar:
        """Return a bar of buttons for some actions; "" makes a gap.

        Several names share a button, which shows the one chosen last.
        """
        bar = QToolBar(parent)
        bar.setIconSize(QSize(_TOOL_ICON, _TOOL_ICON))
        for name in names:
            if isinstance(name, tuple):
                self._add_shared_button(name, bar)
            elif name:
                bar.addAction(self._actions[name])
            else:
                bar.addSeparator()
        # Qt's own sign is black on dark panels; the object's name is Qt's.
        more = cast("QToolButton", bar.findChild(QToolButton, "qt_toolbar_ext_button"))
        more.setIcon(icon("chevron-double-right"))
        more.setToolTip("Further tools")
        return bar

    def _add_shared_button(self, names: tuple[str, ...], bar: QToolBar) -> None:
        # An action with a menu, not a widget: a bar that is too short for it lists it
        # among its further tools as a submenu, and leaves out widgets.
        shared = bar.addAction(", ".join(self._actions[n].text() for n in names))
        button = cast("QToolButton", bar.widgetForAction(shared))
        button.setDefaultAction(self._actions[names[0]])
        further, menu = QMenu(bar), QMenu(button)
        for name in names:
            action = self._actions[name]
            further.addAction(action)
            menu.addAction(action)
            action.toggled.connect(partial(_show_checked, button, action))
        shared.setMenu(further)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)

    @Slot()
    def _run_sender(self) -> None:
        # Not a lambda for each action: Qt would keep it, and it would keep this object
        # and every handler, in a cycle that the garbage collector cannot see.
        self.run(self.sender().objectName())

    def _made(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self)
        action.setObjectName(spec.id)
        if spec.icon:
            action.setIcon(icon(spec.icon))
        if spec.place is Place.REVIEW:
            # The menu shows the key, and the displayed case handles it.
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        # A held key repeats its press, but one press is enough until the release.
        action.setAutoRepeat(not spec.held)
        action.triggered.connect(self._run_sender)
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        if spec.group:
            self._group(spec.group).addAction(action)
        action.setEnabled(False)
        action.setVisible(False)
        return action

    def _set_key(self, spec: ActionSpec) -> None:
        action, shown = self._actions[spec.id], self.shown_key(spec)
        action.setShortcut(QKeySequence(self.keymap.key_of(spec)))
        action.setToolTip(as_tip(f"{spec.tip} ({shown})" if shown else spec.tip))

    def _group(self, name: str) -> QActionGroup:
        if name not in self._groups:
            self._groups[name] = QActionGroup(self)
        return self._groups[name]


def _show_checked(button: QToolButton, action: QAction, checked: bool) -> None:
    if checked:
        button.setDefaultAction(action)


def main_key(key: str) -> int:
    """Return Qt's number of a key without what is held beside it, 0 for no key."""
    sequence = QKeySequence(key)
    return int(sequence[0].key()) if sequence.count() else 0  # type: ignore[index]


@cache
def as_displayed(key: str) -> str:
    """Return a key as the system displays it, from Qt's portable spelling."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
