"""The case browser: patients, studies and images, a filter, and the progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.case import ImageRef
from viewer.domain.counting import counted
from viewer.domain.escapes import visible
from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.services.viewing.open_case import OtherFile
from viewer.ui.application.show_once import show_once
from viewer.ui.panels.read.case_listing import Entries, Entry, Key, Listed
from viewer.ui.panels.read.case_tree import THUMBNAIL_PX, CaseTree
from viewer.ui.panels.read.hanging import CaseRows, Chosen, Stack
from viewer.ui.panels.read.index_line import IndexLine
from viewer.ui.panels.read.open_folders import FolderLine
from viewer.ui.panels.read.opening import lies_in
from viewer.ui.panels.read.thumbnails import Thumbnails
from viewer.ui.widgets.labels import caption, link, title
from viewer.ui.widgets.plain_text import Label, as_tip


@dataclass(frozen=True, slots=True)
class ImageChosen:
    """The user chose a row; ``chosen`` is what to hang."""

    chosen: Chosen


@dataclass(frozen=True, slots=True)
class OpenWanted:
    """The user wants the file dialog, of folders or of files."""

    folder: bool


class CaseBrowser(QWidget):
    """A tree of the open cases; thumbnails are made when they come into view."""

    image_chosen = Signal(object)
    """Carries an ImageChosen."""
    row_grew = Signal(object)
    """Carries an ImageChosen: more has been found of what hangs."""
    image_entered = Signal()
    """The user wants the keyboard to be in the image that is chosen."""
    open_wanted = Signal(object)
    """Carries an OpenWanted."""

    def __init__(
        self, decoder: Decoder | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("caseBrowser")
        decodes = decoder or LocalDecoder()
        self._hung: Chosen | None = None
        self._key: Key | None = None
        self._entries = Entries()
        self._others: tuple[OtherFile, ...] = ()
        self.filter = QLineEdit(placeholderText="Filter by name, view, modality")
        self.filter.setAccessibleName("Filter the cases")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAcceptDrops(False)  # a file dropped here is opened, not typed
        self.tree, self.line, self.count = CaseTree(), IndexLine(), caption()
        self.folder = FolderLine()
        self.others = link("", "Files that are not images, with the reason")
        self.unmatched = link("Nothing matches: clear the filter", "")
        for widget in (self.count, self.others, self.unmatched):
            widget.hide()
        self.thumbnails = Thumbnails(
            lambda ref: decodes.thumbnail(ref, 2 * THUMBNAIL_PX), self
        )
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(self._tree_page())
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(title("Cases"))
        column.addWidget(self.folder)
        column.addWidget(self._stack, 1)
        for widget in (self.line, self.count, self.others):
            column.addWidget(widget)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._match)
        self.filter.returnPressed.connect(self._enter_first)
        self.tree.itemActivated.connect(self.image_entered)
        self.filter.installEventFilter(self)
        self.unmatched.clicked.connect(self.filter.clear)
        self.tree.currentItemChanged.connect(self._tell)
        self.tree.thumbnails_wanted.connect(self.thumbnails.want)
        self.thumbnails.made.connect(self.tree.show_thumbnail)
        self.others.clicked.connect(self._show_others)

    def _tree_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.filter, self.unmatched, self.tree):
            column.addWidget(widget)
        return page

    def _empty_page(self) -> QWidget:
        page = QWidget()
        text = Label(
            "No case is open. Open files or a folder, or drop them anywhere here.",
            wordWrap=True,
        )
        files, folder = QPushButton("Open files…"), QPushButton("Open folder…")
        files.clicked.connect(lambda: self.open_wanted.emit(OpenWanted(folder=False)))
        folder.clicked.connect(lambda: self.open_wanted.emit(OpenWanted(folder=True)))
        column, row = QVBoxLayout(page), QHBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        row.addWidget(files)
        row.addWidget(folder)
        column.addWidget(text)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def show_cases(
        self, cases: Sequence[CaseRows], listed: Listed | None = None
    ) -> None:
        """List these cases; keep the selection and the scroll position.

        ``listed`` are their entries, if they have been made.
        """
        self.tree.show_entries(self._entries.of(cases) if listed is None else listed)
        self._stack.setCurrentIndex(1 if cases else 0)
        entry = self.tree.listing.entry_of(self._key)
        if entry is None:
            self._key = self._hung = None
        elif self._hung is not None:
            chosen = entry.chosen(self._hung.position)
            if chosen != self._hung:
                self._hung = chosen
                self.row_grew.emit(ImageChosen(chosen))

    def say(self, words: str, others: Sequence[OtherFile] = ()) -> None:
        """Show what is open, and how many files are not images."""
        self._others = tuple(others)
        self.count.setText(words)
        self.count.setVisible(bool(words))
        self.others.setText(counted(len(others), "other file"))
        self.others.setVisible(bool(others))

    def choose(self, ref: ImageRef) -> bool:
        """Choose the row with that image; False if it is not listed."""
        found = self.tree.listing.holding(ref)
        if found is None:
            return False
        self._select(*found)
        return True

    def follow(self, stack: Stack) -> None:
        """Highlight the row of a stack that is already hung."""
        key, entries = stack.key, self.tree.listing.entries
        listed = (e for e in entries if e.stack.key == key and e.stack == stack)
        entry = next(listed, None)
        if entry is not None and entry.key != self._key:
            self._reveal(entry)
            self._hung = entry.chosen()

    def choose_in(self, paths: Sequence[Path]) -> bool:
        """Choose the first image in files and folders; False if none is listed."""
        for entry in self.tree.listing.in_order():
            for position, image in enumerate(entry.stack.images):
                if any(lies_in(image.ref.path, path) for path in paths):
                    self._select(entry, position)
                    return True
        return False

    def choose_first(self) -> bool:
        """Choose the first row, if there is one."""
        first = next(self.tree.listing.in_order(), None)
        if first is not None:
            self._select(first)
        return first is not None

    def step(self, steps: int) -> None:
        """Choose the listed row ``steps`` further down."""
        listing = self.tree.listing
        place = listing.place_of(self._key)
        wanted = (-1 if place is None else place) + steps
        if len(listing.matched):
            last = len(listing.matched) - 1
            self._select(listing.at(min(max(wanted, 0), last)))

    def step_study(self, steps: int) -> None:
        """Choose the first listed row of the study after, or before, the chosen one."""
        listing = self.tree.listing
        place = listing.place_of(self._key)
        if place is None or self._key is None:
            self.step(1)
            return
        last = len(listing.matched) - 1

        def end_of_study(at: int, way: int) -> int:
            study = listing.at(at).key[:2]
            while 0 <= at + way <= last and listing.at(at + way).key[:2] == study:
                at += way
            return at

        if steps > 0:
            wanted = end_of_study(place, 1) + 1
        else:
            before = end_of_study(place, -1) - 1
            wanted = end_of_study(before, -1) if before >= 0 else 0
        if wanted <= last:
            self.step(wanted - place)

    def focus_filter(self) -> None:
        """Focus the filter."""
        self.filter.setFocus()
        self.filter.selectAll()

    def stay(self) -> None:
        """Keep the chosen row in view after the list changed its order."""
        entry = self.tree.listing.entry_of(self._key)
        if entry is not None and self.tree.listing.place_of(self._key) is not None:
            self._reveal(entry)

    @property
    def chosen_stack(self) -> Stack | None:
        """What the chosen row stands for."""
        return self._hung.stack if self._hung is not None else None

    @property
    def current_case(self) -> str | None:
        """The key of the patient whose row is chosen."""
        return self._key[0] if self._key is not None else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Go from the filter to the list on the Down key."""
        down = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down
        if down and event.type() is QEvent.Type.KeyPress:
            self._choose_listed()
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().eventFilter(watched, event)

    def _enter_first(self) -> None:
        self._choose_listed()
        self.image_entered.emit()

    def _choose_listed(self) -> None:
        """Select the first listed row, unless the selected one is still listed."""
        if self.tree.listing.place_of(self._key) is None:
            self.step(1)

    def _match(self, text: str) -> None:
        self.unmatched.setVisible(not self.tree.set_filter(text))

    def _select(self, entry: Entry, position: int = 0) -> None:
        """Choose an entry; a filter that hides it is cleared."""
        self._reveal(entry)
        self._hang(entry, position)

    def _reveal(self, entry: Entry) -> None:
        """Highlight the row of an entry, in view."""
        listing = self.tree.listing
        if listing.place_of(entry.key) is None:
            self.filter.clear()
        row = self.tree.row_at(listing.place_of(entry.key) or 0)
        self._key = entry.key
        self.tree.mark(entry.key)
        if row is not None:
            self.tree.scrollToItem(row)

    def _hang(self, entry: Entry, position: int = 0) -> None:
        self._key, self._hung = entry.key, entry.chosen(position)
        self.image_chosen.emit(ImageChosen(self._hung))

    def _tell(self, *_: object) -> None:
        """Hang the stack of the row that the user went to."""
        row = self.tree.current_row
        entry = self.tree.listing.entry_of(row.key) if row is not None else None
        if entry is not None:
            self.tree.mark(entry.key)
            self._hang(entry)

    def _show_others(self) -> None:
        show_once(self.window(), "others", lambda: OtherFiles(self._others, self))


class OtherFiles(QDialog):
    """A separate window; Ctrl+C copies the chosen rows as tab-separated text."""

    def __init__(
        self, files: Sequence[OtherFile], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Other files")
        self.list = QTreeWidget()
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setHeaderLabels(["File", "Why it is not listed"])
        self.list.setAccessibleName("Files that are not images")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.addTopLevelItems([_row(file) for file in files])
        self.list.resizeColumnToContents(0)
        column = QVBoxLayout(self)
        column.addWidget(self.list)
        column.addWidget(caption(f"{len(files):,} of the files opened are not images."))
        copy = QShortcut(QKeySequence.StandardKey.Copy, self)
        copy.activated.connect(self._copy)
        self.resize(640, 420)

    def _copy(self) -> None:
        rows = self.list.selectedItems()
        lines = [f"{row.text(0)}\t{row.text(1)}" for row in rows]
        QGuiApplication.clipboard().setText("\n".join(lines))


def _row(file: OtherFile) -> QTreeWidgetItem:
    row = QTreeWidgetItem([visible(file.path.name), visible(file.reason)])
    row.setToolTip(0, as_tip(str(file.path)))
    row.setToolTip(1, as_tip(file.reason))
    return row
