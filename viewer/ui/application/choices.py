"""Choices as they are kept between two starts: frozen dataclasses to JSON and back.

A choice comes back field by field. What is missing, damaged, of another type or out of
range (a field of a later version) is left as it is by default: a file that a person
did not write must not keep the window from opening.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, get_type_hints

from viewer.domain.errors import OverreadError
from viewer.domain.plain import made

T = TypeVar("T")


def restored(first: T, kept: object) -> T:
    """Return ``first`` with every field that ``kept`` says sensibly.

    Parameters
    ----------
    first : dataclass
        The choice that holds where nothing is kept.
    kept : object
        What `viewer.domain.plain` made of such a choice, read back from JSON.
    """
    if not isinstance(kept, Mapping):
        return first
    values: dict[str, Any] = {}
    for name, kind in get_type_hints(type(first)).items():
        part = getattr(first, name)
        if is_dataclass(part):
            values[name] = restored(part, kept.get(name))
        elif name in kept:
            with suppress(OverreadError):
                values[name] = made(kind, kept[name], where="the choice")
    try:
        return replace(first, **values)  # type: ignore[type-var]
    except OverreadError:
        return first  # the fields do not fit together, such as a grid of one row
