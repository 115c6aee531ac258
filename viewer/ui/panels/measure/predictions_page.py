"""The page of predictions: groups, the trials behind a number, and the tour."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.services.inspecting.predictions.cases import cases_of
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.measure.results_groups_panel import GroupsPanel, cases_title
from viewer.ui.panels.measure.results_tour import Tour, TourBar
from viewer.ui.tables.results_groups_view import NumberChosen


@dataclass(frozen=True, slots=True)
class CasesFound:
    """The trials that a number counts, in display order.

    ``of`` is the same for the same number, counted again.
    """

    title: str
    ids: Sequence[int]
    of: tuple[str, ...] = ()


class PredictionsPage(QWidget):
    """Groups of predictions above, the steps between disagreements below."""

    cases_found = Signal(object)
    """CasesFound"""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self.groups, self.tour = GroupsPanel(context), Tour(context, self)
        self.groups.number_chosen.connect(self._find_cases)
        self.tour.told.connect(self._tell_tour)
        self.tour.arrived.connect(context.notices.say)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.groups, 1)
        box.addWidget(TourBar(self.tour))

    def show_run(self, run: int) -> None:
        """Show a run, unless the predictions of every run are shown."""
        self.groups.show_run(run)
        self._find_cases(self.groups.table.chosen)

    def _find_cases(self, chosen: NumberChosen | None) -> None:
        self._background_tasks.cancel("cases")
        if chosen is None:
            self.cases_found.emit(CasesFound("", ()))
            return
        groups, (group, column) = self.groups.groups, (chosen.group, chosen.column)
        self.tour.look_at(groups, group)
        self._background_tasks.start(
            "cases",
            lambda: cases_of(self._store, groups, group, column).tolist(),
            lambda ids: self.cases_found.emit(
                CasesFound(
                    cases_title(groups, chosen, len(ids)),
                    ids,
                    (*groups.keys[group], column),
                )
            ),
            lambda error: tell_error(self._context, error),
        )

    def _tell_tour(self, words: str) -> None:
        """Show the position of the tour in another workspace too."""
        if words and not self.isVisible():
            self._context.notices.say(words)
