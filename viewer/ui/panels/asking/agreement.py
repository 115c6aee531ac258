"""Agreement of several models: a sentence, and a row for each place they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from viewer.domain.counting import counted
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.panels.asking.signs import SIGN_PX, sign
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label, as_tip

_ROWS: Final = 4
_FEWEST: Final = 2


@dataclass(frozen=True)
class SamePlace:
    """The answers that name one cell; ``label`` is "" for those without a cell."""

    label: str
    answers: tuple[StoredAnswer, ...]

    @property
    def models(self) -> str:
        """The models that name it."""
        return ", ".join(answer.model for answer in self.answers)

    @property
    def replies(self) -> int:
        """How many replies name it: one that several models show counts once."""
        replies = [one.reply for one in self.answers if one.reply is not None]
        return len(self.answers) - len(replies) + len({*replies})


def same_places(answers: Sequence[StoredAnswer]) -> tuple[SamePlace, ...]:
    """Return the cells that models name, most often named first, and "none" last.

    Answers to other questions than the first one's are left out, and of a model all
    but its first: only answers about one finding on one grid can agree.
    """
    found: dict[str, list[StoredAnswer]] = {}
    asked: dict[str, StoredAnswer] = {}
    for answer in answers:
        if _question(answer) == _question(answers[0]):
            asked.setdefault(answer.model, answer)
    for answer in asked.values():
        found.setdefault(answer.score.answer, []).append(answer)
    places = (SamePlace(label, tuple(group)) for label, group in found.items())
    return tuple(sorted(places, key=lambda p: (not p.label, -p.replies, p.label)))


def agreement_words(places: Sequence[SamePlace]) -> str:
    """Return how far models agree, such as "2 of 3 models in D4 · 1 elsewhere".

    "" where fewer than two models answered. A stored reply that several models show
    counts once.
    """
    total = sum(place.replies for place in places)
    shown = sum(len(place.answers) for place in places)
    if shown < _FEWEST:
        return ""
    if total < _FEWEST:
        return f"{shown} models show one stored reply"
    again = f"{counted(shown - total, 'reused reply', 'reused replies')} not counted"
    return " · ".join(filter(None, (_agreeing(places), again if shown > total else "")))


def _agreeing(places: Sequence[SamePlace]) -> str:
    """Return how far the replies, at least two, agree."""
    total = sum(place.replies for place in places)
    named = [place for place in places if place.label]
    without = total - sum(place.replies for place in named)
    silent = f"{without} without a cell" if without else ""
    if not named:
        return f"{total} models, none with a cell"
    most = named[0].replies
    if most == 1 and len(named) > 1:
        words = f"{len(named)} models in {len(named)} places"
        return " · ".join(filter(None, (words, silent)))
    elsewhere = total - without - most
    words = f"{most} of {total} models in {named[0].label}"
    other = f"{elsewhere} elsewhere" if elsewhere else ""
    return " · ".join(filter(None, (words, other, silent)))


def _question(answer: StoredAnswer) -> tuple[object, ...]:
    return answer.finding, answer.grid


class Agreement(QWidget):
    """Shown where at least two models answered the same question."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = caption()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addWidget(self.words)
        column.addLayout(self._rows)
        self.hide()

    def show_answers(
        self, answers: Sequence[StoredAnswer], colours: Mapping[str, str]
    ) -> None:
        """Compare the answers that are drawn; ``colours`` are those of their models."""
        places = same_places([answer for answer in answers if not answer.written])
        words = agreement_words(places)
        self._clear()
        self.words.setText(words)
        self.setAccessibleName(words)
        self.setVisible(bool(words))
        if words:
            # A place that one model names stands in the list of answers.
            shared = [place for place in places if len(place.answers) >= _FEWEST]
            for place in shared[:_ROWS]:
                self._rows.addWidget(_row(place, colours))
            if len(shared) > _ROWS:
                self._rows.addWidget(caption(f"{len(shared) - _ROWS} more places"))

    def _clear(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                # deleteLater() waits for the event loop: until then it would be seen.
                widget.hide()
                widget.deleteLater()


def _row(place: SamePlace, colours: Mapping[str, str]) -> QWidget:
    """Return the models' signs, in their colours, before the place and their names."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(4)
    for answer in place.answers:
        picture = Label()
        icon = sign(answer.score, colours[answer.model])
        picture.setPixmap(icon.pixmap(SIGN_PX, SIGN_PX))
        picture.setToolTip(as_tip(answer.model))
        row.addWidget(picture)
    names = caption(place.models)
    names.setToolTip(as_tip(place.models))
    row.addWidget(Label(place.label or "no cell"))
    row.addWidget(names, 1)
    return made
