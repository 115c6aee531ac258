"""Batches started in Measure: the page, and consent."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from viewer.domain.run import RunSpec
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs import imports
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.panels.asking.consents import Consents

if TYPE_CHECKING:
    from viewer.services.running.batch_form import BatchForm


class Batches(QObject):
    """Starts batches on behalf of a widget."""

    def __init__(self, context: AppContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._page: BatchDialog | None = None
        self._form: BatchForm | None = None
        self._known: tuple[str, ...] = ()

    def open(self) -> None:
        """Show the page that sets up a batch; the window stays usable."""
        self.open_on("")

    def open_on(self, dataset: str) -> None:
        """Show the page with a data set chosen by its name, "" for the last choice."""
        if self._page is None:
            self._page = BatchDialog(
                self._context.settings, self._owner, self._form, self._known
            )
            self._page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self._page.start_wanted.connect(self.start)
            self._page.import_wanted.connect(self._import())
            self._page.finished.connect(self._keep_form)
            self._context.changes.store_written.connect(self._page.look_again)
            self._context.changes.models_written.connect(self._page.look_again)
        self._page.reload(dataset)
        self._page.show()
        self._page.raise_()
        self._page.activateWindow()

    def _import(self) -> Callable[[], None]:
        window = self._owner.window()
        return imports.handlers(window, self._context)["file.import_dataset"]

    def _keep_form(self, *_: object) -> None:
        """Save the page's settings for the next one; closing deletes the page."""
        if self._page is not None:
            self._known = self._page.known
            form, self._page = self._page.form, None
            filled = form.study and form.dataset
            self._form = form if filled else self._form

    def start(self, spec: RunSpec) -> None:
        """Plan a run and ask everything of it in the background.

        A person first sees, and allows, what would leave this machine.
        """
        from viewer.services.configuring.model_list import host_of

        if any(map(host_of, (*spec.models, *spec.helpers))):
            self._ask_consent(spec)
        else:
            self._context.run_states.start(spec)

    def _ask_consent(self, spec: RunSpec) -> None:
        from viewer.services.asking.preview import previews_of_batch

        store = self._context.settings.store
        consents = Consents(store, self._owner)
        consents.allowed.connect(lambda: self._context.run_states.start(spec))
        consents.refused.connect(self._refused)
        consents.ask(lambda: previews_of_batch(store, spec))

    def _refused(self, why: str) -> None:
        self._context.notices.post(Notice(why or "The batch was not started."))
