"""The studies by name; each is imported when it is first used."""

from collections.abc import Callable, Mapping
from importlib import import_module

from viewer.domain.errors import WrongUseError
from viewer.studies.fields import did_you_mean
from viewer.studies.protocol import Study


def _study(module: str) -> Callable[[], Study]:
    """Return a loader of the ``STUDY`` of a module."""

    def load() -> Study:
        study: Study = import_module(module).STUDY
        return study

    return load


STUDIES: Mapping[str, Callable[[], Study]] = {
    "grid_localization": _study("viewer.studies.grid_localization.study"),
}


def study_named(name: str) -> Study:
    """Return a study; an unknown name raises WrongUseError with the known ones."""
    if name not in STUDIES:
        raise WrongUseError(
            f"There is no study named '{name}'.",
            f"{did_you_mean(name, STUDIES)}The studies are {', '.join(STUDIES)}.",
        )
    return STUDIES[name]()
