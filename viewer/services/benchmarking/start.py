"""Measure how fast the program starts, in separate processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.services.benchmarking.samples import Samples
from viewer.services.worker.jobs import own_program
from viewer.settings import FIRST_IMAGE_VARIABLE, HOME_VARIABLE, STORE_VARIABLE

_ROUNDS: Final = 5
_LONGEST_S: Final = 60.0
_MEGA: Final = 1e6


@dataclass(frozen=True, slots=True)
class FirstImage:
    """A start: seconds until the first image is painted, and memory soon after.

    ``cpu`` is the seconds of all its processes until then, and ``resident`` in bytes;
    None if the system does not report it.
    """

    seconds: float
    cpu: float | None
    resident: int | None


def start_speeds(samples: Samples) -> dict[str, Sequence[float]]:
    """Start the window several times on a radiograph and on a folder of slices.

    Raises
    ------
    WrongUseError
        If the program ends, or a minute passes, before an image is painted.
    """
    films = _starts(samples.radiograph, samples.home)
    slices = _starts(samples.series, samples.home)
    resident = [film.resident / _MEGA for film in films if film.resident]
    return {
        "start": [film.seconds for film in films],
        "start ct": [first.seconds for first in slices],
        **({"memory": resident} if resident else {}),
    }


def _starts(path: Path, home: Path) -> list[FirstImage]:
    return [time_first_image([*own_program(), str(path)], home) for _ in range(_ROUNDS)]


def time_first_image(command: Sequence[str], home: Path) -> FirstImage:
    """Run a command that opens the window on an image until it is painted.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    home : Path
        The folder for its data, instead of the user's own.

    Raises
    ------
    WrongUseError
        If it ends, or a minute passes, before an image is painted.
    """
    report = home / "first-image.json"
    report.unlink(missing_ok=True)
    began = time.monotonic_ns()
    _run(command, _environment(home, report))
    if not report.exists():
        raise WrongUseError(
            "The program started, but painted no image.",
            "Run overread demo and check what it prints.",
        )
    parsed = json.loads(report.read_text(encoding="utf-8"))
    seconds = (parsed["painted_ns"] - began) / 1e9
    return FirstImage(seconds, parsed["cpu_seconds"], parsed["resident_bytes"])


def _environment(home: Path, report: Path) -> Mapping[str, str]:
    return {
        **os.environ,
        HOME_VARIABLE: str(home),
        STORE_VARIABLE: str(home / "store.sqlite"),
        FIRST_IMAGE_VARIABLE: str(report),
    }


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        subprocess.run(  # noqa: S603 - our own program
            command,
            env=environment,
            timeout=_LONGEST_S,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise WrongUseError(
            f"The program painted no image in {_LONGEST_S:.0f} seconds.",
            "Close whatever keeps this machine busy, and try again.",
        ) from error


def install_speeds() -> dict[str, Sequence[float]]:
    """Time the command line's start; for a packaged program also its size."""
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        _run([*own_program(), "--version"], os.environ)
        times.append(time.perf_counter() - began)
    frozen = getattr(sys, "frozen", False)
    return {"command": times, **({"size": [_folder_size()]} if frozen else {})}


def _folder_size() -> float:
    """Return the size of a packaged program's folder in megabytes."""
    files = Path(sys.executable).parent.rglob("*")
    return sum(file.lstat().st_size for file in files if file.is_file()) / _MEGA
