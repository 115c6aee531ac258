"""The tree of patients, studies and images, which grows without moving under the eye.

Rows have keys that last: a stack that gets further images stays the same row, and what
is selected or scrolled to stays where it is while others come in above it.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTreeWidget, QTreeWidgetItem, QWidget
from shiboken6 import isValid

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import OverreadError
from viewer.domain.escapes import visible
from viewer.ui.panels.read.hanging import CaseRows, Chosen, Stack, StudyRows
from viewer.ui.panels.read.thumbnails import ThumbnailMade
from viewer.ui.widgets.pixmaps import pixmap_of
from viewer.ui.widgets.plain_text import as_tip

THUMBNAIL_PX: Final = 56
_SETTLED_MS: Final = 40
"""After this a scroll has come to rest and thumbnails are worth making."""
_Key = tuple[str, ...]
_Listed = TypeVar("_Listed", CaseRows, StudyRows, Stack)
_KEPT: Final = 400
"""Thumbnails kept; at twice the size of the screen's they take 50 kB each."""


class CaseRow(QTreeWidgetItem):
    """One stack of images."""

    stack = Stack("", "", ())
    words = ""
    """What a filter looks in."""
    key: _Key = ()
    """The keys of its patient, study and stack."""
    position = 0
    """The image at which the stack comes up."""

    def show_stack(self, stack: Stack, above: str) -> None:
        """Show a stack, the first time or after it grew."""
        self.stack = stack
        path, captions = stack.images[0].ref.path, _captions(stack)
        self.words = " ".join((above, *captions, path.name)).lower()
        self.setText(0, visible("\n".join(captions)))
        self.setToolTip(0, as_tip(str(path)))

    def show_thumbnail(self, event: ThumbnailMade) -> None:
        """Show the thumbnail, or say that there is none."""
        if event.raster is not None:
            pixmap = pixmap_of(event.raster)
            icon = QIcon(pixmap)
            icon.addPixmap(pixmap, QIcon.Mode.Selected)  # styles tint it otherwise
            self.setIcon(0, icon)
        else:
            self.setToolTip(0, as_tip(_sentence(event.error)))
            self.setText(0, f"{self.text(0)}\ncannot be read")


class CaseTree(QTreeWidget):
    """Shows cases, and reports which thumbnails are in view."""

    thumbnails_wanted = Signal(object)
    """tuple[ImageRef, ...]: of the rows on the screen those without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._nodes: dict[_Key, QTreeWidgetItem] = {}
        self._studies: dict[_Key, tuple[Stack, ...]] = {}
        self._filter: list[str] = []
        self._painted: dict[ImageRef, CaseRow] = {}
        self.setHeaderHidden(True)
        self.setAccessibleName("Cases")
        self.setIconSize(QSize(THUMBNAIL_PX, THUMBNAIL_PX))
        self.setIndentation(10)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._rest = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._rest.timeout.connect(self._want_thumbnails)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        self.itemExpanded.connect(self._moved)

    def rows(self) -> Iterator[CaseRow]:
        """Yield every row, from the top down."""
        for case in self._cases():
            for study in _children(case):
                yield from (r for r in _children(study) if isinstance(r, CaseRow))

    @property
    def current_row(self) -> CaseRow | None:
        """The row that is chosen."""
        item = self.currentItem()
        return item if isinstance(item, CaseRow) else None

    def chosen(self, row: CaseRow) -> Chosen:
        """Return the image of a row, with the other rows of its study."""
        return Chosen(row.stack, self._studies[row.key[:2]], row.position)

    def show_cases(self, cases: Sequence[CaseRows]) -> None:
        """Show these cases; rows that are here already stay, others go."""
        top = self.itemAt(0, 0)
        before = self.visualItemRect(top).top() if top is not None else 0
        self.setUpdatesEnabled(False)
        self._remove_all_but(cases)
        for key, node, case in self._grown((), None, cases):
            for study_key, study_node, study in self._grown(key, node, case.studies):
                self._studies[study_key] = study.stacks
                self._show_stacks(study_key, study_node, f"{case.words} {study.words}")
        self._hide_unmatched()
        if top is not None and isValid(top):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualItemRect(top).top() - before)
        self.setUpdatesEnabled(True)
        self._moved()

    def _show_stacks(self, key: _Key, node: QTreeWidgetItem, above: str) -> None:
        for row_key, row, stack in self._grown(key, node, self._studies[key]):
            if isinstance(row, CaseRow) and row.stack.images != stack.images:
                row.key = row_key
                row.show_stack(stack, above)

    def _grown(
        self, above: _Key, parent: QTreeWidgetItem | None, listed: Sequence[_Listed]
    ) -> Iterator[tuple[_Key, QTreeWidgetItem, _Listed]]:
        """Yield the node of each entry, inserted at its position if new."""
        place = 0
        for thing in listed:
            key = (*above, thing.key)
            node = self._nodes.get(key)
            if node is None:
                node = self._nodes[key] = _node_of(thing)
                self._insert(parent, place, node)
                node.setExpanded(True)
            elif self._child(parent, place) is not node:
                place = self._place_of(parent, node)
            place += 1
            yield key, node, thing

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

    def _place_of(self, parent: QTreeWidgetItem | None, node: QTreeWidgetItem) -> int:
        if parent is None:
            return self.indexOfTopLevelItem(node)
        return parent.indexOfChild(node)

    def _remove(self, node: QTreeWidgetItem) -> None:
        parent = node.parent()
        if parent is None:
            self.takeTopLevelItem(self.indexOfTopLevelItem(node))
        else:
            parent.removeChild(node)

    def _remove_all_but(self, cases: Sequence[CaseRows]) -> None:
        """Remove what is not listed, rows first: a node takes those under it along."""
        wanted = set(_keys(cases))
        gone = [key for key in self._nodes if key not in wanted]
        for key in sorted(gone, key=len, reverse=True):
            node = self._nodes.pop(key)
            self._remove(node)
            self._studies.pop(key, None)
            if isinstance(node, CaseRow):
                self._painted = {
                    r: n for r, n in self._painted.items() if n is not node
                }

    def set_filter(self, text: str) -> bool:
        """Hide every row that lacks one of the words; return whether one is left."""
        self._filter = text.lower().split()
        self._hide_unmatched()
        self._moved()
        return not all(case.isHidden() for case in self._cases())

    def _hide_unmatched(self) -> None:
        for case in self._cases():
            for study in _children(case):
                for row in _children(study):
                    words = row.words if isinstance(row, CaseRow) else ""
                    hidden = not all(word in words for word in self._filter)
                    # setHidden() lays the tree out again, even where nothing changes.
                    if row.isHidden() != hidden:
                        row.setHidden(hidden)
                _hide_empty(study)
            _hide_empty(case)

    def show_thumbnail(self, event: ThumbnailMade) -> None:
        """Show a thumbnail on its row, and drop the least recently seen one."""
        row = self._painted.get(event.ref)
        if row is None:
            return
        row.show_thumbnail(event)
        while len(self._painted) > _KEPT:
            oldest = next(iter(self._painted))
            self._painted.pop(oldest).setIcon(0, QIcon())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Request the thumbnails that a larger list shows."""
        super().resizeEvent(event)
        self._moved()

    def _moved(self, *_: object) -> None:
        self._rest.start()

    def _want_thumbnails(self) -> None:
        wanted = []
        for row in self._rows_on_screen():
            ref = _middle(row.stack)
            known = self._painted.pop(ref, None)
            self._painted[ref] = row
            if known is None or row.icon(0).isNull():
                wanted.append(ref)
        self.thumbnails_wanted.emit(tuple(wanted))

    def _rows_on_screen(self) -> Iterator[CaseRow]:
        view = self.viewport().rect()
        item = self.itemAt(view.topLeft())
        while item is not None and self.visualItemRect(item).intersects(view):
            if isinstance(item, CaseRow):
                yield item
            item = self.itemBelow(item)


def _node_of(thing: _Listed) -> QTreeWidgetItem:
    if isinstance(thing, Stack):
        row = CaseRow()
        row.setSizeHint(0, QSize(0, THUMBNAIL_PX + 8))
        return row
    node = QTreeWidgetItem([visible(thing.words)])
    node.setFlags(Qt.ItemFlag.ItemIsEnabled)
    node.setToolTip(0, as_tip(thing.words))
    return node


def _keys(cases: Sequence[CaseRows]) -> Iterator[_Key]:
    for case in cases:
        yield (case.key,)
        for study in case.studies:
            yield case.key, study.key
            yield from ((case.key, study.key, stack.key) for stack in study.stacks)


def _sentence(error: Exception | None) -> str:
    return str(error) if isinstance(error, OverreadError) else type(error).__name__


def _middle(stack: Stack) -> ImageRef:
    return stack.images[len(stack.images) // 2].ref


def _captions(stack: Stack) -> tuple[str, str]:
    projected = stack.view in {View.FRONTAL, View.LATERAL}
    return (stack.words, stack.name) if projected else (stack.name, stack.words)


def _hide_empty(item: QTreeWidgetItem) -> None:
    hidden = all(child.isHidden() for child in _children(item))
    if item.isHidden() != hidden:
        item.setHidden(hidden)


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for i in range(item.childCount()):
        child = item.child(i)
        if child is not None:
            yield child
