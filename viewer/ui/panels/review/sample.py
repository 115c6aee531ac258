"""Which cases of a run or of a data set a reader gets."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from viewer.domain.case import View
from viewer.services.readings.review_offer import (
    CaseSample,
    MissSample,
    ReviewOffer,
    StudyOffer,
    asked_findings,
)
from viewer.ui.tables.columns import grid_words
from viewer.ui.widgets.named_choice import NamedChoice
from viewer.ui.widgets.number_box import WholeBox
from viewer.ui.widgets.some_of import SomeOf

_MOST: Final = 100_000
_GRIDS: Final = ("8", "16", "4", "32")
_FRONTAL: Final = (View.FRONTAL.value,)
_TYPING_MS: Final = 200


class MissChoice(QWidget):
    """The grid, the views, and at most how many misses of a model and finding."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.conditions, self.views = NamedChoice(), _views_choice()
        self.cap = WholeBox()
        self.cap.setRange(1, _MOST)
        self.cap.setValue(MissSample().cap)
        self.cap.setSuffix(" per model and finding")
        self.cap.setPrefix("up to ")
        self.cap.setAccessibleName("Maximum number per model and finding")
        self.cap.setToolTip(
            "If there are more, a random sample is drawn; estimates have exact "
            "intervals"
        )
        self.conditions.setAccessibleName("Grid")
        self._there: tuple[str, ...] = ()
        self._soon = QTimer(self, interval=_TYPING_MS, singleShot=True)
        self._soon.timeout.connect(self.changed)
        self.conditions.currentIndexChanged.connect(self.changed)
        self.views.changed.connect(self.changed)
        self.cap.valueChanged.connect(self._soon.start)
        _in_a_row(self, (self.conditions, self.views, self.cap))

    @property
    def sample(self) -> MissSample:
        """The sample of misses."""
        views = self.views.values or self._there
        return MissSample(self.cap.value(), views, self.conditions.name)

    def offer(self, offer: ReviewOffer) -> None:
        """Offer the values of the current run; keep the choices."""
        self.conditions.offer({name: grid_words(name) for name in offer.conditions})
        self.conditions.setVisible(len(offer.conditions) > 1)
        self._there = offer.views
        self.views.offer(offer.views, offer.views)
        self.views.setVisible(len(offer.views) > 1)


class CaseChoice(QWidget):
    """The grid, the findings and the views that a reader is asked about."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grids, self.views = NamedChoice(), _views_choice()
        self.findings = SomeOf("Findings", "Every finding")
        self.grids.offer({name: f"{name} × {name}" for name in _GRIDS})
        self.grids.setAccessibleName("Grid")
        self.grids.setToolTip("The grid of the cells: of the answer, or of its scoring")
        self._dataset, self._there = "", StudyOffer(0, 0)
        self.grids.currentIndexChanged.connect(self.changed)
        self.findings.changed.connect(self.changed)
        self.views.changed.connect(self.changed)
        _in_a_row(self, (self.grids, self.findings, self.views))

    @property
    def sample(self) -> CaseSample:
        """The sample of cases."""
        views = self.views.values or self._there.views
        return CaseSample(self.grids.name, self.findings.values, views)

    @property
    def findings_asked(self) -> tuple[str, ...]:
        """The findings as a study is opened with them."""
        return asked_findings(self._there, self.findings.values)

    def offer(self, dataset: str, offer: StudyOffer) -> None:
        """Offer the values of a data set, with its usual findings if it is new."""
        self._there = offer
        self.findings.offer(offer.findings, offer.findings)
        self.views.offer(offer.views, offer.views)
        if dataset != self._dataset:
            self._dataset = dataset
            every = len(offer.usual) == len(offer.findings)
            self.findings.choose(() if every else offer.usual)
        self.views.setVisible(len(offer.views) > 1)


def _views_choice() -> SomeOf:
    """Return a choice of views with the frontal one ticked, as in the paper."""
    views = SomeOf("Views", "Every view")
    views.offer(_FRONTAL, _FRONTAL)
    views.choose(_FRONTAL)
    return views


def _in_a_row(whole: QWidget, parts: Sequence[QWidget]) -> None:
    row = QHBoxLayout(whole)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for part in parts:
        row.addWidget(part, 1 if isinstance(part, SomeOf) else 0)
