"""The answers about the image: outcome, coverage, time, cost and provenance."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QIcon
from PySide6.QtWidgets import (
    QAbstractItemView,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.answer import BoxesAnswer
from viewer.domain.escapes import visible
from viewer.domain.grid import Grid
from viewer.domain.times import in_utc
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.canvas.overlays.answer_item import model_colors
from viewer.ui.canvas.overlays.measure_words import (
    kind_words,
    measure_line,
    measure_rows,
)
from viewer.ui.canvas.overlays.outcome_glyph import Glyph, glyph_of, words_of
from viewer.ui.panels.asking.agreement import Agreement
from viewer.ui.panels.asking.blinding import Blinding, HiddenPage, LockedPage
from viewer.ui.panels.asking.signs import SIGN_PX, sign
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.plain_text import as_tip
from viewer.ui.widgets.theme import current

_ANSWER: Final = Qt.ItemDataRole.UserRole
_AT_TOP: Final = QAbstractItemView.ScrollHint.PositionAtTop
_HASH_SHOWN: Final = 12
_A_MOMENT_MS: Final = 50
"""Shorter answer times are not shown."""
_DETAILS_HEIGHT: Final = 190
_DATA: Final = re.compile(r"[A-Za-z0-9+/]{160,}={0,2}")


@dataclass(frozen=True, slots=True)
class AnswersShown:
    """These answers are to be drawn on the image."""

    answers: tuple[StoredAnswer, ...]


@dataclass(frozen=True, slots=True)
class AnswersLit:
    """The answer whose details are shown, and the one under the cursor."""

    chosen: StoredAnswer | None
    hovered: StoredAnswer | None


@dataclass(frozen=True, slots=True)
class SawWanted:
    """The user wants to see what the model saw when it gave this answer."""

    answer: StoredAnswer


@dataclass(frozen=True, slots=True)
class OutlineWanted:
    """The user wants the content of this answer's boxes outlined."""

    answer: StoredAnswer


class AnswersPanel(QWidget):
    """A row an answer, its check box draws it; the chosen one's details stand below."""

    answers_shown = Signal(object)
    """Carries an AnswersShown."""
    answers_lit = Signal(object)
    """Carries an AnswersLit."""
    saw_wanted = Signal(object)
    """Carries a SawWanted."""
    outline_wanted = Signal(object)
    """Carries an OutlineWanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answersPanel")
        self.tree = QTreeWidget(columnCount=1)
        self.tree.setHeaderHidden(True)
        self.tree.setAccessibleName("Answers")
        self.tree.setIconSize(QSize(SIGN_PX, SIGN_PX))
        self.tree.setRootIsDecorated(False)
        # Without it itemEntered comes only while a button is pressed.
        self.tree.setMouseTracking(True)
        # The mouse leaves the viewport, not the tree around it.
        self.tree.viewport().installEventFilter(self)
        self._hovered: StoredAnswer | None = None
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.details = QPlainTextEdit(readOnly=True)
        self.details.setAccessibleName("Details of the answer")
        self.details.setFixedHeight(_DETAILS_HEIGHT)
        self.agreement = Agreement()
        self.saw = QPushButton("What the model saw")
        self.outline = QPushButton("Outline it")
        self.outline.setToolTip("A segmenter outlines what is in the box")
        self.blinding, self.reference_line = Blinding(), caption()
        self._given: tuple[Sequence[StoredAnswer], frozenset[int], int | None]
        self._given = (), frozenset(), None
        self.hidden, self.locked = HiddenPage(), LockedPage()
        self._stack, self._empty = QStackedWidget(), self._empty_page()
        for page in (self._empty, self.tree, self.hidden, self.locked):
            self._stack.addWidget(page)
        self._lay_out()
        self._connect()
        self.set_answers(())
        self.set_image(image_open=False)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        self._nothing = caption()
        column.addWidget(self._nothing)
        column.addStretch(1)
        return page

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (title("Answers"), self.blinding, self.reference_line):
            column.addWidget(widget)
        column.addWidget(self.agreement)
        column.addWidget(self._stack, 1)
        for below in (self.details, self.outline, self.saw):
            column.addWidget(below)

    def _connect(self) -> None:
        self.tree.itemChanged.connect(self._tell_shown)
        self.tree.currentItemChanged.connect(self._offer_saw)
        self.tree.currentItemChanged.connect(self._tell_lit)
        self.tree.itemEntered.connect(self._enter)
        self.saw.clicked.connect(self.show_saw)
        self.outline.clicked.connect(self._ask_to_outline)
        self.blinding.changed.connect(self._follow_blinding)
        self.hidden.show_them.clicked.connect(
            lambda: self.blinding.answers.setChecked(True)
        )

    def set_answers(
        self,
        answers: Sequence[StoredAnswer],
        shown: frozenset[int] = frozenset(),
        current: int | None = None,
    ) -> None:
        """List answers, those of the trials in ``shown`` ticked, ``current`` chosen.

        While answers are hidden or locked none is listed or drawn.
        """
        self._given = tuple(answers), shown, current
        self._fill()

    def renew_answers(
        self, answers: Sequence[StoredAnswer], added: frozenset[int]
    ) -> None:
        """List answers anew with ``added`` ticked; what is ticked and chosen stays.

        So does the row at the top.
        """
        _, shown, chosen = self._given
        top = self.tree.itemAt(0, 0)
        if top is not None:
            shown = frozenset(answer.trial for answer in self._ticked())
            chosen = self.current.trial if self.current else None
        first = None if top is None else top.data(0, _ANSWER).trial
        self.set_answers(answers, shown | added, chosen)
        QTimer.singleShot(0, self, lambda: self._bring_to_top(first))

    def _bring_to_top(self, trial: int | None) -> None:
        for item in self._rows():
            if item.data(0, _ANSWER).trial == trial:
                self.tree.scrollToItem(item, _AT_TOP)

    def _ticked(self) -> Iterator[StoredAnswer]:
        for item in self._rows():
            if item.checkState(0) is Qt.CheckState.Checked:
                yield item.data(0, _ANSWER)

    def _follow_blinding(self, *_: object) -> None:
        """List or hide the answers; keep the ticks."""
        if self._stack.currentWidget() is not self._page():
            self._fill()

    @property
    def are_seen(self) -> bool:
        """Whether answers are listed and drawn."""
        return self.blinding.choice.answers and not self.blinding.locked

    def _fill(self) -> None:
        answers, shown, current = (
            self._given if self.are_seen else ((), frozenset[int](), None)
        )
        self._hovered = None
        self.tree.blockSignals(True)
        self.tree.setCurrentIndex(
            QModelIndex()
        )  # else clearing 500 rows takes Qt 2 seconds
        self.tree.clear()
        for answer in answers:
            item = _row(answer)
            ticked = answer.trial in shown
            item.setCheckState(0, _checked(ticked))
            self.tree.addTopLevelItem(item)
            if answer.trial == current or (current is None and item is self._first()):
                self.tree.setCurrentItem(item)
        self.tree.blockSignals(False)
        self._stack.setCurrentWidget(self._page())
        QTimer.singleShot(0, self, self._bring_in_sight)  # once it is laid out
        self._offer_saw()
        self._tell_shown()

    def _page(self) -> QWidget:
        given = len(self._given[0])
        self.hidden.set_count(given)
        if self.blinding.locked:
            return self.locked
        if given:
            return self.tree if self.are_seen else self.hidden
        return self._empty

    def _bring_in_sight(self) -> None:
        self.tree.scrollTo(self.tree.currentIndex())

    def set_image(self, *, image_open: bool) -> None:
        """Show the next step if no image is open or nothing was asked yet."""
        self._nothing.setText(
            "No model has been asked about this image yet. Tick a model above, and ask."
            if image_open
            else "Open an image to see its answers here."
        )

    def set_reference_words(self, words: str) -> None:
        """Say what the reference is."""
        self.reference_line.setText(words)
        self.reference_line.setVisible(bool(words))

    @property
    def current(self) -> StoredAnswer | None:
        """The chosen answer."""
        item = self.tree.currentItem()
        return item.data(0, _ANSWER) if item is not None else None

    def show_saw(self) -> None:
        """Request what the model saw, if the chosen answer has a request."""
        answer = self.current
        if answer is not None and answer.request_sha256:
            self.saw_wanted.emit(SawWanted(answer))

    def _ask_to_outline(self) -> None:
        if self.current is not None:
            self.outline_wanted.emit(OutlineWanted(self.current))

    def _first(self) -> QTreeWidgetItem | None:
        return self.tree.topLevelItem(0)

    def _rows(self) -> Iterator[QTreeWidgetItem]:
        for i in range(self.tree.topLevelItemCount()):
            item = self.tree.topLevelItem(i)
            if item is not None:
                yield item

    def _offer_saw(self, *_: object) -> None:
        answer = self.current
        sent = answer is not None and bool(answer.request_sha256)
        listed = self._stack.currentWidget() is self.tree
        for widget in (self.saw, self.details):
            widget.setVisible(listed)
        boxes = answer is not None and isinstance(answer.answer, BoxesAnswer)
        self.outline.setVisible(boxes and listed)
        self.details.setPlainText(visible(details(answer)) if answer else "")
        self.saw.setEnabled(sent)
        self.saw.setToolTip(
            as_tip(
                "The exact image and text that were sent."
                if sent
                else "Nothing was sent for this answer."
            )
        )

    def _tell_shown(self, *_: object) -> None:
        ticked = by_model(self._ticked())
        self._paint_signs(ticked)
        self.answers_shown.emit(AnswersShown(ticked))
        self._tell_lit()

    def hover(self, answer: StoredAnswer | None) -> None:
        """Mark the row of the answer under the cursor, here or on the image."""
        if answer is self._hovered:
            return
        self._hovered = answer
        ground = QBrush(QColor(current().line)) if answer else QBrush()
        trial = answer.trial if answer else None
        self.tree.blockSignals(True)
        for item in self._rows():
            mine = item.data(0, _ANSWER).trial == trial
            item.setBackground(0, ground if mine else QBrush())
        self.tree.blockSignals(False)
        self._tell_lit()

    def choose(self, answer: StoredAnswer) -> None:
        """Show the details of an answer, and bring its row into view."""
        for item in self._rows():
            if item.data(0, _ANSWER).trial == answer.trial:
                self.tree.setCurrentItem(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Notice that the cursor leaves the rows."""
        if event.type() is QEvent.Type.Leave:
            self.hover(None)
        return super().eventFilter(watched, event)

    def _enter(self, item: QTreeWidgetItem) -> None:
        self.hover(item.data(0, _ANSWER))

    def _tell_lit(self, *_: object) -> None:
        self.answers_lit.emit(AnswersLit(self.current, self._hovered))

    def _paint_signs(self, drawn: Sequence[StoredAnswer]) -> None:
        """Colour the signs of drawn answers like their models, and no others."""
        colours, muted = model_colors(a.model for a in drawn), current().muted
        trials = {answer.trial for answer in drawn}
        signs: dict[tuple[Glyph, str], QIcon] = {}  # few are different, rows hundreds
        self.tree.blockSignals(True)
        for item in self._rows():
            answer: StoredAnswer = item.data(0, _ANSWER)
            colour = colours[answer.model] if answer.trial in trials else muted
            look = glyph_of(answer.score), colour
            if look not in signs:
                signs[look] = sign(answer.score, colour)
            # A change of the item: its signal, if not blocked, would lead back here.
            item.setIcon(0, signs[look])
        self.tree.blockSignals(False)
        self.agreement.show_answers(drawn, colours)


def by_model(answers: Iterable[StoredAnswer]) -> tuple[StoredAnswer, ...]:
    """Return answers in the order of their models' names."""
    return tuple(sorted(answers, key=lambda answer: answer.model))


def cost_words(microusd: int | None) -> str:
    """Return a price such as ``$0.0021``; "" if none is known."""
    return "" if microusd is None else f"${microusd / 1e6:.4f}"


def provenance(answer: StoredAnswer) -> tuple[tuple[str, str], ...]:
    """Return where an answer comes from: names and values, in the order shown."""
    parameters = ", ".join(f"{k} {v}" for k, v in sorted(answer.parameters.items()))
    rows = (
        ("Finding", answer.finding),
        *measure_rows(answer.measures),
        ("Model", answer.model),
        ("Raw reply", _without_data(answer.reply_text.strip()) or "empty"),
        ("What to do", answer.advice),
        ("Explanation in the data set", answer.explained),
        ("Version", answer.model_returned or "not stated"),
        ("Adapter", answer.adapter),
        ("Grid", "" if answer.written else _grid_words(answer.grid)),
        ("Reference cells", ", ".join(answer.reference_cells)),
        ("Parameters", parameters),
        ("Run", str(answer.run)),
        ("Asked", in_utc(answer.asked_at)),
        ("Reused", answer.reused),
        ("Note", answer.note),
        # Last: nobody reads them, but a file of the run is found by them.
        ("Prompt, SHA-256", answer.prompt_sha256[:_HASH_SHOWN]),
        ("Request, SHA-256", answer.request_sha256[:_HASH_SHOWN]),
    )
    return tuple((name, value) for name, value in rows if value)


def _grid_words(grid: Grid) -> str:
    return f"{grid.name}, letters are {grid.letters.value}s"


def details(answer: StoredAnswer) -> str:
    """Return where an answer comes from, a line each, as it can be copied."""
    return "\n".join(f"{name}: {value}" for name, value in provenance(answer))


def _row(answer: StoredAnswer) -> QTreeWidgetItem:
    item = QTreeWidgetItem([visible(_headline(answer))])
    item.setData(0, _ANSWER, answer)
    item.setToolTip(0, as_tip(details(answer)))
    spoken = f"{glyph_of(answer.score)} {item.text(0)}"
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, spoken)
    return item


def _headline(answer: StoredAnswer) -> str:
    score = answer.score
    coverage = "" if score.coverage is None else f"coverage {score.coverage:.2f}"
    met = measure_line(answer.measures) or coverage
    took = answer.latency_ms >= _A_MOMENT_MS
    seconds = f"{answer.latency_ms / 1000:.1f} s" if took else ""
    cost = cost_words(answer.cost_microusd)
    what = kind_words(answer.measures)
    no_grid = what or answer.written
    grid = "" if no_grid else f"{answer.grid.rows} × {answer.grid.columns}"
    reused = "reused reply" if answer.reused else ""
    facts = (answer.model, grid, met, seconds, cost, f"run {answer.run}", reused)
    below = " · ".join(w for w in facts if w)
    where = f"{what} in {score.answer}," if what and score.answer else score.answer
    between = ": " if answer.written else " "
    above = f"{where}{between}{words_of(score)}".strip()
    lines = (f"{above}, {answer.finding}", answer.advice, below)
    return "\n".join(filter(None, lines))


def _without_data(reply: str) -> str:
    """Return a reply with long runs of encoded pixels replaced by their length."""
    return _DATA.sub(lambda data: f"[{len(data[0])} characters of data]", reply)


def _checked(on: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
