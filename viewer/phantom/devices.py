"""Support devices: a pacemaker under the skin, its leads in the heart."""

from dataclasses import dataclass

import numpy as np

from viewer.phantom.anatomy import HEART_MIDDLE, Anatomy, heart_sink
from viewer.phantom.patient import Finding, PhantomPatient
from viewer.phantom.solids import Section, Stack, Vector
from viewer.phantom.tubes import Tube


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
