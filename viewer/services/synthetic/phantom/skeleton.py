"""The bones: ribs on the chest wall, spine, clavicles, scapulae, humeri, sternum.

Ribs are not drawn one by one: a rib is the part of the chest wall's shell within a band
that descends from the spine over the side to the front. On the shell the rib number has
a closed form, so every ray is exact and cheap.
"""

from dataclasses import dataclass

import numpy as np

from viewer.services.synthetic.phantom.anatomy import SIDES
from viewer.services.synthetic.phantom.patient import Build
from viewer.services.synthetic.phantom.rays import Floats, RayGrid
from viewer.services.synthetic.phantom.solids import (
    Ellipsoid,
    Section,
    Stack,
    Vector,
    deposit,
)
from viewer.services.synthetic.phantom.tubes import Tube

_CAGE = (
    # z below the lung's top, half-width, y, front, back
    (-30, 52, 16, 38, 44),
    (-8, 84, 13, 52, 52),
    (14, 104, 10, 66, 61),
    (40, 115, 8, 77, 68),
    (80, 128, 5, 91, 79),
    (120, 137, 2, 99, 87),
    (160, 143, 0, 103, 92),
    (210, 146, 0, 103, 96),
    (260, 146, 0, 99, 97),
    (305, 144, 0, 93, 95),
    (370, 138, 0, 84, 90),
)
RIB_PITCH = 21.5
_DROP, _DROP_PER_RIB = 26.0, 11.0
_RIB_ENDS = np.radians(
    [0, 132, 142, 146, 148, 148, 146, 142, 136, 128, 84, 52, 0]
).astype(np.float32)
"""Azimuth from the spine at which the bone of rib 1 … 12 ends; 0 for no rib."""


_GIRDLE: tuple[tuple[float, tuple[Vector, ...]], ...] = (
    # clavicle
    (5.6, ((11, -84, 44), (45, -88, 38), (88, -60, 26), (125, -22, 18), (158, 2, 14))),
    # scapula: medial border, lateral border, spine and acromion
    (2.6, ((128, 66, 36), (131, 74, 90), (138, 76, 150))),
    (3.4, ((138, 76, 150), (150, 50, 100), (160, 20, 58))),
    (4.2, ((122, 76, 54), (145, 50, 32), (168, 10, 16))),
)
_HUMERUS: tuple[float, tuple[Vector, ...]] = (
    13.0,
    ((190, -2, 48), (192, -2, 60), (214, 4, 170)),
)
_HUMERAL_HEAD: tuple[float, tuple[Vector, ...]] = (23.0, ((186, -2, 46), (188, -2, 52)))


@dataclass(frozen=True)
class Skeleton:
    """The bones of one patient.

    ``outer`` and ``inner`` enclose the shell the ribs run in; ``first_rib`` is z of
    the first rib at the spine; ``girdle`` and ``arms`` are pairs of outer
    and marrow tube; the arms are raised out of the way for a lateral view.
    """

    outer: Stack
    inner: Stack
    first_rib: float
    slope: float
    spine: Stack
    processes: tuple[Tube, ...]
    girdle: tuple[tuple[Tube, Tube], ...]
    arms: tuple[tuple[Tube, Tube], ...]
    plates: tuple[Ellipsoid, ...]
    sternum: Stack


def build_skeleton(build: Build) -> Skeleton:
    """Return the bones of a patient."""
    spine = _spine(build)
    return Skeleton(
        outer=_cage(build, 4.5),
        inner=_cage(build, -1.5),
        first_rib=build.lung_top - 4,
        slope=build.rib_slope,
        spine=spine,
        processes=_posterior_elements(build),
        girdle=tuple(b for side in SIDES for b in _girdle(build, side)),
        arms=tuple(b for side in SIDES for b in _arm(build, side)),
        plates=tuple(
            Ellipsoid(
                (side * 146 * build.width, 62, 62),
                (22, 2.2, 58),
                (0, side * -8, side * 40),
            )
            for side in SIDES
        ),
        sternum=_sternum(build),
    )


def bone_path(grid: RayGrid, bones: Skeleton) -> Floats:
    """Return millimetres of compact bone on each ray, (rows, columns)."""
    path = _ribs(grid, bones) + _vertebrae(grid, bones)
    hollow = bones.girdle + (bones.arms if grid.ray_axis == 1 else ())
    for outer, marrow in hollow:
        deposit(path, grid, outer, 0.6)
        deposit(path, grid, marrow, -0.42)
    for process in bones.processes:
        deposit(path, grid, process, 0.2)
    for plate in bones.plates:
        deposit(path, grid, plate, 0.55)
    deposit(path, grid, bones.sternum, 0.35)
    return path


def _cage(build: Build, wall: float) -> Stack:
    sections = tuple(
        Section(
            build.lung_top - below,
            0,
            y,
            half * build.width + wall,
            half * build.width + wall,
            front * build.depth + wall,
            back * build.depth + wall,
        )
        for below, half, y, front, back in _CAGE
    )
    return Stack(sections)


def _ribs(grid: RayGrid, bones: Skeleton) -> Floats:
    outer, inner = bones.outer.interval(grid), bones.inner.interval(grid)
    x, y, left, _, front, back = bones.outer.at(grid.up)
    middle = (inner.near + inner.far) / 2
    if grid.ray_axis == 1:
        turn = np.arcsin(np.clip(np.abs(grid.across - x) / left, 0, 1))
        sheets = (np.pi - turn, turn)
    else:
        depth = np.where(grid.across > y, back, front)
        turn = np.arccos(np.clip((grid.across - y) / depth, -1, 1))
        sheets = (turn, turn)
    near = np.clip(inner.near, outer.near, middle) - outer.near
    far = outer.far - np.clip(inner.far, middle, outer.far)
    shift = np.float32(5.0 if grid.ray_axis == 0 else 0.0)
    return near * _rib_profile(grid.up - shift, sheets[0], bones) + far * _rib_profile(
        grid.up + shift, sheets[1], bones
    )


def _rib_profile(z: Floats, turn: Floats, bones: Skeleton) -> Floats:
    """Return the share of compact bone (0-1) of the shell at a height and azimuth."""
    fall = np.float32(bones.slope) * (1 - np.cos(turn)) / 2
    pitch = RIB_PITCH + np.float32(_DROP_PER_RIB) * fall
    number = (bones.first_rib + RIB_PITCH - z - np.float32(_DROP) * fall) / pitch
    nearest = np.clip(np.rint(number), 0, 12)
    steep = np.float32(bones.slope) * np.float32(0.42) * np.sin(turn)
    half = (6.2 + 0.8 * fall) * np.sqrt(1 + steep * steep)
    offset = (number - nearest) * pitch / half
    squared = offset * offset
    shape = np.sqrt(np.maximum(1 - squared, 0))
    marrow = np.sqrt(np.maximum(1 - squared * np.float32(1.55), 0))
    beyond = (_RIB_ENDS[nearest.astype(np.intp)] - turn) * np.float32(12)
    share = (shape - 0.62 * marrow) * np.clip(beyond, 0, 1)
    return np.asarray(share, dtype=np.float32)


def _spine(build: Build) -> Stack:
    k = build.kyphosis
    return Stack(
        (
            Section(240, 0, 20, 12, 12, 10, 10),
            Section(180, 0, 40, 13.5, 13.5, 11, 11),
            Section(110, 0, 58 + k, 15, 15, 13, 13),
            Section(40, 0, 66 + k, 16.5, 16.5, 15, 15),
            Section(-40, 0, 64 + k / 2, 18.5, 18.5, 17, 17),
            Section(-130, 0, 52, 21, 21, 18, 18),
            Section(-240, 0, 34, 24, 24, 19, 19),
        ),
        square=(True, True),
    )


def vertebra_phase(z: Floats) -> Floats:
    """Return the running vertebra number at a height; whole numbers are discs."""
    return (
        (np.float32(160) - z)
        / np.float32(RIB_PITCH + 0.5)
        * (1 - np.float32(0.00035) * (np.float32(160) - z))
    )


def _vertebrae(grid: RayGrid, bones: Skeleton) -> Floats:
    phase = vertebra_phase(grid.up)
    off_disc = np.abs(phase - np.rint(phase))
    body = np.clip((off_disc - 0.07) / 0.03, 0, 1)
    endplate = np.exp(-np.square((off_disc - 0.115) / 0.03))
    share = 0.09 * body + 0.07 * endplate
    core = bones.spine.interval(grid).length()
    rim = core - bones.spine.scaled(0.9).interval(grid).length()
    return (share * core + 0.12 * body * rim).astype(np.float32)


def _posterior_elements(build: Build) -> tuple[Tube, ...]:
    spine = _spine(build)
    tubes = []
    for number in range(-3, 18):
        z = 160.0 - (number + 0.5) * (RIB_PITCH + 0.5) * (1 + 0.006 * number)
        y = float(spine.at(np.array([z], dtype=np.float32))[1][0])
        reach = 26 + (8 if number > 11 else 0)
        process: tuple[Vector, ...] = ((0, y + 34, z - 4), (0, y + 48, z - 14))
        tubes.append(_straight(process, 3.4))
        for side in SIDES:
            pedicle: tuple[Vector, ...] = (
                (side * 10, y + 14, z + 3),
                (side * 11, y + 27, z + 2),
            )
            wing: tuple[Vector, ...] = (
                (side * 11, y + 27, z),
                (side * reach, y + 32, z + 3),
            )
            tubes += [_straight(pedicle, 3.6), _straight(wing, 3.6)]
    return tuple(tubes)


def _straight(points: tuple[Vector, ...], radius: float) -> Tube:
    return Tube(np.array(points, dtype=np.float64), np.full(len(points), radius))


def _girdle(build: Build, side: int) -> list[tuple[Tube, Tube]]:
    return [_hollow(build, side, *bone, marrow=0.72) for bone in _GIRDLE]


def _arm(build: Build, side: int) -> list[tuple[Tube, Tube]]:
    return [
        _hollow(build, side, *_HUMERUS, marrow=0.75),
        _hollow(build, side, *_HUMERAL_HEAD, marrow=0.9),
    ]


def _hollow(
    build: Build, side: int, radius: float, course: tuple[Vector, ...], *, marrow: float
) -> tuple[Tube, Tube]:
    """Return a bone along a course (x outwards, y, z below the lung's top)."""
    placed = [(side * x * build.width, y, build.lung_top - z) for x, y, z in course]
    outer = Tube.through(placed, radius, 8)
    return outer, Tube(outer.points, outer.radii * marrow)


def _sternum(build: Build) -> Stack:
    d, top = build.depth, build.lung_top
    rows = (
        (40, 24, 71, 5),
        (70, 20, 84, 6),
        (95, 15, 92, 5),
        (150, 17, 102, 5),
        (205, 12, 104, 4),
    )
    return Stack(
        tuple(
            Section(top - below, 0, -y * d - 2, w, w, t, t) for below, w, y, t in rows
        ),
        cap_top=8,
        cap_bottom=10,
    )
