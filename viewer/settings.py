"""The user's folders, and settings in the environment."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from viewer.domain.errors import WrongUseError

DRAIN_VARIABLE: Final = "OVERREAD_DRAIN_S"
"""Seconds to wait for replies once the process is asked to end."""
STORE_VARIABLE: Final = "OVERREAD_STORE"
HOME_VARIABLE: Final = "OVERREAD_HOME"
SEALED_ENDING, ANSWERS_ENDING = ".overread-session", ".overread-answers"
"""How the names of sealed sessions and of their answers end."""
FIRST_IMAGE_VARIABLE: Final = "OVERREAD_REPORT_FIRST_IMAGE"
"""A file: the window notes in it when its first image was painted, and closes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The folders in use: ``home`` for data, ``store`` the SQLite file."""

    home: Path
    store: Path

    @property
    def models_file(self) -> Path:
        """The user's model profiles, ``[[model]]`` tables as in a study file."""
        return self.home / "models.toml"


def read_settings(store: Path | None = None) -> Settings:
    """Return the settings; ``store`` given on the command line takes precedence.

    ``OVERREAD_HOME`` sets the data folder, ``OVERREAD_STORE`` only the store.
    """
    home = Path(
        os.environ.get(HOME_VARIABLE) or platformdirs.user_data_path("overread")
    )
    named = os.environ.get(STORE_VARIABLE)
    chosen = store or (Path(named) if named else home / "overread.sqlite")
    return Settings(home, chosen.absolute())


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
