"""The page Connect and files that are dropped: which model is to be added, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.services.configuring.dropped_models import DroppedModel, dropped_models
from viewer.services.configuring.new_models import NewModel, new_models
from viewer.settings import read_policy
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.show_once import show_once
from viewer.ui.application.tell import tell_error
from viewer.ui.dialogs.connect import ConnectPage, FilesWanted, NewWanted
from viewer.ui.dialogs.get_model import GetModel, hub, ollama
from viewer.ui.panels.models.endpoint_book import EndpointBook, FoundHere
from viewer.ui.panels.models.memory import GetWanted


@dataclass(frozen=True)
class ModelWanted:
    """The user wants this model; a ``complete`` one can be asked without a form."""

    name: str
    table: Mapping[str, object]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class ModelConnected:
    """A model was added that can be asked at once."""

    name: str


class Connecting(QObject):
    """Shows what can be connected, wherever the user is.

    Parameters
    ----------
    context : AppContext
        Of the window.
    endpoints : EndpointBook
        What finds the models of this computer.
    owner : QWidget
        Whose window the page belongs to.
    """

    wanted = Signal(object)
    """ModelWanted"""
    fetched = Signal()
    """The files of a model that is connected already are on this computer now."""

    def __init__(
        self, context: AppContext, endpoints: EndpointBook, owner: QWidget
    ) -> None:
        super().__init__(owner)
        self._context, self._endpoints, self._owner = context, endpoints, owner
        self._background_tasks = BackgroundTasks(self)
        endpoints.found_here.connect(self._show_found)

    def show(self, *_: object) -> None:
        """Show the page, and look for models on this computer.

        Where an administrator chose the models, say so instead.
        """
        try:
            read_policy().check_models_may_change()
        except OverreadError as error:
            self._context.notices.error(error)
            return
        show_once(self._owner.window(), "connect", self._page)

    def _page(self) -> ConnectPage:
        page = ConnectPage(new_models(), self._owner.window())
        page.look_wanted.connect(lambda _: self._endpoints.find())
        page.new_wanted.connect(self._add)
        page.files_wanted.connect(self._take_files)
        page.look()
        return page

    def _show_found(self, event: FoundHere) -> None:
        """Show it on the page, unless that was closed meanwhile."""
        for page in self._owner.window().findChildren(ConnectPage):
            page.show_found(event.models, looking=event.looking)
            page.show_fits(event.fits)

    def _add(self, event: NewWanted) -> None:
        new = event.new
        if new.pulls_from:
            self._pull(new.pulls_from)
        elif new.to_get:
            self._get(new)
        else:
            self._want(new, complete=new.is_complete)

    def _get(self, new: NewModel) -> None:
        """Offer the download of a model, and connect it once it is here."""
        show_once(self._owner.window(), f"get {new.to_get}", partial(self._offer, new))

    def _offer(self, new: NewModel) -> GetModel:
        page = GetModel(hub(), new.to_get, self._owner.window())
        page.fetched.connect(partial(self._want, new, complete=True))
        page.declined.connect(partial(self._want, new, complete=False))
        return page

    def _pull(self, base_url: str) -> None:
        """Offer the download of any model through an Ollama of this computer."""
        show_once(
            self._owner.window(), f"get {base_url}", partial(self._offer_any, base_url)
        )

    def _offer_any(self, base_url: str) -> GetModel:
        page = GetModel(ollama(base_url), parent=self._owner.window())
        page.fetched.connect(self._show_again)
        return page

    def _show_again(self) -> None:
        """Show the page with what this computer has now, also one that is open."""
        for page in self._owner.window().findChildren(ConnectPage):
            page.look()
        self.show()

    def get(self, event: GetWanted) -> None:
        """Offer the download of a model that is connected already."""
        show_once(
            self._owner.window(),
            f"get {event.model}",
            partial(self._offer_again, event),
        )

    def _offer_again(self, event: GetWanted) -> GetModel:
        page = GetModel(hub(event.revision), event.model, self._owner.window())
        page.without.hide()
        page.fetched.connect(self.fetched)
        return page

    def _want(self, new: NewModel, *, complete: bool) -> None:
        if not complete:
            self._context.actions.run("window.models")
        name = str(new.table["name"])
        self.wanted.emit(ModelWanted(name, new.table, complete=complete))

    def _take_files(self, event: FilesWanted) -> None:
        self._context.actions.run("window.models")
        self.take(event.paths)

    def take(self, paths: Sequence[Path]) -> None:
        """Recognise the models in files and folders, in the background."""
        self._background_tasks.start(
            "dropped",
            lambda: dropped_models(paths),
            self._draft,
            partial(tell_error, self._context),
        )

    def _draft(self, models: tuple[DroppedModel, ...]) -> None:
        for model in models:
            self.wanted.emit(ModelWanted(model.name, model.table))
