"""Import data set: choose or drop, read, preview, and only then register."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.case import NAMED_VIEWS, View
from viewer.domain.errors import OverreadError
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.foot import Foot
from viewer.ui.dialogs.import_reading import FilesRead, Reading, Wanted
from viewer.ui.dialogs.mask_strip import MOST, MaskStrip
from viewer.ui.dialogs.read_only_tables import (
    FINDINGS,
    ITEMS,
    NOTICES,
    fill,
    read_only_table,
)
from viewer.ui.widgets.drop_target import DropTarget
from viewer.ui.widgets.file_choice import choose_folder, choose_to_read
from viewer.ui.widgets.labels import caption, selectable, title
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.importing.import_preview import ImportPreview

_SIZE: Final = (760, 680)
_FILES: Final = (
    "Tables and lists (*.csv *.tsv *.json *.jsonl *.parquet *.toml);;All files (*)"
)
_DROP: Final = "Choose a folder, a table or a JSON file, or drop it here."
_AS_WRITTEN: Final = "As the files say"
_RESTRICTED_TIP: Final = (
    "For data whose licence forbids passing it on: no image of it may be sent to "
    "another machine"
)


class ImportDataset(QDialog):
    """The page; the window stays free beside it."""

    imported = Signal(object)
    """str: the name that a data set was registered under"""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import data set")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._settings = settings
        self._root: Path | None = None
        self._seen: ImportPreview | None = None
        self._reading, self._background_tasks = Reading(self), BackgroundTasks(self)
        self.path = selectable(_DROP)
        self.folder, self.file = QPushButton("Folder…"), QPushButton("File…")
        self.format, self.view = QComboBox(), QComboBox()
        self.name = QLineEdit()
        self.restricted = QCheckBox("Restricted: stays on this machine")
        self.findings, self.notices = (
            read_only_table(FINDINGS),
            read_only_table(NOTICES),
        )
        self.items, self.masks = read_only_table(ITEMS), MaskStrip()
        self.foot = Foot("Import")
        self._drop = DropTarget(self)
        self._fill()
        self._lay_out()
        self._connect()
        self._show(None)
        self.foot.ready()
        for widget in self._choices:
            widget.setEnabled(False)

    @property
    def _choices(self) -> tuple[QWidget, ...]:
        """What can be chosen about a folder or file, once there is one."""
        return (self.format, self.name, self.view, self.restricted)

    def open_path(self, root: Path) -> None:
        """Look at a folder or file: which format, and what it holds."""
        self._root = root
        for widget in self._choices:
            widget.setEnabled(True)
        self.path.setText(str(root))
        self.name.setText(root.stem if root.is_file() else root.name)
        self._show(None)
        self.foot.busy("Detecting the format …")
        self._reading.look(root, self._offer_formats, self._fail)

    def _offer_formats(self, found: tuple[str, ...]) -> None:
        """Choose the format found; a person may say another."""
        from viewer.services.importing.import_preview import formats_shown

        self.foot.ready()
        for row, (name, shown) in enumerate(formats_shown().items()):
            mark = "  (looks like it)" if name in found else ""
            self.format.setItemText(row, f"{shown.title}{mark}")
        if found:
            self.format.setCurrentIndex(self.format.findData(found[0]))
            self._read()
        else:
            self.foot.sentence.setText(
                "It does not look like any known format. Choose its format, or "
                "something else to import."
            )

    def _read(self, *_: object) -> None:
        if self._root is None:
            return
        self._show(None)
        self.foot.busy("Reading …")
        view = self.view.currentData()
        wanted = Wanted(
            self.format.currentData(),
            self._root,
            self.name.text().strip() or self._root.name,
            View(view) if view else None,
        )
        self._reading.read(wanted, self._show_preview, self._fail)

    def _show_preview(self, seen: "ImportPreview") -> None:
        self.foot.ready()
        self._show(seen)

    def _show(self, seen: "ImportPreview | None") -> None:
        """Show what a data set holds; None empties the page."""
        from viewer.services.importing.mask_pictures import masks_to_look_at

        self._seen = seen
        counts = seen.findings if seen else ()
        kinds = seen.notices if seen else ()
        rows = [(c.finding, c.positive, c.negative, c.referenced) for c in counts]
        fill(self.findings, rows)
        fill(self.notices, [(n.count, n.first) for n in kinds])
        asked = seen.items if seen else ()
        fill(self.items, [(_kind(each.kind), each.items) for each in asked])
        self.masks.show_masks(masks_to_look_at(seen.dataset, MOST) if seen else ())
        self.items.setVisible(bool(asked))
        self.findings.setVisible(bool(counts) or not asked)
        self.foot.sentence.setText(seen.sentence if seen else "")
        self._offer()

    def _offer(self) -> None:
        named = bool(self.name.text().strip())
        self.foot.go.setEnabled(self._seen is not None and named)

    def _register(self) -> None:
        from viewer.services.importing.import_preview import register

        seen, name = self._seen, self.name.text().strip()
        if seen is None:
            return
        store, restricted = self._settings.store, self.restricted.isChecked()
        self.foot.busy("Registering …")
        self._background_tasks.start(
            "register",
            lambda: register(store, seen, name, restricted=restricted or None),
            lambda _: self._registered(name),
            self._not_registered,
        )

    def _registered(self, name: str) -> None:
        self.imported.emit(name)
        self.accept()

    def _not_registered(self, error: Exception) -> None:
        """Say why; what was read is still there to be registered otherwise."""
        self._fail(error)
        self._offer()

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self.foot.ready()
        if not isinstance(error, OverreadError):
            raise error
        self.foot.sentence.setText(str(error))

    def _progressed(self, told: FilesRead) -> None:
        if self._reading.is_under_way:
            words = f"Reading {told.done:,} of {told.every:,} files"
            self.foot.tell(told.done, told.every, words)

    def _stop(self) -> None:
        self._reading.stop()
        self.foot.ready()
        self.foot.sentence.setText("Stopped; nothing was registered.")

    def _take_dropped(self, paths: tuple[Path, ...]) -> None:
        self.open_path(paths[0])

    def _choose_folder(self) -> None:
        choose_folder(self, "Folder of a data set", self.open_path)

    def _choose_file(self) -> None:
        choose_to_read(self, "File of a data set", _FILES, self.open_path)

    def reject(self) -> None:
        """Close, and stop reading."""
        self._reading.stop()
        super().reject()

    def _fill(self) -> None:
        from viewer.services.importing.import_preview import formats_shown

        for name, shown in formats_shown().items():
            self.format.addItem(shown.title, name)
            row = self.format.count() - 1
            self.format.setItemData(row, shown.summary, Qt.ItemDataRole.ToolTipRole)
        self.format.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.view.addItem(_AS_WRITTEN, "")
        for view in NAMED_VIEWS:
            self.view.addItem(view.capitalize(), view)
        self.view.setToolTip("View of images that do not state one")
        self.restricted.setToolTip(_RESTRICTED_TIP)
        for button in (self.folder, self.file):
            button.setAutoDefault(False)

    def _connect(self) -> None:
        self.folder.clicked.connect(self._choose_folder)
        self.file.clicked.connect(self._choose_file)
        self.format.activated.connect(self._read)
        self.view.activated.connect(self._read)
        self.name.textChanged.connect(self._offer)
        self.foot.stop.clicked.connect(self._stop)
        self.foot.go.clicked.connect(self._register)
        self.foot.leave.clicked.connect(self.reject)
        self._reading.progressed.connect(self._progressed)
        self._drop.dropped.connect(self._take_dropped)

    def _lay_out(self) -> None:
        where = QHBoxLayout()
        where.addWidget(self.path, 1)
        where.addWidget(self.folder)
        where.addWidget(self.file)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        self.name.setMinimumWidth(280)
        form.addRow("Format", self.format)
        form.addRow("Name", self.name)
        form.addRow("View", self.view)
        form.addRow("", self.restricted)
        column = QVBoxLayout(self)
        column.addLayout(where)
        column.addLayout(form)
        column.addWidget(title("Contents"))
        column.addWidget(self.items, 3)
        column.addWidget(self.findings, 3)
        column.addWidget(self.notices, 2)
        column.addWidget(self.masks)
        column.addWidget(caption("All notices are stored with the data set."))
        column.addWidget(self.foot)
        resize_on_screen(self, *_SIZE)


def _kind(name: str) -> str:
    """Return what a kind of item is called; files join its words by underscores."""
    return name.replace("_", " ") or "of one kind"
