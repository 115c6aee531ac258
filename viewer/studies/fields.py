"""The kinds of value a study's parameters may have, each read from a study file.

A field of a Params dataclass carries its kind and its meaning in the dataclass
metadata, so that the form, the command line's flags and the checks share one table.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from viewer.domain.errors import WrongUseError
from viewer.domain.finding_names import plain_name
from viewer.domain.grid import grid_of_name
from viewer.domain.plain import did_you_mean

P = TypeVar("P")
T = TypeVar("T")


class Kind(Protocol):
    """A kind of value: parses a study file's value, or describes what is valid."""

    def read(self, key: str, value: object) -> object:
        """Return the value as the dataclass keeps it; a bad one raises."""
        ...

    @property
    def expected(self) -> str:
        """What may be written, as the end of a sentence."""
        ...


def refuse(key: str, value: object, kind: Kind) -> WrongUseError:
    """Return the error for an invalid value."""
    return WrongUseError(
        f"The parameter {key} cannot be {value!r}.", f"Give {kind.expected}."
    )


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from ``low`` to ``high``, both included."""

    low: int
    high: int

    def read(self, key: str, value: object) -> int:
        """Return the number; refuse anything else, booleans included."""
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not self.low <= value <= self.high:  # type: ignore[operator]
            raise refuse(key, value, self)
        return int(value)  # type: ignore[call-overload, no-any-return]

    @property
    def expected(self) -> str:
        """What may be written."""
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number above ``low`` (itself excluded) and up to ``high``."""

    low: float
    high: float

    def read(self, key: str, value: object) -> float:
        """Return the number; refuse anything else, booleans included."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise refuse(key, value, self)
        if not self.low < value <= self.high:
            raise refuse(key, value, self)
        return float(value)

    @property
    def expected(self) -> str:
        """What may be written."""
        return f"a number above {self.low:g} and up to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Switch:
    """True or false."""

    def read(self, key: str, value: object) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool):
            raise refuse(key, value, self)
        return value

    @property
    def expected(self) -> str:
        """What may be written."""
        return "true or false"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A member of an enumeration, written as its value."""

    choices: type[StrEnum]

    def read(self, key: str, value: object) -> StrEnum:
        """Return the member of that value; an unknown one is refused."""
        try:
            return self.choices(str(value))
        except ValueError:
            raise refuse(key, value, self) from None

    @property
    def expected(self) -> str:
        """What may be written."""
        return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text that is not empty."""

    def read(self, key: str, value: object) -> str:
        """Return the text as written; an empty one is refused."""
        if not isinstance(value, str) or not value.strip():
            raise refuse(key, value, self)
        return value

    @property
    def expected(self) -> str:
        """A description of the valid values."""
        return "a text that is not empty"


@dataclass(frozen=True, slots=True)
class MaybeText:
    """A line of text, or none."""

    def read(self, key: str, value: object) -> str:
        """Return the text without blanks around it."""
        if not isinstance(value, str):
            raise refuse(key, value, self)
        return value.strip()

    @property
    def expected(self) -> str:
        """A description of the valid values."""
        return "a text, which may be empty"


@dataclass(frozen=True, slots=True)
class ModelName:
    """The name of a model that has a role in a study, or none."""

    def read(self, key: str, value: object) -> str:
        """Return the name without blanks around it."""
        if not isinstance(value, str):
            raise refuse(key, value, self)
        return value.strip()

    @property
    def expected(self) -> str:
        """What may be written."""
        return "the name of a model, or an empty text for none"


@dataclass(frozen=True, slots=True)
class Names:
    """A list of distinct names; limited to ``choices`` if any are given."""

    choices: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    may_be_empty: bool = False

    def read(self, key: str, value: object) -> tuple[str, ...]:
        """Return the names in their order, aliases replaced."""
        if not isinstance(value, list | tuple) or not (value or self.may_be_empty):
            raise refuse(key, value, self)
        if not all(isinstance(name, str) and name.strip() for name in value):
            raise refuse(key, value, self)
        names = tuple(self.aliases.get(plain_name(name), name) for name in value)
        for name in names:
            if self.choices and name not in self.choices:
                raise refuse(key, name, self)
        return _all_different(key, names)

    @property
    def expected(self) -> str:
        """What may be written."""
        if not self.choices:
            return "a list of names"
        named = ", ".join(f'"{name}"' for name in self.choices)
        return f"a list of {named}{', which may be empty' if self.may_be_empty else ''}"


@dataclass(frozen=True, slots=True)
class Grids:
    """A list of grids: 8 or "8", and "8x10" for 8 rows and 10 columns."""

    def read(self, key: str, value: object) -> tuple[str, ...]:
        """Return the grids' names."""
        if not isinstance(value, list | tuple) or not value:
            raise refuse(key, value, self)
        return _all_different(key, tuple(self._name(key, grid) for grid in value))

    def _name(self, key: str, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise refuse(key, value, self)
        return grid_of_name(str(value)).name

    @property
    def expected(self) -> str:
        """What may be written."""
        return 'a list such as [8, 16] or ["8x10"] (rows x columns)'


@dataclass(frozen=True, slots=True)
class Numbers:
    """A list of different numbers, kept as they are named: "3" of 3, 3.0 and "3"."""

    def read(self, key: str, value: object) -> tuple[str, ...]:
        """Return the numbers' names."""
        if not isinstance(value, list | tuple) or not value:
            raise refuse(key, value, self)
        return _all_different(key, tuple(self._name(key, one) for one in value))

    def _name(self, key: str, value: object) -> str:
        try:
            number = math.nan if isinstance(value, bool) else float(str(value))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise refuse(key, value, self)
        return f"{number:g}"

    @property
    def expected(self) -> str:
        """What may be written."""
        return "a list of numbers, such as [0.5, 3]"


@dataclass(frozen=True, slots=True)
class Colour:
    """Red, green and blue, 0 to 255 each."""

    def read(self, key: str, value: object) -> tuple[int, ...]:
        """Return the three numbers."""
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise refuse(key, value, self)
        return tuple(Whole(0, 255).read(key, part) for part in value)

    @property
    def expected(self) -> str:
        """What may be written."""
        return "red, green and blue from 0 to 255, such as [255, 255, 0]"


def param(
    default: T, kind: Kind, meaning: str, label: str = "", words: Sequence[str] = ()
) -> T:
    """Return a parameter as a field of a dataclass.

    ``label`` is its display name, "" for its name; ``words`` are display names of the
    choices, in order. Study files keep names and values.
    """
    metadata = {"help": meaning, "kind": kind, "label": label, "words": tuple(words)}
    made: T = field(default=default, metadata=metadata)
    return made


def read_fields(
    params: type[Any], preset: Mapping[str, object], overrides: Mapping[str, object]
) -> dict[str, object]:
    """Return validated keyword arguments for ``params``; raises if one is invalid."""
    table: dict[str, Field[Any]] = {f.name: f for f in fields(params)}
    for key in overrides:
        if key not in table:
            raise _unknown(key, table)
    return {
        key: table[key].metadata["kind"].read(key, value)
        for key, value in {**preset, **overrides}.items()
    }


def read_preset(
    params: type[P],
    study: str,
    presets: Mapping[str, Mapping[str, object]],
    preset: str,
    overrides: Mapping[str, object],
) -> P:
    """Return ``params`` of a preset with some replaced; raises if one is invalid.

    ``study`` is its name in messages, such as ``ReXecution``.
    """
    if preset not in presets:
        raise WrongUseError(
            f"The {study} study has no preset named '{preset}'.",
            f"{did_you_mean(preset, presets)}The presets are {', '.join(presets)}.",
        )
    return params(**read_fields(params, presets[preset], overrides))


def _unknown(key: str, table: Mapping[str, object]) -> WrongUseError:
    return WrongUseError(
        f"There is no parameter named '{key}'.",
        f"{did_you_mean(key, table)}The parameters are {', '.join(sorted(table))}.",
    )


def _all_different(key: str, names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongUseError(
            f"The parameter {key} names {twice[0]} more than once.", "Name it once."
        )
    return names
