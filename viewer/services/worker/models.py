"""The models loaded in the worker: loading, unloading, and their needs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.models.catalog import adapter_for, missing_dependency, spec_of
from viewer.models.loaded import Loadable, LoadState
from viewer.services.commands import HeldModel, LoadStep
from viewer.services.configuring.model_profiles import known_models, model_named
from viewer.services.worker.cancellation import Cancellations

_PAUSE_S: Final = 0.1
"""The shortest interval between reported loading steps; final ones always are."""


class HeldModels:
    """The loadable models of a process, by the names of their profiles.

    Parameters
    ----------
    models_file : Path
        The file of the user's models.
    tell : callable
        Called with each step of loading a model, in that thread.

    Attributes
    ----------
    loading : Cancellations
        The flags by which loading is cancelled.
    """

    def __init__(self, models_file: Path, tell: Callable[[LoadStep], None]) -> None:
        self._models_file, self._tell = models_file, tell
        self.loading = Cancellations("loaded")

    def states(self) -> tuple[HeldModel, ...]:
        """Return the models that need loading, in any state."""
        return tuple(self._states())

    def _states(self) -> Iterator[HeldModel]:
        for model in known_models(self._models_file):
            if model.profile is None or not _may_be_held(model.profile):
                continue
            try:
                adapter = adapter_for(model.profile)
                if isinstance(adapter, Loadable):
                    yield _held(model.name, adapter)
            except OverreadError as error:
                yield HeldModel(model.name, LoadState.UNLOADED.value, 0, str(error))

    def load(self, name: str) -> HeldModel:
        """Load a model and return it; raises if that fails or is cancelled."""
        with self.loading.doing(name) as cancelled:
            adapter = self._loadable(name)
            adapter.load(LoadSteps(name, self._tell), cancelled)
        return _held(name, adapter)

    def unload(self, name: str) -> HeldModel:
        """Unload a model once its questions in flight are answered."""
        adapter = self._loadable(name)
        adapter.unload()
        return _held(name, adapter)

    def _loadable(self, name: str) -> Loadable:
        adapter = adapter_for(model_named(name, self._models_file))
        if not isinstance(adapter, Loadable):
            raise WrongUseError(
                f"The model '{name}' is not held in memory.",
                "Ask it; there is nothing to load.",
            )
        return adapter


class LoadSteps:
    """Reports the steps of one loading at a limited rate."""

    def __init__(self, name: str, tell: Callable[[LoadStep], None]) -> None:
        self._name, self._tell, self._told_at = name, tell, -_PAUSE_S

    def __call__(self, part: float, what: str) -> None:
        """Report a step, unless one was reported a moment ago."""
        now = time.monotonic()
        if part >= 1 or now - self._told_at >= _PAUSE_S:
            self._told_at = now
            self._tell(LoadStep(self._name, min(1.0, max(0.0, part)), what))


def _may_be_held(profile: ModelProfile) -> bool:
    """Return whether a model may be loadable; not if it lacks a package."""
    spec = spec_of(profile)
    return not spec.remote and missing_dependency(spec) is None


def _held(name: str, adapter: Loadable) -> HeldModel:
    return HeldModel(name, adapter.state.value, adapter.memory_bytes())
