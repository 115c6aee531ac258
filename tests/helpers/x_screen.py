"""A screen without a monitor, looked at and operated from outside the program.

Xvfb keeps its framebuffer in a file (an XWD dump that is always current), so that a
change of pixels is seen without asking the X server, and XTest moves a real pointer.
"""

import ctypes
import ctypes.util
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

SIZE = (1600, 1000)
_HEADER_FIELDS = 25
_COLOR_BYTES = 12
_POLL_S = 0.0002


@dataclass(frozen=True)
class Patch:
    """A square of the screen, by its middle and half its side."""

    x: int
    y: int
    half: int


class XScreen:
    """A running Xvfb: its name, its pixels, and its pointer."""

    def __init__(self, display: str, framebuffer: Path) -> None:
        self.display = display
        header = np.fromfile(framebuffer, ">u4", _HEADER_FIELDS)
        offset = int(header[0]) + _COLOR_BYTES * int(header[19])
        height, line = int(header[5]), int(header[12])
        shape = (height, line // 4, 4)
        self._pixels = np.memmap(framebuffer, np.uint8, "r", offset, shape)
        self._x11, self._xtst = _library("X11"), _library("Xtst")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        opened = self._x11.XOpenDisplay(display.encode())
        self._connection = ctypes.c_void_p(opened)

    def pixels(self, patch: Patch) -> npt.NDArray[np.uint8]:
        """Return a copy of the blue, green and red of a patch, now."""
        rows = slice(patch.y - patch.half, patch.y + patch.half)
        columns = slice(patch.x - patch.half, patch.x + patch.half)
        return self._pixels[rows, columns, :3].copy()

    def wait(self, done: Callable[[], bool], longest_s: float = 300.0) -> float:
        """Wait until something is seen; return the seconds it took."""
        began = time.perf_counter()
        while not done():
            passed = time.perf_counter() - began
            assert passed < longest_s, "the screen did not change in time"
            time.sleep(_POLL_S)
        return time.perf_counter() - began

    def after(self, act: Callable[[], None], patch: Patch) -> float:
        """Return the seconds from an act to the first changed pixel of a patch."""
        before = self.pixels(patch)
        act()
        return self.wait(lambda: not np.array_equal(before, self.pixels(patch)))

    def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        self._xtst.XTestFakeMotionEvent(self._connection, -1, x, y, 0)
        self._x11.XFlush(self._connection)

    def press(self, button: int, *, down: bool) -> None:
        """Press or release a button of the mouse."""
        self._xtst.XTestFakeButtonEvent(self._connection, button, int(down), 0)
        self._x11.XFlush(self._connection)

    def turn(self, *, forward: bool) -> None:
        """Turn the wheel by one notch."""
        button = 4 if forward else 5
        self.press(button, down=True)
        self.press(button, down=False)

    def close(self) -> None:
        """Let the X server go."""
        self._x11.XCloseDisplay(self._connection)


def _library(name: str) -> Any:  # noqa: ANN401 - ctypes knows functions by name only
    found = ctypes.util.find_library(name)
    if found is None:
        raise OSError(f"lib{name} is not installed")
    return ctypes.CDLL(found)


@contextmanager
def x_screen(folder: Path) -> Iterator[XScreen]:
    """Start Xvfb with its framebuffer in an empty folder; skip where it is missing."""
    program = shutil.which("Xvfb")
    if program is None or not all(map(ctypes.util.find_library, ("X11", "Xtst"))):
        pytest.skip("needs Xvfb, and libX11 and libXtst to move the pointer")
    reading, writing = os.pipe()
    words = ["-displayfd", str(writing), "-fbdir", str(folder), "-nolisten", "tcp"]
    words += ["-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24"]
    with subprocess.Popen(
        [program, *words], pass_fds=[writing], stderr=subprocess.DEVNULL
    ) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as stream:
                display = f":{stream.readline().strip()}"
            screen = XScreen(display, folder / "Xvfb_screen0")
            yield screen
            screen.close()
        finally:
            server.terminate()


_VIEWABLE: Final = 2
_CLIENT_MESSAGE: Final = 33
_REVERT_TO_PARENT: Final = 2
_CONTROL, _Q = 0xFFE3, 0x71
"""Key symbols: left Control, and q."""


class _Attributes(ctypes.Structure):
    """XWindowAttributes."""

    _fields_ = (
        ("geometry", ctypes.c_int * 6),
        ("visual", ctypes.c_void_p),
        ("root", ctypes.c_ulong),
        ("kinds", ctypes.c_int * 4),
        ("backing", ctypes.c_ulong * 2),
        ("save_under", ctypes.c_int),
        ("colormap", ctypes.c_ulong),
        ("map_installed", ctypes.c_int),
        ("map_state", ctypes.c_int),
        ("rest", ctypes.c_long * 16),
    )


class _ClientMessage(ctypes.Structure):
    """XClientMessageEvent, as long as an XEvent."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("rest", ctypes.c_long * 16),
    )


_IGNORE: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
    lambda _display, _event: 0
)
"""Goes on where a window is gone by now; Xlib itself would end the process."""


class XWindows:
    """A connection to an X display.

    Raises OSError where Xlib or XTest is not installed, or the display not there.
    """

    def __init__(self, display: str) -> None:
        self._x11, self._xtst = _library("X11"), _library("Xtst")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x11.XInternAtom.restype = ctypes.c_ulong
        self._x11.XSetErrorHandler(_IGNORE)
        opened = self._x11.XOpenDisplay(display.encode())
        if not opened:
            raise OSError(f"no X display {display}")
        self._display = ctypes.c_void_p(opened)

    def titled(self, title: str) -> int | None:
        """Return the window with this title that can be seen, None without one."""
        return next((w for w in self._all() if self._is_shown(w, title)), None)

    def close(self, window: int) -> None:
        """Ask the program to close a window, as its title bar's button does."""
        message = _ClientMessage(type=_CLIENT_MESSAGE, window=window, format=32)
        message.message_type = self._atom("WM_PROTOCOLS")
        message.data[0] = self._atom("WM_DELETE_WINDOW")
        self._x11.XSendEvent(
            self._display, ctypes.c_ulong(window), 0, ctypes.c_long(0), _at(message)
        )
        self._x11.XSync(self._display, 0)

    def press_control_q(self, window: int) -> None:
        """Give a window the keyboard and press Ctrl+Q."""
        self.press(window, _CONTROL, _Q)

    def press(self, window: int, *symbols: int) -> None:
        """Give a window the keyboard and press keys together, by their symbols."""
        self._x11.XSetInputFocus(
            self._display, ctypes.c_ulong(window), _REVERT_TO_PARENT, ctypes.c_ulong(0)
        )
        released = [(symbol, 0) for symbol in symbols[::-1]]
        for symbol, down in (*((symbol, 1) for symbol in symbols), *released):
            key = self._x11.XKeysymToKeycode(self._display, ctypes.c_ulong(symbol))
            self._xtst.XTestFakeKeyEvent(
                self._display, key & 0xFF, down, ctypes.c_ulong(0)
            )
        self._x11.XSync(self._display, 0)

    def disconnect(self) -> None:
        """Close the connection."""
        self._x11.XCloseDisplay(self._display)

    def _all(self) -> Iterator[int]:
        top = ctypes.c_ulong(self._x11.XDefaultRootWindow(self._display))
        found, count = ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
        ignored = _at(ctypes.c_ulong()), _at(ctypes.c_ulong())
        if self._x11.XQueryTree(self._display, top, *ignored, _at(found), _at(count)):
            yield from found[: count.value]
            self._x11.XFree(found)

    def _is_shown(self, window: int, title: str) -> bool:
        attributes, name = _Attributes(), ctypes.c_char_p()
        asked = self._display, ctypes.c_ulong(window)
        if not self._x11.XGetWindowAttributes(*asked, _at(attributes)):
            return False
        if attributes.map_state != _VIEWABLE:
            return False
        if not self._x11.XFetchName(*asked, _at(name)):
            return False
        read = (name.value or b"").decode(errors="replace")
        self._x11.XFree(name)
        return read == title

    def _atom(self, name: str) -> int:
        return int(self._x11.XInternAtom(self._display, name.encode(), 0))


def _at(value: Any) -> Any:  # noqa: ANN401 - ctypes has no type for it
    return ctypes.byref(value)
