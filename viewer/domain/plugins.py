"""Plug-ins of other distributions, found through entry points."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Generic, TypeVar

T = TypeVar("T")


class PluginError(Exception):
    """Why a plug-in cannot be used, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class Plugin(Generic[T]):
    """A usable plug-in and the distribution it comes from."""

    value: T
    package: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A plug-in that cannot be used: its name, and a sentence that says why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Plugins(Generic[T]):
    """Usable plug-ins by name, and broken ones."""

    working: Mapping[str, Plugin[T]]
    broken: tuple[Broken, ...] = ()


def load_plugins(
    entries: Iterable[EntryPoint], kind: str, checked: Callable[[str, object], T]
) -> Plugins[T]:
    """Load plug-ins from entry points; one that fails does not affect the others.

    Parameters
    ----------
    entries : iterable of EntryPoint
        Those of one group.
    kind : str
        The noun used in messages, such as ``study``.
    checked : callable
        Validates what was loaded under a name and returns it, or raises `PluginError`.
    """
    working: dict[str, Plugin[T]] = {}
    broken: list[Broken] = []
    for entry in entries:
        try:
            plugin = Plugin(checked(entry.name, _loaded(entry)), _release(entry))
        except PluginError as error:
            about = f"The {kind} '{entry.name}' of package {_package(entry)}"
            broken.append(Broken(entry.name, f"{about} {error}"))
        else:
            working.setdefault(entry.name, plugin)
    return Plugins(working, tuple(broken))


def check_name(name: str, stated: str, taken: Container[str]) -> None:
    """Raise PluginError if a name is taken, or differs from the plug-in's own."""
    if name in taken:
        raise PluginError("has the same name as a built-in one: give it another name.")
    if stated != name:
        raise PluginError(
            f"calls itself '{stated}': its entry point needs the same name."
        )


def _loaded(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except Exception as error:
        raise PluginError(
            f"cannot be loaded ({type(error).__name__}: {error}): "
            "update or uninstall the package."
        ) from error


def _package(entry: EntryPoint) -> str:
    """Return the name of the distribution, or of the module if it has none."""
    return entry.dist.name if entry.dist else entry.module


def _release(entry: EntryPoint) -> str:
    """Return the distribution's name and version."""
    version = f" {entry.dist.version}" if entry.dist else ""
    return f"{_package(entry)}{version}"
