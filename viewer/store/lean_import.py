"""Importing a library without optional dependencies that it imports unasked."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


@contextmanager
def without(name: str) -> Iterator[None]:
    """Make ``import name`` fail inside, as if the package were not installed.

    A package that is imported already is unaffected; one that is not can be imported
    again afterwards. sqlite_utils imports pandas if it is installed, to recognise the
    types of its columns; that costs 0.6 s and 70 MB, and the store has no such columns.
    """
    modules: dict[str, ModuleType | None] = sys.modules  # type: ignore[assignment]
    if name in modules:
        yield
        return
    modules[name] = None  # what the import system documents as "fail at once"
    try:
        yield
    finally:
        del modules[name]
