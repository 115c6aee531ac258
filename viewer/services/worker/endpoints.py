"""Requests about models for the window: tests, lists, calibrations."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Event
from typing import TypeVar

from viewer.domain.errors import OverreadError
from viewer.domain.exchange import ModelProfile
from viewer.domain.plain import plain
from viewer.models.catalog import adapter_for, endpoint_of
from viewer.models.loaded import (
    NOTHING_MORE,
    Loadable,
    LoadCancelledError,
    until_cancelled,
)
from viewer.services.commands import CalibrationStep, LoadStep
from viewer.services.configuring.model_profiles import model_named
from viewer.services.worker.cancellation import Cancellations
from viewer.services.worker.models import LoadSteps
from viewer.settings import read_settings

_T = TypeVar("_T")


def listed(store_path: Path, table: Mapping[str, object]) -> dict[str, object]:
    """Return the names of a server's models; ``table`` is a profile, saved or not.

    A remote server needs consent for it.
    """
    from viewer.models.catalog import profile_from_table
    from viewer.services.probing.probe import list_with_consent

    folder = read_settings(store_path).models_file.absolute().parent
    profile = profile_from_table({"model": "?", **table}, folder)
    return {"listed": list(list_with_consent(store_path, profile))}


def found_here(*, ask: bool) -> dict[str, object]:
    """Return the models of servers on this machine; nothing else is asked.

    With ``ask`` those of which nothing is declared are asked whether they take images,
    and the memory that is free now is compared with the needs of known models.
    """
    from viewer.services.configuring.known_cards import known_fits
    from viewer.services.probing.found import found_models

    fits = plain(known_fits()) if ask else []
    return {"found": plain(found_models(ask=ask)), "fits": fits}


class StoppedError(OverreadError):
    """The user stopped a test or a calibration; nothing of it is stored."""


class Probes:
    """Tests endpoints, one test per model at a time, until the user stops it.

    Parameters
    ----------
    store_path : Path
        The store's file, for consents.

    Attributes
    ----------
    going : Cancellations
        The flags by which a test is stopped, with the question that is in flight.
    """

    def __init__(self, store_path: Path) -> None:
        self._store_path = store_path
        self.going = Cancellations("tested")

    def probe(self, name: str) -> dict[str, object]:
        """Return the results of probing a model's endpoint, as plain JSON values."""
        from viewer.services.probing.probe import probe_with_consent
        from viewer.services.probing.rows import report_as_json

        store_path = self._store_path
        profile = model_named(name, read_settings(store_path).models_file)
        with self.going.doing(name) as stop:
            report = _unless_stopped(
                lambda check: probe_with_consent(store_path, profile, check),
                stop,
                "The test was stopped.",
            )
        return {"probed": report_as_json(report)}


class Calibrations:
    """Calibrates and checks models, each one at a time, until the user stops it.

    Parameters
    ----------
    store_path : Path
        The store's file, for consents.
    tell : callable
        Called after every answer, in the thread that calibrates.
    tell_load : callable
        Called with each step of loading a model before its first question.

    Attributes
    ----------
    going : Cancellations
        The flags by which a calibration is stopped, with what is in flight.
    """

    def __init__(
        self,
        store_path: Path,
        tell: Callable[[CalibrationStep], None],
        tell_load: Callable[[LoadStep], None],
    ) -> None:
        self._store_path, self._tell, self._tell_load = store_path, tell, tell_load
        self.going = Cancellations("calibrated")

    def calibrate(self, name: str) -> dict[str, object]:
        """Return which convention a model answers in, as plain JSON values."""
        from viewer.services.calibrating.calibrate import (
            calibrate_with_consent,
            calibration_as_json,
        )

        ask = partial(self._ask, calibrate_with_consent)
        found = self._unless_stopped(name, ask, "The calibration was stopped.")
        return {"calibrated": calibration_as_json(found)}

    def check(self, name: str) -> dict[str, object]:
        """Return what a model does with a known mark, as plain JSON values."""
        from viewer.services.calibrating.check import check_with_consent

        ask = partial(self._ask, check_with_consent)
        found = self._unless_stopped(name, ask, "The check was stopped.")
        return {"checked": plain(found)}

    def _unless_stopped(
        self,
        name: str,
        ask: Callable[[ModelProfile, Event, Callable[[], None]], _T],
        sentence: str,
    ) -> _T:
        profile = model_named(name, read_settings(self._store_path).models_file)
        with self.going.doing(name) as stop:
            try:
                return _unless_stopped(
                    lambda check: ask(profile, stop, check), stop, sentence
                )
            finally:
                _interrupt_if(stop, profile)

    def _ask(
        self,
        ask: Callable[..., _T],
        profile: ModelProfile,
        stop: Event,
        check: Callable[[], None],
    ) -> _T:
        from viewer.services.calibrating.calibrate import load_first

        def progress(done: int, total: int, awaited: str) -> None:
            check()
            self._tell(CalibrationStep(profile.name, done, total, awaited))

        name, tell = profile.name, self._tell_load
        try:
            load_first(profile, LoadSteps(name, tell), stop)
        finally:
            tell(LoadStep(name, 1.0, NOTHING_MORE))
        return ask(self._store_path, profile, progress=progress, check=check)


def _unless_stopped(
    work: Callable[[Callable[[], None]], _T], stop: Event, sentence: str
) -> _T:
    """Run work that checks a flag in its callbacks; abandon it once the flag is set."""

    def check() -> None:
        if stop.is_set():
            raise StoppedError(sentence)

    try:
        return until_cancelled(lambda: work(check), stop)
    except LoadCancelledError as error:
        raise StoppedError(sentence) from error


def _interrupt_if(stop: Event, profile: ModelProfile) -> None:
    """Interrupt a local model's answer that nobody waits for."""
    from viewer.services.calibrating.calibrate import as_asked

    if stop.is_set() and endpoint_of(profile) is None:
        adapter = adapter_for(as_asked(profile))
        if isinstance(adapter, Loadable):
            adapter.interrupt()
