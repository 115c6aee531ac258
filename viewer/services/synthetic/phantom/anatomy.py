"""The soft parts of the thorax as solids: body, lungs, heart, great vessels, airways.

The numbers are a schematic adult of 280 mm inner chest width, after the proportions
of chest radiographs in erect posture; a patient's Build stretches and shifts them.
"""

from dataclasses import dataclass

import numpy as np

from viewer.services.synthetic.phantom.patient import Build
from viewer.services.synthetic.phantom.solids import (
    Ellipsoid,
    Section,
    Solid,
    Stack,
    Vector,
)
from viewer.services.synthetic.phantom.tubes import Tube

SIDES = (1, -1)
"""The patient's left (+x) and right (-x)."""

_LUNG = (
    # z below the apex, centre from the midline, y, lateral, medial, front, back
    (0, 50, 14, 46, 38, 46, 46),
    (40, 48, 9, 62, 38, 70, 62),
    (80, 45, 5, 79, 34, 86, 74),
    (120, 42, 2, 91, 32, 94, 82),
    (160, 42, 0, 97, 32, 98, 87),
    (210, 42, 0, 100, 32, 98, 91),
    (260, 42, 0, 100, 32, 94, 92),
    (305, 42, 0, 99, 32, 88, 90),
)
_BODY = (
    # z, half-width, front, back
    (240, 60, 56, 60),
    (212, 62, 57, 62),
    (196, 76, 62, 68),
    (180, 118, 70, 78),
    (164, 160, 80, 88),
    (140, 192, 92, 100),
    (110, 200, 104, 108),
    (75, 184, 112, 112),
    (40, 168, 117, 113),
    (0, 162, 119, 114),
    (-60, 160, 118, 116),
    (-140, 159, 114, 116),
    (-240, 164, 112, 114),
)
_MEDIASTINUM = (
    # z, left, right, front, back
    (190, 30, 30, 44, 74),
    (150, 27, 25, 44, 70),
    (115, 21, 28, 50, 72),
    (80, 20, 30, 56, 76),
    (40, 23, 29, 72, 82),
    (0, 29, 28, 88, 88),
    (-60, 34, 28, 94, 88),
    (-150, 38, 29, 94, 88),
)
HEART_MIDDLE: Vector = (10.0, -22.0, -36.0)
_HEART = (
    # left ventricle with the apex, right atrium, outflow and left atrium
    Ellipsoid((27, -32, -44), (68, 56, 46), (0, 36, 16)),
    Ellipsoid((-17, -20, -38), (28, 46, 48), (0, 8, 0)),
    Ellipsoid((8, -18, 4), (31, 48, 58), (0, 20, 0)),
)
_GROWTH = (1.0, 0.75, 0.3)
"""How much of an enlargement each part of the heart takes."""


@dataclass(frozen=True)
class Anatomy:
    """The solids of one patient, findings of heart and mediastinum included.

    ``body`` is the outline with the arms down, ``torso`` with the arms raised.
    ``lungs`` are the chest cavities left and right; whatever of ``mediastinum``,
    ``heart``, ``aorta`` and ``domes`` reaches into them takes the lung's place.
    ``gas`` is air in the stomach and bowel, ``airways`` air in the bronchial tree.
    """

    body: Stack
    torso: Stack
    breasts: tuple[Ellipsoid, ...]
    lungs: tuple[Stack, Stack]
    domes: tuple[Stack, Stack]
    heart: tuple[Ellipsoid, ...]
    mediastinum: Stack
    aorta: tuple[Solid, ...]
    airways: tuple[Tube, ...]
    gas: tuple[Ellipsoid, ...]

    @property
    def central(self) -> tuple[Solid, ...]:
        """The mediastinum with everything in it, the heart included."""
        return (self.mediastinum, *self.aorta, *self.heart)


def build_anatomy(
    build: Build,
    rng: np.random.Generator,
    heart_factor: float = 1.0,
    mediastinum_factor: float = 1.0,
) -> Anatomy:
    """Return the solids of a patient.

    ``heart_factor`` magnifies the heart about its centre, ``mediastinum_factor`` widens
    the upper mediastinum; both are at least 1, so that the enlarged solid contains the
    normal one.
    """
    origin, sink = HEART_MIDDLE, heart_sink(build)
    heart = tuple(
        _lowered(e.about(origin, build.heart * (1 + share * (heart_factor - 1))), sink)
        for e, share in zip(_HEART, _GROWTH, strict=True)
    )
    return Anatomy(
        body=_body(build),
        torso=_body(build, raised=True),
        breasts=_breasts(build),
        lungs=(_lung(build, 1), _lung(build, -1)),
        domes=(_dome(build, 1), _dome(build, -1)),
        heart=heart,
        mediastinum=_mediastinum(mediastinum_factor),
        aorta=_aorta(build.knob * (1 + 0.35 * (mediastinum_factor - 1))),
        airways=_airways(),
        gas=_gas(build, rng),
    )


def heart_sink(build: Build) -> float:
    """Return how much lower than HEART_MIDDLE the heart rests, millimetres."""
    return -72 - build.right_dome


def _lowered(part: Ellipsoid, sink: float) -> Ellipsoid:
    x, y, z = part.center
    return Ellipsoid((x, y, z - sink), part.radii, part.angles)


def lateral_wall(build: Build, side: int, z: float) -> float:
    """Return x of the outermost point of a lung at a height, millimetres."""
    x, _, left, right, _, _ = _lung(build, side).at(np.array([z], dtype=np.float32))
    return float(x[0] + left[0] if side > 0 else x[0] - right[0])


def _lung(build: Build, side: int) -> Stack:
    sections = []
    for below, x, y, lateral, medial, front, back in _LUNG:
        w, d = build.width, build.depth
        outer, inner = lateral * w + x * (w - 1), float(medial)
        left, right = (outer, inner) if side > 0 else (inner, outer)
        z = build.lung_top - below
        sections.append(Section(z, side * x, y, left, right, front * d, back * d))
    square = (side < 0, side > 0)
    return Stack(tuple(sections), cap_top=46, cap_bottom=20, square=square)


def _dome(build: Build, side: int) -> Stack:
    top = build.left_dome if side > 0 else build.right_dome
    x, half = (74.0, 75.0) if side > 0 else (-70.0, 80.0)
    outer, inner = half + 108 * (build.width - 1), 108.0
    left, right = (outer, inner) if side > 0 else (inner, outer)
    front, back = 100 * build.depth, 103 * build.depth
    sections = (
        Section(top, x, -8, left, right, front, back),
        Section(top - 75, x, -8, left, right, front, back),
        Section(-260, x, -8, left, right, front, back),
    )
    return Stack(sections, cap_top=72)


def _body(build: Build, *, raised: bool = False) -> Stack:
    sections = []
    for z, full, front, back in _BODY:
        half = min(full, 128 if z > 150 else 152) if raised and z > 0 else full
        w = half * (1 + 0.8 * (build.width - 1)) + build.fat * (1 if z < 150 else 0.4)
        f, b = (
            front * build.depth + build.fat * 0.7,
            back * build.depth + build.fat * 0.5,
        )
        sections.append(Section(z, 0, 0, w, w, f, b))
    return Stack(tuple(sections))


def _breasts(build: Build) -> tuple[Ellipsoid, ...]:
    if not build.breast:
        return ()
    s, front = build.breast, -88 * build.depth - build.fat * 0.6
    return tuple(
        Ellipsoid(
            (side * 80 * build.width, front, -78),
            (64 * s, 48 * s, 80 * s),
            (-4, 0, side * 14),
        )
        for side in SIDES
    )


def _mediastinum(factor: float) -> Stack:
    sections = []
    for z, left, right, front, back in _MEDIASTINUM:
        f = 1 + (factor - 1) * float(np.clip((z + 60) / 120, 0, 1))
        sections.append(Section(z, 0, 0, left * f, right * f, front, back))
    return Stack(tuple(sections), cap_top=30)


def _aorta(knob: float) -> tuple[Solid, ...]:
    arch = Ellipsoid((24, 16, 78), (16 * knob, 24, 17 * knob))
    descending = Stack(
        (
            Section(84, 24, 42, 14, 14, 14, 14),
            Section(0, 22, 52, 13, 13, 13, 13),
            Section(-80, 17, 54, 12, 12, 12, 12),
            Section(-150, 10, 52, 12, 12, 12, 12),
        ),
        cap_top=12,
    )
    cava = Stack(
        (
            Section(125, -22, -8, 10, 11, 11, 11),
            Section(60, -21, -8, 11, 12, 12, 12),
            Section(-10, -22, -8, 11, 12, 12, 12),
        ),
        cap_top=20,
    )
    return arch, descending, cava


def _airways() -> tuple[Tube, ...]:
    trachea = ((3, -8, 240), (2, 2, 180), (0, 10, 130), (-6, 17, 85), (-5, 20, 56))
    right = ((-5, 20, 58), (-15, 21, 48), (-25, 23, 34))
    left = ((-5, 20, 58), (8, 23, 47), (24, 27, 36))
    return (
        Tube.through(trachea, 8.5),
        Tube.through(right, 6.0),
        Tube.through(left, 5.2),
    )


def _gas(build: Build, rng: np.random.Generator) -> tuple[Ellipsoid, ...]:
    s = build.bubble
    bubble = Ellipsoid(
        (62, 4, build.left_dome - 10 - 20 * s), (34 * s, 30 * s, 18 * s), (0, 12, 0)
    )
    bowel = [
        Ellipsoid(
            (float(rng.uniform(20, 120)), -30.0, float(rng.uniform(-215, -165))),
            (float(rng.uniform(12, 26)), 12.0, float(rng.uniform(9, 16))),
            (0.0, float(rng.uniform(-40, 40)), 0.0),
        )
        for _ in range(int(rng.integers(0, 4)))
    ]
    return (bubble, *bowel)
