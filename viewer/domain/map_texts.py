"""Apply a function to every string in a nested value, keys included."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def with_texts(value: T, change: Callable[[str], str]) -> T:
    """Return a value with its strings changed, also in dataclasses and containers.

    Enum members, numbers, arrays and paths are unchanged.
    """
    changed: Any = value
    if type(changed) is str:
        changed = change(changed)
    elif isinstance(value, Mapping):
        changed = {
            with_texts(key, change): with_texts(one, change)
            for key, one in value.items()
        }
    elif isinstance(changed, tuple | frozenset | list):
        changed = type(changed)(with_texts(one, change) for one in changed)
    elif is_dataclass(value) and not isinstance(value, type):
        held = {
            f.name: with_texts(getattr(value, f.name), change) for f in fields(value)
        }
        changed = type(value)(**held)
    return changed  # type: ignore[no-any-return]
