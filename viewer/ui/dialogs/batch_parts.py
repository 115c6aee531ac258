"""Parts of the batch page: what it offers, its columns, the words of its button."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QFormLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.counting import counted
from viewer.services.running.batch_estimate import BatchEstimate
from viewer.services.running.batch_form import (
    BatchForm,
    ModelState,
    ablation_preset,
    model_states,
    role_names,
    study_titles,
    unusable_studies,
)
from viewer.services.running.suitable_studies import Suiting, suiting_of
from viewer.settings import Settings
from viewer.ui.widgets import theme
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.plain_text import Label

_CHOOSE: Final = "Choose at least one model."
_NONE_ANSWERS: Final = (
    "No model here answers in text: add one in Models and open this page again, or "
    "open a study file that names its own."
)


@dataclass(frozen=True)
class Offers:
    """What there is to choose from; ``unusable`` studies say why they are not."""

    studies: Mapping[str, str]
    unusable: Mapping[str, str]
    suiting: Suiting
    models: tuple[ModelState, ...]
    roles: tuple[str, ...]


def offers_of(settings: Settings) -> Offers:
    """Return what there is to choose from; reads the store."""
    return Offers(
        study_titles(),
        unusable_studies(),
        suiting_of(settings.store),
        model_states(settings),
        role_names(settings),
    )


def column(title: str, *parts: QWidget | QFormLayout) -> QVBoxLayout:
    """Return parts under one another, below their title."""
    label = Label(title)
    label.setFont(theme.title_font(label.font()))
    made = QVBoxLayout()
    made.setSpacing(8)
    made.addWidget(label)
    for part in parts:
        if isinstance(part, QWidget):
            made.addWidget(part)
        else:
            made.addLayout(part)
    return made


class VaryButton(QPushButton):
    """Chooses the preset that varies how images are drawn, where there is one."""

    def __init__(self, presets: NamedChoice) -> None:
        super().__init__("Vary the grid")
        self._presets, self._preset = presets, ""
        self.setEnabled(False)  # until the study is known
        self.clicked.connect(self._choose)
        self.setToolTip(
            "Ask every item with each combination of grid size, axis of the letters, "
            "place of the names and enlargement, to see what each of them changes"
        )

    def suits(self, study: str) -> bool:
        """Tell whether a study has such a preset."""
        self._preset = ablation_preset(study)
        self.setEnabled(bool(self._preset))
        return bool(self._preset)

    def _choose(self) -> None:
        self._presets.choose(self._preset)
        self._presets.activated.emit(self._presets.currentIndex())


def lacking(
    form: BatchForm, suiting: Suiting, withheld: Sequence[str], *, offers_models: bool
) -> str:
    """Return what is still to be chosen or may not be asked, "" if all is well.

    ``withheld`` are the ticked models that a restricted data set may not be sent to.
    """
    if not form.dataset:
        hint = suiting.how_to_get(form.study)
        return f"{hint} {'' if offers_models else _NONE_ANSWERS}".strip()
    if not form.models:
        return _CHOOSE if offers_models else _NONE_ANSWERS
    if withheld:
        return (
            f"'{form.dataset}' is restricted: its images stay on this machine, so "
            f"{', '.join(withheld)} cannot be asked."
        )
    return ""


def start_words(found: BatchEstimate) -> str:
    """Return what the button sends, by its count."""
    left = found.requests - found.already_answered
    if not found.requests:
        return "Nothing to ask"
    if not left:
        done = found.already_answered
        return f"Show {counted(done, 'stored answer')}"
    verb, noun = ("Send", "request") if found.sends else ("Run", "trial")
    return f"{verb} {counted(left, noun)}"
