"""Commands of the case list: done, the view, the columns and their order."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from viewer.domain.case import ReadingState, View
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.choices import restored
from viewer.ui.application.notices import Notice
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.read.case_browser import CaseBrowser
from viewer.ui.panels.read.case_listing import COLUMNS, ColumnChoice
from viewer.ui.panels.read.case_rows import CaseRow
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.open_folders import OpenFolders
from viewer.ui.panels.read.viewport import ImageShown

_PAINTED_MS: Final = 100
"""After the first image, which the store's import would hold up."""
_VIEW: Final = next(n for n, column in enumerate(COLUMNS) if column.title == "View")
_VIEWS: Final = {
    "Frontal": View.FRONTAL,
    "Lateral": View.LATERAL,
    "Not a radiograph": View.OTHER,
}
_HANG: Final = "Hang in the active viewport"
_AS_FOUND: Final = "As the files were found"


class CaseCommands(QObject):
    """Keeps how far each row is read, and corrects views where they are listed."""

    def __init__(
        self,
        context: AppContext,
        browser: CaseBrowser,
        folders: OpenFolders,
        lightbox: Lightbox,
    ) -> None:
        super().__init__(browser)
        self._context, self._store = context, context.settings.store
        self._browser, self._tree, self._folders = browser, browser.tree, folders
        self._asked = self._is_read = False
        self.columns = ColumnChoice()
        lightbox.each(lambda v: v.image_shown.connect(self._opened))
        context.changes.deleted.connect(lightbox.forget)
        header = self._tree.header()
        header.sectionClicked.connect(self._sort_by)
        header.sectionResized.connect(self._keep_width)
        header.customContextMenuRequested.connect(lambda _: self.offer_columns())
        self._tree.row_clicked.connect(self._click)
        self._tree.customContextMenuRequested.connect(self._offer_row)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        browser = self._browser
        return {
            "cases.next_study": partial(browser.step_study, 1),
            "cases.previous_study": partial(browser.step_study, -1),
            "cases.done": self.done,
            "cases.view": self.offer_views,
            "cases.columns": self.offer_columns,
            "case.delete": self.delete,
        }

    def delete(self, stack: Stack | None = None) -> None:
        """Ask about deleting the case of a stack, or of the chosen one."""
        from viewer.ui.dialogs.housekeeping import ask_to_delete_case

        stack = stack or self._browser.chosen_stack
        if stack is None:
            self._context.notices.say("Choose an image first, then delete its case.")
        else:
            path = stack.images[0].ref.path
            ask_to_delete_case(self._browser.window(), self._context, path)

    # How far it is read

    def done(self) -> None:
        """Mark what hangs as done and go to the next row; or take the mark back."""
        stack = self._browser.chosen_stack
        if stack is None:
            return
        if self._tree.listing.state_of(stack) is ReadingState.DONE:
            self._keep({stack.key: ReadingState.OPEN})
        else:
            self._keep({stack.key: ReadingState.DONE})
            self._browser.step(1)

    def _opened(self, event: ImageShown) -> None:
        """Mark what is on the screen as opened, whoever hung it there."""
        stack = event.viewport.stack
        if not self._asked:
            self._asked = True
            QTimer.singleShot(_PAINTED_MS, self, self._fetch)
        if stack and self._tree.listing.state_of(stack) is ReadingState.UNREAD:
            self._keep({stack.key: ReadingState.OPEN})

    def _fetch(self) -> None:
        store = self._store

        def stored() -> Mapping[str, ReadingState]:
            from viewer.services.viewing.reading_states import kept_states

            return kept_states(store)

        run_for(self, stored, self._take_in, self._tell)

    def _take_in(self, stored: Mapping[str, ReadingState]) -> None:
        """Show what is stored; what was opened before that keeps its later state."""
        early = dict(self._tree.listing.states)
        opened = ReadingState.OPEN
        later = {k: s for k, s in early.items() if stored.get(k) is None or s != opened}
        self._is_read = True
        self._tree.show_states({**stored, **later})
        self._keep(later)

    def _keep(self, states: Mapping[str, ReadingState]) -> None:
        self._tree.show_states(states)
        store = self._store

        def write() -> None:
            from viewer.services.viewing.reading_states import keep_states

            keep_states(store, states)

        if self._is_read and states:
            run_for(self, write, lambda _: None, self._tell, priority=-1)

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)

    # The view

    def _click(self, column: int) -> None:
        """Ask for the view where it is unknown and clicked."""
        stack = self._browser.chosen_stack
        if column == _VIEW and stack is not None and stack.view is View.UNKNOWN:
            self.offer_views()

    def offer_views(self) -> None:
        """Offer what the chosen image may show, at its row."""
        row = self._tree.current_row
        if row is not None:
            self._popup(
                self._view_menu(row.stack), self._at(self._tree.cell(row, _VIEW))
            )

    def _view_menu(self, stack: Stack) -> QMenu:
        menu = QMenu("View", self._tree)
        for words, view in _VIEWS.items():
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(stack.view is view)
            action.triggered.connect(partial(self._correct, stack, view))
        return menu

    def _correct(self, stack: Stack, view: View, *_: object) -> None:
        refs = [image.ref for image in stack.images]
        if not self._folders.correct(refs, view):
            what = "The view can be corrected in the data set of an opened folder."
            self._context.notices.post(Notice(what, "Open the folder of this image."))

    def _offer_row(self, at: QPoint) -> None:
        row = self._tree.itemAt(at)
        if not isinstance(row, CaseRow):
            return
        menu, stack = QMenu(self._tree), row.stack
        menu.addAction(_HANG, lambda: self._tree.hang_wanted.emit(stack))
        if row is self._tree.current_row:
            menu.addAction(self._context.actions["cases.done"])
        menu.addMenu(self._view_menu(row.stack))
        menu.addSeparator()
        menu.addAction("Delete case…", partial(self.delete, stack))
        self._popup(menu, self._at(at))

    # Columns

    def recall(self, stored: object) -> None:
        """Restore the columns and the order of the previous session."""
        self.show_columns(restored(ColumnChoice(), stored))

    def show_columns(self, choice: ColumnChoice) -> None:
        """Show other columns, or list the cases in another order."""
        self.columns = choice
        self._tree.show_columns(choice)
        self._browser.stay()

    def _keep_width(self, place: int, _: int, width: int) -> None:
        """Note a column's width, unless it is the first, which takes what is left."""
        column = COLUMNS[place]
        kept = self.columns.widths.get(column.title, column.width)
        if place and width not in {0, kept}:  # a hidden column has the width 0
            widths = {**self.columns.widths, column.title: width}
            self.columns = replace(self.columns, widths=widths)

    def _sort_by(self, place: int) -> None:
        """Sort by a column; again reverses the order, a third time clears it."""
        title, now = COLUMNS[place].title, self.columns
        if now.sorted_by != title:
            choice = replace(now, sorted_by=title, descending=False)
        elif now.descending:
            choice = replace(now, sorted_by="", descending=False)
        else:
            choice = replace(now, descending=True)
        self.show_columns(choice)

    def offer_columns(self) -> None:
        """Offer which columns are shown, and the order of the list."""
        menu = QMenu("Columns", self._tree)
        for column in COLUMNS[1:]:
            action = menu.addAction(column.title)
            action.setCheckable(True)
            action.setChecked(column.title in self.columns.shown)
            action.triggered.connect(partial(self._toggle, column.title))
        menu.addSection("Order")
        group = QActionGroup(menu)
        for title in ("", *(column.title for column in COLUMNS)):
            action = menu.addAction(f"By {title.lower()}" if title else _AS_FOUND)
            action.setCheckable(True)
            action.setChecked(self.columns.sorted_by == title)
            group.addAction(action)
            choice = replace(self.columns, sorted_by=title, descending=False)
            action.triggered.connect(partial(self._show_chosen, choice))
        self._popup(menu, self._at(QPoint(0, 0)))

    def _show_chosen(self, choice: ColumnChoice, *_: object) -> None:
        self.show_columns(choice)

    def _toggle(self, title: str, *_: object) -> None:
        shown = {*self.columns.shown} ^ {title}
        ordered = tuple(c.title for c in COLUMNS if c.title in shown)
        self.show_columns(replace(self.columns, shown=ordered))

    def _at(self, point: QPoint) -> QPoint:
        return self._tree.viewport().mapToGlobal(point)

    def _popup(self, menu: QMenu, at: QPoint) -> None:
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)
