"""The findings as changes of the thorax in three dimensions.

Enlargements belong to the anatomy; the findings here either fill aerated lung
(infiltrates), displace it (effusion, pneumothorax) or are foreign bodies (a pacemaker).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from viewer.services.synthetic.phantom.anatomy import (
    HEART_MIDDLE,
    Anatomy,
    heart_sink,
    lateral_wall,
)
from viewer.services.synthetic.phantom.patient import Finding, PhantomPatient
from viewer.services.synthetic.phantom.solids import (
    Bowl,
    Ellipsoid,
    Section,
    Stack,
    Vector,
)
from viewer.services.synthetic.phantom.tubes import Tube
from viewer.services.synthetic.phantom.vessels import hilum, lung_points


@dataclass(frozen=True)
class Pacemaker:
    """A pulse generator under the skin and its leads."""

    generator: tuple[Stack, ...]
    leads: tuple[Tube, ...]


def make_pacemaker(patient: PhantomPatient, anatomy: Anatomy) -> Pacemaker:
    """Return a pacemaker with one or two leads, mostly on the left side."""
    rng, build = patient.stream(Finding.SUPPORT_DEVICES), patient.build
    side = 1 if rng.random() < 0.8 else -1
    x = side * float(rng.uniform(86, 104)) * build.width
    z = build.lung_top - float(rng.uniform(62, 78))
    _, y, _, _, front, _ = anatomy.body.at(np.array([z], dtype=np.float32))
    skin = float(y[0] - front[0]) * float(np.sqrt(1 - (x / 190) ** 2))
    center: Vector = (x, skin + 14, z)
    can = _box(center, 23.0, 20.0, 4.0)
    header = _box((x - side * 5, skin + 14, z + 17), 15.0, 8.0, 3.4)
    leads = tuple(
        _lead(side, (x - side * 6, skin + 13, z + 20), build.lung_top, tip)
        for tip in _tips(patient, rng)
    )
    return Pacemaker((can, header), leads)


def _box(center: Vector, half: float, height: float, depth: float) -> Stack:
    """Return a flat box with rounded corners; half-axes across, up and deep."""
    x, y, z = center
    rows = (z + height, z - height)
    sections = tuple(Section(row, x, y, half, half, depth, depth) for row in rows)
    return Stack(sections, height * 0.45, height * 0.45, square=(True, True))


def _tips(
    patient: PhantomPatient, rng: np.random.Generator
) -> list[tuple[Vector, ...]]:
    x, y, z = HEART_MIDDLE
    z -= heart_sink(patient.build)
    ventricle: tuple[Vector, ...] = (
        (x - 32, y + 8, z + 2),
        (x - 20, y + 2, z - 32),
        (x + 18, y - 12, z - 40),
        (x + 44 + float(rng.uniform(-6, 6)), y - 18, z - 36),
    )
    atrium: tuple[Vector, ...] = (
        (x - 34, y + 6, z - 4),
        (x - 28, y - 4, z - 14),
        (x - 18, y - 16, z + 4),
    )
    return [ventricle, atrium] if rng.random() < 0.7 else [ventricle]


def _lead(side: int, start: Vector, top: float, tip: tuple[Vector, ...]) -> Tube:
    vein: tuple[Vector, ...] = (
        start,
        (side * 66, -62, top - 26),
        (side * 34, -50, top - 24),
        (side * 8 - 6, -26, top - 42),
        (-18, -12, top - 70),
        (-22, -10, 40),
    )
    return Tube.through((*vein, *tip), 1.1, 8)


@dataclass(frozen=True)
class Infiltrate:
    """Fluid, cells or tissue in the air spaces of a lung.

    ``fill`` is the share of the air replaced (0-1) where one of ``pieces`` lies.
    """

    finding: Finding
    side: int
    pieces: tuple[Ellipsoid, ...]
    fill: float


@dataclass(frozen=True)
class Changes:
    """Every finding of a patient that is not an enlargement.

    ``above_fluid`` and ``collapsed`` map a side (+1 left, -1 right) to the space left
    for the lung by an effusion and by a pneumothorax; the latter without and with the
    visceral pleura.
    """

    infiltrates: tuple[Infiltrate, ...]
    above_fluid: dict[int, Bowl]
    collapsed: dict[int, tuple[Stack, Stack]]
    pacemaker: Pacemaker | None


def enlargements(patient: PhantomPatient) -> tuple[float, float]:
    """Return the magnification of heart and mediastinum; 1 if they are not enlarged."""
    heart, mediastinum = 1.0, 1.0
    if Finding.CARDIOMEGALY in patient.findings:
        heart = float(patient.stream("cardiomegaly").uniform(1.22, 1.42))
    if Finding.ENLARGED_CARDIOMEDIASTINUM in patient.findings:
        mediastinum = float(patient.stream("mediastinum").uniform(1.4, 1.8))
    return heart, mediastinum


def make_changes(patient: PhantomPatient, anatomy: Anatomy) -> Changes:
    """Return the changes of a patient; ``anatomy`` is the one without enlargement."""
    present = patient.findings
    infiltrates: list[Infiltrate] = []
    for finding, make in _INFILTRATES.items():
        if finding in present:
            infiltrates += make(anatomy, patient.stream(finding))
    return Changes(
        infiltrates=tuple(infiltrates),
        above_fluid=_effusion(patient) if Finding.PLEURAL_EFFUSION in present else {},
        collapsed=_pneumothorax(patient) if Finding.PNEUMOTHORAX in present else {},
        pacemaker=make_pacemaker(patient, anatomy)
        if Finding.SUPPORT_DEVICES in present
        else None,
    )


def _cluster(
    center: Vector,
    spread: Vector,
    count: int,
    size: tuple[float, float],
    rng: np.random.Generator,
) -> tuple[Ellipsoid, ...]:
    """Return overlapping rounded pieces that form a cloud with a ragged edge."""
    pieces = []
    for _ in range(count):
        direction = rng.normal(size=3)
        reach = rng.random() ** 0.5 / max(float(np.linalg.norm(direction)), 1e-6)
        x, y, z = np.array(center) + direction * reach * np.array(spread)
        radii = rng.uniform(*size) * rng.uniform(0.75, 1.25, 3)
        angles = rng.uniform(0, 180, 3)
        pieces.append(
            Ellipsoid(
                (float(x), float(y), float(z)),
                tuple(radii.tolist()),
                tuple(angles.tolist()),
            )
        )
    return tuple(pieces)


def _side(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def _point(
    anatomy: Anatomy,
    side: int,
    rng: np.random.Generator,
    wanted: Callable[[Vector], bool],
) -> Vector:
    """Return a random suitable point of a lung, else the last one tried."""
    points = [
        (float(x), float(y), float(z))
        for x, y, z in lung_points(anatomy, side, 60, rng)
    ]
    return next((p for p in points if wanted(p)), points[-1])


def _patches(anatomy: Anatomy, rng: np.random.Generator) -> list[Infiltrate]:
    side = _side(rng)
    center = _point(anatomy, side, rng, lambda p: 45 < abs(p[0]) < 100 and p[2] < 90)
    pieces = _cluster(center, (32, 34, 30), 22, (8, 17), rng)
    return [Infiltrate(Finding.AIRSPACE_OPACITY, side, pieces, 0.3)]


def _lesions(anatomy: Anatomy, rng: np.random.Generator) -> list[Infiltrate]:
    found = []
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        side = _side(rng)
        center = _point(anatomy, side, rng, lambda p: abs(p[0]) > 48 and p[2] > -70)
        x, y, z = rng.uniform(7, 19) * rng.uniform(0.85, 1.15, 3)
        turn = (0.0, float(rng.uniform(0, 180)), 0.0)
        nodule = Ellipsoid(center, (float(x), float(y), float(z)), turn)
        found.append(Infiltrate(Finding.LUNG_LESION, side, (nodule,), 0.95))
    return found


def _edema(anatomy: Anatomy, rng: np.random.Generator) -> list[Infiltrate]:
    del anatomy
    amount = float(rng.uniform(0.05, 0.1))
    found = []
    for side in (1, -1):
        x, y, z = hilum(side)
        center = (x + side * 22, y, z - 12)
        pieces = _cluster(center, (44, 50, 74), 70, (18, 32), rng)
        found.append(Infiltrate(Finding.EDEMA, side, pieces, amount))
    return found


def _consolidation(anatomy: Anatomy, rng: np.random.Generator) -> list[Infiltrate]:
    side = _side(rng)
    center = _point(anatomy, side, rng, lambda p: 48 < abs(p[0]) < 95 and p[2] < 70)
    size = float(rng.uniform(0.8, 1.2))
    spread = (32 * size, 38 * size, 26 * size)
    pieces = _cluster(center, spread, 60, (9, 20), rng)
    return [Infiltrate(Finding.CONSOLIDATION, side, pieces, 0.4)]


def _atelectasis(anatomy: Anatomy, rng: np.random.Generator) -> list[Infiltrate]:
    found = []
    for side in (1, -1) if rng.random() < 0.3 else (_side(rng),):
        x, y, z = _point(
            anatomy, side, rng, lambda p: 55 < abs(p[0]) < 95 and -75 < p[2] < -35
        )
        plates = []
        for _ in range(int(rng.integers(1, 4))):
            length, depth = rng.uniform(14, 42), rng.uniform(16, 34)
            radii = (float(length), float(depth), float(rng.uniform(1.6, 3.4)))
            tilt = (float(rng.uniform(-9, 9)), side * float(rng.uniform(-10, 26)), 0.0)
            across, up = rng.uniform(-16, 16), rng.uniform(-6, 20)
            center = (x + float(across), y * 0.5, z + float(up))
            plates.append(Ellipsoid(center, radii, tilt))
        found.append(Infiltrate(Finding.ATELECTASIS, side, tuple(plates), 0.75))
    return found


_INFILTRATES: dict[
    Finding, Callable[[Anatomy, np.random.Generator], list[Infiltrate]]
] = {
    Finding.AIRSPACE_OPACITY: _patches,
    Finding.LUNG_LESION: _lesions,
    Finding.EDEMA: _edema,
    Finding.CONSOLIDATION: _consolidation,
    Finding.ATELECTASIS: _atelectasis,
}


def _effusion(patient: PhantomPatient) -> dict[int, Bowl]:
    rng, build = patient.stream(Finding.PLEURAL_EFFUSION), patient.build
    sides = (1, -1) if rng.random() < 0.35 else (_side(rng),)
    bowls = {}
    for side in sides:
        dome = build.left_dome if side > 0 else build.right_dome
        level = dome + float(rng.uniform(-30, 32))
        wall = abs(lateral_wall(build, side, level))
        bowls[side] = Bowl((side * (wall - 104), -30), level, 36, 98, 118)
    return bowls


def _pneumothorax(patient: PhantomPatient) -> dict[int, tuple[Stack, Stack]]:
    rng, build = patient.stream(Finding.PNEUMOTHORAX), patient.build
    side = _side(rng)
    apical, lateral = float(rng.uniform(16, 42)), float(rng.uniform(8, 20))
    top, hinge = build.lung_top - apical, float(rng.uniform(-60, 10))
    wall = abs(lateral_wall(build, side, 60)) - lateral
    lung = _retracted(side, top, hinge, wall)
    return {side: (lung, _retracted(side, top + 0.4, hinge, wall + 0.4))}


def _retracted(side: int, top: float, hinge: float, wall: float) -> Stack:
    """Return the space of a lung detached from the wall above ``hinge``."""
    x, loose = 40.0, 400.0
    outer = wall - x
    rows = (
        (top, outer),
        (top - 0.25 * (top - hinge), outer + 4),
        (top - 0.7 * (top - hinge), outer + 14),
        (hinge, outer + 40),
        (-300.0, outer + 80),
    )
    sections = tuple(
        Section(z, side * x, 0, *((r, loose) if side > 0 else (loose, r)), loose, loose)
        for z, r in rows
    )
    return Stack(sections, cap_top=75)
