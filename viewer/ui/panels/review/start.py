"""What can be reviewed: open sessions, the misses of a run, a reader study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.aid import Aid
from viewer.domain.counting import counted
from viewer.domain.form import (
    Form,
    Part,
    PlaceKind,
    RevealedChoiceQuestion,
)
from viewer.domain.form_catalog import FORMS
from viewer.domain.run import RunSummary
from viewer.services.readings.review_offer import (
    Aided,
    CaseSample,
    MissSample,
    ReviewOffer,
    StudyOffer,
)
from viewer.services.readings.task_choice import TaskWanted
from viewer.ui.panels.review.aid import AidChoice
from viewer.ui.panels.review.sample import CaseChoice, MissChoice
from viewer.ui.panels.review.sessions import PLACES, SessionList
from viewer.ui.panels.review.tasks import TaskCard
from viewer.ui.widgets.labels import caption, primary, title
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import as_tip

_WIDTH: Final = 720
_GAP: Final = 12
_RECORD: Final = (
    "A new session asks its reader, before the first case, whether it may be recorded "
    "which part of which image is on screen, and for how long"
)


@dataclass(frozen=True, slots=True)
class ReviewWanted:
    """The reader wants to review a run's misses, or its readers' disagreements."""

    run: int
    sample: MissSample
    adjudicate: bool = False
    telemetry: bool = False


@dataclass(frozen=True, eq=False)
class StudyWanted:
    """The reader wants to read a data set with a form, placing answers of a kind."""

    dataset: str
    form: Form
    place: PlaceKind
    sample: CaseSample
    """Its findings are those that the study is opened with."""
    telemetry: bool = False
    aid: Aid | None = None
    seed: int = 0


class ReviewStart(QScrollArea):
    """A column of the available reviews, each with its size."""

    review_wanted = Signal(object)
    """ReviewWanted"""
    study_wanted = Signal(object)
    """StudyWanted"""
    results_wanted = Signal(object)
    """int: the run whose reviews are shown"""
    run_chosen = Signal(object)
    """int: the run, when it or the choice of its misses changed"""
    dataset_chosen = Signal(object)
    """str: the data set, when it or the choice of its cases changed"""
    task_wanted = Signal(object)
    """TaskWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keys
        self.reader = QLineEdit()
        self.reader.setPlaceholderText("A name or a pseudonym")
        self.reader.setAccessibleName("Reader")
        self.record = QCheckBox("Ask to record what is on screen")
        self.record.setToolTip(as_tip(_RECORD))
        self.problem = caption()
        self.runs, self.misses = LongChoice("Run"), MissChoice()
        self.run_words = caption()
        self.review = primary("Review misses")
        self.settle = QPushButton("Settle disagreements")
        self.results = QPushButton("Results")
        self.datasets, self.forms = LongChoice("Data set"), LongChoice("Questions")
        self.places = LongChoice("What is placed")
        self.cases, self.aid = CaseChoice(), AidChoice()
        self.study_words, self.read = caption(), primary("Read")
        self.tasks = TaskCard()
        self.sessions = SessionList()
        self._lay_out()
        self._fill()
        self._connect()

    def _lay_out(self) -> None:
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(2 * _GAP)
        self._first = self._card(
            "Reader", self._row(self.reader), self.record, self.problem
        )
        column.addWidget(self._first)
        column.addWidget(self.sessions)
        column.addWidget(
            self._card(
                "Study tasks",
                caption("People grade, answer or check what a study needs."),
                self.tasks,
            )
        )
        column.addWidget(
            self._card(
                "Error review",
                caption("Complete misses, with the model's name hidden."),
                self._row(self.runs),
                self.misses,
                self.run_words,
                self._buttons(self.review, self.settle, self.results),
            )
        )
        column.addWidget(
            self._card(
                "Reader study",
                caption("A reader does the same task, alone or beside a model."),
                self._row(self.datasets, self.forms, self.places),
                self.cases,
                self.aid,
                self.study_words,
                self._buttons(self.read),
            )
        )
        column.addStretch(1)
        middle = QWidget()
        across = QHBoxLayout(middle)
        across.addStretch(1)
        across.addWidget(inner, 1000)
        across.addStretch(1)
        self.setWidget(middle)

    @staticmethod
    def _row(*widgets: QWidget) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for number, widget in enumerate(widgets):
            row.addWidget(widget, 1 if number == 0 else 0)
        return row

    @staticmethod
    def _buttons(*buttons: QPushButton) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in buttons:
            row.addWidget(button)
        row.addStretch(1)
        return row

    @staticmethod
    def _card(words: str, *parts: "QWidget | QHBoxLayout") -> QWidget:
        card = QWidget()
        column = QVBoxLayout(card)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(title(words))
        for part in parts:
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addLayout(part)
        return card

    def _fill(self) -> None:
        for form in filter(_needs_image_alone, FORMS.values()):
            self.forms.addItem(form.title, form)
        self.forms.setVisible(self.forms.count() > 1)
        for kind, words in PLACES.items():
            self.places.addItem(words, kind)
        for box, name in (
            (self.runs, "Run"),
            (self.datasets, "Data set"),
            (self.forms, "Questions"),
            (self.places, "What is placed"),
        ):
            box.setAccessibleName(name)
        self.settle.setToolTip("Decide where readers of this run disagree")
        self.results.setToolTip("What was found, by model: look only when you are done")
        for later in (self.settle, self.results, self.misses, self.cases):
            later.hide()  # until it is known what there is
        self.review.setEnabled(False)  # until it is known how much there is
        self.read.setEnabled(False)

    def _connect(self) -> None:
        self.reader.returnPressed.connect(self.review.setFocus)
        self.runs.currentIndexChanged.connect(self._look_at_run)
        self.datasets.currentIndexChanged.connect(self._look_at_dataset)
        self.misses.changed.connect(self._look_at_run)
        self.cases.changed.connect(self._look_at_dataset)
        self.places.currentIndexChanged.connect(self._look_at_dataset)
        self.aid.changed.connect(self._look_at_dataset)
        self.review.clicked.connect(lambda: self._want_review(adjudicate=False))
        self.settle.clicked.connect(lambda: self._want_review(adjudicate=True))
        self.results.clicked.connect(self._want_results)
        self.read.clicked.connect(self._want_study)
        self.tasks.wanted.connect(self._want_task)
        self.tasks.refused.connect(self.say)

    def choose(self, dataset: str, run: int | None) -> None:
        """Choose a data set, or a run and its data set, wherever they are offered."""
        for box, value in ((self.datasets, dataset), (self.runs, run)):
            if (row := box.findData(value)) >= 0:
                box.setCurrentIndex(row)
        of_task = self.tasks.choose(dataset, run)
        self.ensureWidgetVisible(self.tasks.begin if of_task else self.read)

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Offer finished runs; their models are not named."""
        _offer(self.runs, [(run_words(run), run.id) for run in runs])
        if not runs:
            self.show_review("There is no finished run yet: start one in Measure.", 0)

    def offer_misses(self, offer: ReviewOffer) -> None:
        """Offer the misses of the current run."""
        self.misses.offer(offer)
        self.misses.setVisible(bool(offer.views))

    def offer_cases(self, dataset: str, offer: StudyOffer) -> None:
        """Offer the cases of the current data set."""
        self.cases.offer(dataset, offer)
        self.cases.setVisible(bool(offer.findings))

    def show_review(
        self, sentence: str, reviews: int, disputes: int = 0, reviewed: int = 0
    ) -> None:
        """Show how much there is to review of the current run."""
        self.results.setVisible(reviewed > 0)
        self.run_words.setText(sentence)
        self.review.setEnabled(reviews > 0)
        self.review.setText(
            f"Review {counted(reviews, 'miss', 'misses')}"
            if reviews
            else "Review misses"
        )
        self.settle.setVisible(disputes > 0)
        self.settle.setText(f"Settle {counted(disputes, 'disagreement')}")

    def show_datasets(self, names: Sequence[str]) -> None:
        """Offer data sets."""
        _offer(self.datasets, [(name, name) for name in names])
        if not names:
            self.show_study(
                "There is no data set yet: import one with overread import.", 0
            )

    @property
    def aided(self) -> Aided | None:
        """The model's answers that are shown beside places, None for none."""
        aid, place = self.aid.aid, PlaceKind(self.places.currentData())
        return Aided(aid, place, self.aid.seed.value()) if aid else None

    def show_study(self, sentence: str, questions: int, kind: str = "") -> None:
        """Show how much there is to read of the current data set.

        ``kind`` is what the chosen model answers with.
        """
        self.aid.show_kind(kind, str(self.places.currentData()))
        self.study_words.setText(sentence)
        self.read.setEnabled(questions > 0 and not self.aid.lacks_model)
        self.read.setText(f"Read {counted(questions, 'case')}" if questions else "Read")

    def add(self, work: QWidget) -> None:
        """Add what shows how far work is, below what is said about it."""
        layout = self._first.layout()
        assert layout is not None  # noqa: S101 - a card has one
        layout.addWidget(work)

    def say(self, problem: str) -> None:
        """Show what is missing, or nothing."""
        self.problem.setText(problem)

    def _named(self) -> bool:
        if self.reader.text().strip():
            self.say("")
            return True
        self.say("Enter the reader's name first; a pseudonym will do.")
        self.reader.setFocus(Qt.FocusReason.OtherFocusReason)
        return False

    def _look_at_run(self) -> None:
        run = self.runs.currentData()
        if run is not None:
            self.run_chosen.emit(run)

    def _look_at_dataset(self) -> None:
        name = self.datasets.currentData()
        if name is not None:
            self.dataset_chosen.emit(name)

    def _want_review(self, *, adjudicate: bool) -> None:
        run = self.runs.currentData()
        if run is not None and self._named():
            sample, record = self.misses.sample, self.record.isChecked()
            self.review_wanted.emit(ReviewWanted(run, sample, adjudicate, record))

    def _want_results(self) -> None:
        run = self.runs.currentData()
        if run is not None:
            self.results_wanted.emit(run)

    def _want_study(self) -> None:
        name, form = self.datasets.currentData(), self.forms.currentData()
        if name is not None and self._named():
            place = PlaceKind(self.places.currentData())
            sample = replace(self.cases.sample, findings=self.cases.findings_asked)
            record, aided = self.record.isChecked(), self.aided
            chosen = (aided.aid, aided.seed) if aided else ()
            self.study_wanted.emit(
                StudyWanted(name, form, place, sample, record, *chosen)
            )

    def _want_task(self, wanted: TaskWanted) -> None:
        if self._named():
            self.task_wanted.emit(replace(wanted, telemetry=self.record.isChecked()))

    def name_no_model(self) -> None:
        """Name no model on the page while somebody reads."""
        for aid in (self.aid, self.tasks.aid):
            aid.forget()


def _offer(box: QComboBox, items: Sequence[tuple[str, object]]) -> None:
    """Refill a list, keeping the choice if it is still there."""
    chosen = box.currentData()
    box.blockSignals(True)
    box.clear()
    for words, value in items:
        box.addItem(words, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    box.blockSignals(False)
    box.setEnabled(bool(items))
    # What depends on the choice follows once, also where its index is the same.
    box.currentIndexChanged.emit(box.currentIndex())


def _needs_image_alone(form: Form) -> bool:
    """Tell whether a form can be answered for any data set.

    Others show an answer, or options, that somebody has to bring along.
    """
    brings = any(
        isinstance(question, RevealedChoiceQuestion) and not question.options
        for question in form.questions
    )
    return not brings and Part.ANSWER not in form.shown


def run_words(run: RunSummary) -> str:
    """Return a run in words that name none of its models."""
    models = counted(len(run.models), "model")
    return f"Run {run.id} · {run.dataset} · {models} · {run.created_at[:10]}"
