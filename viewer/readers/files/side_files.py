"""Which other files the header of a volume or slide may name.

A header from an unknown source could name any file of this machine. Only files in its
own folder are read, by a plain name and not through a link.
"""

from pathlib import Path, PureWindowsPath
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.regular import regular_file

_HOW: Final = "Put that file next to the header and name it there without a folder."


def beside(header: Path, folder: Path, name: str) -> Path:
    """Return the file that ``header`` names in its own folder; any other raises."""
    plain = name.removeprefix("./")
    if (
        plain in {"", ".", "..", "-"}
        or "/" in plain
        or "\\" in plain
        or "\0" in plain
        or PureWindowsPath(plain).drive
    ):
        raise _refusal(header, "a file outside its folder")
    if "%" in plain:
        raise _refusal(header, "files that it names by a pattern")
    path = folder / plain
    if path.is_symlink():
        raise _refusal(header, "a link")
    regular_file(path)
    return path


def _refusal(header: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(f"{header.name} takes its pixels from {what}.", _HOW)
