"""Which files may be opened at all: those with a definite end."""

import os
import stat
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.refusal import refusing

MOST_BYTES: Final = 32 << 30
"""The largest whole slides have a tenth of it; sparse files may claim any size."""
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def regular_file(path: Path, most: int = MOST_BYTES) -> os.stat_result:
    """Return the stat result of a regular file.

    Raises
    ------
    UnreadableInputError
        If it is missing, a folder, pipe, socket or device, or has more than ``most``
        bytes.
    """
    with refusing(path):
        found = path.stat()
    kind = next((name for test, name in _KINDS if test(found.st_mode)), "")
    if kind:
        link = "a link to " if path.is_symlink() else ""
        raise UnreadableInputError(
            f"{path.name} is {link}{kind}, not a file.",
            "Choose a file in it." if kind == "a folder" else "Choose a file.",
        )
    if found.st_size > most:
        raise UnreadableInputError(
            f"{path.name} has {found.st_size / 1000000000.0:.0f} GB; at most "
            f"{most / 1000000000.0:.0f} GB are read from one file.",
            "Export it again in smaller parts.",
        )
    return found
