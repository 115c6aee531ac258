"""Connect: one page with the models found here, services, files and known models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.services.configuring.known_cards import KnownFit
from viewer.services.configuring.new_models import NewModel, Section
from viewer.ui.widgets.file_choice import choose_folder, choose_to_read
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.menus import pop_up
from viewer.ui.widgets.plain_text import as_tip, in_role
from viewer.ui.widgets.scrolled import resize_on_screen

_SIZE: Final = (760, 720)
_FOUND_ROWS: Final = 5
_NAMES_AT_MOST: Final = 0.6
"""The most of a list's width that names take."""
_LOOKING: Final = "Looking for programs on this computer that run models…"
_NONE_FOUND: Final = (
    "No program that runs models was found on this computer. Start Ollama, LM Studio, "
    "llama.cpp, vLLM or SGLang, then press Look again."
)
_NONE_YET: Final = "Ollama is running on this computer, but has no model yet."
_FOUND: Final = "Click a model to connect it. Images stay on this computer."
_ONLINE: Final = (
    "Images are sent to the company's computers; you are asked before the first one "
    "is. You need a key from the company's website."
)
_DISK: Final = (
    "A folder from Hugging Face, a .gguf file, or the description (.toml) of a network "
    "that you trained. Nothing is sent anywhere."
)
_KNOWN: Final = "Click a model: what is known of it is filled in, and you add the rest."
_FILES: Final = (
    ("My model folder…", ""),
    ("My model file…", "GGUF models (*.gguf)"),
    ("My own network…", "Network descriptions (*.toml)"),
)
"""What can be chosen on disk, and Qt's filter of its files; "" for a folder."""


@dataclass(frozen=True)
class NewWanted:
    """The user wants to connect this model or service."""

    new: NewModel


@dataclass(frozen=True)
class FilesWanted:
    """The user wants to connect the model in these files."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LookWanted:
    """The user wants this computer to be searched for models again."""


class ConnectPage(QDialog):
    """What can be connected; it closes with the first choice.

    Parameters
    ----------
    offers : sequence of NewModel
        Everything but what is found on this computer, which `show_found` adds.
    """

    new_wanted = Signal(object)
    """NewWanted"""
    files_wanted = Signal(object)
    """FilesWanted"""
    look_wanted = Signal(object)
    """LookWanted"""

    def __init__(
        self, offers: Sequence[NewModel], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Connect a model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filter = QLineEdit(placeholderText="Filter models")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName("Filter models")
        self.again, self.words = QPushButton("Look again"), caption(_LOOKING)
        self.bar = ProgressBar(minimum=0, maximum=0, textVisible=False)
        self.found = _Offers("Models found on this computer")
        self.known = _Offers("Known models")
        self.more = QPushButton("More")
        self.more_menu = self._more_menu(offers)
        self._known = [o for o in offers if o.section is Section.KNOWN]
        self.known.show_offers(self._known)
        self._lay_out([o for o in offers if o.section is Section.ONLINE])
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Return in the filter presses none
        self.again.clicked.connect(self.look)
        self.more.clicked.connect(partial(pop_up, self.more_menu, self.more))
        self.filter.textChanged.connect(self._filter)
        for models in (self.found, self.known):
            models.chosen.connect(self._choose)
        resize_on_screen(self, *_SIZE)

    def _lay_out(self, online: Sequence[NewModel]) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.filter)
        column.addLayout(_heading("Found on this computer", self.again))
        for widget in (self.words, self.bar, self.found):
            column.addWidget(widget)
        column.addLayout(_heading("Online"))
        column.addWidget(caption(_ONLINE))
        column.addLayout(_row([self._button(offer) for offer in online]))
        column.addLayout(_heading("On disk"))
        column.addWidget(caption(_DISK))
        column.addLayout(_row([self._file_button(*kind) for kind in _FILES]))
        column.addLayout(_heading("Known models", self.more))
        column.addWidget(caption(_KNOWN))
        column.addWidget(self.known, 1)
        self.found.setFixedHeight(_FOUND_ROWS * self.found.row_height)

    def _button(self, offer: NewModel) -> QPushButton:
        button = QPushButton(offer.title)
        button.setToolTip(as_tip(offer.missing))
        button.clicked.connect(partial(self._choose, offer))
        return button

    def _file_button(self, words: str, kinds: str) -> QPushButton:
        button = QPushButton(words)
        button.clicked.connect(partial(self._choose_file, words.rstrip("…"), kinds))
        return button

    def _more_menu(self, offers: Sequence[NewModel]) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        papers = menu.addMenu(Section.PAPERS.capitalize())
        papers.setToolTipsVisible(True)
        for offer in offers:
            if offer.section is Section.MORE:
                self._add_to(menu, offer, offer.title)
            elif offer.section is Section.PAPERS:
                self._add_to(papers, offer, f"{offer.title} ({offer.summary})")
        return menu

    def _add_to(self, menu: QMenu, offer: NewModel, words: str) -> None:
        action = menu.addAction(words.replace("&", "&&"))
        action.setToolTip(as_tip(offer.missing or offer.note))
        action.setEnabled(offer.usable)
        action.triggered.connect(partial(self._choose, offer))

    def look(self) -> None:
        """Search this computer for models."""
        self.again.setEnabled(False)
        self.bar.show()
        self.words.setText(_LOOKING)
        self.look_wanted.emit(LookWanted())

    def show_found(self, models: Sequence[NewModel], *, looking: bool) -> None:
        """Show the models found so far, and whether the search goes on."""
        self.found.show_offers(models)
        self.found.setVisible(bool(models))
        self.bar.setVisible(looking)
        self.again.setEnabled(not looking)
        self.words.setText(_words_of(models, looking=looking))
        self._filter(self.filter.text())

    def show_fits(self, fits: Sequence[KnownFit]) -> None:
        """Show which known models fit this computer; they get the best precision."""
        if fits:
            by_title = {fit.title: fit for fit in fits}
            fitted = [_fitted(one, by_title.get(one.title)) for one in self._known]
            self.known.show_offers(fitted)
            self._filter(self.filter.text())

    def _filter(self, words: str) -> None:
        for models in (self.found, self.known):
            models.filter(words)

    def _choose(self, offer: NewModel, _checked: bool = False) -> None:
        if self.isVisible():  # a double click chooses once
            self.close()
            self.new_wanted.emit(NewWanted(offer))

    def _choose_file(self, words: str, kinds: str) -> None:
        if kinds:
            choose_to_read(self, words, kinds, self._take)
        else:
            choose_folder(self, words, self._take)

    def _take(self, path: Path) -> None:
        self.close()
        self.files_wanted.emit(FilesWanted((path,)))


class _Name(QStyledItemDelegate):
    """Cuts a long name in its middle, as its end tells models apart too."""

    def initStyleOption(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle


class _Offers(QTreeWidget):
    """Models with what is said of each; a click or Return chooses one."""

    chosen = Signal(object)
    """NewModel"""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._offers: tuple[NewModel, ...] = ()
        self.setAccessibleName(name)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.setItemDelegateForColumn(0, _Name(self))
        modes = QHeaderView.ResizeMode
        self.header().setSectionResizeMode(0, modes.Fixed)
        self.header().setSectionResizeMode(1, modes.Stretch)
        self.itemClicked.connect(self._emit)
        self.itemActivated.connect(self._emit)

    @property
    def row_height(self) -> int:
        """The height of a row in pixels."""
        return self.fontMetrics().height() + 8

    def show_offers(self, offers: Sequence[NewModel]) -> None:
        """List models, with what is said of each beside it."""
        if tuple(offers) == self._offers:
            return
        self._offers = tuple(offers)
        self.clear()
        display = Qt.ItemDataRole.DisplayRole
        for offer in offers:
            words = (in_role(text, display) for text in (offer.title, offer.summary))
            item = QTreeWidgetItem(self, list(words))
            for column in range(2):
                item.setToolTip(column, as_tip(_tip(offer)))
        self._fit_names()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give names the room that they need, within limits."""
        super().resizeEvent(event)
        self._fit_names()

    def _fit_names(self) -> None:
        most = round(_NAMES_AT_MOST * self.viewport().width())
        self.header().resizeSection(0, min(self.sizeHintForColumn(0), most))

    def filter(self, words: str) -> None:
        """Show only the models whose name or description has all of these words."""
        wanted = words.casefold().split()
        for row, offer in enumerate(self._offers):
            said = f"{offer.title} {offer.summary} {offer.table.get('name')}".casefold()
            hidden = not all(word in said for word in wanted)
            self.setRowHidden(row, self.rootIndex(), hidden)

    def _emit(self, item: QTreeWidgetItem) -> None:
        self.chosen.emit(self._offers[self.indexOfTopLevelItem(item)])


def _tip(offer: NewModel) -> str:
    """Return all that is said of a model: the list may have no room for it."""
    said = (offer.title, offer.summary, offer.missing or offer.note)
    return "\n".join(filter(None, said))


def _words_of(found: Sequence[NewModel], *, looking: bool) -> str:
    if all(offer.pulls_from for offer in found):
        return _LOOKING if looking else _NONE_YET if found else _NONE_FOUND
    return _FOUND


def _fitted(offer: NewModel, fit: KnownFit | None) -> NewModel:
    if fit is None:
        return offer
    return replace(offer, summary=fit.words, table={**offer.table, **fit.settings})


def _heading(words: str, button: QPushButton | None = None) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(title(words), 1)
    if button is not None:
        row.addWidget(button)
    return row


def _row(buttons: Sequence[QPushButton]) -> QHBoxLayout:
    row = QHBoxLayout()
    for button in buttons:
        row.addWidget(button)
    row.addStretch(1)
    return row
