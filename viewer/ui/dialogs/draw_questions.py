"""Draw questions from data sets' boxes and masks, with a preview."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.draw_reading import DrawReading, ToDraw
from viewer.ui.dialogs.foot import Foot
from viewer.ui.dialogs.import_reading import FilesRead
from viewer.ui.dialogs.read_only_tables import (
    BOXES,
    NOTICES,
    QUESTIONS,
    RULES,
    fill,
    read_only_table,
)
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.number_box import WholeBox
from viewer.ui.widgets.params_form import ParamsForm, align
from viewer.ui.widgets.scrolled import resize_on_screen, scrolled

if TYPE_CHECKING:
    from viewer.services.configuring.form_field import FormField
    from viewer.services.importing.draw_questions import Drawable, Drawn

_SIZE: Final = (980, 720)
WAIT_MS: Final = 400
"""How long a choice stands before questions are drawn anew."""
_LARGEST_SEED: Final = 2**31 - 1
_NONE: Final = (
    "No data set has both masks of anatomies and boxes of findings. Import one with "
    "File ▸ Import data set…, for example VinDr-CXR with anatomy.json next to it."
)
_RULES: Final = (
    "What each rule does with findings that have a box. Placed: in an anatomy. "
    "Lost: in none, although a box lies entirely inside one. Healthy with a "
    "box: anatomies that count as healthy although they contain half of a box or more."
)
_BOXES: Final = (
    "How many images have a box of each finding, and how many each step leaves. "
    "Agreed: readers whose boxes count. Reported: the report names the finding. "
    "Placed: the rule finds it in an anatomy."
)
_OTHERS: Final = (
    "Questions about several data sets are registered together, and a run's tables "
    "have the data sets side by side."
)
_MOST_ROWS: Final = 4
"""Of the other data sets, until the list scrolls."""
_KEPT: Final = (
    "The images stay the same; the questions are registered under their own name."
)


class DrawQuestions(QDialog):
    """The page; the window stays free beside it."""

    drawn = Signal(object)
    """str: the name that the questions were registered under"""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Draw questions")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._store = settings.store
        self._reading = DrawReading(settings.store, self)
        self._background_tasks = BackgroundTasks(self)
        self._found: Drawn | None = None
        self.dataset, self.preset = QComboBox(), QComboBox()
        self.others = QListWidget()
        self.form, self.seed, self.name = ParamsForm(), WholeBox(), QLineEdit()
        self.kinds, self.notices = read_only_table(QUESTIONS), read_only_table(NOTICES)
        self.rules = read_only_table(RULES)
        self.rules.setToolTip(_RULES)
        self.boxes = read_only_table(BOXES)
        self.boxes.setToolTip(_BOXES)
        self.foot = Foot("Draw")
        self._later = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._fill()
        self._lay_out()
        self._connect()
        self.foot.ready()
        self._show(None)
        self._background_tasks.start(
            "list", self._list, self._offer_datasets, self._fail
        )

    def _list(self) -> "tuple[Drawable, ...]":
        from viewer.services.importing.draw_questions import drawables

        return drawables(self._store)

    def _offer_datasets(self, found: "tuple[Drawable, ...]") -> None:
        """List every data set; the first that can be drawn from is chosen."""
        for each in found:
            self.dataset.addItem(each.name, each.reason)
            tip = each.reason or "It has masks of anatomies and boxes of findings."
            row = self.dataset.count() - 1
            self.dataset.setItemData(row, tip, Qt.ItemDataRole.ToolTipRole)
        able = [row for row, each in enumerate(found) if not each.reason]
        if able:
            self.dataset.setCurrentIndex(able[0])
            self._choose_dataset()
        else:
            self._able(False)
            self.foot.sentence.setText(_NONE)

    def _able(self, able: bool) -> None:
        for widget in (self.others, self.preset, self.form, self.seed, self.name):
            widget.setEnabled(able)

    def _choose_dataset(self) -> None:
        """Ask for the settings of the data set chosen, or say why it has none."""
        self._halt()
        reason = str(self.dataset.currentData() or "")
        self._able(not reason)
        if reason:
            self.foot.sentence.setText(reason)
            return
        source = self.dataset.currentText()
        self.name.setText(f"{source}-questions")
        self._offer_others(source)
        self._choose_preset()

    def _offer_others(self, source: str) -> None:
        """List the other data sets that questions can be drawn about, unticked."""
        with QSignalBlocker(self.others):
            self.others.clear()
            for row in range(self.dataset.count()):
                name = self.dataset.itemText(row)
                if name != source and not self.dataset.itemData(row):
                    item = QListWidgetItem(name, self.others)
                    item.setCheckState(Qt.CheckState.Unchecked)
        rows = min(self.others.count(), _MOST_ROWS)
        frame = 2 * self.others.frameWidth()
        self.others.setFixedHeight(rows * self.others.sizeHintForRow(0) + frame)
        self._rows.setRowVisible(self.others, rows > 0)

    def _sources(self) -> tuple[str, ...]:
        """Return the data sets that questions are drawn about."""
        items = (self.others.item(row) for row in range(self.others.count()))
        ticked = (
            one.text() for one in items if one.checkState() is Qt.CheckState.Checked
        )
        return (self.dataset.currentText(), *ticked)

    def _choose_preset(self) -> None:
        from viewer.services.importing.draw_questions import drawing_fields

        store, sources = self._store, self._sources()
        preset = str(self.preset.currentData())
        self._halt()
        self._background_tasks.start(
            "fields",
            lambda: drawing_fields(store, sources, preset),
            self._show_fields,
            self._fail,
        )

    def _show_fields(self, fields: "tuple[FormField, ...]") -> None:
        self.form.show_fields(fields)
        align([self._rows, self.form.rows])
        QTimer.singleShot(0, self, self._widen)  # new fields have no size before
        self._draw()

    def _widen(self) -> None:
        """Give the settings the width that they need; they scroll up and down only."""
        bar = self._area.verticalScrollBar().sizeHint().width()
        self._area.setMinimumWidth(self._page.minimumSizeHint().width() + bar)

    def _halt(self) -> None:
        """Drop what was drawn, and stop drawing."""
        self._later.stop()
        self._reading.stop()
        self.foot.ready()
        self._show(None)

    def _edited(self) -> None:
        self._halt()
        if self.form.values():  # else drawn once the settings are there
            self._later.start()

    def _draw(self) -> None:
        self.foot.busy("Reading the data set …")
        wanted = ToDraw(
            self._sources(),
            str(self.preset.currentData()),
            self.seed.value(),
            self._changes(),
        )
        self._reading.draw(wanted, self._show_drawn, self._fail)

    def _changes(self) -> dict[str, object]:
        """Return what differs from the preset, and the anatomies, which are its own."""
        from viewer.services.importing.draw_questions import ANATOMIES

        return {**self.form.changed(), ANATOMIES: self.form.values()[ANATOMIES]}

    def _show_drawn(self, found: "Drawn") -> None:
        self.foot.ready()
        self._show(found)

    def _show(self, found: "Drawn | None") -> None:
        """Show how many questions of each kind there are; None empties the page."""
        self._found = found
        kinds = found.kinds if found else ()
        notices = found.notices if found else ()
        fill(self.kinds, [(each.kind, each.questions) for each in kinds])
        fill(self.notices, [(n.count, n.first) for n in notices])
        fill(self.rules, found.rule_rows if found else ())
        rows = self.rules.verticalHeader().length() if found else 0
        head = self.rules.horizontalHeader().sizeHint().height()
        self.rules.setMinimumHeight(head + rows + 2 * self.rules.frameWidth())
        fill(self.boxes, found.box_rows if found else ())
        self.foot.sentence.setText(found.sentence if found else "")
        self._offer()

    def _offer(self) -> None:
        named = bool(self.name.text().strip())
        self.foot.go.setEnabled(self._found is not None and named)

    def _register(self) -> None:
        from viewer.services.importing.draw_questions import keep_drawn

        found, name, store = self._found, self.name.text().strip(), self._store
        if found is None:
            return
        self.foot.busy("Registering …")
        self._background_tasks.start(
            "register",
            lambda: keep_drawn(store, found, name),
            lambda _: self._registered(name),
            self._fail,
        )

    def _registered(self, name: str) -> None:
        self.drawn.emit(name)
        self.accept()

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self.foot.ready()
        if not isinstance(error, OverreadError):
            raise error
        self.foot.sentence.setText(str(error))
        self._offer()

    def _progressed(self, told: FilesRead) -> None:
        if self._reading.is_under_way:
            words = f"Checking {told.done:,} of {told.every:,} images"
            self.foot.tell(told.done, told.every, words)

    def _halt_by_hand(self) -> None:
        self._halt()
        self.foot.sentence.setText("Stopped; nothing was registered.")

    def reject(self) -> None:
        """Close, and end what is being drawn."""
        self._reading.stop()
        super().reject()

    def _fill(self) -> None:
        from viewer.services.importing.draw_questions import drawing_presets

        for name, words in drawing_presets().items():
            self.preset.addItem(words, name)
        self.others.setToolTip(_OTHERS)
        self.seed.setRange(0, _LARGEST_SEED)
        self.seed.setToolTip("The same seed and settings draw the same questions")
        self.name.setMinimumWidth(280)
        named = (
            (self.dataset, "Data set"),
            (self.others, "Data sets to ask about as well"),
            (self.preset, "Settings"),
            (self.seed, "Seed"),
            (self.name, "Name of the questions"),
        )
        for widget, words in named:
            widget.setAccessibleName(words)
        grow = QComboBox.SizeAdjustPolicy.AdjustToContents
        self.dataset.setSizeAdjustPolicy(grow)

    def _connect(self) -> None:
        self.dataset.activated.connect(self._choose_dataset)
        self.others.itemChanged.connect(self._choose_preset)
        self.preset.activated.connect(self._choose_preset)
        self.form.edited.connect(self._edited)
        self.seed.valueChanged.connect(self._edited)
        self.name.textChanged.connect(self._offer)
        self._later.timeout.connect(self._draw)
        self.foot.stop.clicked.connect(self._halt_by_hand)
        self.foot.go.clicked.connect(self._register)
        self.foot.leave.clicked.connect(self.reject)
        self._reading.progressed.connect(self._progressed)

    def _lay_out(self) -> None:
        self._rows = QFormLayout()
        self._rows.setFieldGrowthPolicy(
            QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint
        )
        self._rows.addRow("Data set", self.dataset)
        self._rows.addRow("And about", self.others)
        self._rows.setRowVisible(self.others, False)
        self._rows.addRow("Settings", self.preset)
        self._rows.addRow("Seed", self.seed)
        self._rows.addRow("Name", self.name)
        body = QHBoxLayout()
        body.addWidget(self._choices())
        body.addLayout(self._preview(), 1)
        column = QVBoxLayout(self)
        column.addLayout(body, 1)
        column.addWidget(self.foot)
        resize_on_screen(self, *_SIZE)

    def _choices(self) -> QWidget:
        self._page = QWidget()
        column = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(self._rows)
        column.addWidget(self.form)
        column.addStretch(1)
        self._area = scrolled(self._page)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return self._area

    def _preview(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.addWidget(title("What is drawn"))
        column.addWidget(self.kinds, 2)
        column.addWidget(self.rules, 1)
        column.addWidget(self.boxes, 2)
        column.addWidget(self.notices, 3)
        column.addWidget(caption(_KEPT))
        return column
