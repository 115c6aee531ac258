"""Folders that one process of a session fills, and that all of them copy or read."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

_FOLDER: Final = "OVERREAD_TESTS_MADE_ONCE"


def keep_below(folder: Path) -> None:
    """Keep such folders in this one, if no process that started this one keeps any."""
    os.environ.setdefault(_FOLDER, str(folder))


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder of this name that ``make`` filled; nobody may change it.

    Of two processes that need it at the same moment both make it, and one is kept.
    """
    root = _root()
    kept = root / name
    if not kept.exists():
        own = Path(tempfile.mkdtemp(dir=root)) / name
        make(own)
        try:
            own.rename(kept)
        except OSError:
            if not kept.exists():
                raise
    return kept


def _root() -> Path:
    if _FOLDER not in os.environ:  # outside a session of tests
        keep_below(Path(tempfile.mkdtemp()))
        atexit.register(shutil.rmtree, os.environ[_FOLDER], ignore_errors=True)
    return Path(os.environ[_FOLDER])
