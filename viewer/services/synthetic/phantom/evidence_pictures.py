"""Simple synthetic pictures of a case's evidence, quick to make.

Sections are ellipses with the densities of the organs; radiographs are the synthetic
thorax, tissue the generated fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.patient import (
    Finding,
    PhantomPatient,
    make_patient,
)
from viewer.services.synthetic.phantom.projection import project
from viewer.services.synthetic.phantom.tissue_picture import picture
from viewer.services.synthetic.phantom.tissue_scene import Tissue, make_field

Picture = npt.NDArray[np.uint8]
"""Grey (rows, columns), or RGB (rows, columns, 3)."""
_Floats = npt.NDArray[np.float64]

TWELVE_BITS = 4096


@dataclass(frozen=True, slots=True)
class LabRow:
    """A row of a laboratory table: name, integer value, and H, L or nothing."""

    name: str
    value: int
    flag: str = ""


@dataclass(frozen=True, slots=True)
class LabTable:
    """A laboratory table, as data; the writer draws the text."""

    rows: tuple[LabRow, ...]

    @property
    def text(self) -> str:
        """The table in words, such as ``CRP 84 (H), NA 141``."""
        return ", ".join(
            f"{r.name} {r.value} ({r.flag})" if r.flag else f"{r.name} {r.value}"
            for r in self.rows
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """An ellipse in a section: centre, half axes as fractions of the side, and grey."""

    y: float
    x: float
    high: float
    wide: float
    grey: float


_TRUNK = (
    _Part(0.50, 0.50, 0.36, 0.46, 0.42),
    _Part(0.46, 0.30, 0.20, 0.17, 0.55),
    _Part(0.62, 0.52, 0.09, 0.07, 0.92),
    _Part(0.53, 0.33, 0.08, 0.05, 0.60),
    _Part(0.53, 0.70, 0.10, 0.06, 0.58),
    _Part(0.50, 0.55, 0.04, 0.03, 0.68),
)
"""A section of the trunk: body, liver, vertebra, kidneys, aorta."""
_CHEST = (
    _Part(0.50, 0.50, 0.34, 0.46, 0.45),
    _Part(0.46, 0.28, 0.22, 0.17, 0.08),
    _Part(0.46, 0.72, 0.22, 0.17, 0.08),
    _Part(0.48, 0.52, 0.13, 0.11, 0.55),
    _Part(0.70, 0.50, 0.07, 0.06, 0.92),
)
"""A section of the chest: body, lungs, heart, vertebra."""
_HEAD = (
    _Part(0.50, 0.50, 0.44, 0.37, 0.85),
    _Part(0.50, 0.50, 0.41, 0.34, 0.45),
    _Part(0.46, 0.44, 0.13, 0.04, 0.10),
    _Part(0.46, 0.56, 0.13, 0.04, 0.10),
)
"""A section of the head: scalp, brain, ventricles."""


def radiograph(
    seed: int, index: int, findings: Sequence[Finding], size: SizePx
) -> Picture:
    """Return a frontal chest radiograph with exactly these findings."""
    made = make_patient(seed, index)
    patient = PhantomPatient(made.seed, made.index, made.build, frozenset(findings))
    values = project(patient, View.FRONTAL, size).values.astype(np.float64)
    return np.asarray(values * 256 / TWELVE_BITS, dtype=np.uint8)


def trunk(rng: np.random.Generator, size: SizePx, lesion: float) -> Picture:
    """Return a section of the trunk, with a ``lesion`` of that grey beside a kidney."""
    place = _Part(0.47, float(rng.uniform(0.66, 0.72)), 0.08, 0.07, lesion)
    return _section((*_TRUNK, place), rng, size)


def bones(rng: np.random.Generator, size: SizePx) -> Picture:
    """Return a section of the trunk with holes in its vertebra."""
    holes = [
        _Part(0.62 + dy, 0.52 + dx, 0.018, 0.018, 0.35)
        for dy, dx in rng.uniform(-0.04, 0.04, (4, 2))
    ]
    return _section((*_TRUNK, *holes), rng, size)


def chest(rng: np.random.Generator, size: SizePx, nodes: int) -> Picture:
    """Return a section of the chest with this many round nodes near the heart."""
    found = [
        _Part(0.42 + dy, 0.42 + dx, 0.035, 0.035, 0.60)
        for dy, dx in rng.uniform((-0.04, -0.06), (0.1, 0.2), (nodes, 2))
    ]
    return _section((*_CHEST, *found), rng, size)


def head(rng: np.random.Generator, size: SizePx) -> Picture:
    """Return a section of the head with a bright ring in one half."""
    y, x = float(rng.uniform(0.3, 0.45)), float(rng.uniform(0.62, 0.70))
    ring = (_Part(y, x, 0.11, 0.10, 0.95), _Part(y, x, 0.075, 0.065, 0.20))
    return _section((*_HEAD, *ring), rng, size)


def skin(rng: np.random.Generator, size: SizePx) -> Picture:
    """Return a patch of skin with violet papules, RGB."""
    ground = np.array([224.0, 178.0, 150.0])
    papule = np.array([150.0, 80.0, 120.0])
    shade = _section((), rng, size).astype(np.float64)[:, :, None] * 0.4
    spots = np.zeros((size.rows, size.columns))
    for y, x, r in rng.uniform((0.1, 0.1, 0.02), (0.9, 0.9, 0.06), (14, 3)):
        spots = np.maximum(spots, _inside(_Part(y, x, r, r, 0.0), size))
    colour = ground + shade + spots[:, :, None] * (papule - ground)
    return np.asarray(np.clip(colour, 0, 255), dtype=np.uint8)


def tissue(seed: int, index: int, of: Tissue, size: SizePx) -> Picture:
    """Return a field of stained tissue, RGB."""
    return picture(make_field(seed, index, of, size))


def _section(parts: Sequence[_Part], rng: np.random.Generator, size: SizePx) -> Picture:
    image = np.zeros((size.rows, size.columns))
    for part in parts:
        weight = _inside(part, size)
        image = image * (1 - weight) + part.grey * weight
    image += rng.normal(0, 0.025, image.shape)
    return np.asarray(np.clip(image, 0, 1) * 255, dtype=np.uint8)


def _inside(part: _Part, size: SizePx) -> _Floats:
    """Return how far each pixel lies within an ellipse, 0 to 1, with a soft edge."""
    y = (np.arange(size.rows) + 0.5)[:, None] / size.rows - part.y
    x = (np.arange(size.columns) + 0.5)[None, :] / size.columns - part.x
    reach = np.sqrt((y / part.high) ** 2 + (x / part.wide) ** 2)
    soft = 1.5 / (size.rows * min(part.high, part.wide))
    return np.asarray(np.clip((1 - reach) / soft + 0.5, 0, 1))
