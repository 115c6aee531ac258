"""Connects a model's profile to the objects that talk to the worker."""

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.services.configuring.check_words import check_in_words, wrong_in_words
from viewer.services.configuring.model_profiles import model_named
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs.confirm import confirm
from viewer.ui.panels.models.calibration_book import CalibrationBook, ModelChecked
from viewer.ui.panels.models.endpoint_book import EndpointBook
from viewer.ui.panels.models.loaded_models import LoadedModels
from viewer.ui.panels.models.profile import ModelProfilePanel
from viewer.ui.tables.models_model import ModelRow


class Checking(QObject):
    """Checks models and says what was found, wherever the user is.

    Parameters
    ----------
    context : AppContext
        Of the window.
    book : CalibrationBook
        What asks the models.
    owner : QWidget
        Whose window is asked in.
    """

    def __init__(
        self, context: AppContext, book: CalibrationBook, owner: QWidget
    ) -> None:
        super().__init__(owner)
        self._context, self._book, self._owner = context, book, owner
        book.checked.connect(self._tell)

    def check(self, name: str) -> None:
        """Check a model; ask first if that costs money or leaves this machine."""
        from viewer.services.calibrating.check import warning_before

        begin = partial(self._book.check, name)
        try:
            profile = model_named(name, self._context.settings.models_file)
            warning = warning_before(profile)
        except OverreadError as error:
            self._context.notices.error(error)
            return
        if warning:
            window = self._owner.window()
            confirm(window, f"Check {name}?", warning, "Check", begin)
        else:
            begin()

    def _tell(self, event: ModelChecked) -> None:
        found = event.check
        wrong = wrong_in_words(found)
        if wrong:
            self._context.notices.post(Notice(f"{found.model}: {wrong}"))
        else:
            self._context.notices.say(f"{found.model}: {check_in_words(found)}")


def connect_memory(profile: ModelProfilePanel, book: LoadedModels) -> None:
    """Connect Load, Unload and Cancel of the profile to the worker."""
    profile.memory.load_wanted.connect(lambda event: book.load(event.name))
    profile.memory.unload_wanted.connect(lambda event: book.unload(event.name))
    profile.memory.cancel_wanted.connect(lambda event: book.cancel(event.name))


def connect_endpoint(profile: ModelProfilePanel, endpoints: EndpointBook) -> None:
    """Connect the endpoint's test and model list of the profile to the worker."""
    profile.test.test_wanted.connect(lambda event: endpoints.test(event.name))
    profile.test.stop_wanted.connect(lambda event: endpoints.stop(event.name))
    profile.list_wanted.connect(lambda event: endpoints.list_models(event.table))
    endpoints.listed.connect(lambda event: profile.offer_models(event.names))


def connect_calibration(
    profile: ModelProfilePanel, book: CalibrationBook, checking: Checking
) -> None:
    """Connect check and calibration of the profile, and save its convention."""
    card = profile.check_card
    card.check_wanted.connect(lambda event: checking.check(event.name))
    card.stop_wanted.connect(lambda event: book.stop(event.name))
    page = profile.calibration
    page.calibrate_wanted.connect(lambda event: book.calibrate(event.name))
    page.stop_wanted.connect(lambda event: book.stop(event.name))
    page.convention_wanted.connect(
        lambda event: profile.set_convention(event.convention)
    )


def show_found(
    profile: ModelProfilePanel,
    row: ModelRow,
    endpoints: EndpointBook,
    book: CalibrationBook,
) -> None:
    """Show what was found of a model, and what is being found."""
    name = row.key
    profile.show_test(endpoints.found(name), running=endpoints.is_tested(name))
    profile.show_calibration(book.found(name), book.step(name))
    profile.show_check(row.line, book.why_unchecked(name), book.check_step(name))
