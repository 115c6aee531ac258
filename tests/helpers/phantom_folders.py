"""Synthetic collections, drawn once in all test processes, then copied."""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.helpers.made_once import made_once
from viewer.domain.geometry import SizePx

Make = Callable[..., object]


def write_phantom(
    make: Make, folder: Path, n: int, seed: int, size: SizePx, **options: bool
) -> None:
    """Write what ``make`` draws of these arguments to a folder, silently."""
    told = [f"{name}-{value}" for name, value in options.items()]
    name = "-".join((make.__name__, f"{n}-{seed}-{size.rows}x{size.columns}", *told))

    def draw(out: Path) -> None:
        make(out, n, seed, size, _silent, **options)

    shutil.copytree(made_once(name, draw), folder, dirs_exist_ok=True)


def _silent(*_: int) -> None:
    """Report no progress."""
