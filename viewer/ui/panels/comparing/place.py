"""Where Measure shows the comparison of two runs: in place of the results."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget

from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.panels.measure.run_list import RunList

if TYPE_CHECKING:
    from viewer.ui.panels.comparing.page import ComparePage

_PAGE: Final = "viewer.ui.panels.comparing.page"
_RESULTS = 1
"""The place of the results among the workspace's pages."""


class ComparePlace(QObject):
    """Opens and leaves the comparison page, which is created when needed.

    Parameters
    ----------
    context : AppContext
        What the workspaces share.
    pages : QStackedWidget
        The workspace's pages; the results stand second.
    runs : RunList
        The list in which one run or two are selected.
    """

    trial_chosen = Signal(object)
    """PairChosen: the user wants to see a case with both answers"""

    def __init__(
        self, context: AppContext, pages: QStackedWidget, runs: RunList
    ) -> None:
        super().__init__(pages)
        self._context, self._pages, self._runs = context, pages, runs
        self.page: ComparePage | None = None
        view = runs.view
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        view.addAction(context.actions["run.compare"])
        view.clicked.connect(lambda _: self._leave_unless_two())

    @property
    def shown(self) -> bool:
        """Whether the page is shown."""
        return self.page is not None and self._pages.currentWidget() is self.page

    def open(self) -> None:
        """Show the page, with two selected runs or two models of one run chosen.

        Its first import takes as long as several frames, and is done beside the window.
        """
        if _PAGE in sys.modules:
            self._open()
        else:
            run_for(self, _import_page, lambda _: self._open(), self._fail)

    def _fail(self, error: Exception) -> None:
        raise error

    def _open(self) -> None:
        if self.page is None:
            from viewer.ui.panels.comparing.page import ComparePage

            self.page = ComparePage(self._context)
            self.page.trial_chosen.connect(self.trial_chosen)
            self.page.left.connect(self.leave)
            self._pages.addWidget(self.page)
        self._pages.setCurrentWidget(self.page)
        self.page.open(self._selected())
        self.page.choice.first.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """Return to the results."""
        if self.shown:
            self._pages.setCurrentIndex(_RESULTS)
            self._runs.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def export(self) -> bool:
        """Ask where to write the comparison; False if none is shown."""
        if self.page is None or not self.shown:
            return False
        self.page.ask_where_to_export()
        return True

    def copy_or(self, copy: Callable[[], None]) -> None:
        """Copy the comparison's numbers; if none is shown, call the given function."""
        if self.page is None or not self.shown:
            copy()
        else:
            self.page.copy()

    def return_to_item(self) -> bool:
        """Return to the item whose case was opened; False if there was none."""
        if self.page is None or not self.shown:
            return False
        self.page.return_to_item()
        return True

    def _selected(self) -> list[int]:
        rows = sorted(i.row() for i in self._runs.view.selectionModel().selectedRows())
        return [self._runs.model.runs[row].id for row in rows]

    def _leave_unless_two(self) -> None:
        """Show a clicked run, unless a second one is being added."""
        if len(self._selected()) < 2:
            self.leave()


def _import_page() -> None:
    import_module(_PAGE)
