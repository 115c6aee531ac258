"""The widgets in which parameters and settings are typed or chosen."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
)

from viewer.services.configuring.form_field import FormField
from viewer.ui.widgets.file_choice import choose_folder, choose_to_read
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.number_box import DecimalBox, WholeBox
from viewer.ui.widgets.plain_text import as_tip

# The largest number of a QSpinBox, which holds a C int.
_LARGEST: Final = 2**31 - 1
_LIST_ROWS: Final = 12
_SHORTEST: Final = 12
"""Letters that a choice shows at least; where it drops down it shows them all."""
_BESIDE: Final = 32
"""Pixels of the drop-down list that stand beside its words."""
UNSET: Final = "not set"
_TYPED: Final = frozenset({"text", "path", "folder"})
"""Kinds whose meaning stands in the field until something is typed."""
_WORDS: Final = {
    "api": "API",
    "url": "URL",
    "env": "variable",
    "ca": "CA",
    "s": "in seconds",
}
"""Parts of parameters' names that read better in another spelling."""


class YesNo(QCheckBox):
    """A check box."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.toggled.connect(self.edited)

    def value(self) -> object:
        """Return whether it is ticked."""
        return self.isChecked()

    def set_value(self, value: object) -> None:
        """Tick or untick it."""
        self.setChecked(bool(value))


class Whole(WholeBox):
    """A whole number."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setRange(0, _LARGEST)
        self.valueChanged.connect(self.edited)

    def set_value(self, value: object) -> None:
        """Show a number."""
        self.setValue(int(str(value)))


class Decimal(DecimalBox):
    """A number with decimals."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(3)
        self.setMaximum(_LARGEST)
        self.setSingleStep(0.05)
        self.valueChanged.connect(self.edited)

    def set_value(self, value: object) -> None:
        """Show a number."""
        self.setValue(float(str(value)))


_CHOICE: Final = Qt.ItemDataRole.UserRole


class OneOf(QComboBox):
    """One of several words; "" stands for none of them."""

    edited = Signal()

    def __init__(self, choices: Sequence[str], words: Sequence[str] = ()) -> None:
        super().__init__()
        for choice, word in zip(choices, words or choices, strict=True):
            self.addItem(word or UNSET, choice)
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.setSizeAdjustPolicy(policy)
        self.setMinimumContentsLength(_SHORTEST)
        self.currentIndexChanged.connect(self.edited)

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        """Show every word in full."""
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + _BESIDE)
        super().showPopup()

    def value(self) -> object:
        """Return the chosen word."""
        return self.currentData()

    def set_value(self, value: object) -> None:
        """Choose a word; one that is not offered leaves the choice as it is."""
        at = self.findData(str(value))
        self.setCurrentIndex(self.currentIndex() if at < 0 else at)


class SomeOf(QListWidget):
    """Any of some words, each with a box to tick."""

    edited = Signal()

    def __init__(
        self,
        choices: Sequence[str],
        words: Sequence[str] = (),
        rows: int = _LIST_ROWS,
    ) -> None:
        super().__init__()
        self._row = self.fontMetrics().height() + 6
        self._lacking, self._withheld = frozenset[str](), frozenset[str]()
        self._offered = frozenset(choices)
        for choice, word in zip(choices, words or choices, strict=True):
            self._add(choice, word)
        self.setFixedHeight(min(rows, max(2, len(choices))) * self._row + 4)
        self.itemChanged.connect(self.edited)

    def value(self) -> object:
        """Return the ticked words in display order, and what lacks but was wanted."""
        choices = ((item, item.data(_CHOICE)) for item in self._items())
        return [c for item, c in choices if _is_ticked(item) or c in self._withheld]

    def set_value(self, value: object) -> None:
        """Tick these words; ones that are not offered are added as long as wanted."""
        wanted = _texts(value)
        for item in self._items():
            if item.data(_CHOICE) not in {*self._offered, *wanted}:
                self.takeItem(self.row(item))
        known = {item.data(_CHOICE) for item in self._items()}
        for choice in wanted:
            if choice not in known:
                self._add(choice, choice)
        self._withheld = self._lacking & {*wanted}
        for item in self._items():
            ticked = item.data(_CHOICE) in {*wanted} - self._lacking
            item.setCheckState(
                Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
            )

    def show_lacking(self, lacking: Mapping[str, str]) -> None:
        """Grey words that come to nothing, without a tick; the value stays."""
        value, usable = self.value(), Qt.ItemFlag.ItemIsEnabled
        self._lacking = frozenset(lacking)
        for item in self._items():
            why = lacking.get(item.data(_CHOICE), "")
            item.setToolTip(as_tip(why))
            item.setFlags(item.flags() & ~usable if why else item.flags() | usable)
        self.set_value(value)

    def _add(self, choice: str, word: str) -> None:
        item = QListWidgetItem(word, self)
        item.setData(_CHOICE, choice)
        item.setSizeHint(QSize(0, self._row))
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Unchecked)

    def _items(self) -> list[QListWidgetItem]:
        return [self.item(row) for row in range(self.count())]


class Line(QLineEdit):
    """A text."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.textChanged.connect(self.edited)

    def add_button(self, sign: str, tip: str, act: Callable[[], object]) -> None:
        """Add a button to the end, which Alt+Down presses too."""
        place = QLineEdit.ActionPosition.TrailingPosition
        action = self.addAction(icon(sign), place)
        action.setText(tip)
        action.setToolTip(as_tip(f"{tip} (Alt+Down)"))
        action.setShortcut("Alt+Down")
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(act)

    def value(self) -> object:
        """Return the text."""
        return self.text()

    def set_value(self, value: object) -> None:
        """Show a text."""
        self.setText(str(value))


class MaybeNumber(Line):
    """A number that may be left empty; text that is not a number stays as typed."""

    def __init__(self, kind: Callable[[str], int | float]) -> None:
        super().__init__()
        self._kind = kind
        self.setPlaceholderText(UNSET)

    def value(self) -> object:
        """Return the number, None if empty, else the text."""
        text = self.text().strip()
        try:
            return self._kind(text) if text else None
        except ValueError:
            return text

    def set_value(self, value: object) -> None:
        """Show a number; nothing for None."""
        self.setText("" if value is None else str(value))


class PathLine(Line):
    """The path of a file, typed or chosen, with the suffix ``ending``."""

    chosen = Signal()
    """The user chose it in the dialog."""
    _TIP = "Choose a file…"

    def __init__(self, ending: str = "") -> None:
        super().__init__()
        self._ending = ending
        self.add_button("folder-open-outline", self._TIP, self.choose)

    def choose(self) -> None:
        """Let the user choose a path, starting at the current one."""
        kinds = f"*{self._ending};;Any file (*)" if self._ending else "Any file (*)"
        choose_to_read(
            self.window(), "Choose a file", kinds, self._take, here=self._here()
        )

    def _here(self) -> Path | None:
        folder = Path(self.text()).expanduser().parent
        return folder if self.text() and folder.is_dir() else None

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Accept a file."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802 - Qt's name
        """Accept a file anywhere on the field."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
        else:
            super().dragMoveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Set the path of a dropped file, not its URL."""
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        if urls:
            event.acceptProposedAction()
            self._take(Path(urls[0].toLocalFile()))
        else:
            super().dropEvent(event)

    def _take(self, path: Path) -> None:
        self.setText(str(path))
        self.chosen.emit()


class FolderLine(PathLine):
    """A folder, typed or chosen, or another name that is typed."""

    _TIP = "Choose a folder…"

    def choose(self) -> None:
        """Let the user choose a folder, starting at the current one."""
        choose_folder(self.window(), "Choose a folder", self._take, here=self._here())


class ListLine(Line):
    """Several values in a line, separated by commas; integers become ints."""

    def value(self) -> object:
        """Return the values."""
        parts = [part.strip() for part in self.text().split(",")]
        return [int(p) if p.isdecimal() else p for p in parts if p]

    def set_value(self, value: object) -> None:
        """Show the values."""
        self.setText(", ".join(_texts(value)))


Widget = YesNo | Whole | Decimal | OneOf | SomeOf | Line
"""What shows a parameter and gives it back as a plain JSON value."""
_SIMPLE: Final[Mapping[str, Callable[[], Widget]]] = {
    "bool": YesNo,
    "int": Whole,
    "float": Decimal,
    "maybe_int": partial(MaybeNumber, int),
    "maybe_float": partial(MaybeNumber, float),
    "folder": FolderLine,
}


def editor(field: FormField) -> Widget:
    """Return the widget of a field, showing its default."""
    made = _made(field)
    if isinstance(made, Whole | Decimal):
        _bound(made, field)
    if isinstance(made, Line) and field.kind in _TYPED:
        made.setPlaceholderText(field.help)
    made.setToolTip(as_tip(field.help))
    made.setAccessibleName(label_of(field))
    made.setAccessibleDescription(field.help)
    made.set_value(field.default)
    return made


def reset(shown: Widget, field: FormField) -> None:
    """Show a field's default in a widget that was made for it."""
    if isinstance(shown, SomeOf):
        shown.show_lacking({})
    shown.set_value(field.default)


def _bound(number: Whole | Decimal, field: FormField) -> None:
    """Limit a number to the range of its field."""
    low, high = field.low or 0, _LARGEST if field.high is None else field.high
    if isinstance(number, Whole):
        number.setRange(int(low), int(high))
    else:
        number.setRange(float(low), float(high))


def _made(field: FormField) -> Widget:
    if field.kind == "choices" and field.choices:
        return SomeOf(field.choices, field.words)
    if isinstance(field.default, list | tuple):
        return ListLine()
    if field.kind == "choice":
        return OneOf(field.choices, field.words)
    if field.kind == "path":
        return PathLine(field.ending)
    return _SIMPLE.get(field.kind, Line)()


def label_of(field: FormField) -> str:
    """Return the label of a field."""
    words = " ".join(_WORDS.get(word, word) for word in field.name.split("_"))
    return field.label or words[:1].upper() + words[1:]


def _is_ticked(item: QListWidgetItem) -> bool:
    return item.checkState() is Qt.CheckState.Checked


def _texts(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list | tuple) else [str(value)]
