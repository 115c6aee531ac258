"""The ports that this process listens on, as Linux tells them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LISTENING: Final = "0A"
_STATE, _INODE = 3, 9
"""Columns of /proc/net/tcp."""


def tcp_listeners() -> set[str]:
    """Return the inodes of this process's listening TCP sockets."""
    rows = [
        line.split()
        for family in ("tcp", "tcp6")
        for line in Path("/proc/self/net", family).read_text().splitlines()[1:]
    ]
    listening = {row[_INODE] for row in rows if row[_STATE] == _LISTENING}
    return listening & set(_sockets())


def _sockets() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            name = str(descriptor.readlink())
        except FileNotFoundError:
            continue  # closed meanwhile
        if name.startswith("socket:["):
            yield name.removeprefix("socket:[").removesuffix("]")
