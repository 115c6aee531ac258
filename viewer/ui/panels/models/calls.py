"""Connects a model's profile to the objects that talk to the worker."""

from viewer.ui.panels.models.calibration_book import CalibrationBook
from viewer.ui.panels.models.endpoint_book import EndpointBook
from viewer.ui.panels.models.loaded_models import LoadedModels
from viewer.ui.panels.models.profile import ModelProfilePanel


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


def connect_calibration(profile: ModelProfilePanel, book: CalibrationBook) -> None:
    """Connect the calibration of the profile to the worker, and save its convention."""
    profile.check_card.stop_wanted.connect(lambda event: book.stop(event.name))
    page = profile.calibration
    page.calibrate_wanted.connect(lambda event: book.calibrate(event.name))
    page.stop_wanted.connect(lambda event: book.stop(event.name))
    page.convention_wanted.connect(
        lambda event: profile.set_convention(event.convention)
    )
