"""How much memory, time and output a decoding process may use for one file."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError

MEMORY_VARIABLE: Final = "OVERREAD_DECODER_MEMORY_MB"
SECONDS_VARIABLE: Final = "OVERREAD_DECODER_SECONDS"
OUTPUT_VARIABLE: Final = "OVERREAD_DECODER_OUTPUT_MB"
_MB: Final = 1 << 20
_MOST: Final = 2048 * _MB
_LEAST: Final = 256 * _MB
"""Less does not even hold the decoders and a radiograph."""
_LIMIT_S: Final = 60.0
_OUTPUT: Final = 1024 * _MB


@dataclass(frozen=True, slots=True)
class DecoderLimits:
    """The limits of one call; ``memory`` None means the current `default_memory`."""

    memory: int | None = None
    seconds: float = _LIMIT_S
    output: int = _OUTPUT

    def memory_now(self) -> int:
        """Return the bytes that a call starting now may use."""
        return default_memory() if self.memory is None else self.memory


def read_limits(environment: Mapping[str, str] = os.environ) -> DecoderLimits:
    """Return the limits set in the environment; raises for invalid numbers."""
    memory = _number(environment, MEMORY_VARIABLE)
    seconds = _number(environment, SECONDS_VARIABLE)
    output = _number(environment, OUTPUT_VARIABLE)
    return DecoderLimits(
        None if memory is None else int(memory * _MB),
        _LIMIT_S if seconds is None else seconds,
        _OUTPUT if output is None else int(output * _MB),
    )


def default_memory() -> int:
    """Return the lesser of 2 GB and half of the free memory, in bytes."""
    return max(_LEAST, min(_MOST, free_memory() // 2))


if sys.platform == "win32":
    from viewer.services.viewing.memory_limit import free_memory
elif sys.platform == "linux":

    def free_memory() -> int:
        """Return the free memory in bytes, within the container's limit."""
        return min(_available(), _left_of_group())
else:

    def free_memory() -> int:
        """Return half of the physical memory: macOS does not report what is free."""
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 2 * _MOST


def _left_of_group() -> int:
    """Return what a container may still use; without one, more than any default."""
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text())
        return max(0, most - int((group / "memory.current").read_text()))
    except (OSError, ValueError):  # no such group, or "max"
        return 2 * _MOST


def _number(environment: Mapping[str, str], name: str) -> float | None:
    text = environment.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise WrongUseError(
            f"{name} is '{text}', which is not a number above 0.",
            "Set it to a number such as 2048, or unset it.",
        )
    return value
