"""Choices kept between two starts: frozen dataclasses to JSON and back.

They are restored field by field. A field that is missing, damaged, of another type or
out of range (from a later version) keeps its default: a file that the user did not
write must not prevent the window from opening.
"""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar, get_type_hints

from viewer.domain.errors import OverreadError
from viewer.domain.plain import made

T = TypeVar("T")


def restored(
    first: T, stored: object, tell: Callable[[str], object] = lambda _: None
) -> T:
    """Return ``first`` with every valid field of ``stored``.

    Parameters
    ----------
    first : dataclass
        The default choice.
    stored : object
        A choice as written by `viewer.domain.plain`, read back from JSON.
    tell : callable
        Gets the name of each field that is damaged.
    """
    if not isinstance(stored, Mapping):
        return first
    values: dict[str, Any] = {}
    for name, kind in get_type_hints(type(first)).items():
        part = getattr(first, name)
        if is_dataclass(part):
            values[name] = restored(part, stored.get(name), tell)
        elif name in stored:
            try:
                values[name] = made(kind, stored[name], where="the choice")
            except OverreadError:
                tell(name)
    try:
        return replace(first, **values)  # type: ignore[type-var]
    except OverreadError:
        return first  # the fields do not fit together, such as a grid of one row
