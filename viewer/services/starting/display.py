"""Check whether a window can be opened, before Qt is loaded.

Qt aborts the process if there is no display, or one that does not respond.
"""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 2.0
_X_NAME: Final = re.compile(r"(?P<host>[^:]*):(?P<number>\d+)(\.\d+)?")
"""DISPLAY as X(7) writes it: host:number.screen, without a host a local one."""
_X_FOLDER: Final = "/tmp/.X11-unix"  # noqa: S108 - where X servers listen, by X(7)
_X_PORT: Final = 6000

_Address = str | tuple[str, int]


def has_display(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a window can be opened: on Linux, whether a display responds.

    A platform in ``QT_QPA_PLATFORM`` that needs no display counts as one.
    """
    if sys.platform != "linux":
        return True
    platform = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if platform and not platform.startswith(("xcb", "wayland")):
        return True
    return any(_answers(*each) for each in _places(environment))


def _places(
    environment: Mapping[str, str],
) -> Iterator[tuple[socket.AddressFamily, _Address]]:
    """Yield the addresses of displays in the environment."""
    wayland = environment.get("WAYLAND_DISPLAY")
    if wayland:
        folder = environment.get("XDG_RUNTIME_DIR", "")
        yield socket.AF_UNIX, str(Path(folder) / wayland)
    named = _X_NAME.fullmatch(environment.get("DISPLAY", ""))
    if named is None:
        return
    number, host = int(named["number"]), named["host"]
    if host not in {"", "unix"}:
        yield socket.AF_INET, (host, _X_PORT + number)
        return
    yield socket.AF_UNIX, f"{_X_FOLDER}/X{number}"
    yield socket.AF_UNIX, f"\0{_X_FOLDER}/X{number}"


def _answers(family: socket.AddressFamily, address: _Address) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(_PATIENCE_S)
            probe.connect(address)
    except BlockingIOError:
        return True  # it is there, and busy with others
    except OSError:
        return False
    return True
