"""The tree of patients, studies and images, which grows without moving under the eye.

Rows have keys that last: a stack that gets further images stays the same row, and what
is selected or scrolled to stays where it is while others come in above it.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from PySide6.QtCore import (
    QModelIndex,
    QPoint,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTreeWidgetItem,
    QWidget,
)
from shiboken6 import isValid

from viewer.domain.case import ImageRef
from viewer.domain.escapes import visible
from viewer.ui.panels.read.case_listing import (
    COLUMNS,
    CaseListing,
    ColumnChoice,
    Entry,
    Key,
    Listed,
    States,
)
from viewer.ui.panels.read.case_rows import CaseRow, NameDelegate, SeriesTree
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.panels.read.thumbnails import ThumbnailMade
from viewer.ui.widgets.pixmaps import pixmap_of
from viewer.ui.widgets.plain_text import as_tip

THUMBNAIL_PX: Final = 56
_NARROWEST: Final = 24
"""Of a column, in pixels."""
_SETTLED_MS: Final = 40
"""After this a scroll has come to rest and thumbnails are worth making."""
_ROW_PX: Final = THUMBNAIL_PX + 8
_PART: Final = 100
"""Rows there shortly after, and added where they are scrolled to an end."""
_MOST: Final = 3 * _PART
"""Rows there at a time."""
_KEPT: Final = 400
"""Thumbnails kept; at twice the size of the screen's they take 50 kB each."""


class CaseTree(SeriesTree):
    """Shows a part of the cases that match, and reports which thumbnails are in view.

    Further rows are added where it is scrolled to an end of them.
    """

    thumbnails_wanted = Signal(object)
    """tuple[ImageRef, ...]: of the rows on the screen those without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.listing = CaseListing()
        self._first, self._last = 0, _PART
        self._nodes: dict[Key, QTreeWidgetItem] = {}
        self._icons: dict[ImageRef, QIcon] = {}
        self._on_screen: dict[ImageRef, CaseRow] = {}
        self._marked: Key | None = None
        self._choice = ColumnChoice()
        self.setAccessibleName("Cases")
        self.setIconSize(QSize(THUMBNAIL_PX, THUMBNAIL_PX))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setIndentation(6)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._rest = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._rest.timeout.connect(self._settle)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        self.itemExpanded.connect(self._moved)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setItemDelegateForColumn(0, NameDelegate(self))
        self._lay_out_columns()

    def _lay_out_columns(self) -> None:
        self.setColumnCount(len(COLUMNS))
        self.setHeaderLabels([column.title for column in COLUMNS])
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionsClickable(True)
        header.setMinimumSectionSize(_NARROWEST)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        for place, column in enumerate(COLUMNS[1:], start=1):
            self.headerItem().setToolTip(place, as_tip(column.tip))
        self.show_columns(self._choice)

    def show_columns(self, choice: ColumnChoice) -> None:
        """Show other columns, or list the cases in another order."""
        self._choice = choice
        titles = [column.title for column in COLUMNS]
        for place, column in enumerate(COLUMNS[1:], start=1):
            width = choice.widths.get(column.title, column.width)
            self.setColumnWidth(place, max(width, _NARROWEST))
            self.setColumnHidden(place, column.title not in choice.shown)
        by = titles.index(choice.sorted_by) if choice.sorted_by in titles else -1
        order = Qt.SortOrder
        way = order.DescendingOrder if choice.descending else order.AscendingOrder
        self.header().setSortIndicatorShown(by >= 0)
        self.header().setSortIndicator(by, way)
        self.listing.sort(choice)
        self._show_part()

    def show_states(self, states: States) -> None:
        """Show how far these rows are read; the order of the list stays."""
        self.listing.states.update(states)
        for row in self.rows():
            if row.entry is not None and row.stack.key in states:
                row.show_entry(row.entry, self.listing.states)

    def rows(self) -> Iterator[CaseRow]:
        """Yield the rows that are there, from the top down."""
        for case in self._cases():
            for study in _children(case):
                yield from (r for r in _children(study) if isinstance(r, CaseRow))

    @property
    def current_row(self) -> CaseRow | None:
        """The row that is chosen."""
        item = self.currentItem()
        return item if isinstance(item, CaseRow) else None

    def show_entries(self, listed: Listed) -> None:
        """Show these entries: keep the rows they share, remove the others."""
        self.listing.show(listed)
        self._show_part()

    def set_filter(self, text: str) -> bool:
        """List only what has every word; return whether anything has."""
        self.listing.filter(text)
        self._first, self._last = 0, self._at_once
        self._show_part()
        return len(self.listing.matched) > 0

    def cell(self, row: CaseRow, column: int) -> QPoint:
        """Return the lower left corner of a row's cell, in the viewport's pixels."""
        rect = self.visualItemRect(row)
        return QPoint(self.columnViewportPosition(column), rect.bottom())

    def mark(self, key: Key | None) -> None:
        """Highlight a row, where it is listed, without choosing it."""
        self._marked = key
        node = self._nodes.get(key) if key is not None else None
        with QSignalBlocker(self):
            if node is None:
                self.setCurrentIndex(QModelIndex())
            else:
                self.setCurrentItem(node)

    def row_at(self, place: int) -> CaseRow | None:
        """Return the row at a place among those that match, added if need be."""
        if not 0 <= place < len(self.listing.matched):
            return None
        if not self._first <= place < self._last:
            self._first = max(0, place - self._at_once)
            self._last = place + self._at_once
            self._show_part()
        row = self._nodes.get(self.listing.at(place).key)
        return row if isinstance(row, CaseRow) else None

    def following(self) -> Entry | None:
        """Return the entry listed after the highlighted one."""
        place = self.listing.place_of(self._marked)
        last = len(self.listing.matched) - 1
        return (
            self.listing.at(place + 1) if place is not None and place < last else None
        )

    @property
    def _at_once(self) -> int:
        """Rows that fill the screen: making them is most of what a key costs."""
        return self.viewport().height() // _ROW_PX + 2

    def _show_part(self) -> None:
        """Show the part of the list in view; what is on the screen stays there."""
        top = self.itemAt(0, 0)
        before = self.visualItemRect(top).top() if top is not None else 0
        numbers = self.listing.matched[self._first : self._last]
        entries = [self.listing.entries[number] for number in numbers]
        self.setUpdatesEnabled(False)
        with QSignalBlocker(self):
            self._remove_all_but({key for e in entries for key in _keys(e)})
            self._grow(entries)
            self.mark(self._marked)
        if top is not None and isValid(top):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualItemRect(top).top() - before)
        self.setUpdatesEnabled(True)
        self._moved()

    def _grow(self, entries: Sequence[Entry]) -> None:
        """Insert what is new of these entries, each at its place."""
        known = set(self._nodes)
        below: dict[Key, int] = {}
        there: dict[Key, QTreeWidgetItem] = {}
        for entry in entries:
            node, key = None, Key()
            heads = (entry.case.words, entry.study.words, None)
            for name, head in zip(entry.key, heads, strict=True):
                above, key = key, (*key, name)
                if key not in there:
                    place = below.get(above, 0)
                    below[above] = place + 1
                    there[key] = self._node(key, node, place, head)
                node = there[key]
            if isinstance(node, CaseRow) and node.stack.images != entry.stack.images:
                node.show_entry(entry, self.listing.states)
        for key in there.keys() - known:  # at last: each of them lays out what is new
            there[key].setFirstColumnSpanned(not _is_row(there[key]))

    def _node(
        self, key: Key, parent: QTreeWidgetItem | None, place: int, head: str | None
    ) -> QTreeWidgetItem:
        """Return the node of a key at its place; without a head it is a stack's row."""
        node = self._nodes.get(key)
        if node is not None and self._child(parent, place) is node:
            return node
        if node is None:
            node = self._nodes[key] = _row(key) if head is None else _head(head)
        else:
            self._remove(node)
        self._insert(parent, place, node)
        if head is not None:
            node.setExpanded(True)
        return node

    # The root that the tree keeps unseen is not asked for: a wrapper of it would
    # outlive it, and stand for whatever is made in its place.

    def _cases(self) -> Iterator[QTreeWidgetItem]:
        tops = map(self.topLevelItem, range(self.topLevelItemCount()))
        return (top for top in tops if top is not None)

    def _insert(
        self, parent: QTreeWidgetItem | None, place: int, node: QTreeWidgetItem
    ) -> None:
        if parent is None:
            self.insertTopLevelItem(place, node)
        else:
            parent.insertChild(place, node)

    def _child(
        self, parent: QTreeWidgetItem | None, place: int
    ) -> QTreeWidgetItem | None:
        return self.topLevelItem(place) if parent is None else parent.child(place)

    def _remove(self, node: QTreeWidgetItem) -> None:
        parent = node.parent()
        if parent is None:
            self.takeTopLevelItem(self.indexOfTopLevelItem(node))
        else:
            parent.removeChild(node)

    def _remove_all_but(self, wanted: AbstractSet[Key]) -> None:
        """Remove what is not listed; a node takes those under it along."""
        gone = [key for key in self._nodes if key not in wanted]
        for key in gone:
            node = self._nodes.pop(key)
            if len(key) == 1 or key[:-1] in wanted:
                self._remove(node)

    def show_thumbnail(self, event: ThumbnailMade) -> None:
        """Show a thumbnail on its row, and drop the least recently seen one."""
        row = self._on_screen.get(event.ref)
        listed = row is not None and isValid(row)
        if event.raster is None:
            if row is not None and listed:
                row.fail(event.error)
            return
        pixmap = pixmap_of(event.raster)
        icon = self._icons[event.ref] = QIcon(pixmap)
        icon.addPixmap(pixmap, QIcon.Mode.Selected)  # styles tint it otherwise
        if row is not None and listed:
            row.setIcon(0, icon)
        while len(self._icons) > _KEPT:
            self._icons.pop(next(iter(self._icons)))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Request the thumbnails that a larger list shows."""
        super().resizeEvent(event)
        self._moved()

    def _moved(self, *_: object) -> None:
        self._rest.start()

    def _settle(self) -> None:
        """Request the thumbnails in view, and add rows at the end that is near."""
        self.executeDelayedItemsLayout()  # or the bar does not know the new rows yet
        bar, count = self.verticalScrollBar(), len(self.listing.matched)
        if self._last - self._first < _PART and self._last < count:
            self._last = self._first + _PART
            self._show_part()
        elif bar.value() >= bar.maximum() - bar.pageStep() and self._last < count:
            self._last += _PART
            self._first = max(self._first, self._last - _MOST)
            self._show_part()
        elif bar.value() <= bar.pageStep() and self._first > 0:
            self._first = max(0, self._first - _PART)
            self._last = min(self._last, self._first + _MOST)
            self._show_part()
        self._want_thumbnails()

    def _want_thumbnails(self) -> None:
        self._on_screen = {_middle(row.stack): row for row in self._rows_on_screen()}
        wanted = []
        for ref, row in self._on_screen.items():
            icon = self._icons.pop(ref, None)
            if icon is not None:
                self._icons[ref] = icon
                row.setIcon(0, icon)
            elif not row.failed:
                wanted.append(ref)
        self.thumbnails_wanted.emit(tuple(wanted))

    def _rows_on_screen(self) -> Iterator[CaseRow]:
        view = self.viewport().rect()
        item = self.itemAt(view.topLeft())
        while item is not None and self.visualItemRect(item).intersects(view):
            if isinstance(item, CaseRow):
                yield item
            item = self.itemBelow(item)


def _is_row(node: QTreeWidgetItem) -> bool:
    return isinstance(node, CaseRow)


def _row(key: Key) -> CaseRow:
    row = CaseRow()
    row.key = key
    row.setSizeHint(0, QSize(0, _ROW_PX))
    return row


def _head(words: str) -> QTreeWidgetItem:
    node = QTreeWidgetItem([visible(words)])
    node.setFlags(Qt.ItemFlag.ItemIsEnabled)
    node.setToolTip(0, as_tip(words))
    return node


def _keys(entry: Entry) -> tuple[Key, Key, Key]:
    case, study, _ = entry.key
    return (case,), (case, study), entry.key


def _middle(stack: Stack) -> ImageRef:
    return stack.images[len(stack.images) // 2].ref


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for i in range(item.childCount()):
        child = item.child(i)
        if child is not None:
            yield child
