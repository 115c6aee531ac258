"""Prompts…: the prompts of a study, to be reworded with a case beside them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontDatabase, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QInputDialog,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.services.asking.prompt_preview import CaseQuestion, PromptPreviews
from viewer.services.configuring.own_prompts import about
from viewer.services.configuring.prompt_drafts import PromptDrafts
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.what_model_saw import text_view
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen, scrolled

if TYPE_CHECKING:
    from PySide6.QtWidgets import QBoxLayout

_PAUSE_MS: Final = 300
_RUN: Final = ""
"""The run itself, beside its variants."""
_WIDTHS: Final = (230, 470, 420)
_THUMBNAIL: Final = 200
_LATER: Final = (
    "This question does not have this prompt: it belongs to other cases, or to a "
    "question that follows a reply."
)


class PromptEditor(QDialog):
    """A list of prompts, the text of one, and the question about a case with it.

    Parameters
    ----------
    drafts : PromptDrafts
        The custom prompts so far.
    previews : callable
        Makes the questions to show; called in the background, where it may raise the
        sentence why there are none.
    variants : bool
        Whether the study can be asked with variants in one run.
    """

    drafts_accepted = Signal(object)
    """PromptDrafts to be used"""

    def __init__(
        self,
        drafts: PromptDrafts,
        previews: Callable[[], PromptPreviews],
        parent: QWidget | None = None,
        *,
        variants: bool = True,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Prompts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.drafts, self._make = drafts, previews
        self._previews: PromptPreviews | None = None
        self._position: int | None = None
        self._background_tasks = BackgroundTasks(self)
        self.variant, self.names = NamedChoice(), QListWidget()
        self.add, self.remove = QPushButton("Add variant…"), QPushButton("Remove")
        self.text, self.about, self.problem = QPlainTextEdit(), caption(), selectable()
        self.restore = QPushButton("Restore")
        self.places = QHBoxLayout()
        self.case, self.note = caption(), caption()
        self.previous, self.next = QPushButton("‹"), QPushButton("›")
        self.shown = QVBoxLayout()
        self.use, self.cancel = primary("Use these prompts"), QPushButton("Cancel")
        self._soon = QTimer(self, interval=_PAUSE_MS, singleShot=True)
        self._explain()
        self._lay_out(variants=variants)
        self._connect()
        self._list_variants(_RUN)
        self.names.setCurrentRow(0)
        self._background_tasks.start(
            "brought", lambda: previews().brought, self._take_over, self._fail
        )

    @property
    def prompt(self) -> str:
        """The name of the prompt that is edited."""
        return list(self.drafts.prompts.known)[max(0, self.names.currentRow())]

    def add_variant(self, name: str) -> None:
        """Begin a variant of the run's prompts; a bad name is said and not used."""
        try:
            self.drafts = self.drafts.with_variant(name.strip())
        except OverreadError as error:
            self.problem.setText(str(error))
            return
        self._list_variants(name.strip())
        self._show_prompt()

    def _list_variants(self, chosen: str) -> None:
        variants = {name: f"Variant {name}" for name in self.drafts.variants}
        self.variant.offer({_RUN: "This run", **variants})
        self.variant.choose(chosen)
        self.remove.setEnabled(bool(chosen))

    def _remove(self) -> None:
        self.drafts = self.drafts.without_variant(self.variant.name)
        self._list_variants(_RUN)
        self._show_prompt()

    def _ask_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Add variant")
        dialog.setLabelText("Name of the variant, such as short:")
        dialog.textValueSelected.connect(self.add_variant)
        dialog.open()

    def _choose_prompt(self) -> None:
        self._position = None
        self._show_prompt()

    def _show_prompt(self) -> None:
        """Show the prompt chosen as the variant chosen has it."""
        prompt = self.drafts.prompts.known[self.prompt]
        self.text.blockSignals(True)
        self.text.setPlainText(self.drafts.text(self.prompt, self.variant.name))
        self.text.blockSignals(False)
        self.about.setText("\n".join(about(prompt)))
        self._offer_places(prompt.places)
        self.remove.setEnabled(bool(self.variant.name))
        self._judge()

    def _offer_places(self, places: tuple[str, ...]) -> None:
        """Offer the placeholders as buttons that write them."""
        while self.places.count():
            item = self.places.takeAt(0)
            if item is not None and (button := item.widget()) is not None:
                button.hide()  # it is deleted only later, and would be seen until then
                button.deleteLater()
        for place in places:
            button = QPushButton(f"{{{place}}}")
            button.setToolTip("Insert this placeholder where the cursor is")
            button.setAutoDefault(False)
            button.clicked.connect(
                lambda *_, place=place: self.text.insertPlainText(f"{{{place}}}")
            )
            self.places.addWidget(button)
        self.places.addStretch(1)

    def _edit(self) -> None:
        text = self.text.toPlainText()
        self.drafts = self.drafts.with_text(self.prompt, self.variant.name, text)
        self._judge()

    def _restore(self) -> None:
        variant = self.variant.name
        usual = (
            self.drafts.text(self.prompt)
            if variant
            else self.drafts.prompts.known[self.prompt].text
        )
        self.text.setPlainText(usual)

    def _judge(self) -> None:
        """Say what is wrong, mark what is changed, and preview it shortly."""
        variant = self.variant.name
        for row, name in enumerate(self.drafts.prompts.known):
            mark = "● " if self.drafts.is_changed(name, variant) else ""
            self.names.item(row).setText(f"{mark}{name}")
        self.restore.setEnabled(self.drafts.is_changed(self.prompt, variant))
        here = self.drafts.problem_of(self.prompt, variant)
        self.problem.setText(here or self.drafts.problem())
        self.use.setEnabled(not self.drafts.problem())
        if not here:
            self._soon.start()

    def _preview(self) -> None:
        texts, prompt = self.drafts.texts(self.variant.name), self.prompt
        position, make = self._position, self._make

        def work() -> CaseQuestion:
            self._previews = self._previews or make()
            return self._previews.question(texts, prompt, position)

        self._background_tasks.start("preview", work, self._show_question, self._fail)

    def _show_question(self, found: CaseQuestion) -> None:
        self._position = found.position
        self.case.setText(
            f"Question {found.position + 1:,} of {found.n_cases:,}: {found.case}"
        )
        self.note.setText("" if found.has_prompt else _LATER)
        for button in (self.previous, self.next):
            button.setEnabled(found.n_cases > 1)
        self._put_in(_thumbnails(found.images), text_view(found.text))

    def _take_over(self, brought: Mapping[str, str]) -> None:
        """Begin with the prompts of the data set in place of the built-in ones."""
        before = self.drafts.text(self.prompt, self.variant.name)
        self.drafts = self.drafts.with_brought(brought)
        if self.drafts.text(self.prompt, self.variant.name) != before:
            self._show_prompt()

    def _put_in(self, *widgets: QWidget) -> None:
        while self.shown.count():
            item = self.shown.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for widget in widgets:
            self.shown.addWidget(widget)

    def _step(self, by: int) -> None:
        self._position = (self._position or 0) + by
        self._preview()

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix; raise others."""
        if not isinstance(error, OverreadError):
            raise error
        self._previews = None
        self.case.setText("")
        self.note.setText(str(error))

    def _accept(self) -> None:
        self.drafts_accepted.emit(self.drafts)
        self.accept()

    def _connect(self) -> None:
        self._soon.timeout.connect(self._preview)
        self.names.currentRowChanged.connect(lambda _: self._choose_prompt())
        self.variant.activated.connect(lambda _: self._show_prompt())
        self.text.textChanged.connect(self._edit)
        self.add.clicked.connect(self._ask_name)
        self.remove.clicked.connect(self._remove)
        self.restore.clicked.connect(self._restore)
        self.previous.clicked.connect(lambda: self._step(-1))
        self.next.clicked.connect(lambda: self._step(1))
        self.use.clicked.connect(self._accept)
        self.cancel.clicked.connect(self.reject)

    def _explain(self) -> None:
        self.names.addItems(list(self.drafts.prompts.known))
        self.names.setAccessibleName("Prompts")
        self.variant.setAccessibleName("Whose prompts are edited")
        self.text.setAccessibleName("Text of the prompt")
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.previous.setAccessibleName("Previous question")
        self.next.setAccessibleName("Next question")
        self.add.setToolTip(
            "Ask every item with other texts too, in the same run, and compare"
        )
        self.remove.setToolTip("Remove this variant")
        self.restore.setToolTip("Take back what is changed in this prompt")
        # In a dialog every button is autoDefault: Enter might press it.
        for button in (self.add, self.remove, self.restore, self.cancel):
            button.setAutoDefault(False)
        for button in (self.previous, self.next):
            button.setAutoDefault(False)
            button.setEnabled(False)

    def _lay_out(self, *, variants: bool) -> None:
        split = Splitter(Qt.Orientation.Horizontal)
        for column in (self._list_column(variants), self._text(), self._question()):
            split.addWidget(column)
        split.setStretchFactor(1, 1)
        split.setSizes(_WIDTHS)
        foot = QHBoxLayout()
        foot.addWidget(self.problem, 1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.use)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(12)
        box.addWidget(split, 1)
        box.addLayout(foot)
        resize_on_screen(self, 1160, 680)

    def _list_column(self, variants: bool) -> QWidget:
        page, column = _column("Prompts")
        if variants:
            column.addWidget(self.variant)
            column.addLayout(_row(self.add, self.remove))
        column.addWidget(self.names, 1)
        return page

    def _text(self) -> QWidget:
        page, column = _column("Text")
        column.addWidget(self.about)
        column.addWidget(self.text, 1)
        below = QHBoxLayout()
        below.addLayout(self.places, 1)
        below.addWidget(self.restore)
        column.addLayout(below)
        return page

    def _question(self) -> QWidget:
        page, column = _column("As a model is asked")
        column.addLayout(_row(self.previous, self.next, self.case))
        column.addWidget(self.note)
        place = QWidget()
        place.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        place.setLayout(self.shown)
        self.shown.setContentsMargins(0, 0, 0, 0)
        column.addWidget(place, 1)
        return page


def _column(name: str) -> tuple[QWidget, QVBoxLayout]:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(6, 0, 6, 0)
    column.setSpacing(8)
    column.addWidget(title(name))
    return page, column


def _thumbnails(images: Sequence[bytes]) -> QWidget:
    """Return the images of a question beside one another, in the order sent."""
    page = QWidget()
    row = QHBoxLayout(page)
    row.setContentsMargins(0, 0, 0, 0)
    for number, png in enumerate(images, 1):
        pixmap = QPixmap()
        pixmap.loadFromData(png)
        picture = Label()
        picture.setPixmap(
            pixmap.scaled(
                QSize(_THUMBNAIL, _THUMBNAIL),
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        )
        picture.setAccessibleName(f"Image {number} of {len(images)}")
        row.addWidget(picture)
    row.addStretch(1)
    area = scrolled(page)
    area.setFixedHeight(_THUMBNAIL + 16 if images else 0)
    return area


def _row(*widgets: QWidget) -> "QBoxLayout":
    row = QHBoxLayout()
    for widget in widgets:
        row.addWidget(widget)
    row.setStretch(row.count() - 1, 1)
    return row
