"""The user's folders, settings in the environment, and the administrator's policy."""

import math
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import platformdirs

from viewer.domain.errors import UnreadableInputError, WrongUseError

DRAIN_VARIABLE: Final = "OVERREAD_DRAIN_S"
"""Seconds to wait for replies once the process is asked to end."""
STORE_VARIABLE: Final = "OVERREAD_STORE"
HOME_VARIABLE: Final = "OVERREAD_HOME"
SEALED_ENDING, ANSWERS_ENDING = ".overread-session", ".overread-answers"
"""How the names of sealed sessions and of their answers end."""
FIRST_IMAGE_VARIABLE: Final = "OVERREAD_REPORT_FIRST_IMAGE"
"""A file: the window notes in it when its first image was painted, and closes."""

_POLICY: Final = "policy.toml"
_LONGEST_POLICY: Final = 1_000_000
"""Bytes; a policy has some hundred."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What an administrator decided, which users cannot change.

    It is in a file that only an administrator may write, and read again whenever it
    matters, so that a change takes effect with the next question.
    Without ``local_only``, ``allowed_hosts`` are the only servers elsewhere that users
    may allow, like ``https://models.example.org``; None leaves it to them. ``store`` is
    the one store, ``models`` the file with the only models offered besides those that
    come with the program; "~" is the user's home. ``contact`` is whom to ask.
    """

    local_only: bool = False
    allowed_hosts: tuple[str, ...] | None = None
    store: str = ""
    models: str = ""
    contact: str = ""

    @property
    def store_file(self) -> Path | None:
        """The one store, None if users choose."""
        return Path(self.store).expanduser() if self.store else None

    @property
    def models_file(self) -> Path | None:
        """The file of the models offered, None if users choose."""
        return Path(self.models).expanduser() if self.models else None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The servers elsewhere that may be allowed, None for any."""
        return () if self.local_only else self.allowed_hosts

    @property
    def rules(self) -> tuple[str, ...]:
        """Each decision as a sentence."""
        rules = []
        if self.hosts is not None:
            where = ", ".join(self.hosts)
            rules.append(
                f"Images and questions may only leave for {where}."
                if where
                else "Nothing leaves this computer."
            )
        if self.store:
            rules.append(f"The store is {self.store_file}.")
        if self.models:
            rules.append(f"The models are those of {self.models_file}.")
        return tuple(rules)

    @property
    def how(self) -> str:
        """Who can change it, and where."""
        who = self.contact or "the administrator of this computer"
        return f"Only {who} can change that, in {policy_file()}."

    def check_models_may_change(self) -> None:
        """Raise WrongUseError if users may not add, change or remove models."""
        if self.models:
            raise WrongUseError(
                "The administrator of this computer chose its models; no other can be "
                "added, and none changed or removed.",
                self.how,
            )


NONE: Final = Policy()
"""Nothing is decided: users choose."""


def policy_file() -> Path | None:
    """Return the policy's file, None if there is none."""
    return next((file for file in _places() if file.exists()), None)


def read_policy() -> Policy:
    """Return the policy in force.

    Raises
    ------
    UnreadableInputError
        If its file cannot be read or has a key or value that is not known: a misspelt
        rule must not be taken for none.
    """
    file = policy_file()
    if file is None:
        return NONE
    try:
        found = file.stat()
        return _policy_at(file, found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise _unreadable(file, str(error.strerror)) from None


@lru_cache(maxsize=1)
def _policy_at(file: Path, _changed_ns: int, size: int) -> Policy:
    # Only here: most computers have no policy, and the window starts sooner without.
    import tomllib

    from viewer.domain.documents import read_toml
    from viewer.domain.plain import made

    if size > _LONGEST_POLICY:
        raise _unreadable(file, "it is too long")
    try:
        return made(Policy, read_toml(file.read_text("utf-8")), where=file.name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unreadable(file, str(error)) from None
    except WrongUseError as error:
        raise _unreadable(file, error.what.rstrip(".")) from None


def _unreadable(file: Path, why: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"The administrator's policy {file} cannot be read: {why}.",
        "Ask the administrator of this computer to correct it; nothing is opened or "
        "sent until then.",
    )


def _places() -> tuple[Path, ...]:
    """Return where a policy may be; the first that exists applies.

    No variable of the environment leads elsewhere, which users could set.
    """
    if sys.platform == "win32":
        # Windows itself is asked for the folder, not the environment.
        system = platformdirs.site_data_path("overread", appauthor=False)
    elif sys.platform == "darwin":
        system = Path("/Library/Application Support/overread")
    else:
        system = Path("/etc/overread")
    beside = [Path(sys.executable).parent] if getattr(sys, "frozen", False) else []
    return tuple(folder / _POLICY for folder in (system, *beside))


@dataclass(frozen=True, slots=True)
class Settings:
    """The folders in use: ``home`` for data, ``store`` the SQLite file."""

    home: Path
    store: Path

    @property
    def models_file(self) -> Path:
        """The model profiles, ``[[model]]`` tables as in a study file.

        They are the user's, or those that an administrator's policy names.
        """
        return read_policy().models_file or self.home / "models.toml"


def read_settings(store: Path | None = None) -> Settings:
    """Return the settings; ``store`` given on the command line takes precedence.

    ``OVERREAD_HOME`` sets the data folder, ``OVERREAD_STORE`` only the store. An
    administrator's policy may name the one store.

    Raises
    ------
    WrongUseError
        If another store is named than the policy's.
    """
    home = Path(
        os.environ.get(HOME_VARIABLE) or platformdirs.user_data_path("overread")
    )
    named = os.environ.get(STORE_VARIABLE)
    chosen = store or (Path(named) if named else None)
    policy = read_policy()
    if policy.store_file is not None:
        if chosen not in {None, policy.store_file}:
            raise WrongUseError(
                f"The store of this computer is {policy.store_file}.",
                f"Leave out --store and {STORE_VARIABLE}. {policy.how}",
            )
        chosen = policy.store_file
    return Settings(home, (chosen or home / "overread.sqlite").absolute())


def drain_limit_s() -> float:
    """Return how many seconds replies are awaited after a signal to end.

    Raises
    ------
    WrongUseError
        If the environment's value is not a number of seconds.
    """
    text = os.environ.get(DRAIN_VARIABLE) or "30"
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    # True for NaN too.
    if not seconds >= 0:
        raise WrongUseError(
            f"{DRAIN_VARIABLE}='{text}' is not a number of seconds.",
            "Set it to a number of 0 or more, such as 30, or unset it.",
        )
    return seconds
