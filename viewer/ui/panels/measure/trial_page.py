"""The page of a trial: each question with its images and text, side by side."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.domain.evidence import ShownEvidence
from viewer.domain.study_words import capital
from viewer.services.inspecting.explanations import Explanation
from viewer.services.inspecting.marked_images import MarkedImage
from viewer.services.inspecting.trial_detail import StepDetail, TrialDetail
from viewer.ui.canvas.marked_picture import MarkedPicture
from viewer.ui.canvas.overlays.answer_item import model_colors
from viewer.ui.dialogs.what_model_saw import WhatModelSaw, text_view
from viewer.ui.panels.measure.evidence_list import (
    EvidenceHeadings,
    KindLabel,
    evidence_list,
)
from viewer.ui.panels.measure.filmstrip import TrialChosen, WordsWanted
from viewer.ui.panels.measure.outcome_words import glyph, words
from viewer.ui.widgets.labels import caption, link, selectable, title
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen, scrolled

_ALONE: Final = 520
"""The longer side of a single question's pictures."""
_BESIDE: Final = 330
"""The longer side of the pictures of a question among several."""
_ROOM: Final = 34
"""Beside a picture, for the scroll bar."""
_WORDS: Final = 380
_HEIGHT: Final = 760
_WIDEST: Final = 1400
_LINKS: Final = 120
"""How high the links to other trials may stand; more of them scroll."""
_EXPLAINED: Final = 120
"""How high an explanation is shown at first; the edge above it can be dragged."""
_EXPLANATION: Final = "Explanation in the data set"
_LOCKED: Final = (
    "The explanation in the data set is locked until you commit your reading of the "
    "image in Read, because Read first is on."
)
_OTHERWISE: Final = "Open it on a page next to this one"
_RETURNED: Final = "A picture that the model returned"
_AS_SENT: Final = "The exact bytes and text of this question, with their hashes"


class TrialPage(QDialog):
    """A window beside the results; nothing of a trial is left out."""

    read_wanted = Signal(object)
    """TrialChosen: the user wants to see its boxes on the image in Read"""
    other_wanted = Signal(object)
    """WordsWanted: the same asked under another condition"""

    def __init__(
        self,
        told: TrialDetail,
        parent: QWidget | None = None,
        *,
        read_first: bool = False,
    ) -> None:
        super().__init__(parent)
        trial = told.trial
        self.setWindowTitle(f"What {trial.model} was asked and said")
        # A closed dialog is only hidden otherwise, and stays with its parent.
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.told = told
        self.draw = QCheckBox("Draw what was pointed out")
        self.draw.setChecked(True)
        self.draw.setVisible(told.is_marked)
        color = model_colors(told.models or (trial.model,))
        alone = len(told.steps) == 1
        self.steps = tuple(
            StepView(step, number, color[trial.model], told.evidence, alone=alone)
            for number, step in enumerate(told.steps, 1)
        )
        for step in self.steps:
            for picture in step.pictures:
                self.draw.toggled.connect(picture.show_marks)
        self._locked = read_first and not told.explained.read
        self._explains = bool(told.explained.reasons) and not self._locked
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.addWidget(selectable(_head(self.told)))
        if self.told.evidence:
            column.addWidget(evidence_list(self.told.evidence))
        if self.told.otherwise:
            column.addWidget(self._otherwise())
        column.addWidget(self._body(), 1)
        if self.told.explained.reasons and self._locked:
            column.addWidget(caption(_LOCKED))
        column.addLayout(self._foot())
        needed = sum(step.minimumWidth() + 12 for step in self.steps) + 40
        below = _EXPLAINED if self._explains else 0
        resize_on_screen(self, max(640, min(_WIDEST, needed)), _HEIGHT + below)

    def _body(self) -> QWidget:
        """Return the questions, and below them why the right answer is right."""
        if not self._explains:
            return self._side_by_side()
        both = Splitter(Qt.Orientation.Vertical)
        both.addWidget(self._side_by_side())
        both.addWidget(_why(self.told.explained))
        both.setChildrenCollapsible(False)
        both.setStretchFactor(0, 1)
        both.setSizes([_HEIGHT, _EXPLAINED])
        return both

    def _otherwise(self) -> QWidget:
        """Return a link to each trial of the same question, with its outcome."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(caption("The same asked differently:"))
        for other in self.told.otherwise:
            score = other.score
            result = " · ".join(filter(None, (score.answer, words(score))))
            button = link(f"{other.called}: {glyph(score)} {result}", _OTHERWISE)
            wanted = WordsWanted(other.trial)
            button.clicked.connect(partial(self.other_wanted.emit, wanted))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        area = scrolled(page)
        area.setMaximumHeight(min(_LINKS, page.sizeHint().height()))
        return area

    def _side_by_side(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        if not self.steps:
            at_top = Qt.AlignmentFlag.AlignTop
            row.addWidget(Label("Nothing was asked in this trial."), 0, at_top)
        for step in self.steps:
            row.addWidget(step, 1)
        return scrolled(page)

    def _foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        copy, close = QPushButton("Copy text"), QPushButton("Close")
        copy.clicked.connect(self._copy)
        close.clicked.connect(self.close)
        row.addWidget(self.draw)
        row.addStretch(1)
        if self.told.opens:
            read = QPushButton("Show in Read")
            read.setToolTip("Open the image itself, with the boxes drawn on it")
            chosen = TrialChosen(self.told.id)
            read.clicked.connect(lambda: self.read_wanted.emit(chosen))
            row.addWidget(read)
        row.addWidget(copy)
        row.addWidget(close)
        return row

    def _copy(self) -> None:
        texts = (f"[{role}]\n{text}" for role, text in self.told.words)
        QGuiApplication.clipboard().setText("\n\n".join(texts))


class StepView(QWidget):
    """A question with its reply: pictures above the words, beside them if ``alone``."""

    def __init__(
        self,
        step: StepDetail,
        number: int,
        color: str,
        evidence: Sequence[ShownEvidence] = (),
        *,
        alone: bool,
    ) -> None:
        super().__init__()
        self._step = step
        side = _ALONE if alone else _BESIDE
        self.pictures = tuple(MarkedPicture(m, color, side) for m in step.marked)
        self.returned = tuple(
            MarkedPicture(MarkedImage(png), color, side, _RETURNED)
            for png in step.returned.pngs
        )
        seen = (*self.pictures, *self.returned)
        self.text = text_view(step.words)
        self._headings = EvidenceHeadings(self.text.document(), evidence)
        across = QBoxLayout.Direction.LeftToRight
        body = QBoxLayout(across if alone else QBoxLayout.Direction.TopToBottom)
        if seen:
            body.addWidget(self._images(side), 0 if alone else 3)
        body.addWidget(self.text, 1 if alone else 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._headline(number, alone=alone))
        column.addLayout(body, 1)
        column.addWidget(self._as_sent(), 0, Qt.AlignmentFlag.AlignLeft)
        words = _WORDS if alone else 0
        self.setMinimumWidth(words + (side + _ROOM if seen or not alone else 0))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Colour the headings for another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._headings.rehighlight()

    def _headline(self, number: int, *, alone: bool) -> QWidget:
        if alone:
            return caption(self._step.model)
        return title(f"{number}. {capital(self._step.name)}: {self._step.model}")

    def _images(self, side: int) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        n = len(self.pictures)
        for i, picture in enumerate(self.pictures):
            if self._step.pictured:
                shown = self._step.pictured[i]
                column.addWidget(KindLabel(shown.kind, shown.title))
            column.addWidget(picture)
            several = f"Image {i + 1} of {n}. " if n > 1 else ""
            column.addWidget(selectable(several + self._about(i)))
        for picture in self.returned:
            size = f"{picture.sent.width()} × {picture.sent.height()} px"
            column.addWidget(picture)
            column.addWidget(selectable(f"Returned by {self._step.model}, {size}"))
        column.addStretch(1)
        scroll = scrolled(page)
        scroll.setMinimumWidth(side + _ROOM)
        return scroll

    def _about(self, place: int) -> str:
        """Return the size an image was sent at, and what is drawn on it."""
        marked, sent = self._step.marked[place], self.pictures[place].sent
        drawn = [box.label or "a box" for box in marked.boxes]
        if marked.region is not None:
            drawn.append("a region")
        size = f"{sent.width()} × {sent.height()} px"
        return f"{size}. Drawn: {', '.join(drawn)}" if drawn else size

    def _as_sent(self) -> QPushButton:
        button = link("Exactly as sent…", _AS_SENT)
        button.clicked.connect(self._show_sent)
        return button

    def _show_sent(self) -> None:
        step = self._step
        WhatModelSaw(
            step.model, step.images, step.sent, step.request_sha256, self.window()
        ).show()


def _why(explained: Explanation) -> QWidget:
    """Return an explanation below its title; a long one wraps and scrolls."""
    page, text = QWidget(), QPlainTextEdit(readOnly=True)
    text.setAccessibleName(_EXPLANATION)
    text.setPlainText(visible(explained.text))
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 4, 0, 0)
    column.addWidget(title(_EXPLANATION))
    column.addWidget(text, 1)
    return page


def _head(told: TrialDetail) -> str:
    """Return what was asked about, and the outcome."""
    named = [part for part in told.trial.item.split("|") if part != told.trial.finding]
    asked = (*named, *told.called, f"repeat {told.trial.repeat}")
    line = " · ".join(dict.fromkeys(filter(None, asked)))
    parts = (told.score.answer, words(told.score), f"run {told.run}, trial {told.id}")
    verdict = f"{glyph(told.score)} {' · '.join(filter(None, parts))}"
    about = " · ".join(f"{name}: {value}" for name, value in told.about if value)
    return "\n".join(filter(None, (line, about, verdict, capital(told.reused))))
