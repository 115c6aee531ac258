"""What a ray crosses in a chest cavity: aerated lung, fluid, free air, infiltrates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.services.synthetic.phantom.findings import Infiltrate
from viewer.services.synthetic.phantom.patient import Finding
from viewer.services.synthetic.phantom.rays import (
    Floats,
    Interval,
    RayGrid,
    union_length,
)
from viewer.services.synthetic.phantom.scene import Scene
from viewer.services.synthetic.phantom.solids import Solid

TOUCH_MM = np.float32(0.02)
"""Shortest cut that counts as a shadow; float32 rounding stays far below."""


@dataclass(frozen=True, eq=False)
class LungCut:
    """Millimetres of each content of one chest cavity on each ray, (rows, columns).

    ``cavity`` is the pleural space outside heart, mediastinum and diaphragm; it is
    the sum of ``lung``, ``fluid`` (effusion) and ``gas`` (pneumothorax). Of the lung,
    ``filled`` is replaced by each finding's infiltrate, ``solid`` by all of them.
    ``pleura`` is the part of ``gas`` that is a collapsed lung's visceral pleura;
    ``whole`` the cavity with the heart and the diaphragm inside.
    """

    whole: Floats
    cavity: Floats
    lung: Floats
    fluid: Floats
    gas: Floats
    pleura: Floats
    filled: dict[Finding, Floats]
    solid: Floats


def cut_lung(grid: RayGrid, scene: Scene, side: int) -> LungCut:
    """Return what a grid's rays cross in the left (+1) or right (-1) cavity."""
    anatomy, changes = scene.anatomy, scene.changes
    solids = _near(grid, (*anatomy.central, *anatomy.domes))
    obstacles = [s.interval(grid) for s in solids]
    space = anatomy.lungs[0 if side > 0 else 1].interval(grid)
    wet = lung = wrapped = space
    if side in changes.above_fluid:
        wet = lung = wrapped = changes.above_fluid[side].interval(grid).within(space)
    if side in changes.collapsed:
        lung, wrapped = (s.interval(grid).within(wet) for s in changes.collapsed[side])
    outer, dry, rest, skin = _each_free((space, wet, lung, wrapped), obstacles)
    filled = _filled(grid, scene, side, lung, obstacles)
    return LungCut(
        whole=space.length(),
        cavity=_cleaned(outer),
        lung=_cleaned(rest),
        fluid=_cleaned(outer - dry),
        gas=_cleaned(dry - rest),
        pleura=_cleaned(skin - rest),
        filled=filled,
        solid=_solid(filled, rest),
    )


def _near(grid: RayGrid, solids: tuple[Solid, ...]) -> list[Solid]:
    """Return the solids that a grid's rays may hit, to skip the others."""
    windows = [(grid.window(s.bounds()), s) for s in solids]
    return [s for (r, c), s in windows if r.start < r.stop and c.start < c.stop]


def _free(space: Interval, obstacles: list[Interval]) -> Floats:
    """Return the length of ``space`` outside every obstacle."""
    if not obstacles:
        return space.length()
    return space.length() - union_length([o.within(space) for o in obstacles])


def _each_free(spaces: Sequence[Interval], obstacles: list[Interval]) -> list[Floats]:
    """Return the free length of each space; the same object is computed once."""
    known: dict[int, Floats] = {}
    for space in spaces:
        if id(space) not in known:
            known[id(space)] = _free(space, obstacles)
    return [known[id(space)] for space in spaces]


def _cleaned(length: Floats) -> Floats:
    """Return a length without the rounding left over from taking differences."""
    return np.where(length > TOUCH_MM, length, 0).astype(np.float32)


def _filled(
    grid: RayGrid, scene: Scene, side: int, lung: Interval, obstacles: list[Interval]
) -> dict[Finding, Floats]:
    filled: dict[Finding, Floats] = {}
    for infiltrate in scene.changes.infiltrates:
        if infiltrate.side == side:
            path = filled.setdefault(
                infiltrate.finding, np.zeros(grid.shape, dtype=np.float32)
            )
            _add_pieces(path, grid, infiltrate, lung, obstacles)
    return filled


def _add_pieces(
    path: Floats,
    grid: RayGrid,
    infiltrate: Infiltrate,
    lung: Interval,
    obstacles: list[Interval],
) -> None:
    for piece in infiltrate.pieces:
        window = grid.window(piece.bounds())
        if window[0].start >= window[0].stop or window[1].start >= window[1].stop:
            continue
        inside = _view(lung, window)
        cut = piece.interval(grid.part(window)).within(inside)
        blocked = [_view(o, window) for o in obstacles]
        path[window] += infiltrate.fill * _cleaned(_free(cut, blocked))


def _view(interval: Interval, window: tuple[slice, slice]) -> Interval:
    return Interval(interval.near[window], interval.far[window])


def _solid(filled: dict[Finding, Floats], aerated: Floats) -> Floats:
    """Return the total lung replaced; further pieces fill the remaining air."""
    if not filled:
        return np.zeros_like(aerated)
    total = sum(filled.values(), np.zeros_like(aerated))
    room = np.maximum(aerated, TOUCH_MM)
    return np.where(aerated > TOUCH_MM, aerated * -np.expm1(-total / room), 0).astype(
        np.float32
    )
