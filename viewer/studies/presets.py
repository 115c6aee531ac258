"""What every study says of its presets."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from viewer.studies.fields import params_as_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = TypeVar("P", bound="DataclassInstance")


class OfPresets(Generic[P]):
    """A study whose settings come from named presets.

    Parameters
    ----------
    read : callable
        Its ``read_params``: a preset and overrides in, its frozen Params out.
    titles : mapping
        What people call each preset, the paper's first.
    """

    def __init__(
        self,
        read: Callable[[str, Mapping[str, object]], P],
        titles: Mapping[str, str],
    ) -> None:
        self._read = read
        self._titles = titles

    def read_params(self, preset: str, overrides: dict[str, object]) -> P:
        """Return Params of a preset with overrides; a bad one raises WrongUseError."""
        return self._read(preset, overrides)

    def params_as_json(self, params: P) -> dict[str, object]:
        """Return Params as plain JSON values that read_params takes back."""
        return params_as_json(params)

    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets, the paper's first."""
        return tuple(self._titles)

    def preset_title(self, preset: str) -> str:
        """Return what people call a preset."""
        return self._titles[preset]
