"""What two sides were asked differently: the texts of the prompts, and the settings."""

from typing import Final

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHeaderView,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.domain.study_words import PLACING, StudyWords
from viewer.services.comparing.asked import Asked, PromptDiff, Setting, WordChange
from viewer.services.comparing.runs import condition_words
from viewer.ui.widgets import theme
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label, as_html, as_tip

_TINT: Final = 0.3
_SHOWN: Final = 8
"""Images whose bytes differ that are named."""


class CompareDifferences(QWidget):
    """Settings at the left, equal ones on request; prompts at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked: Asked | None = None
        self._words = PLACING
        self.all = QCheckBox("Also show what is the same")
        self.all.toggled.connect(lambda _: self._fill())
        self.settings = QTreeWidget()
        self.settings.setHeaderLabels(("Setting", "First", "Second", ""))
        self.settings.setAccessibleName("Settings of both sides")
        self.settings.setRootIsDecorated(False)
        self.settings.setWordWrap(True)
        self.settings.setSelectionMode(
            QAbstractItemView.SelectionMode.ExtendedSelection
        )
        header = self.settings.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.images = Label()
        self.images.setWordWrap(True)
        self.prompts = QTextBrowser()
        self.prompts.setAccessibleName("Differences of the prompts, word by word")
        self._lay_out()

    def show_asked(self, asked: Asked, words: StudyWords = PLACING) -> None:
        """Show how two sides differ, in the words of their study."""
        self._asked, self._words = asked, words
        self._fill()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Recolour the words if the theme changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Fill it in the colours of the current theme."""
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        asked = self._asked
        if asked is None:
            return
        self.settings.clear()
        shown = [s for s in asked.settings if self.all.isChecked() or not s.same]
        self.settings.addTopLevelItems([_item(s) for s in shown])
        if not shown:
            nothing = "Every setting is the same."
            self.settings.addTopLevelItem(QTreeWidgetItem([nothing]))
        for column in range(3):
            self.settings.resizeColumnToContents(column)
            width = min(240, self.settings.columnWidth(column))
            self.settings.setColumnWidth(column, width)
        self.images.setText(_images(asked, self._words))
        self.prompts.setHtml("".join(map(_prompt, asked.prompts)))

    def _lay_out(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.settings, 1)
        column.addWidget(self.all)
        column.addWidget(self.images)
        across = Splitter()
        across.setObjectName("asked")
        across.addWidget(left)
        across.addWidget(self.prompts)
        across.setSizes([520, 480])
        across.setChildrenCollapsible(False)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 0)
        box.addWidget(across)


def _item(setting: Setting) -> QTreeWidgetItem:
    name = f"{setting.group}: {setting.name.replace('_', ' ')}"
    texts = [name, setting.first or "–", setting.second or "–", setting.note]
    item = QTreeWidgetItem([*map(visible, texts)])
    for column, text in enumerate(texts):
        item.setToolTip(column, as_tip(text))
    return item


def _images(asked: Asked, words: StudyWords) -> str:
    images = asked.images
    named = [f"{image} ({condition_words(words, c)})" for image, c in images.different]
    parts = [f"Images sent: {images.same} with the same bytes"]
    if named:
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        parts.append(f"{len(named)} differ: {', '.join(named[:_SHOWN])}{more}")
    if images.unsent:
        parts.append(f"{images.unsent} not sent by both")
    return "; ".join(parts) + "."


def _prompt(prompt: PromptDiff) -> str:
    names = dict.fromkeys(name for name in (prompt.first, prompt.second) if name)
    head = as_html(" / ".join(names))
    note = "identical text" if prompt.same else "first struck out, second underlined"
    body = "".join(map(_change, prompt.changes))
    return f'<p><b>{head}</b> · {note}</p><p style="white-space: pre-wrap">{body}</p>'


def _change(change: WordChange) -> str:
    text = as_html(change.text)
    if change.kind == "equal":
        return text
    which, line = (0, "line-through") if change.kind == "first" else (1, "underline")
    style = f"background-color:{_tint(which)}; text-decoration:{line}"
    return f'<span style="{style}">{text}</span>'


def _tint(model: int) -> str:
    """Return a model's colour, pale enough for text on it."""
    colours = theme.current()
    strong, ground = QColor(colours.models[model]), QColor(colours.field)
    pairs = (
        (strong.red(), ground.red()),
        (strong.green(), ground.green()),
        (strong.blue(), ground.blue()),
    )
    return QColor(*(int(_TINT * a + (1 - _TINT) * b) for a, b in pairs)).name()
