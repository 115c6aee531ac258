"""Review what a model prepared of reports, field by field, and write the cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.study_words import capital
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.foot import Foot
from viewer.ui.widgets.file_choice import Purpose, choose_folder
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.exporting.export_cases import (
        Mark,
        Prepared,
        PreparedRun,
        ReviewedCase,
        ReviewedField,
        Written,
    )

_Index = QModelIndex | QPersistentModelIndex
_SIZE: Final = (1080, 720)
_COLUMNS: Final = ("Field", "Text", "In the report", "Verdict")
_FIELD, _TEXT, _WITHIN, _VERDICT = range(4)
_VERDICTS: Final = {"": "", "accept": "Accept", "edit": "Edit", "reject": "Reject"}
_EDIT: Final = "edit"
_MOST_PROBLEMS: Final = 4
_NONE: Final = (
    "No run has prepared reports. Import a folder of reports as MEDSYN, then run the "
    "tasks extraction, summaries and distractors."
)
_HOW: Final = (
    "Accept, edit or reject each field; a text that you change counts as edited. "
    "Evidence of which the finding or the images are rejected is left out. Separate "
    "images with semicolons."
)
_INVENTED: Final = "Part of this does not stand in the report."


class _Texts(QStyledItemDelegate):
    """Edits a cell's text in several lines."""

    def createEditor(  # noqa: N802 - Qt's name
        self, parent: QWidget, _: QStyleOptionViewItem, __: _Index
    ) -> QWidget:
        """Return a box as large as the cell."""
        editor = QPlainTextEdit(parent)
        editor.setTabChangesFocus(True)
        return editor

    def setEditorData(  # noqa: N802 - Qt's name
        self, editor: QWidget, index: _Index
    ) -> None:
        """Fill the box with the cell's text."""
        if isinstance(editor, QPlainTextEdit):
            editor.setPlainText(str(index.data()))
            editor.selectAll()

    def setModelData(  # noqa: N802 - Qt's name
        self, editor: QWidget, model: QAbstractItemModel, index: _Index
    ) -> None:
        """Keep what was written."""
        if isinstance(editor, QPlainTextEdit):
            model.setData(index, editor.toPlainText())


class ReviewCases(QDialog):
    """The page; the window stays free beside it. Every decision is saved at once."""

    written = Signal(object)
    """Path: the folder that cases were written into"""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Review prepared cases")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._store = settings.store
        self._tasks = BackgroundTasks(self)
        self._prepared: Prepared | None = None
        self._marks: dict[tuple[str, str], Mark] = {}
        self._filling = self._changed = self._leaving = False
        self._read_from = ""
        self.run, self.case = QComboBox(), QComboBox()
        self.folder, self.reader = QLineEdit(), QLineEdit()
        self.choose = QPushButton("Choose…")
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setTabKeyNavigation(False)
        self.verdicts: list[QComboBox] = []
        self.source = QPlainTextEdit(readOnly=True)
        self.rest = QPushButton("Accept the rest")
        self.foot = Foot("Write cases")
        self._name()
        self._lay_out()
        self._connect()
        self._able(False)
        self._tasks.start("list", self._list, self._offer_runs, self._fail)

    def _list(self) -> "tuple[PreparedRun, ...]":
        from viewer.services.exporting.export_cases import prepared_runs

        return prepared_runs(self._store)

    def _offer_runs(self, found: "tuple[PreparedRun, ...]") -> None:
        for one in found:
            self.run.addItem(one.words, one)
        if found:
            self._choose_run()
        else:
            self.foot.sentence.setText(_NONE)

    def _choose_run(self) -> None:
        chosen: PreparedRun = self.run.currentData()
        self.folder.setText(str(chosen.folder))
        self._read()

    def _folder_edited(self) -> None:
        if self.folder.text() != self._read_from:
            self._read()

    def _read(self) -> None:
        """Read the reports of the run, and what is decided about them already."""
        self._read_from = self.folder.text()
        from viewer.services.exporting.export_cases import reviewed

        store, run = self._store, self.run.currentData().run
        out = Path(self.folder.text())
        self.foot.busy("Reading the run …")
        self._tasks.start(
            "read", lambda: reviewed(store, run, out), self._show, self._fail
        )

    def _show(self, found: "tuple[Prepared, dict[tuple[str, str], Mark]]") -> None:
        self.foot.ready()
        self._prepared, self._marks = found
        self.case.clear()
        for case in self._prepared.cases:
            self.case.addItem(case.key, case)
        self._able(True)
        self._show_case()

    def _able(self, able: bool) -> None:
        every = (
            self.case,
            self.table,
            self.folder,
            self.reader,
            self.choose,
            self.rest,
        )
        for widget in every:
            widget.setEnabled(able)
        self.foot.go.setEnabled(able)

    def _show_case(self) -> None:
        """Fill the table with the fields of the chosen case."""
        case: ReviewedCase | None = self.case.currentData()
        self._filling = True
        self.verdicts = []
        self.table.setRowCount(len(case.fields) if case else 0)
        for row, field in enumerate(case.fields if case else ()):
            self._fill(row, field)
        self._filling = False
        self.table.resizeRowsToContents()
        self.table.setCurrentCell(0, _TEXT)
        self._count()

    def _fill(self, row: int, field: "ReviewedField") -> None:
        case: ReviewedCase = self.case.currentData()
        mark = self._marks.get((case.key, field.name))
        verdict = str(mark.decided.verdict) if mark else ""
        text = mark.decided.text if mark and verdict == _EDIT else field.proposed
        within = ("yes" if field.verbatim else "no") if field.extracted else ""
        for column, words in (
            (_FIELD, capital(field.name)),
            (_TEXT, text),
            (_WITHIN, within),
        ):
            item = QTableWidgetItem(words)
            if column != _TEXT:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
            self.table.setItem(row, column, item)
        choice = QComboBox()
        choice.setAccessibleName(f"Verdict on {field.name}")
        for value, words in _VERDICTS.items():
            choice.addItem(words, value)
        choice.setCurrentIndex(choice.findData(verdict))
        choice.activated.connect(lambda _, at=row: self._decide(at))
        self.table.setCellWidget(row, _VERDICT, choice)
        self.verdicts.append(choice)

    def _edited(self, row: int, column: int) -> None:
        if self._filling or column != _TEXT:
            return
        field = self.case.currentData().fields[row]
        if self._text(row) != field.proposed:
            choice = self.verdicts[row]
            choice.setCurrentIndex(choice.findData(_EDIT))
            self._decide(row)
            self.table.resizeRowToContents(row)

    def _decide(self, row: int) -> None:
        """Keep the decision about a field, and save all of them."""
        from viewer.services.exporting.export_cases import decided_mark

        case: ReviewedCase = self.case.currentData()
        field, verdict = case.fields[row], str(self.verdicts[row].currentData())
        if verdict != _EDIT:
            self._write_text(row, field.proposed)
        text, place = self._text(row), (case.key, field.name)
        if not verdict or (verdict == _EDIT and not text):
            self._marks.pop(place, None)
        else:
            reader = self.reader.text().strip()
            self._marks[place] = decided_mark(verdict, text, reader)
        self._count()
        self._save()

    def _text(self, row: int) -> str:
        item = self.table.item(row, _TEXT)
        return "" if item is None else item.text().strip()

    def _write_text(self, row: int, text: str) -> None:
        """Show the text proposed again, which is no edit."""
        item, filling = self.table.item(row, _TEXT), self._filling
        if item is not None:
            self._filling = True
            item.setText(text)
            self._filling = filling

    def _accept_rest(self) -> None:
        """Accept what is proposed for every field of the case without a verdict."""
        fields = self.case.currentData().fields
        for row, (field, choice) in enumerate(zip(fields, self.verdicts, strict=True)):
            if field.proposed and not choice.currentData():
                choice.setCurrentIndex(choice.findData("accept"))
                self._decide(row)

    def _save(self) -> None:
        from viewer.services.exporting.export_cases import keep_review

        prepared, marks, out = self._prepared, {**self._marks}, self._out
        self._changed = "save" in self._tasks
        if prepared is not None and not self._changed:
            self._tasks.start(
                "save",
                lambda: keep_review(prepared, marks, out),
                lambda _: self._saved(),
                self._fail,
            )

    def _saved(self) -> None:
        """Save what was decided meanwhile, and close if that was asked for."""
        if self._changed:
            self._save()
        elif self._leaving:
            super().reject()

    def reject(self) -> None:
        """Close, once everything is saved."""
        self._leaving = "save" in self._tasks
        if not self._leaving:
            super().reject()

    @property
    def _out(self) -> Path:
        return Path(self.folder.text())

    def _count(self) -> None:
        """Say how many fields of the case are decided."""
        case: ReviewedCase | None = self.case.currentData()
        if case is not None:
            done = sum((case.key, one.name) in self._marks for one in case.needed)
            words = f"{case.key}: {done} of {len(case.needed)} fields are decided."
            self.foot.sentence.setText(words)

    def _show_source(self, row: int, *_: int) -> None:
        case: ReviewedCase | None = self.case.currentData()
        if case is None or not 0 <= row < len(case.fields):
            self.source.clear()
            return
        field = case.fields[row]
        warning = "" if field.verbatim else f"\n\n{_INVENTED}"
        self.source.setPlainText(field.extracted + warning)

    def _write(self) -> None:
        from viewer.services.exporting.export_cases import write_cases

        prepared, marks, out = self._prepared, {**self._marks}, self._out
        if prepared is not None:
            self.foot.busy("Writing …")
            self._tasks.start(
                "write",
                lambda: write_cases(prepared, marks, out),
                self._wrote,
                self._fail,
            )

    def _wrote(self, found: "Written") -> None:
        self.foot.ready()
        self.foot.go.setEnabled(True)
        shown, more = found.problems[:_MOST_PROBLEMS], found.problems[_MOST_PROBLEMS:]
        others = [f"{len(more):,} more cases are not written."] if more else []
        self.foot.sentence.setText("\n".join((*shown, *others, found.sentence)))
        if found.cases:
            self.written.emit(self._out)

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self._leaving = False
        self.foot.ready()
        if not isinstance(error, OverreadError):
            raise error
        self.foot.sentence.setText(str(error))

    def _choose_folder(self) -> None:
        def take(folder: Path) -> None:
            self.folder.setText(str(folder))
            self._read()

        choose_folder(self, "Folder for the cases", take, Purpose.RESULTS)

    def _connect(self) -> None:
        self.run.activated.connect(self._choose_run)
        self.case.activated.connect(self._show_case)
        self.folder.editingFinished.connect(self._folder_edited)
        self.choose.clicked.connect(self._choose_folder)
        self.table.cellChanged.connect(self._edited)
        self.table.currentCellChanged.connect(self._show_source)
        self.rest.clicked.connect(self._accept_rest)
        self.foot.go.clicked.connect(self._write)
        self.foot.leave.clicked.connect(self.reject)

    def _name(self) -> None:
        for widget, words in (
            (self.run, "Run"),
            (self.case, "Case"),
            (self.folder, "Folder"),
            (self.reader, "Your name"),
            (self.table, "Fields of the case"),
            (self.source, "The report's own words"),
        ):
            widget.setAccessibleName(words)
        for button in (self.choose, self.rest):
            button.setAutoDefault(False)
        self.rest.setToolTip(
            "Accept every field of this case that has a text and no verdict yet"
        )
        grow = QComboBox.SizeAdjustPolicy.AdjustToContents
        self.run.setSizeAdjustPolicy(grow)
        self.case.setSizeAdjustPolicy(grow)

    def _lay_out(self) -> None:
        where = QHBoxLayout()
        where.addWidget(self.folder, 1)
        where.addWidget(self.choose)
        rows = QFormLayout()
        rows.addRow("Run", self.run)
        rows.addRow("Folder", where)
        rows.addRow("Your name", self.reader)
        which = QHBoxLayout()
        which.addWidget(self.case, 1)
        which.addWidget(self.rest)
        rows.addRow("Case", which)
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.verticalHeader().setVisible(False)
        self.table.setItemDelegateForColumn(_TEXT, _Texts(self.table))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        right = QVBoxLayout()
        right.addWidget(title("The report's own words"))
        right.addWidget(self.source, 1)
        body = QHBoxLayout()
        body.addWidget(self.table, 3)
        body.addLayout(right, 2)
        column = QVBoxLayout(self)
        column.addLayout(rows)
        column.addWidget(caption(_HOW))
        column.addLayout(body, 1)
        column.addWidget(self.foot)
        resize_on_screen(self, *_SIZE)
