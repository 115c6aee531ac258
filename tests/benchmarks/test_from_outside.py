"""Start and gestures as a person has them: from the mouse to the screen's pixels.

Printed, never asserted. The packaged program is measured too where OVERREAD_FROZEN
names it.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.x_screen import Patch, XScreen, x_screen
from viewer.services.benchmarking.samples import Samples, make_samples
from viewer.settings import HOME_VARIABLE

pytest.importorskip("PySide6.QtWidgets", reason="the window needs PySide6")

STARTS = 5
MOVES = 20
PAUSE_S = 0.12
SETTLED_S = 1.5
SHADES = 12
MIDDLE = Patch(700, 440, 70)
"""Inside the image, wherever the window's parts are a little wider."""
HAND = (700, 640)
"""Where the pointer is: in the image, but not in the patch that is looked at."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return make_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[XScreen]:
    with x_screen(tmp_path_factory.mktemp("screen")) as opened:
        yield opened


@pytest.fixture(params=["installed", "packaged"])
def program(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "installed":
        command = Path(sys.executable).with_name("overread")
        return [str(command)] if command.exists() else [sys.executable, "-m", "viewer"]
    frozen = os.environ.get("OVERREAD_FROZEN")
    if not frozen:
        pytest.skip("OVERREAD_FROZEN does not name the packaged program")
    return [frozen]


def shows_image(screen: XScreen) -> bool:
    """Return whether the middle is mostly grey, in many shades, as only images are."""
    pixels = screen.pixels(MIDDLE)
    grey = pixels[(pixels == pixels[..., :1]).all(-1), 0]
    return 3 * grey.size > 2 * pixels[..., 0].size and len(np.unique(grey)) > SHADES


@contextmanager
def window(
    screen: XScreen, program: Sequence[str], path: Path, home: Path
) -> Iterator[float]:
    """Open the window on a path; yield the seconds until the image is there."""
    assert not shows_image(screen)
    environment = {
        **os.environ,
        "DISPLAY": screen.display,
        "QT_QPA_PLATFORM": "xcb",
        HOME_VARIABLE: str(home),
    }
    with subprocess.Popen(
        [*program, str(path)], env=environment, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield screen.wait(lambda: shows_image(screen))
        finally:
            process.terminate()
            process.wait()
            screen.wait(lambda: not shows_image(screen))


def report(what: str, values: Sequence[float], unit: str) -> None:
    """Print the median, the range, and under which load it was measured."""
    middle, low, high = statistics.median(values), min(values), max(values)
    load = os.getloadavg()[0]
    print(
        f"\n{what}: {middle:.2f} {unit} ({low:.2f} to {high:.2f}, n {len(values)}, "
        f"load {load:.1f})",
        end="",
    )


@pytest.mark.parametrize("what", ["radiograph", "series"])
def test_from_the_start_to_the_first_image(
    screen: XScreen, program: list[str], samples: Samples, tmp_path: Path, what: str
) -> None:
    path: Path = getattr(samples, what)
    times = []
    for _ in range(STARTS):
        with window(screen, program, path, tmp_path) as seconds:
            times.append(seconds)
            assert shows_image(screen)
    name = Path(program[0]).name
    report(f"{name}, first start on a {what}", times[:1], "s")
    report(f"{name}, later starts", times[1:], "s")


def in_turn(screen: XScreen, acts: Sequence[Callable[[], None]]) -> list[float]:
    """Do one act after the other; return milliseconds to the changed pixels of each."""
    times = []
    for act in acts:
        times.append(1000 * screen.after(act, MIDDLE))
        time.sleep(PAUSE_S)
    return times


def drag(screen: XScreen, button: int, step: int) -> list[float]:
    """Drag upwards by steps from where the hand is, and let go."""
    x, y = HAND
    screen.move(x, y)
    screen.press(button, down=True)
    time.sleep(PAUSE_S)
    acts = [lambda n=n: screen.move(x, y - step * n) for n in range(1, MOVES + 1)]
    times = in_turn(screen, acts)
    screen.press(button, down=False)
    return times


def test_from_the_mouse_to_changed_pixels(
    screen: XScreen, program: list[str], samples: Samples, tmp_path: Path
) -> None:
    with window(screen, program, samples.radiograph, tmp_path):
        time.sleep(SETTLED_S)
        dark = screen.pixels(MIDDLE).mean()
        window_level = drag(screen, 1, 4)
        assert screen.pixels(MIDDLE).mean() > dark  # dragging up brightens
        pan = drag(screen, 2, 2)
        turns = [lambda n=n: screen.turn(forward=n % 2 == 0) for n in range(MOVES)]
        zoom = in_turn(screen, turns)
    name = Path(program[0]).name
    report(f"{name}, mouse to pixels, window/level", window_level, "ms")
    report(f"{name}, mouse to pixels, pan", pan, "ms")
    report(f"{name}, wheel to pixels, zoom", zoom, "ms")
    assert len(window_level) == len(pan) == len(zoom) == MOVES
