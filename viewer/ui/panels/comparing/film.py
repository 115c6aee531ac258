"""The items behind the chosen cells of a comparison, both answers on each picture."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.item import TASK_MARK
from viewer.domain.result import Score
from viewer.services.comparing.causes import Why
from viewer.services.comparing.sides import Pair
from viewer.services.decoding import Decoder
from viewer.ui import theme
from viewer.ui.panels.comparing.pictures import PairPictures
from viewer.ui.panels.measure.film_picture import FilmPicture
from viewer.ui.panels.measure.picture_strip import SIDE, PicturesModel, PictureStrip
from viewer.ui.panels.outcome_words import glyph, words
from viewer.ui.plain_text import Label


@dataclass(frozen=True, slots=True)
class PairShown:
    """An item of the strip; ``why`` is None where both verdicts are the same.

    ``called`` is what its study calls its finding, view and condition, nothing where
    the item says all of that itself.
    """

    pair: Pair
    ref: ImageRef | None
    why: Why | None
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairChosen:
    """A person wants to see an item's case with both answers."""

    trial: int
    beside: tuple[int, ...]


Draw = Callable[[Pair, ImageRef | None, int], FilmPicture]


@dataclass(frozen=True, eq=False)
class _PairLook:
    """What is shown of an item that two sides answered."""

    drawn: Draw

    def trial_of(self, item: PairShown) -> int:
        """Return the first side's trial."""
        return item.pair.first.id

    def key_of(self, item: PairShown) -> int:
        """Return the first side's trial."""
        return item.pair.first.id

    def caption_of(self, item: PairShown) -> str:
        """Return both verdicts with their answers, words on a line each."""
        between = "\n" if item.called else " → "
        return between.join(map(_short, item.pair.scores))

    def story_of(self, item: PairShown, provenance: str, failure: str) -> str:
        """Return the item, both verdicts in words, why they differ, and the replies."""
        first, verdicts = item.pair.first, map(words, item.pair.scores)
        place: tuple[str, ...] = (first.item.replace(TASK_MARK, " · "), first.view)
        if item.called:
            place = (first.item.partition(TASK_MARK)[0], *item.called)
        lines = (
            " · ".join((*filter(None, place), f"repeat {first.repeat}")),
            " → ".join(verdicts),
            f"Why: {item.why}" if item.why else "",
            provenance,
            failure,
        )
        return "\n".join(filter(None, lines))

    def draw(self, item: PairShown) -> FilmPicture:
        """Return the reference and both answers on what was sent."""
        return self.drawn(item.pair, item.ref, SIDE)


class PairModel(PicturesModel[PairShown]):
    """Items with both answers drawn on their pictures."""

    def __init__(self, draw: Draw, parent: QObject | None = None) -> None:
        super().__init__(_PairLook(draw), parent)


def _short(score: Score) -> str:
    return f"{glyph(score)} {score.answer}".strip()


class CompareFilm(QWidget):
    """A title and a row of pictures under it."""

    pair_chosen = Signal(object)
    """PairChosen"""

    def __init__(
        self, store: Path, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.title = Label()
        self.title.setFont(theme.title_font(self.font()))
        self.model = PairModel(PairPictures(store, decoder).draw, self)
        named = "Items of the chosen cells, both answers drawn"
        self.view = PictureStrip(self.model, named, lines=2)
        self.view.chosen.connect(self._choose)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.title)
        box.addWidget(self.view)

    def show_items(self, title: str, items: tuple[PairShown, ...]) -> None:
        """Show items."""
        self.title.setText(title)
        self.model.show_items(items)
        self.view.scrollToTop()

    def select(self, trial: int) -> None:
        """Make the item of a first side's trial the current one, where it is shown."""
        row = self.model.row_of(trial)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))

    def _choose(self, place: int) -> None:
        first, second = self.model.items[place].pair
        self.pair_chosen.emit(PairChosen(first.id, (second.id,)))
