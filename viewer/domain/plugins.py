"""Plug-ins of other distributions, found through their entry points."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Generic, TypeVar

T = TypeVar("T")


class PluginError(Exception):
    """Why a plug-in cannot be used; completes a sentence about it."""


@dataclass(frozen=True, slots=True)
class Plugin(Generic[T]):
    """A working plug-in, and the distribution it comes from."""

    value: T
    package: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A plug-in that cannot be used: its name, and a sentence that says why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Plugins(Generic[T]):
    """Working plug-ins by name, and broken ones."""

    working: Mapping[str, Plugin[T]]
    broken: tuple[Broken, ...] = ()


def load_plugins(
    entries: Iterable[EntryPoint], kind: str, checked: Callable[[str, object], T]
) -> Plugins[T]:
    """Load what entry points name; one that fails harms no other.

    Parameters
    ----------
    entries : iterable of EntryPoint
        Those of one group.
    kind : str
        What people call one, such as ``study``.
    checked : callable
        Returns what was loaded under a name, or raises `PluginError`.
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


def check_name(name: str, own: str, taken: Container[str]) -> None:
    """Raise PluginError where a name is taken, or its thing calls itself otherwise."""
    if name in taken:
        raise PluginError("has the same name as a built-in one: give it another name.")
    if own != name:
        raise PluginError(f"calls itself '{own}': its entry point needs the same name.")


def _loaded(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except Exception as error:
        raise PluginError(
            f"cannot be loaded ({type(error).__name__}: {error}): "
            "update or uninstall the package."
        ) from error


def _package(entry: EntryPoint) -> str:
    """Return the name of the distribution, of the module where nobody knows it."""
    return entry.dist.name if entry.dist else entry.module


def _release(entry: EntryPoint) -> str:
    """Return the name and the version of the distribution."""
    version = f" {entry.dist.version}" if entry.dist else ""
    return f"{_package(entry)}{version}"
