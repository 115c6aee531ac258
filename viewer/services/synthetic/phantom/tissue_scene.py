"""Small fields of tissue with every nucleus and gland known.

Purely synthetic: shapes are drawn at random within the ranges of each kind, far enough
apart to be counted. Lengths are pixels of a field of about 0.5 µm per pixel.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import cos, pi, sin

import numpy as np

from viewer.domain.geometry import SizePx


class Tissue(StrEnum):
    """The tissue in a field."""

    MUCOSA = "Normal glandular mucosa"
    CARCINOMA = "Adenocarcinoma"
    LYMPHOID = "Lymphoid infiltrate"
    STROMA = "Fibrous stroma"
    FAT = "Adipose tissue"
    NECROSIS = "Necrosis"


class Nucleus(StrEnum):
    """The kinds of nucleus, as questions name them."""

    EPITHELIAL = "Epithelial nuclei (oval, in rows)"
    LYMPHOCYTE = "Lymphocytes (small, round, dark)"
    FIBROBLAST = "Fibroblasts (slender, wavy)"
    MITOSIS = "Mitotic figures (dense, without membrane)"


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse: centre, half axes, and the angle of the first from the x axis."""

    y: float
    x: float
    long: float
    short: float
    angle: float

    @property
    def reach(self) -> float:
        """The radius of its circumscribed circle."""
        return max(self.long, self.short)


@dataclass(frozen=True, slots=True)
class Gland:
    """A gland: its outline, and the lumen's fraction of it, 0 to 1."""

    outline: Ellipse
    lumen: float


@dataclass(frozen=True, slots=True)
class Field:
    """A field of one tissue with everything in it; ``vacuoles`` are fat cells."""

    tissue: Tissue
    size: SizePx
    seed: tuple[int, int]
    glands: tuple[Gland, ...]
    vacuoles: tuple[Ellipse, ...]
    nuclei: tuple[tuple[Nucleus, Ellipse], ...]

    @property
    def counts(self) -> Mapping[Nucleus, int]:
        """The number of nuclei of every kind."""
        found = Counter(kind for kind, _ in self.nuclei)
        return {kind: found[kind] for kind in Nucleus}


@dataclass(frozen=True, slots=True)
class _Habit:
    """Ranges of a tissue's random numbers, for a field of 384 × 512."""

    glands: tuple[int, int] = (0, 0)
    radius: tuple[float, float] = (42.0, 58.0)
    lumen: tuple[float, float] = (0.0, 0.0)
    epithelial: float = 0.0
    """Half the length of an epithelial nucleus; 0 for none."""
    lymphocytes: tuple[int, int] = (0, 0)
    fibroblasts: tuple[int, int] = (0, 0)
    mitoses: tuple[int, int] = (0, 0)
    vacuoles: tuple[int, int] = (0, 0)


_HABITS: Mapping[Tissue, _Habit] = {
    Tissue.MUCOSA: _Habit(
        (4, 6), (46, 58), (0.42, 0.52), 6.0, lymphocytes=(4, 14), fibroblasts=(8, 20)
    ),
    Tissue.CARCINOMA: _Habit(
        (6, 9), (34, 50), (0.18, 0.36), 8.0, (4, 16), (4, 12), mitoses=(2, 6)
    ),
    Tissue.LYMPHOID: _Habit(lymphocytes=(260, 360), fibroblasts=(4, 12)),
    Tissue.STROMA: _Habit(lymphocytes=(2, 10), fibroblasts=(60, 95)),
    Tissue.FAT: _Habit(lymphocytes=(0, 4), fibroblasts=(4, 10), vacuoles=(16, 24)),
    Tissue.NECROSIS: _Habit(lymphocytes=(6, 20)),
}
_USUAL_AREA = 384 * 512
_MOST_TRIES = 400


def make_field(seed: int, index: int, tissue: Tissue, size: SizePx) -> Field:
    """Return the field of a collection's seed and a number; larger ones hold more."""
    rng = np.random.default_rng([seed, index])
    habit = _HABITS[tissue]
    share = size.rows * size.columns / _USUAL_AREA
    placer = _Placer(size, rng)
    glands = tuple(_glands(habit, share, placer, rng))
    vacuoles = tuple(_vacuoles(habit, share, placer, rng))
    nuclei = [(Nucleus.EPITHELIAL, e) for g in glands for e in _lining(g, habit, rng)]
    for kind, (low, high), half in (
        (Nucleus.MITOSIS, habit.mitoses, (8.0, 5.5)),
        (Nucleus.FIBROBLAST, habit.fibroblasts, (13.0, 2.6)),
        (Nucleus.LYMPHOCYTE, habit.lymphocytes, (4.4, 4.2)),
    ):
        count = round(share * rng.integers(low, high + 1)) if high else 0
        shapes = (_shape(half, rng) for _ in range(count))
        nuclei += [(kind, e) for shape in shapes if (e := placer.placed(shape, 2))]
    return Field(tissue, size, (seed, index), glands, vacuoles, tuple(nuclei))


class _Placer:
    """Finds positions for shapes, apart from each other and from the edge."""

    def __init__(self, size: SizePx, rng: np.random.Generator) -> None:
        self._size, self._rng = size, rng
        self._taken = np.empty((0, 3))

    def placed(self, shape: Ellipse, gap: float) -> Ellipse | None:
        """Return a shape at a free position, ``gap`` from all others, or None."""
        margin = shape.reach + 3
        for _ in range(_MOST_TRIES):
            y = float(self._rng.uniform(margin, self._size.rows - margin))
            x = float(self._rng.uniform(margin, self._size.columns - margin))
            if self._free(y, x, shape.reach + gap):
                self._taken = np.vstack((self._taken, (y, x, shape.reach)))
                return Ellipse(y, x, shape.long, shape.short, shape.angle)
        return None

    def _free(self, y: float, x: float, reach: float) -> bool:
        far = np.hypot(self._taken[:, 0] - y, self._taken[:, 1] - x)
        return bool(np.all(far >= self._taken[:, 2] + reach))


def _glands(
    habit: _Habit, share: float, placer: _Placer, rng: np.random.Generator
) -> Iterator[Gland]:
    low, high = habit.glands
    for _ in range(max(1, round(share * rng.integers(low, high + 1))) if high else 0):
        long = float(rng.uniform(*habit.radius)) * min(1.0, share**0.5)
        oval = Ellipse(0, 0, long, long * float(rng.uniform(0.74, 1)), _turn(rng))
        if outline := placer.placed(oval, 7):
            yield Gland(outline, float(rng.uniform(*habit.lumen)))


def _vacuoles(
    habit: _Habit, share: float, placer: _Placer, rng: np.random.Generator
) -> Iterator[Ellipse]:
    low, high = habit.vacuoles
    for _ in range(round(share * rng.integers(low, high + 1)) if high else 0):
        long = float(rng.uniform(30, 46)) * min(1.0, share**0.5)
        oval = Ellipse(0, 0, long, long * float(rng.uniform(0.86, 1)), _turn(rng))
        if found := placer.placed(oval, 2):
            yield found


def _lining(gland: Gland, habit: _Habit, rng: np.random.Generator) -> Iterator[Ellipse]:
    """Yield the nuclei of a gland's cells, evenly spaced along its outline."""
    outline, half = gland.outline, habit.epithelial
    middle = 1 - (1 - gland.lumen) * 0.42
    around = pi * middle * (outline.long + outline.short)
    count = max(6, int(around / (2.1 * half)))
    for number in range(count):
        turn = 2 * pi * (number + float(rng.uniform(-0.12, 0.12))) / count
        along = middle * outline.long * cos(turn)
        beside = middle * outline.short * sin(turn)
        tilt = outline.angle
        y = outline.y + along * sin(tilt) + beside * cos(tilt)
        x = outline.x + along * cos(tilt) - beside * sin(tilt)
        long = half * float(rng.uniform(0.92, 1.1))
        short = half * float(rng.uniform(0.62, 0.74))
        yield Ellipse(y, x, long, short, tilt + turn + float(rng.uniform(-0.2, 0.2)))


def _shape(half: tuple[float, float], rng: np.random.Generator) -> Ellipse:
    size = float(rng.uniform(0.88, 1.12))
    return Ellipse(0, 0, half[0] * size, half[1] * size, _turn(rng))


def _turn(rng: np.random.Generator) -> float:
    return float(rng.uniform(0, pi))
