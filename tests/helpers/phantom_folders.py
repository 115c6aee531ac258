"""Synthetic collections, drawn once in each test process, then copied."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from viewer.domain.geometry import SizePx

Make = Callable[..., object]


def write_phantom(
    make: Make, folder: Path, n: int, seed: int, size: SizePx, **options: bool
) -> None:
    """Write what ``make`` draws of these arguments to a folder, silently."""
    made = _made(make, n, seed, size, tuple(options.items()))
    shutil.copytree(made, folder, dirs_exist_ok=True)


@cache
def _made(
    make: Make, n: int, seed: int, size: SizePx, options: tuple[tuple[str, bool], ...]
) -> Path:
    root = Path(tempfile.mkdtemp(prefix="phantom-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    make(root / "made", n, seed, size, _silent, **dict(options))
    return root / "made"


def _silent(*_: int) -> None:
    """Report no progress."""
