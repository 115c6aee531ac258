"""The axes of an NRRD file in space (sections 4 and 6 of its definition)."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.readers.volumes.header import Steps, known_affine

_VECTOR: Final = re.compile(r"none|\([^()]*\)")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_TO_LPS: Final = {
    "right-anterior-superior": (-1.0, -1.0, 1.0),
    "ras": (-1.0, -1.0, 1.0),
    "left-anterior-superior": (1.0, -1.0, 1.0),
    "las": (1.0, -1.0, 1.0),
    "left-posterior-superior": (1.0, 1.0, 1.0),
    "lps": (1.0, 1.0, 1.0),
}
"""The spaces of the patient. Those of a scanner, or only of a handedness, are not."""
_WITH_TIME: Final = {"rast": "ras", "last": "las", "lpst": "lps"}
_ALONG_VOXELS: Final = frozenset({"domain", "space", "time"})
_UNSAID: Final = frozenset({"", "???", "none"})
_MM: Final = {"m": 1e3, "cm": 10.0, "mm": 1.0, "um": 1e-3, "µm": 1e-3, "": 1.0}

Direction = tuple[float, ...] | None


def nrrd_space(
    fields: Mapping[str, str], axes: int, path: Path
) -> tuple[int | None, Steps | None, tuple[float, float] | None]:
    """Return the component axis, the affine and the spacing for a `VolumeHeader`.

    ``fields`` are those of the header, in lower case without blanks.

    Raises
    ------
    UnreadableInputError
        If more than one axis has components, or time does not follow space.
    """
    directions = _directions(fields.get("spacedirections", ""), axes)
    components = _component_axes(fields.get("kinds", ""), directions)
    along = [axis for axis in range(axes) if axis not in components]
    steps = [step for axis in along if (step := directions[axis]) is not None]
    if len(components) > 1 or None in [directions[n] for n in along[: len(steps)]]:
        raise UnreadableInputError(
            f"{path.name} has its axes in an unsupported order.",
            "Save it with the spatial axes before the time axis, and at most one axis "
            "of components.",
        )
    component = components[0] if components else None
    if not steps:
        return component, None, _spacings(fields, along)
    mm = _millimetres(fields.get("spaceunits", ""), 0)
    lengths = [mm * math.hypot(*step) for step in steps]
    spacing = (lengths[0], lengths[1]) if len(lengths) > 1 else None
    return component, _affine(fields, steps, mm), spacing


def _directions(text: str, axes: int) -> list[Direction]:
    """Return the direction of each axis, None for axes that are not spatial."""
    found = [_vector(words) for words in _VECTOR.findall(text.lower())]
    return [*found, *[None] * axes][:axes]


def _vector(words: str) -> Direction:
    if words == "none":
        return None
    return tuple(float(number) for number in words.strip("()").split(","))


def _component_axes(text: str, directions: Sequence[Direction]) -> list[int]:
    """Return the axes of a voxel's components.

    Their kind says so. An axis without a kind is one if it has no direction and a later
    axis has one.
    """
    kinds = [*text.lower().split(), *[""] * len(directions)]
    return [
        axis
        for axis, direction in enumerate(directions)
        if kinds[axis] not in _ALONG_VOXELS | _UNSAID
        or (kinds[axis] in _UNSAID and direction is None and any(directions[axis:]))
    ]


def _affine(
    fields: Mapping[str, str], steps: Sequence[Direction], mm: float
) -> Steps | None:
    """Return the affine if the space is anatomical, else None."""
    space = fields.get("space", "").lower().removesuffix("-time")
    signs = _TO_LPS.get(_WITH_TIME.get(space, space))
    if signs is None or len(steps) < 3:
        return None
    origin = _vector(fields.get("spaceorigin", "none").lower()) or (math.nan,) * 3
    columns = np.array([step[:3] for step in steps[:3] if step is not None])
    to_lps = mm * np.array(signs)
    return known_affine(columns.T * to_lps[:, None], np.array(origin[:3]) * to_lps)


def _spacings(
    fields: Mapping[str, str], along: Sequence[int]
) -> tuple[float, float] | None:
    """Return the spacing of an image without directions, None if unknown."""
    found = [float(word) for word in fields.get("spacings", "").split()]
    if len(along) < 2 or len(found) <= along[1]:
        return None
    units = fields.get("units", "")
    first, second = (found[n] * _millimetres(units, n) for n in along[:2])
    return first, second


def _millimetres(text: str, number: int) -> float:
    """Return the length of a unit in millimetres, NaN if it is not a unit of length."""
    units = [*_QUOTED.findall(text), *[""] * (number + 1)]
    return _MM.get(units[number].strip().lower(), math.nan)
