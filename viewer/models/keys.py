"""API keys: in this process's memory, the environment or the keyring.

A profile names a key; its value is in none of our files, arguments, logs or reports.
"""

import os
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING, Final

from viewer.domain.errors import WrongUseError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE: Final = "overread"
"""The name under which the keyring keeps our keys."""
_REAL: Final = frozenset({"SecretService", "Windows", "kwallet", "libsecret", "macOS"})
"""Modules of keyring whose backends encrypt what they keep."""

_memory: dict[str, str] = {}
_used: set[str] = set()
_variables: set[str] = set()
_lock = Lock()


class KeyPlace(StrEnum):
    """Where a key was found."""

    MEMORY = "memory"
    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    NOWHERE = ""


def key_named(name: str) -> str:
    """Return the key with a name, "" if there is none."""
    key = _found(name)[1]
    with _lock:
        _used.add(key)
    return key


def note_variable(name: str) -> None:
    """Record that a profile names an environment variable as containing a key."""
    with _lock:
        _variables.add(name)


def known_keys() -> frozenset[str]:
    """Return the keys known to this process, so that output can be redacted.

    These are the keys in its memory, those it has used, and those in the environment
    variables that profiles name; the keyring is not asked.
    """
    with _lock:
        found = {*_memory.values(), *_used}
        found |= {os.environ.get(name, "").strip() for name in _variables}
    return frozenset(found - {""})


def key_place(name: str) -> KeyPlace:
    """Return where a key is stored, without the key itself."""
    return _found(name)[0]


def remember_key(name: str, key: str) -> None:
    """Keep a key in memory until this process ends; "" forgets it."""
    with _lock:
        if key:
            _memory[name] = _checked(key)
        else:
            _memory.pop(name, None)


def store_key(name: str, key: str) -> None:
    """Store a key in this computer's keyring.

    Raises
    ------
    WrongUseError
        If there is no keyring, it is locked, or the key contains invalid characters;
        the message never repeats the key.
    """
    key = _checked(key)
    backend = _backend()
    if backend is None:
        raise WrongUseError(
            "This computer has no keyring that could keep a key safely.",
            f"Set the environment variable {name} instead, before Overread starts.",
        )
    from keyring.errors import KeyringError

    try:
        backend.set_password(SERVICE, name, key)
    except KeyringError as error:
        raise _refused(error) from error


def forget_key(name: str) -> bool:
    """Remove a key from memory and keyring; tell whether the keyring had it."""
    remember_key(name, "")
    backend = _backend()
    if backend is None:
        return False
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        backend.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return False
    except KeyringError as error:
        raise _refused(error) from error
    return True


def _found(name: str) -> tuple[KeyPlace, str]:
    with _lock:
        remembered = _memory.get(name, "")
    if remembered:
        return KeyPlace.MEMORY, remembered
    named = os.environ.get(name, "").strip()
    if named:
        return KeyPlace.ENVIRONMENT, named
    key = _from_keyring(name)
    return (KeyPlace.KEYRING, key) if key else (KeyPlace.NOWHERE, "")


def _from_keyring(name: str) -> str:
    backend = _backend()
    if backend is None:
        return ""
    from keyring.errors import KeyringError

    try:
        return backend.get_password(SERVICE, name) or ""
    except KeyringError as error:
        raise _refused(error) from error


def _backend() -> "KeyringBackend | None":
    """Return the keyring in use if it encrypts its contents, else None."""
    import keyring

    backend = keyring.get_keyring()
    parts = getattr(backend, "backends", None) or [backend]
    return backend if all(is_real(part) for part in parts) else None


def is_real(backend: object) -> bool:
    """Tell whether a keyring backend is the system's own, encrypted one."""
    *package, module = type(backend).__module__.split(".")
    return package == ["keyring", "backends"] and module in _REAL


def _checked(key: str) -> str:
    stripped = key.strip()
    if not stripped or not (stripped.isascii() and stripped.isprintable()):
        raise WrongUseError(
            "The key is empty or contains characters that no key has.",
            "Copy it again, without line breaks.",
        )
    return stripped


def _refused(error: Exception) -> WrongUseError:
    return WrongUseError(
        f"The keyring refused access ({type(error).__name__}).",
        "Unlock it, or set the key's environment variable instead.",
    )
