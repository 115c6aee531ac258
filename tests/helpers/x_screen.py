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
from typing import Any

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
        pytest.skip(f"needs lib{name} to move the pointer")
    return ctypes.CDLL(found)


@contextmanager
def x_screen(folder: Path) -> Iterator[XScreen]:
    """Start Xvfb with its framebuffer in an empty folder; skip where it is missing."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("needs Xvfb")
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
