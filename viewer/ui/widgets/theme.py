"""The two themes: their colours as data, and how an application applies one."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, TypeGuard

from PySide6.QtCore import QChildEvent, QEvent, QObject, QTimer
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QSplitterHandle,
    QStackedWidget,
    QTabWidget,
    QWidget,
)
from shiboken6 import isValid

from viewer.domain import styles

STEP: Final = 4
"""Pixels that all spacing is a multiple of."""
_PAUSE_MS: Final = 30
"""Before each part that is not seen gets a theme, for what the user does."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme, as #RRGGBB.

    ``line`` parts areas; ``border`` is the frame of a control, and stands out from
    whatever it lies on as WCAG 2.2 asks for (1.4.11, 3 : 1).
    Colour carries who: the reference, the models (:func:`styles.looks_of` says which
    has which), the reader as :mod:`viewer.domain.styles` has them. They are for the
    image, which is black in both themes.
    """

    name: str
    surroundings: str
    panel: str
    field: str
    line: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    chosen: str
    warning: str
    reference: str = styles.REFERENCE
    models: tuple[str, ...] = styles.MODELS
    reader: str = styles.READER

    @property
    def ground(self) -> styles.Ground:
        """The background of figures."""
        return styles.GROUNDS[self.name]

    @property
    def dark(self) -> bool:
        """True if text is light on the background."""
        return self.ground.dark


DARK: Final = Palette(
    name="dark",
    surroundings="#121417",
    panel=styles.DARK.paper,
    field="#14171B",
    line=styles.DARK.line,
    border="#646C77",
    text=styles.DARK.ink,
    muted=styles.DARK.soft,
    accent="#56B4E9",
    on_accent="#0B1116",
    chosen="#22405A",
    warning="#E69F00",
)
LIGHT: Final = Palette(
    name="light",
    surroundings="#E9ECEF",
    panel=styles.LIGHT.paper,
    field="#F4F6F8",
    line=styles.LIGHT.line,
    border="#7A828B",
    text=styles.LIGHT.ink,
    muted=styles.LIGHT.soft,
    accent="#006CAA",
    on_accent="#FFFFFF",
    chosen="#CFE3F3",
    warning="#8A5A00",
)
_STYLE: Final = "fusion"
THEMES: Final = {palette.name: palette for palette in (DARK, LIGHT)}

_IN_USE: dict[str, Palette] = {"palette": DARK}


def current() -> Palette:
    """Return the palette in use."""
    return _IN_USE["palette"]


def other() -> Palette:
    """Return the palette that is not in use."""
    return LIGHT if current().dark else DARK


def apply(app: QApplication, palette: Palette) -> None:
    """Apply a theme to the application's windows; they get a palette change event.

    The sheet is each window's own, or of its parts, and what belongs to it inherits
    it: the application's would be computed anew for every widget, at five times the
    price.
    """
    _IN_USE["palette"] = palette
    if app.style().name() != _STYLE:  # once: a style polishes every widget there is
        app.setStyle(_STYLE)
    app.setPalette(_qt_palette(palette))
    for window in app.topLevelWidgets():
        # a chart's menu may be listed though its plot is gone
        if not isValid(window) or window.parent() is not None:
            continue
        if isinstance(window, ThemedWindow):
            window.apply_to_parts()
        else:
            apply_to(window)


def apply_to(window: QWidget) -> bool:
    """Apply the current theme to a window made after :func:`apply`, or to a part.

    Return whether it had another one.
    """
    if has_theme(window):  # Qt would polish every widget anew all the same
        return False
    window.setStyleSheet(_style_sheet(current()))
    return True


def has_theme(part: QWidget) -> bool:
    """Tell whether a window or a part has the current theme."""
    return part.styleSheet() == _style_sheet(current())


def held(container: QWidget) -> Iterator[QWidget]:
    """Yield the parts of a container that shows nothing but them.

    Stacks, splitters, tabs and what is scrolled are such containers themselves.
    """
    for child in container.children():
        if _is_holder(child):
            yield from held(child)
        elif isinstance(child, QWidget) and not isinstance(child, QSplitterHandle):
            yield child


def _is_holder(widget: QObject) -> TypeGuard[QWidget]:
    """Tell whether a widget shows nothing but what it holds."""
    if not isinstance(widget, QWidget) or widget.isWindow():
        return False
    if isinstance(widget, QStackedWidget | QSplitter | QScrollArea | QTabWidget):
        return True
    # What is scrolled lies on a viewport; a plain widget only lays out what it holds.
    above = widget.parent()
    scrolled = isinstance(above, QScrollArea) and above.viewport() is widget
    return scrolled or type(widget) is QWidget


class ThemedWindow(QMainWindow):
    """A window in a theme: what is seen follows a change at once, the rest later.

    One sheet of the window would be computed for all of its widgets at once, some
    thousand, which stops it for a tenth of a second. So each part has the sheet, and
    gets it in a turn of the event loop; until all that is seen has it, nothing is
    painted.

    Bars, menus, dialogs and what :meth:`inner_parts` names are its parts. Who shows
    others of them calls :meth:`show_in_theme`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._unthemed = QTimer(self, interval=0)
        self._unthemed.timeout.connect(self._apply_to_next)

    @abstractmethod
    def inner_parts(self) -> Iterator[QWidget]:
        """Yield the parts of the central widget; together they hold all it shows."""

    def parts(self) -> Iterator[QWidget]:
        """Yield everything that has the theme."""
        yield from self.inner_parts()
        for child in self.children():
            if isinstance(child, QWidget) and child is not self.centralWidget():
                yield child

    def hold(self, container: QWidget) -> None:
        """Apply the theme to what a container holds, and to what it is given later."""
        container.installEventFilter(self)
        for child in container.children():
            self._take_in(child)

    def _take_in(self, child: QObject) -> None:
        if _is_holder(child):
            self.hold(child)
        elif isinstance(child, QWidget) and not isinstance(child, QSplitterHandle):
            apply_to(child)

    def apply_theme(self, palette: Palette) -> None:
        """Apply a theme to the application."""
        application = QApplication.instance()
        if isinstance(application, QApplication):
            apply(application, palette)

    def apply_to_parts(self) -> None:
        """Apply the current theme to the parts, to those that are seen first."""
        self.setUpdatesEnabled(not self._is_exposed)
        self._unthemed.start(0)

    def show_in_theme(self) -> None:
        """Wait with the next picture for parts that are seen now and lack the theme."""
        if not self._unthemed.isActive():
            return
        if self._is_exposed:
            self.apply_to_parts()
            return
        for part in self.parts():
            if part.isVisibleTo(self):
                apply_to(part)

    @property
    def _is_exposed(self) -> bool:
        """Whether the window is on the screen.

        One whose updates are off before it is would stay empty in Qt 6.11.
        """
        handle = self.windowHandle()
        return handle is not None and handle.isExposed()

    def _apply_to_next(self) -> None:
        others = (part for part in self.parts() if not has_theme(part))
        unthemed = sorted(others, key=lambda part: not part.isVisible())
        if unthemed:
            apply_to(unthemed.pop(0))
        if not (unthemed and unthemed[0].isVisible()):
            self.setUpdatesEnabled(True)
            self._unthemed.setInterval(_PAUSE_MS)
        if not unthemed:
            self._unthemed.stop()

    def childEvent(self, event: QChildEvent) -> None:  # noqa: N802 - Qt's name
        """Apply the theme to a dialog or a menu before it is first shown."""
        super().childEvent(event)
        if event.polished():
            child = event.child()
            if isinstance(child, QWidget) and child.isWindow():
                apply_to(child)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Apply the theme to what a container is given, before it is first shown."""
        if isinstance(event, QChildEvent) and event.polished():
            self._take_in(event.child())
        return False


def caption_font(base: QFont) -> QFont:
    """Return the font for captions: one size smaller than the text's."""
    return _resized(base, -1.5)


def title_font(base: QFont) -> QFont:
    """Return the font for a panel's title: one size larger than the text's, bold."""
    font = _resized(base, 1)
    font.setBold(True)
    return font


def _resized(base: QFont, points: float) -> QFont:
    font = QFont(base)
    font.setPointSizeF(max(6.0, base.pointSizeF() + points))
    return font


def _qt_palette(palette: Palette) -> QPalette:
    role = QPalette.ColorRole
    colors = {
        role.Window: palette.panel,
        role.WindowText: palette.text,
        role.Base: palette.field,
        role.AlternateBase: palette.panel,
        role.Text: palette.text,
        role.PlaceholderText: palette.muted,
        role.Button: palette.panel,
        role.ButtonText: palette.text,
        role.BrightText: palette.warning,
        role.Highlight: palette.chosen,
        role.HighlightedText: palette.text,
        role.Link: palette.accent,
        role.ToolTipBase: palette.surroundings,
        role.ToolTipText: palette.text,
        role.Mid: palette.line,
        role.Accent: palette.accent,
    }
    made = QPalette()
    for which, color in colors.items():
        made.setColor(which, QColor(color))
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(palette.muted))
    return made


@cache
def _style_sheet(palette: Palette) -> str:
    icons = Path(import_module("viewer.resources").__path__[0], "icons")
    sheet = _SHEET.replace("@icons@", icons.as_posix())
    for name in Palette.__slots__:
        sheet = sheet.replace(f"@{name}@", str(getattr(palette, name)))
    return sheet


_SHEET: Final = """
QToolTip { background: @surroundings@; color: @text@; border: 1px solid @line@;
  padding: 4px; }
QMenuBar, QStatusBar { background: @surroundings@; color: @text@; }
QMenuBar::item { background: transparent; padding: 4px 8px; }
QMenuBar::item:selected, QMenu::item:selected { background: @chosen@; color: @text@; }
QMenu { background: @panel@; color: @text@; border: 1px solid @line@; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 8px; }
QMenu::item:disabled { color: @muted@; }
QMenu::separator { height: 1px; background: @line@; margin: 4px; }
QStatusBar { border-top: 1px solid @line@; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted@; padding: 0 8px; }
QFrame#switch { background: @surroundings@; border-right: 1px solid @line@; }
QFrame#notice { background: @chosen@; border-bottom: 1px solid @line@; }
QFrame#truth { background: @chosen@; border-radius: 4px; }
QFrame#patients { background: @warning@; }
QFrame#patients QLabel { color: @on_accent@; font-weight: bold; }
QPushButton { background: @field@; color: @text@; border: 1px solid @border@;
  border-radius: 4px; padding: 5px 12px; }
QPushButton:hover { border-color: @text@; }
QFrame#notice QPushButton { border-color: @muted@; }
QPushButton:pressed, QPushButton:checked { background: @chosen@; }
QPushButton:disabled { color: @muted@; }
QPushButton:checked:disabled { color: @text@; }
QPushButton[primary="true"] { background: @accent@; color: @on_accent@;
  border-color: @accent@; font-weight: bold; }
QPushButton[primary="true"]:disabled { background: @field@; color: @muted@;
  border-color: @border@; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
  background: @field@; color: @text@; border: 1px solid @border@; border-radius: 4px;
  padding: 4px; selection-background-color: @chosen@; selection-color: @text@; }
QComboBox { padding-left: 6px; }
QSpinBox, QDoubleSpinBox { padding: 2px 4px 3px 6px; }
QPushButton[choice="true"] { padding: 5px 7px; text-align: left; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url("@icons@/down-@name@.svg"); width: 12px; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button,
QDoubleSpinBox::down-button { border: none; width: 16px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {
  image: url("@icons@/up-@name@.svg"); width: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {
  image: url("@icons@/down-@name@.svg"); width: 10px; }
QComboBox QAbstractItemView { background: @panel@; color: @text@;
  border: 1px solid @line@; selection-background-color: @chosen@;
  selection-color: @text@; }
QCheckBox::indicator, QRadioButton::indicator { width: 12px; height: 12px;
  border: 1px solid @muted@; background: @field@; }
QAbstractItemView::indicator { width: 12px; height: 12px; border-radius: 3px;
  border: 1px solid @muted@; background: @field@; }
QAbstractItemView::indicator:checked { background: @accent@; border-color: @accent@;
  image: url("@icons@/check-@name@.svg"); }
QAbstractItemView::indicator:disabled { background: @panel@; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {
  background: @panel@; }
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:checked, QRadioButton::indicator:checked {
  background: @accent@; border-color: @accent@; }
QCheckBox::indicator:checked { image: url("@icons@/check-@name@.svg"); }
QRadioButton::indicator:checked { border: 4px solid @accent@; width: 6px; height: 6px;
  background: @on_accent@; }
QCheckBox:disabled { color: @muted@; }
QListView, QTreeView, QTableView { background: @panel@; color: @text@;
  border: 1px solid transparent; gridline-color: @line@;
  alternate-background-color: @field@; }
QAbstractItemView::item:selected { background: @chosen@; color: @text@; }
QAbstractItemView::item:disabled { color: @muted@; }
QListView::item, QTreeView::item { padding: 3px 4px; min-height: 16px; }
QHeaderView::section { background: @panel@; color: @muted@; border: none;
  border-bottom: 1px solid @line@; padding: 4px; }
QTabBar::tab { color: @muted@; padding: 6px 12px; border: none; }
QTabBar::tab:selected { color: @text@; border-bottom: 2px solid @accent@; }
QToolBar { background: @panel@; border: none; spacing: 4px; padding: 4px; }
QToolButton { background: transparent; color: @text@; border: 1px solid transparent;
  border-radius: 4px; padding: 4px; }
QToolButton#qt_toolbar_ext_button { padding: 0; border: none; }
QToolButton:hover { background: @field@; }
QToolButton[popupMode="1"], QToolButton[popupMode="2"] { padding-right: 16px; }
QToolButton::menu-indicator { subcontrol-position: right center; right: 4px; }
QToolButton::menu-button { border: none; width: 14px; }
QToolButton:checked { background: @chosen@; }
QProgressBar { background: @field@; border: none; border-radius: 3px;
  max-height: 6px; }
QProgressBar::chunk { background: @accent@; border-radius: 3px; }
QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: @border@; border-radius: 4px; margin: 1px;
  min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @muted@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QPushButton:focus, QToolButton:focus, QLineEdit:focus, QPlainTextEdit:focus,
QTextEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus {
  border: 1px solid @accent@; }
QPushButton[primary="true"]:focus { border: 2px solid @text@; }
QPushButton[link="true"] { background: transparent; border: 1px solid transparent;
  color: @accent@; padding: 2px 0; text-align: left; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { border: 1px solid @accent@; }
QAbstractItemView { outline: none; }
QAbstractItemView::item:focus { border: 1px solid @accent@; }
QTabBar::tab:focus { color: @accent@; }
QSlider:focus { border: 1px solid @accent@; border-radius: 4px; }
QSlider { border: 1px solid transparent; }
QCheckBox::indicator:focus { border: 1px solid @text@; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 1px solid @accent@; }
QCheckBox:focus, QRadioButton:focus { color: @accent@; }
"""
