"""Import replies: choose or drop files, name the run, preview, score.

Nothing is stored before Import; the preview counts what importing would do.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.widgets.drop_target import DropTarget
from viewer.ui.widgets.file_choice import choose_to_read
from viewer.ui.widgets.labels import primary, selectable
from viewer.ui.widgets.plain_text import as_tip
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.importing.answering_file import AskedRun
    from viewer.services.importing.import_replies import PlannedReplies, RepliesSource
    from viewer.services.importing.match_replies import MatchedReplies

_SIZE: Final = (720, 320)
_FILES: Final = "Replies (*.jsonl *.csv *.eval *.json);;All files (*)"
_STUDIES: Final = "Study files (*.toml)"
_DROP: Final = (
    "Choose JSON lines or a table with item and reply, a log of inspect_ai (.eval, "
    ".json) or samples of lmms-eval (.jsonl), or drop several here."
)
_NAME: Final = "if the files do not name it; one for each file with commas between"
_PAPER_MODEL: Final = (
    "The model of the study's paper whose claims and published values are compared "
    "with it."
)
_SHOWN: Final = 6
"""Sentences on replies that are not used; the rest is in the tool tip."""


class ImportReplies(QDialog):
    """The page; the window stays free beside it."""

    planned = Signal(object)
    """PlannedReplies: the run that is now to be asked"""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import replies")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings, self._background_tasks = settings, BackgroundTasks(self)
        self._files: tuple[Path, ...] = ()
        self._paper_models: dict[object, tuple[str, ...]] = {}
        self.path, self.file = selectable(_DROP), QPushButton("File…")
        self.questions, self.study = QComboBox(), QPushButton("Study file…")
        self.name, self.counting = QLineEdit(), dict[str, QComboBox]()
        self.unused, self.sentence = selectable(), selectable()
        self.go, self.leave = primary("Import"), QPushButton("Close")
        self._drop = DropTarget(self)
        self._lay_out()
        self._connect()
        self._list_runs()

    def open_paths(self, files: tuple[Path, ...]) -> None:
        """Look at files of replies."""
        self._files = files
        self.path.setText("\n".join(map(str, files)))
        self._ask_paper_models(())
        self._preview()

    def choose_study(self, file: Path) -> None:
        """Take the questions of a study file."""
        from viewer.services.importing.answering_file import paper_models_of_file

        self._background_tasks.start(
            "study",
            lambda: paper_models_of_file(file),
            lambda models: self._choose(file, models),
            self._fail,
        )

    def _choose(self, file: Path, models: tuple[str, ...]) -> None:
        self._offer(f"Those of {file.name}", file, models)
        self.questions.setCurrentIndex(self.questions.count() - 1)
        self._choose_questions()

    def _offer(self, words: str, asked: int | Path, models: tuple[str, ...]) -> None:
        self._paper_models[asked] = models
        self.questions.addItem(words, asked)

    def _choose_questions(self, *_: object) -> None:
        """Offer the models of the study's paper, and preview."""
        self._ask_paper_models(tuple(self.counting))
        self._preview()

    def _ask_paper_models(self, models: tuple[str, ...]) -> None:
        """Ask what each model counts as, if the study's paper compares any by name."""
        for choice in self.counting.values():
            self._form.removeRow(choice)
        self.counting = {name: QComboBox() for name in models or ("",)}
        offered = self._paper_models.get(self.questions.currentData(), ())
        for name, choice in self.counting.items():
            choice.addItem("by the name at its server", "")
            for paper_model in offered:
                choice.addItem(paper_model, paper_model)
            choice.activated.connect(self._preview)
            choice.setToolTip(_PAPER_MODEL)
            label = f"{name} counts as" if name else "Counts as"
            choice.setAccessibleName(f"{label}, in claims of the paper")
            self._form.addRow(label, choice)
            self._form.setRowVisible(choice, bool(offered))

    def _source(self) -> "RepliesSource | None":
        from viewer.services.importing.import_replies import RepliesSource

        asked = self.questions.currentData()
        if not self._files or asked is None:
            return None
        return RepliesSource(
            files=self._files,
            like=asked if isinstance(asked, int) else None,
            study=asked if isinstance(asked, Path) else None,
            names=tuple(filter(None, map(str.strip, self.name.text().split(",")))),
            paper_models={
                name: choice.currentData()
                for name, choice in self.counting.items()
                if choice.currentData()
            },
        )

    def _preview(self, *_: object) -> None:
        from viewer.services.importing.import_replies import preview_replies

        source = self._source()
        if source is None:
            return
        self._empty("Reading the replies …")
        self._background_tasks.start(
            "preview",
            lambda: preview_replies(self._settings, source),
            self._show_preview,
            self._fail,
        )

    def _show_preview(self, matched: "MatchedReplies") -> None:
        models = tuple(dict.fromkeys(o.model for o in matched.replies if not o.role))
        if len(models) > 1 and models != tuple(self.counting):
            self._ask_paper_models(models)
        self.sentence.setText(f"{matched.sentence}.")
        lines = [f"{line}." for line in matched.unused]
        more = len(lines) - _SHOWN
        rest = [f"… and {more} more"] if more > 0 else []
        self.unused.setText("\n".join((*lines[:_SHOWN], *rest)))
        self.unused.setToolTip(as_tip("\n".join(lines)))
        self.go.setEnabled(True)

    def _empty(self, words: str) -> None:
        self.go.setEnabled(False)
        self.sentence.setText(words)
        self.unused.setText("")

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix at the foot of the page; raise others."""
        self._empty("")
        if not isinstance(error, OverreadError):
            raise error
        self.sentence.setText(str(error))

    def _import(self) -> None:
        from viewer.services.importing.import_replies import plan_import

        source = self._source()
        if source is not None:
            self.go.setEnabled(False)
            self._background_tasks.start(
                "plan",
                lambda: plan_import(self._settings, source),
                self._done,
                self._fail,
            )

    def _done(self, planned: "PlannedReplies") -> None:
        self.planned.emit(planned)
        self.accept()

    def _list_runs(self) -> None:
        from viewer.services.importing.answering_file import asked_runs

        store = self._settings.store
        self._background_tasks.start(
            "runs", lambda: asked_runs(store), self._offer_runs, self._fail
        )

    def _offer_runs(self, found: "tuple[AskedRun, ...]") -> None:
        for run in found:
            self._offer(run.words, run.id, run.paper_models)
        if not found:
            self.sentence.setText("There is no run yet: choose a study file.")
        self._choose_questions()

    def _choose_file(self) -> None:
        choose_to_read(
            self, "File of replies", _FILES, lambda path: self.open_paths((path,))
        )

    def _choose_study(self) -> None:
        choose_to_read(self, "Study file", _STUDIES, self.choose_study)

    def _connect(self) -> None:
        self.file.clicked.connect(self._choose_file)
        self.study.clicked.connect(self._choose_study)
        self.questions.activated.connect(self._choose_questions)
        self.name.editingFinished.connect(self._preview)
        self.go.clicked.connect(self._import)
        self.leave.clicked.connect(self.reject)
        self._drop.dropped.connect(self.open_paths)

    def _lay_out(self) -> None:
        where, asked, foot = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        where.addWidget(self.path, 1)
        where.addWidget(self.file)
        asked.addWidget(self.questions, 1)
        asked.addWidget(self.study)
        self.name.setPlaceholderText(_NAME)
        self.questions.setAccessibleName("Questions")
        self._form = form = QFormLayout()
        form.addRow("Questions", asked)
        form.addRow("Model", self.name)
        self._ask_paper_models(())
        foot.addWidget(self.sentence, 1)
        foot.addWidget(self.leave)
        foot.addWidget(self.go)
        column = QVBoxLayout(self)
        column.addLayout(where)
        column.addLayout(form)
        column.addWidget(self.unused, 1)
        column.addLayout(foot)
        for button in (self.file, self.study, self.leave):
            button.setAutoDefault(False)
        self.go.setDefault(True)
        self.go.setEnabled(False)
        resize_on_screen(self, *_SIZE)
