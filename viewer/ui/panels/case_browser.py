"""The case browser: patients, their studies and images, and a filter."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.case import Case, ImageRef, Study, View
from viewer.domain.errors import OverreadError
from viewer.domain.image import Raster
from viewer.services.view_image import thumbnail
from viewer.ui.errands import run_for
from viewer.ui.panels.hanging import Chosen, Stack, derived_count, stacks_of
from viewer.ui.panels.labels import caption, title

THUMBNAIL_PX: Final = 56
_CHOSEN: Final = Qt.ItemDataRole.UserRole
_WORDS: Final = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class ImageChosen:
    """A person chose a row; ``chosen`` tells what to hang."""

    chosen: Chosen


@dataclass(frozen=True, slots=True)
class OpenWanted:
    """A person asks for the file dialog, of folders or of files."""

    folder: bool


class CaseBrowser(QWidget):
    """A tree of the open cases with thumbnails, made while it is looked at."""

    image_chosen = Signal(object)
    """Carries an ImageChosen."""
    open_wanted = Signal(object)
    """Carries an OpenWanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caseBrowser")
        self._cases: tuple[Case, ...] = ()
        self._painted: set[ImageRef] = set()
        self._seconds = 0.0
        self._busy = caption()
        self.filter = QLineEdit(placeholderText="Filter by name, view, modality")
        self.filter.setAccessibleName("Filter the cases")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        self.tree = self._make_tree()
        self.count = caption()
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(self._tree_page())
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(title("Cases"))
        column.addLayout(self._stack, 1)

    def _make_tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setHeaderHidden(True)
        tree.setAccessibleName("Cases")
        tree.setIconSize(QSize(THUMBNAIL_PX, THUMBNAIL_PX))
        tree.setIndentation(10)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        tree.currentItemChanged.connect(self._tell)
        tree.verticalScrollBar().valueChanged.connect(self._paint_visible)
        tree.itemExpanded.connect(self._paint_visible)
        return tree

    def _tree_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.filter, self.tree, self.count):
            column.addWidget(widget)
        return page

    def _empty_page(self) -> QWidget:
        page = QWidget()
        text = QLabel(
            "No case is open. Open files or a folder, or drop them on the image.",
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
        column.addWidget(self._busy)
        column.addStretch(1)
        return page

    @property
    def cases(self) -> tuple[Case, ...]:
        """The open cases, in the order they were opened."""
        return self._cases

    def add_cases(self, cases: Sequence[Case], seconds: float) -> Chosen | None:
        """List further cases; return the first new image, None where all were here."""
        known = {stack.images[0].ref for _, stack in _rows_of(self._cases)}
        self._cases += tuple(cases)
        first: Chosen | None = None
        for case in cases:
            added = self._add_case(case, known)
            first = first or added
        self._stack.setCurrentIndex(1 if self._cases else 0)
        self._seconds += seconds
        self.say_count()
        QTimer.singleShot(0, self._paint_visible)
        return first

    def choose(self, ref: ImageRef) -> bool:
        """Choose the row with that image; False where it is not listed."""
        for item in self._image_items():
            chosen: Chosen = item.data(0, _CHOSEN)
            refs = [image.ref for image in chosen.stack.images]
            if ref in refs:
                at = Chosen(chosen.stack, chosen.siblings, refs.index(ref))
                item.setData(0, _CHOSEN, at)
                self._select(item)
                return True
        return False

    def step(self, steps: int) -> None:
        """Choose the visible row that lies ``steps`` further down."""
        items = [item for item in self._image_items() if not item.isHidden()]
        current = self.tree.currentItem()
        place = items.index(current) if current in items else -1
        if items:
            self._select(items[min(max(place + steps, 0), len(items) - 1)])

    def _select(self, item: QTreeWidgetItem) -> None:
        if self.tree.currentItem() is item:
            self._tell(item)
        else:
            self.tree.setCurrentItem(item)
        self.tree.scrollToItem(item)

    def _tell(self, item: QTreeWidgetItem | None, *_: object) -> None:
        chosen = item.data(0, _CHOSEN) if item is not None else None
        if chosen is not None:
            self.image_chosen.emit(ImageChosen(chosen))

    def _add_case(self, case: Case, known: set[ImageRef]) -> Chosen | None:
        first: Chosen | None = None
        top = QTreeWidgetItem([_patient_words(case)])
        for study in case.studies:
            stacks = stacks_of(study)
            fresh = [s for s in stacks if s.images[0].ref not in known]
            if not fresh:
                continue
            node = QTreeWidgetItem(top, [_study_words(study)])
            node.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for stack in fresh:
                chosen = Chosen(stack, stacks)
                _add_row(node, chosen, f"{top.text(0)} {node.text(0)}")
                first = first or chosen
        if first is not None:
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.tree.addTopLevelItem(top)
            top.setExpanded(True)
            for node in _children(top):
                node.setExpanded(True)
        return first

    def say(self, words: str) -> None:
        """Show what goes on in place of the counts."""
        self.count.setText(words)
        self._busy.setText(words)

    def say_count(self) -> None:
        """Show how much is open and how long finding it took."""
        self._busy.clear()
        rows = list(_rows_of(self._cases))
        images = sum(len(stack.images) for _, stack in rows)
        parts = [
            _counted(self.tree.topLevelItemCount(), "case"),
            _counted(images, "image"),
            f"indexed in {self._seconds:.1f} s",
        ]
        if derived := derived_count(self._cases):
            parts.append(f"{derived} derived series not listed")
        unreadable = [name for case in self._cases for name in case.unreadable]
        if unreadable:
            parts.append(_counted(len(unreadable), "other file"))
        self.count.setText(" · ".join(parts))
        self.count.setToolTip("\n".join(unreadable[:40]))

    def _image_items(self) -> Iterator[QTreeWidgetItem]:
        for case in _children(self.tree.invisibleRootItem()):
            for study in _children(case):
                yield from _children(study)

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        for item in self._image_items():
            hidden = not all(word in item.data(0, _WORDS) for word in words)
            item.setHidden(hidden)
        for case in _children(self.tree.invisibleRootItem()):
            _hide_empty(case)
        self._paint_visible()

    def _paint_visible(self, *_: object) -> None:
        view = self.tree.viewport().rect()
        for item in self._image_items():
            ref = _middle(item.data(0, _CHOSEN).stack)
            seen = self.tree.visualItemRect(item)
            if ref in self._painted or seen.isEmpty() or not seen.intersects(view):
                continue
            self._painted.add(ref)
            self._paint(item, ref)

    def _paint(self, item: QTreeWidgetItem, ref: ImageRef) -> None:
        def on_done(raster: Raster) -> None:
            item.setIcon(0, QIcon(pixmap_of(raster)))

        def on_error(error: Exception) -> None:
            item.setToolTip(0, _sentence(error))
            item.setText(0, f"{item.text(0)}\ncannot be read")

        side = THUMBNAIL_PX * 2
        run_for(self, lambda: thumbnail(ref, side), on_done, on_error, priority=-1)


def pixmap_of(raster: Raster) -> QPixmap:
    """Return a pixmap with the raster's pixels, grey or RGB."""
    size, grey = raster.size, raster.pixels.ndim == 2
    form = QImage.Format.Format_Grayscale8 if grey else QImage.Format.Format_RGB888
    stride = size.columns if grey else 3 * size.columns
    image = QImage(raster.pixels.tobytes(), size.columns, size.rows, stride, form)
    return QPixmap.fromImage(image.copy())


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, OverreadError) else type(error).__name__


def _middle(stack: Stack) -> ImageRef:
    return stack.images[len(stack.images) // 2].ref


def _rows_of(cases: Sequence[Case]) -> Iterator[tuple[Study, Stack]]:
    for case in cases:
        for study in case.studies:
            for stack in stacks_of(study):
                yield study, stack


def _add_row(parent: QTreeWidgetItem, chosen: Chosen, above: str) -> None:
    stack = chosen.stack
    item = QTreeWidgetItem(parent, ["\n".join(_stack_words(stack))])
    item.setSizeHint(0, QSize(0, THUMBNAIL_PX + 8))
    item.setData(0, _CHOSEN, chosen)
    names = " ".join(Path(i.ref.path).name for i in stack.images[:1])
    item.setData(0, _WORDS, f"{above} {item.text(0)} {names}".lower())
    item.setToolTip(0, str(stack.images[0].ref.path))


def _stack_words(stack: Stack) -> tuple[str, str]:
    named = stack.view in {View.UNKNOWN, View.OTHER}
    return (stack.name, stack.words) if named else (stack.words, stack.name)


def _hide_empty(item: QTreeWidgetItem) -> None:
    for child in _children(item):
        if child.childCount():
            _hide_empty(child)
    item.setHidden(all(child.isHidden() for child in _children(item)))


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for i in range(item.childCount()):
        child = item.child(i)
        if child is not None:
            yield child


def _patient_words(case: Case) -> str:
    return case.patient_key or "No patient named"


def _study_words(study: Study) -> str:
    day = study.date
    dated = f"{day[:4]}-{day[4:6]}-{day[6:]}" if len(day) == 8 else day
    return " · ".join(w for w in (dated, study.description) if w) or "Study"


def _counted(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
