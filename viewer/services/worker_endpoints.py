"""What the worker finds out about models for the window: tests, lists, calibrations."""

from collections.abc import Callable, Mapping
from pathlib import Path

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.services.commands import CalibrationStep
from viewer.services.model_profiles import model_named
from viewer.services.stops import Stops
from viewer.settings import read_settings


def probed(store_path: Path, name: str) -> dict[str, object]:
    """Return what a model's endpoint was found to do, as plain JSON values."""
    from viewer.services.probe import probe_with_consent
    from viewer.services.probe_rows import report_as_json

    profile = model_named(name, read_settings(store_path).models_file)
    return {"probed": report_as_json(probe_with_consent(store_path, profile))}


def listed(store_path: Path, table: object) -> dict[str, object]:
    """Return the names of a server's models; ``table`` is a profile, saved or not.

    No image leaves for this, but a server beyond this machine needs consent.
    """
    from viewer.models.catalog import profile_from_table
    from viewer.models.endpoint import Allowance
    from viewer.services.probe import list_models
    from viewer.store import asking
    from viewer.store.database import open_store

    if not isinstance(table, Mapping):
        raise WrongUseError("The command's 'table' is no table.", "Mend it.")
    folder = read_settings(store_path).models_file.absolute().parent
    profile = profile_from_table({"model": "?", **table}, folder)
    if not store_path.exists():
        return {"listed": list(list_models(profile))}
    with open_store(store_path) as store:
        consents = asking.standing_consents(store)
    allowance = Allowance(frozenset(consent.endpoint for consent in consents))
    return {"listed": list(list_models(profile, allowance))}


class CalibrationStoppedError(OverreadError):
    """A person stopped a calibration; nothing of it is kept."""


class Calibrations:
    """Calibrates models, one at a time each, until a person stops it.

    Parameters
    ----------
    store_path : Path
        The store's file, which holds consents.
    tell : callable
        Told after every answer; called in the thread that calibrates.

    Attributes
    ----------
    going : Stops
        The flags by which a calibration is stopped after its next answer.
    """

    def __init__(
        self, store_path: Path, tell: Callable[[CalibrationStep], None]
    ) -> None:
        self._store_path, self._tell = store_path, tell
        self.going = Stops("calibrated")

    def calibrate(self, name: str) -> dict[str, object]:
        """Return which convention a model answers in, as plain JSON values."""
        from viewer.services.calibrate import (
            calibrate_with_consent,
            calibration_as_json,
        )

        models_file = read_settings(self._store_path).models_file
        with self.going.doing(name) as stop:
            profile = model_named(name, models_file)

            def progress(done: int, total: int) -> None:
                if stop.is_set():
                    raise CalibrationStoppedError("The calibration was stopped.", "")
                self._tell(CalibrationStep(name, done, total))

            found = calibrate_with_consent(self._store_path, profile, progress=progress)
        return {"calibrated": calibration_as_json(found)}
