"""How long a command takes, and how much memory each process of its tree has had."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_EVERY_S = 0.02


@dataclass(frozen=True)
class Measured:
    """What a command said, its seconds, and its processes' peaks in MB by their id."""

    code: int
    said: str
    seconds: float
    peaks: Mapping[int, int]


def measured(command: Sequence[str], limit_s: float = 600.0) -> Measured:
    """Run a command to its end and look at its process tree until then."""
    began = time.monotonic()
    peaks: dict[int, int] = {}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with process:
        assert process.stdout is not None
        while process.poll() is None and time.monotonic() - began < limit_s:
            for pid in tree(process.pid):
                peaks[pid] = max(peaks.get(pid, 0), peak_mb(pid))
            time.sleep(_EVERY_S)
        process.kill()
        said = process.stdout.read()
    return Measured(process.returncode, said, time.monotonic() - began, peaks)


def tree(pid: int) -> list[int]:
    """Return a process and all below it."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(found for child in below for found in tree(int(child)))]


def peak_mb(pid: int) -> int:
    """Return the most memory that a process has had, 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max(
        (int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")),
        default=0,
    )
