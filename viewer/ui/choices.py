"""Choices as they are kept between two starts: frozen dataclasses to JSON and back.

A choice comes back field by field. What is missing, damaged, of another type or out of
range (a field of a later version) is left as it is by default: a file that a person
did not write must not keep the window from opening.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from viewer.domain.errors import OverreadError

T = TypeVar("T")


def plain(value: object) -> object:
    """Return a dataclass, an enum or a plain value as JSON knows it."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def restored(first: T, kept: object) -> T:
    """Return ``first`` with every field that ``kept`` says sensibly.

    Parameters
    ----------
    first : dataclass, enum, tuple, str, bool, int or float
        The choice that holds where nothing is kept; its types are what is expected.
    kept : object
        What `plain` made of such a choice, read back from JSON.
    """
    if is_dataclass(first) and not isinstance(first, type):
        return cast("T", _dataclass(first, kept))
    if isinstance(first, Enum):
        return _enum(first, kept)
    if isinstance(first, tuple):
        return cast("T", _tuple(first, kept))
    if isinstance(first, float) and type(kept) is int:
        return cast("T", float(kept))
    return kept if type(kept) is type(first) else first


def _dataclass(first: Any, kept: object) -> object:  # noqa: ANN401 - any dataclass
    if not isinstance(kept, Mapping):
        return first
    values = {
        f.name: restored(getattr(first, f.name), kept[f.name])
        for f in fields(first)
        if f.name in kept
    }
    try:
        return replace(first, **values)
    except OverreadError:
        return first  # the fields do not fit together, such as a grid of one row


def _enum(first: T, kept: object) -> T:
    kind: Any = type(first)
    return next((member for member in kind if member.value == kept), first)


def _tuple(first: tuple[object, ...], kept: object) -> tuple[object, ...]:
    """Return a tuple of as many values, or of strings as many as are kept."""
    if isinstance(kept, str) or not isinstance(kept, Sequence):
        return first
    if all(isinstance(item, str) for item in (*first, *kept)):
        return tuple(kept)
    if len(kept) != len(first):
        return first
    return tuple(restored(a, b) for a, b in zip(first, kept, strict=True))
