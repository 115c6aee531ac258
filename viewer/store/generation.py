"""The age of a store, recorded outside it too, so that an older copy is recognised.

A store counts its transactions. The count is recorded in a file beside the store and in
the user's data folder: a store restored from a backup is behind at least one of them. A
copy of a store at another path has its own records.
"""

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from viewer.private_files import PRIVATE_FILE, make_private_folder
from viewer.settings import read_settings


@dataclass(frozen=True)
class Mark:
    """A store's own name, the same in every copy of it, and its count."""

    name: str
    generation: int


class OutsideNotes:
    """The two records of a store's age; an unreadable or unwritable one is ignored."""

    def __init__(self, store_path: Path) -> None:
        key = hashlib.sha256(os.fsencode(store_path)).hexdigest()[:32]
        self._beside = store_path.with_name(f"{store_path.name}.generation")
        self._at_home = read_settings().home / "stores" / key

    def newest(self, name: str) -> int:
        """Return the highest count recorded for a store of this name, 0 without any."""
        marks = (_read(self._beside), _read(self._at_home))
        return max((m.generation for m in marks if m and m.name == name), default=0)

    def write(self, mark: Mark) -> None:
        """Record the state of the store outside it, once that is committed."""
        _write(self._beside, mark)
        if not _write(self._at_home, mark):
            with contextlib.suppress(OSError):
                make_private_folder(self._at_home.parent)
                _write(self._at_home, mark)


def _read(path: Path) -> Mark | None:
    try:
        name, generation = path.read_text("ascii").split()
        return Mark(name, int(generation))
    except (OSError, ValueError):
        return None


def _write(path: Path, mark: Mark) -> bool:
    """Overwrite a note in place: it always has the same length."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
        with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor
            file.write(f"{mark.name} {mark.generation:020d}\n".encode())
    except OSError:
        return False
    return True
