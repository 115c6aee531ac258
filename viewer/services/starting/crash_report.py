"""Crash reports: where in the code a failure was, without any values."""

import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.secret_values import without_secrets
from viewer.models.keys import known_keys
from viewer.private_files import make_private_folder, open_private

_ROOTS: Final = frozenset({"viewer", "site-packages"})
"""The folders from which on a file's path says nothing of this machine."""


def crash_report(error: BaseException) -> str:
    """Return a report of a failure.

    It contains only versions and positions in the code, never the message or a value,
    which may be patient data, nor the program's folder, which may name a person; a key
    in a line of code is removed.
    """
    places = traceback.format_list(
        [_without_folder(frame) for frame in traceback.extract_tb(error.__traceback__)]
    )
    import platform  # for reports alone, which should be rare

    head = f"overread {viewer.__version__}, {type(error).__name__}\n"
    system = f"Python {platform.python_version()}, {platform.system()}\n"
    return without_secrets("".join([head, system, *places]), known_keys())


def _without_folder(frame: traceback.FrameSummary) -> traceback.FrameSummary:
    """Return a traceback position with the file's path relative to the package."""
    name = name_of_code(frame.filename)
    return traceback.FrameSummary(name, frame.lineno, frame.name, line=frame.line)


def name_of_code(filename: str) -> str:
    """Return the path of a file of code relative to its package."""
    parts = Path(filename).parts
    roots = [i for i, part in enumerate(parts) if part in _ROOTS]
    return "/".join(parts[roots[-1] :] if roots else parts[-1:])


def keep_crash_report(text: str, home: Path) -> Path | None:
    """Write a report to the data folder; return its file, or None on failure."""
    folder = home / "crashes"
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    try:
        make_private_folder(folder)
        with open_private(path, "xb") as file:
            file.write(text.encode())
    except OSError:
        return None
    return path


def crash_sentence(error: BaseException, path: Path | None) -> str:
    """Return the message to the user about an internal failure."""
    failed = f"Overread failed unexpectedly ({type(error).__name__})"
    if path is None:
        return f"{failed}; please report it."
    return (
        f"{failed}; please report it with the file {path}, which holds no patient data."
    )
