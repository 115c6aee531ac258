"""Saliency maps that CheXlocalize keeps as pickles (Saporta 2022).

Each file ``<image>_<task>_map.pkl`` is a dictionary with ``map``, the coarse class
activation map as a tensor (1, 1, rows, columns), ``cxr_dims``, the radiograph's width
and height in pixels, and ``prob``, the network's probability. They are parsed without
running any code in the pickle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.imaging.interpolation import enlarged
from viewer.readers.files.harmless_pickle import load_harmless
from viewer.readers.files.isolation import isolated
from viewer.readers.files.regular import regular_file

SUFFIX: Final = "_map.pkl"
_LARGEST_BYTES: Final = 1 << 28
_LARGEST_SIDE: Final = 1 << 15


@dataclass(frozen=True, eq=False)
class Saliency:
    """A map (rows, columns) float32 over an image of ``size`` native pixels.

    ``probability`` is the network's for the finding, None if it was not stored.
    """

    image: str
    finding: str
    values: npt.NDArray[np.float32]
    size: SizePx
    probability: float | None

    @property
    def most_salient_pixel(self) -> tuple[int, int]:
        """The x and y of the maximum at the image's own size.

        Interpolated as in CheXlocalize before taking the maximum; for ties the first in
        row-major order.
        """
        whole = enlarged(self.values, self.size)
        y, x = divmod(int(np.argmax(whole)), self.size.columns)
        return x, y


def saliency_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the pickles named and those in folders named, sorted in each folder.

    Raises
    ------
    UnreadableInputError
        If there are none.
    """
    found = [
        file
        for path in paths
        for file in (sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path])
    ]
    if not found:
        raise UnreadableInputError(
            "There are no saliency maps here.",
            f"Name files, or a folder that holds files ending in {SUFFIX}.",
        )
    return tuple(found)


@isolated
def read_saliency(path: Path) -> Saliency:
    """Return the map of one pickle.

    Raises
    ------
    UnreadableInputError
        If the file is damaged, would run code, or has no map.
    """
    image, finding = _named(path)
    held = load_harmless(_bytes(path), path.name)
    if not isinstance(held, dict):
        raise _no_map(path, "is not a dictionary")
    return Saliency(
        image, finding, _map(path, held), _size(path, held), _probability(held)
    )


def _bytes(path: Path) -> bytes:
    try:
        if regular_file(path).st_size > _LARGEST_BYTES:
            raise _no_map(path, "is larger than a map can be")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInputError(
            f"The saliency map '{path.name}' cannot be read ({error.strerror}).",
            "Check the path.",
        ) from error


def _named(path: Path) -> tuple[str, str]:
    """Return the image and the finding in a file name."""
    parts = path.name.removesuffix(SUFFIX).rpartition("_")
    if not path.name.endswith(SUFFIX) or not parts[0] or not parts[2]:
        raise _no_map(path, f"is not named <image>_<finding>{SUFFIX}")
    return parts[0], parts[2]


def _map(path: Path, held: Mapping[Any, Any]) -> npt.NDArray[np.float32]:
    found = held.get("map")
    if not isinstance(found, np.ndarray) or found.ndim < 2 or not found.size:
        raise _no_map(path, "contains no array 'map'")
    if any(length != 1 for length in found.shape[:-2]):
        raise _no_map(path, "contains more than one map")
    values = found.reshape(found.shape[-2:]).astype(np.float32)
    if not np.isfinite(values).all():
        raise _no_map(path, "contains a map of infinite or undefined numbers")
    return values


def _size(path: Path, held: Mapping[Any, Any]) -> SizePx:
    found = held.get("cxr_dims")
    sides = list(found) if isinstance(found, list | tuple | np.ndarray) else []
    if len(sides) != 2 or not all(_is_side(side) for side in sides):
        raise _no_map(
            path, "does not contain the image's width and height ('cxr_dims')"
        )
    return SizePx(rows=int(sides[1]), columns=int(sides[0]))


def _is_side(side: object) -> bool:
    try:
        return 1 <= float(side) <= _LARGEST_SIDE  # type: ignore[arg-type] # tried
    except (TypeError, ValueError):
        return False


def _probability(held: Mapping[Any, Any]) -> float | None:
    found = held.get("prob")
    if isinstance(found, np.ndarray) and found.size == 1:
        return float(found.reshape(-1)[0])
    return float(found) if isinstance(found, int | float) else None


def _no_map(path: Path, why: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"'{path.name}' {why}, so it is not a saliency map of CheXlocalize.",
        "Give the files as CheXlocalize publishes them.",
    )
