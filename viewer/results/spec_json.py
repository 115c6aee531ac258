"""Table specifications as plain JSON, to be evaluated elsewhere."""

from collections.abc import Iterable
from typing import Any, Final

from viewer.domain.plain import Kinds
from viewer.results.spec import ListSpec, Spec, TableSpec

_SPECS: Final[Kinds[Spec]] = Kinds("spec", {"table": TableSpec, "list": ListSpec})


def spec_documents(specs: Iterable[Spec]) -> list[dict[str, Any]]:
    """Return specifications as JSON values, each with its kind under ``spec``."""
    return [_SPECS.plain(spec) for spec in specs]


def specs_of(documents: Iterable[object]) -> tuple[Spec, ...]:
    """Return the specifications that documents describe.

    Raises
    ------
    WrongUseError
        A document is invalid; the message names the entry.
    """
    return tuple(_SPECS.made(one, where="the specification") for one in documents)
