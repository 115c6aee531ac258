"""Batches started in Measure: the page, and consent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from viewer.domain.run import RunSpec
from viewer.services.running.batch_form import BatchForm
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs import imports
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.panels.asking.consents import Consents

_EMPTY: Final = BatchForm("", "", "", (), 0, 1)


@dataclass(frozen=True, slots=True)
class BatchDraft:
    """The page as it was left, and the models known then; without a study, none."""

    form: BatchForm = _EMPTY
    known: tuple[str, ...] = ()


class Batches(QObject):
    """Starts batches on behalf of a widget."""

    def __init__(self, context: AppContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._page: BatchDialog | None = None
        self._draft = BatchDraft()

    def open(self) -> None:
        """Show the page that sets up a batch; the window stays usable."""
        self.open_on("")

    def open_on(self, dataset: str) -> None:
        """Show the page with a data set chosen by its name, "" for the last choice."""
        if self._page is None:
            self._page = BatchDialog(
                self._context.settings,
                self._owner.window(),  # where it has a theme's turn of its own
                self._draft.form if self._draft.form.study else None,
                self._draft.known,
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

    @property
    def draft(self) -> BatchDraft:
        """The page as it is, or as it was left."""
        if self._page is not None:
            form = self._page.form
            if form.study and form.dataset:
                return BatchDraft(form, self._page.known)
        return self._draft

    def recall(self, draft: BatchDraft) -> None:
        """Let the next page begin with what was filled in before."""
        self._draft = draft

    def _keep_form(self, *_: object) -> None:
        """Save the page's settings for the next one; closing deletes the page."""
        self._draft, self._page = self.draft, None

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
