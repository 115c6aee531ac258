"""Create a generated collection, write its members, and mark its folder."""

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.writers.files import write_atomically

T = TypeVar("T")
_MANY: Final = 24
"""Members from which on further processes save more time than they take to start.

Threads would take turns, as each step of a drawing is short: twice the time of one.
"""

MARKER: Final = "phantom.json"
"""The file that says what collection a folder holds."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A kind of generated collection.

    ``what`` describes it in its marker file, ``units`` is what its number counts, and
    ``image`` what its pictures show; their size is from ``smallest`` to ``largest``.
    """

    what: str
    units: str
    image: str
    smallest: SizePx
    largest: SizePx


def begin(
    kind: Collection, out: Path, n: int, seed: int, size: SizePx, **further: object
) -> None:
    """Mark a folder for ``n`` members of a seed; ``further`` is added to the marker.

    Raises
    ------
    WrongUseError
        If a number is out of range, or the folder has other contents or is not
        writable.
    """
    _check(kind, n, seed, size)
    named = {"phantom": kind.what, kind.units: n, "seed": seed}
    claim(out, {**named, "rows": size.rows, "columns": size.columns, **further})


def write_each(
    write: Callable[[int], T], n: int, progress: Callable[[int, int], None]
) -> list[T]:
    """Return the results of ``write`` for 0 to n - 1, in order; many on every core.

    ``progress`` is called with (members done, n) from this thread. ``write`` and what
    it returns travel between processes, so both can be pickled.
    """
    made: list[T] = []
    for member in _written(write, n):
        made.append(member)
        progress(len(made), n)
    return made


def _written(write: Callable[[int], T], n: int) -> Iterator[T]:
    if n < _MANY:
        yield from map(write, range(n))
        return
    with ProcessPoolExecutor(initializer=_leave_interrupts_to_the_parent) as pool:
        try:
            yield from pool.map(write, range(n))
        finally:
            pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check(kind: Collection, n: int, seed: int, size: SizePx) -> None:
    if n < 1 or seed < 0:
        raise WrongUseError(
            f"{n} {kind.units} of seed {seed} cannot be made.",
            "Ask for at least one and a seed of 0 or more.",
        )
    least, most = kind.smallest, kind.largest
    small = size.rows < least.rows or size.columns < least.columns
    large = size.rows > most.rows or size.columns > most.columns
    if small or large:
        raise WrongUseError(
            f"{size.columns} × {size.rows} pixels is not a valid size for "
            f"{kind.image}.",
            f"Choose between {least.columns}x{least.rows} and "
            f"{most.columns}x{most.rows}.",
        )


def claim(out: Path, marker: Mapping[str, object]) -> None:
    """Mark a folder as one collection's, or refuse one with other contents.

    Parameters
    ----------
    out : Path
        An empty or new folder, or one of the same collection, which is completed.
    marker : mapping
        Everything that determines the collection's bytes, as plain JSON values.

    Raises
    ------
    WrongUseError
        If the folder has other contents or is not writable.
    """
    data = json.dumps(dict(marker), indent=1).encode() + b"\n"
    if _content(out) and _read(out / MARKER) != data:
        raise WrongUseError(
            f"The folder {out.name} already contains something else.",
            "Choose an empty folder, or one of the same seed, size and number.",
        )
    write_atomically(out / MARKER, data)


def _content(out: Path) -> bool:
    try:
        return out.exists() and any(out.iterdir())
    except OSError as error:
        raise WrongUseError(
            f"The folder {out.name} cannot be used: {error.strerror}.",
            "Choose another folder.",
        ) from error


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
