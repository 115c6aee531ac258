"""Isolation of readers of untrusted files in a separate process.

A reader marked ``isolated`` runs in a decoding process if the program has set one; if
that crashes, hangs or needs too much memory, nothing else is affected. Without one, as
in a script that imports a reader, it runs in this process.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from viewer.domain.case import ImageRef

P = ParamSpec("P")
T = TypeVar("T")


class Isolator(Protocol):
    """Calls a function of a file in another process."""

    def __call__(
        self,
        function: Callable[..., T],
        path: Path,
        arguments: tuple[object, ...],
        named: dict[str, Any],
    ) -> T:
        """Return what the function returns there, or raise what it raises."""


_chosen: list[Isolator] = []


def isolate_with(isolator: Isolator | None) -> None:
    """Set what calls isolated readers; None for this process itself."""
    _chosen[:] = [] if isolator is None else [isolator]


def isolated(function: Callable[P, T]) -> Callable[P, T]:
    """Mark a reader whose first argument is a path or an image reference.

    It must be a module-level function under its own name, and its arguments and results
    must be picklable.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _chosen:
            return function(*args, **kwargs)
        # The wrapper, not ``function``: pickle finds it by the name that both share.
        return _chosen[0](call, _path_of(args[0]), args, kwargs)

    return call


def _path_of(first: object) -> Path:
    return first.path if isinstance(first, ImageRef) else Path(str(first))
