"""Import predictions: choose or drop a file, map its columns, preview, score.

Nothing is stored before Import; the preview shows what importing would do.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.prediction import Coordinates
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.import_predictions_columns import ColumnsTable
from viewer.ui.widgets.drop_target import DropTarget
from viewer.ui.widgets.file_choice import choose_folder, choose_to_read
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.pixmaps import pixmap_of
from viewer.ui.widgets.plain_text import Label, as_tip
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.importing.answering_file import AskedRun
    from viewer.services.importing.import_predictions import (
        PlannedPredictions,
        PredictionsSource,
    )
    from viewer.services.importing.preview_predictions import (
        Column,
        DrawnPrediction,
        PredictionsPreview,
    )

_SIZE: Final = (820, 760)
_SIDE: Final = 200
_PICTURES: Final = 3
_FILES: Final = "Predictions (*.csv *.json *.dcm);;All files (*)"
_DROP: Final = (
    "Choose a table (CSV), COCO results (JSON), DICOM segmentations or a folder of "
    "mask pictures, or drop them here."
)
_LOOK: Final = "The reference is blue. Are the predictions where they should be?"
_COUNTS: Final = {
    "choose the units": None,
    "pixels of the image file": Coordinates.NATIVE,
    "fractions of its width and height, 0 to 1": Coordinates.NORMALISED,
    "pixels of the square that is sent": Coordinates.SENT,
}
_SHAPES: Final = {"choose which to score": "", "boxes": "box", "masks": "mask"}


class ImportPredictions(QDialog):
    """The page; the window stays free beside it."""

    planned = Signal(object)
    """PlannedPredictions: the run that is now to be asked"""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import predictions")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._settings, self._background_tasks = settings, BackgroundTasks(self)
        self._file: Path | None = None
        self._listing: Path | None = None
        self._usable = False
        self.path = selectable(_DROP)
        self.file, self.folder = QPushButton("File…"), QPushButton("Folder…")
        self.name, self.finding = QLineEdit(), QLineEdit()
        self.dataset, self.questions = QComboBox(), QComboBox()
        self.coordinates, self.shape = QComboBox(), QComboBox()
        self.listing = QPushButton("Choose…")
        self.columns = ColumnsTable()
        self.pictures = [Label() for _ in range(_PICTURES)]
        self.captions = [caption() for _ in range(_PICTURES)]
        self.unused, self.sentence = selectable(), selectable()
        self.go, self.leave = primary("Import"), QPushButton("Close")
        self._form = QFormLayout()
        self._drop = DropTarget(self)
        self._fill()
        self._lay_out()
        self._connect()
        self._show_kind("")

    def open_path(self, file: Path) -> None:
        """Look at a file or folder of predictions."""
        self._file, self._listing = file, None
        self.path.setText(str(file))
        self.listing.setText("Choose…")
        if not self.name.text():
            self.name.setText(file.stem.replace(" ", "-"))
        kind = file.suffix.lower()
        self._show_kind(kind)
        self.columns.show_columns(())
        if kind == ".csv":
            self._look_at_columns(file)
        else:
            self._preview()

    def _look_at_columns(self, file: Path) -> None:
        from viewer.services.importing.preview_predictions import columns_of

        self._empty("Reading …")
        self._background_tasks.start(
            "columns", lambda: columns_of(file), self._offer_columns, self._fail
        )

    def _offer_columns(self, columns: "tuple[Column, ...]") -> None:
        self.columns.show_columns(columns)
        self._preview()

    def _source(self) -> "PredictionsSource | None":
        from viewer.services.importing.import_predictions import PredictionsSource

        if self._file is None or not self.dataset.currentText():
            return None
        asked = self.questions.currentData()
        grids, like = asked or ((8,), None)
        return PredictionsSource(
            file=self._file,
            name=self.name.text().strip(),
            dataset=self.dataset.currentText(),
            columns=self.columns.mapping(),
            coordinates=self.coordinates.currentData(),
            finding=self.finding.text().strip(),
            like=like,
            grids=grids,
            listing=self._listing,
            shape=self.shape.currentData(),
        )

    def _preview(self, *_: object) -> None:
        from viewer.services.importing.preview_predictions import preview_predictions

        source = self._source()
        if source is None or "columns" in self._background_tasks:
            return
        self._empty("Reading the predictions …")
        store, side = self._settings.store, round(_SIDE * self.devicePixelRatioF())
        self._background_tasks.start(
            "preview",
            lambda: preview_predictions(store, source, side),
            self._show_preview,
            self._fail,
        )

    def _show_preview(self, seen: "PredictionsPreview") -> None:
        self.sentence.setText(f"{seen.matched.sentence}.")
        lines = seen.matched.unused
        more = f"\n… and {len(lines) - 3} more names" if len(lines) > 3 else ""
        self.unused.setText("\n".join(lines[:3]) + more)
        self.unused.setToolTip(as_tip("\n".join(lines[:100])))
        for place, drawn in enumerate(seen.pictures):
            self._draw(self.pictures[place], drawn)
            self.captions[place].setText(drawn.finding)
        self._usable = True
        self._offer()

    def _draw(self, label: QLabel, drawn: "DrawnPrediction") -> None:
        pixmap = pixmap_of(drawn.raster)
        pixmap.setDevicePixelRatio(self.devicePixelRatioF())
        label.setPixmap(pixmap)
        label.setToolTip(as_tip(drawn.image))
        label.setAccessibleName(f"{drawn.finding} on {drawn.image}")

    def _empty(self, words: str) -> None:
        """Take away what was shown of another choice."""
        self._usable = False
        self._offer()
        self.sentence.setText(words)
        self.unused.setText("")
        for label, below in zip(self.pictures, self.captions, strict=True):
            label.clear()
            label.setToolTip("")
            below.clear()

    def _offer(self, *_: object) -> None:
        self.go.setEnabled(self._usable and bool(self.name.text().strip()))

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self._empty("")
        if not isinstance(error, OverreadError):
            raise error
        self.sentence.setText(str(error))

    def _import(self) -> None:
        from viewer.services.importing.preview_predictions import plan_import

        source = self._source()
        if source is None:
            return
        store, home = self._settings.store, self._settings.home
        self.go.setEnabled(False)
        self._background_tasks.start(
            "plan", lambda: plan_import(store, home, source), self._done, self._fail
        )

    def _done(self, planned: "PlannedPredictions") -> None:
        self.planned.emit(planned)
        self.accept()

    def _list_runs(self, *_: object) -> None:
        from viewer.services.importing.answering_file import asked_runs

        store, dataset = self._settings.store, self.dataset.currentText()
        self._background_tasks.start(
            "runs", lambda: asked_runs(store, dataset), self._offer_runs, self._fail
        )

    def _offer_runs(self, found: "tuple[AskedRun, ...]") -> None:
        self.questions.clear()
        for grid in (8, 16):
            words = f"For the findings in the file, {grid} × {grid}"
            self.questions.addItem(words, ((grid,), None))
        for run in found:
            self.questions.addItem(run.words, ((), run.id))
        self._preview()

    def _show_kind(self, kind: str) -> None:
        """Show what has to be said of a kind of file only."""
        self._table_title.setVisible(kind == ".csv")
        self.columns.setVisible(kind == ".csv")
        self._form.setRowVisible(self.coordinates, kind in {".csv", ".json"})
        self._form.setRowVisible(self.finding, kind in {".csv", ".json"})
        self._form.setRowVisible(self.listing, kind == ".json")
        self._form.setRowVisible(self.shape, kind == ".json")

    def _take_dropped(self, paths: tuple[Path, ...]) -> None:
        self.open_path(paths[0])

    def _take_listing(self, path: Path) -> None:
        self._listing = path
        self.listing.setText(path.name)
        self._preview()

    def _choose_file(self) -> None:
        choose_to_read(self, "File of predictions", _FILES, self.open_path)

    def _choose_folder(self) -> None:
        title = "Folder of segmentations or mask pictures"
        choose_folder(self, title, self.open_path)

    def _choose_listing(self) -> None:
        choose_to_read(
            self,
            "Instances file that the results refer to",
            "*.json",
            self._take_listing,
        )

    def _fill(self) -> None:
        from viewer.services.running.batch_form import dataset_names

        self.dataset.addItems(list(dataset_names(self._settings.store)))
        for words, meant in _COUNTS.items():
            self.coordinates.addItem(words, meant)
        for words, shape in _SHAPES.items():
            self.shape.addItem(words, shape)
        for box in (self.dataset, self.questions):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.finding.setPlaceholderText("if the file does not state it")
        self.name.setPlaceholderText("the model's name in tables")
        for label in self.pictures:
            label.setFixedSize(_SIDE, _SIDE)
        for button in (self.file, self.folder, self.listing, self.leave):
            button.setAutoDefault(False)
        self.go.setEnabled(False)
        self.go.setDefault(True)
        if not self.dataset.count():
            self.sentence.setText("No data set is registered; import one first.")

    def _connect(self) -> None:
        self.file.clicked.connect(self._choose_file)
        self.folder.clicked.connect(self._choose_folder)
        self.listing.clicked.connect(self._choose_listing)
        self.dataset.activated.connect(self._list_runs)
        for box in (self.questions, self.coordinates, self.shape):
            box.activated.connect(self._preview)
        self.columns.changed.connect(self._preview)
        self.finding.editingFinished.connect(self._preview)
        self.name.textChanged.connect(self._offer)
        self.go.clicked.connect(self._import)
        self.leave.clicked.connect(self.reject)
        self._drop.dropped.connect(self._take_dropped)
        if self.dataset.count():
            self._list_runs()

    def _lay_out(self) -> None:
        where = QHBoxLayout()
        where.addWidget(self.path, 1)
        where.addWidget(self.file)
        where.addWidget(self.folder)
        form = self._form
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        self.name.setMinimumWidth(320)
        self.finding.setMinimumWidth(320)
        form.addRow("Model", self.name)
        form.addRow("Data set", self.dataset)
        form.addRow("Questions", self.questions)
        form.addRow("Coordinates are", self.coordinates)
        form.addRow("Finding", self.finding)
        form.addRow("Instances file", self.listing)
        form.addRow("Shapes", self.shape)
        self._table_title = title("Columns")
        column = QVBoxLayout(self)
        column.addLayout(where)
        column.addLayout(form)
        column.addWidget(self._table_title)
        column.addWidget(self.columns, 1)
        column.addWidget(title("On their images"))
        column.addLayout(self._strip())
        column.addWidget(caption(_LOOK))
        column.addWidget(self.unused)
        column.addLayout(self._foot())
        resize_on_screen(self, *_SIZE)

    def _strip(self) -> QHBoxLayout:
        strip = QHBoxLayout()
        for label, words in zip(self.pictures, self.captions, strict=True):
            one = QVBoxLayout()
            one.addWidget(label)
            one.addWidget(words)
            strip.addLayout(one)
        strip.addStretch(1)
        return strip

    def _foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.addWidget(self.sentence, 1)
        foot.addWidget(self.leave)
        foot.addWidget(self.go)
        return foot
