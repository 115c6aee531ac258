"""Parameters that name models of a run, which need special treatment."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, Protocol, runtime_checkable

from viewer.domain.exchange import ModelProfile

_FILE: Final = ".gguf"


@runtime_checkable
class NamesModels(Protocol):
    """Additional interface of a study whose parameters name models of a run."""

    def settled(
        self,
        params: Any,  # noqa: ANN401 - the study's own type
        preset: str,
        models: Sequence[ModelProfile],
        known: Mapping[str, ModelProfile],
    ) -> Any:  # noqa: ANN401
        """Return the parameters with each name as the run's profiles have it.

        ``known`` are all models that a person has; a name that is of none of them, nor
        of the preset, raises WrongUseError.
        """
        ...


def called(profile: ModelProfile, name: str) -> bool:
    """Tell whether a profile has a name, or asks a model of that name.

    ``medgemma-4b-it`` is a profile of that name, and any that asks
    ``google/medgemma-4b-it``, ``medgemma-4b-it:q8`` or ``medgemma-4b-it.gguf``.
    """
    return name.casefold() in {one.casefold() for one in _names(profile)}


def _names(profile: ModelProfile) -> Iterable[str]:
    asked = str(profile.settings.get("model", "")).replace("\\", "/")
    last = PurePosixPath(asked).name
    yield from (profile.name, asked, last, last.removesuffix(_FILE))
    yield last.partition(":")[0]
