"""Whether readers see a model's answers: which, when, as what, and how many wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QVBoxLayout, QWidget

from viewer.domain.aid import Aid, Arm, DrawnAs
from viewer.services.readings.advice import AidSource
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.number_box import WholeBox
from viewer.ui.widgets.plain_text import Label

_TYPING_MS: Final = 200
_LARGEST: Final = 999_999_999
ARMS: Final[Mapping[str, str]] = {
    Arm.AFTER: "After a locked first answer",
    Arm.FROM_START: "From the start",
    Arm.BOTH: "Both, in half of the cases each",
}
_ABOUT_ARM: Final = {
    Arm.AFTER: "Readers lock their own answer, see the model's, and lock a second one: "
    "the gain is known for every case.",
    Arm.FROM_START: "Readers see the model's answer with the case: the gain is known "
    "where they have also read without a model.",
    Arm.BOTH: "Each reader has both; the halves swap between readers.",
}
_KINDS: Final = {
    "cell": "a cell",
    "point": "a point",
    "boxes": "its boxes",
    "mask": "its mask",
    "heat_map": "its heat map",
}
_ABOUT_WRONG: Final = (
    "Their wrong answers show whether readers trust the model too much. Readers are "
    "told before the first case that answers may be wrong on purpose, and agree."
)
_ABOUT_NONE: Final = (
    "No answer is made wrong; readers are still told that the model may be wrong."
)
_ABOUT_SEED: Final = "Draws wrong answers and arms; the same seed repeats the draw."
_NO_MODEL: Final = "No finished run has asked a model about these cases yet."
_NO_MAP: Final = (
    "The run keeps no heat map of this model: only a network whose answer is a map has "
    "one."
)


@dataclass(frozen=True, slots=True)
class AidSettings:
    """What the window remembers: everything that is chosen here.

    A model is known by its run and its place among that run's models, as this is held
    while somebody reads who must not know its name.
    """

    use: bool = False
    run: int = 0
    place: int = 0
    arm: Arm = Arm.AFTER
    drawn_as: DrawnAs = DrawnAs.OWN
    wrong_percent: int = 25
    seed: int = 0


class AidChoice(QWidget):
    """A check box, and below it the choices, each with a sentence on what it does."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.use = QCheckBox("Show a model's answers")
        self.models, self.arms, self.drawn = LongChoice(), NamedChoice(), NamedChoice()
        self.wrong, self.seed = WholeBox(0, 100), WholeBox(0, _LARGEST)
        self.about_model, self.about_arm = caption(), caption()
        self.about_drawn, self.about_wrong = caption(), caption()
        self._first = AidSettings()
        self._body = QWidget()
        self._drawn_words = Label("Drawn as")
        self._soon = QTimer(self, interval=_TYPING_MS, singleShot=True)
        self._fill()
        self._lay_out()
        self._connect()
        self.recall(AidSettings())

    def _fill(self) -> None:
        self.arms.offer(ARMS)
        self.wrong.setSuffix(" %")
        for widget, name in (
            (self.models, "Model"),
            (self.arms, "When its answer is shown"),
            (self.drawn, "What is drawn"),
            (self.wrong, "Share of wrong answers"),
            (self.seed, "Seed"),
        ):
            widget.setAccessibleName(name)

    def _lay_out(self) -> None:
        rows = QGridLayout(self._body)  # a form layout makes wrapped lines too high
        rows.setContentsMargins(24, 0, 0, 4)
        rows.setSpacing(4)
        rows.setColumnStretch(1, 1)
        for row, (words, field, about) in enumerate(
            (
                (Label("Model"), self.models, self.about_model),
                (Label("Shown"), self.arms, self.about_arm),
                (self._drawn_words, self.drawn, self.about_drawn),
                (Label("Wrong on purpose"), self.wrong, self.about_wrong),
                (Label("Seed"), self.seed, caption(_ABOUT_SEED)),
            )
        ):
            rows.addWidget(words, 2 * row, 0)
            rows.addWidget(field, 2 * row, 1)
            rows.addWidget(about, 2 * row + 1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.use)
        column.addWidget(self._body)

    def _connect(self) -> None:
        self.use.toggled.connect(self._change)
        for choice in (self.models, self.arms, self.drawn):
            choice.currentIndexChanged.connect(self._change)
        for number in (self.wrong, self.seed):
            number.valueChanged.connect(self._soon.start)
        self._soon.timeout.connect(self._change)

    @property
    def lacks_model(self) -> bool:
        """Whether a model is wanted that is not there."""
        return self.use.isChecked() and self.models.currentData() is None

    @property
    def aid(self) -> Aid | None:
        """The answers that are shown, None for none."""
        source = self.models.currentData()
        if not self.use.isChecked() or not isinstance(source, AidSource):
            return None
        return Aid(
            source.run,
            source.model,
            Arm(self.arms.name),
            self.wrong.value() / 100,
            DrawnAs(self.drawn.name or DrawnAs.OWN),
        )

    @property
    def settings(self) -> AidSettings:
        """Everything that is chosen."""
        run, place = self._chosen
        return AidSettings(
            self.use.isChecked(),
            run,
            place,
            Arm(self.arms.name),
            DrawnAs(self.drawn.name or DrawnAs.OWN),
            self.wrong.value(),
            self.seed.value(),
        )

    @property
    def _chosen(self) -> tuple[int, int]:
        """The run of the model that is chosen, and its place among the run's models."""
        sources = [self.models.itemData(i) for i in range(self.models.count())]
        index = self.models.currentIndex()
        return (
            _places(sources)[index] if sources else (self._first.run, self._first.place)
        )

    def recall(self, settings: AidSettings) -> None:
        """Choose what was chosen before, without a signal."""
        self._first = settings
        with QSignalBlocker(self.use), QSignalBlocker(self.arms):
            self.use.setChecked(settings.use)
            self.arms.choose(settings.arm)
        with QSignalBlocker(self.wrong), QSignalBlocker(self.seed):
            self.wrong.setValue(settings.wrong_percent)
            self.seed.setValue(settings.seed)
        self.show_kind("", "")
        self._tell()

    def offer(self, sources: Sequence[AidSource]) -> None:
        """Offer models; keep the choice if it is still there. Nothing is emitted."""
        chosen, places = self._chosen, _places(sources)
        with QSignalBlocker(self.models):
            self.models.clear()
            for source in sources:
                self.models.addItem(f"{source.model} · run {source.run}", source)
            self.models.setCurrentIndex(
                places.index(chosen) if chosen in places else min(0, len(places) - 1)
            )
        self.models.setEnabled(bool(sources))
        self._tell()

    def forget(self) -> None:
        """Name no model while somebody reads; the choice is kept."""
        self._first = self.settings
        self.offer(())

    def show_kind(self, kind: str, placed: str) -> None:
        """Offer to draw what the model answers with, or what readers place."""
        own, other = _KINDS.get(kind, ""), _KINDS.get(placed, "").replace("its", "a")
        chosen = DrawnAs(self.drawn.name or self._first.drawn_as)
        with QSignalBlocker(self.drawn):
            self.drawn.offer(
                {
                    DrawnAs.OWN: f"As {own}" if own else "As it answered",
                    DrawnAs.PLACED: f"As {other}" if other else "As what is placed",
                }
            )
            self.drawn.choose(chosen)
        for part in (self._drawn_words, self.drawn):
            part.setVisible(bool(own) and kind != placed)
        _say(self.about_drawn, "" if kind in {"", "heat_map"} else _NO_MAP)

    def _change(self) -> None:
        self._tell()
        self.changed.emit()

    def _tell(self) -> None:
        self._body.setVisible(self.use.isChecked())
        _say(self.about_model, "" if self.models.count() else _NO_MODEL)
        _say(self.about_arm, _ABOUT_ARM[Arm(self.arms.name)])
        _say(self.about_wrong, _ABOUT_WRONG if self.wrong.value() else _ABOUT_NONE)


def _say(about: QLabel, words: str) -> None:
    about.setText(words)
    about.setVisible(bool(words))


def _places(sources: Sequence[AidSource]) -> list[tuple[int, int]]:
    """Return the run of each source, and its place among the sources of that run."""
    runs = [source.run for source in sources]
    return [(run, runs[:i].count(run)) for i, run in enumerate(runs)]
