"""Pulmonary vessels: trees that grow from each hilum into the lung."""

import numpy as np

from viewer.services.synthetic.phantom.anatomy import Anatomy
from viewer.services.synthetic.phantom.rays import Floats, RayGrid
from viewer.services.synthetic.phantom.solids import Points, Solid, deposit
from viewer.services.synthetic.phantom.tubes import Tube, smooth_curve

LEAF_RADIUS_MM = 0.62
_BRANCHING_EXPONENT = 2.5
"""Parent radius^k = sum of child radii^k; Murray's law has 3, lungs measure 2.3-3."""


def lung_points(
    anatomy: Anatomy, side: int, count: int, rng: np.random.Generator
) -> Points:
    """Return ``count`` random points (n, 3) of one lung's aerated volume."""
    lung = anatomy.lungs[0 if side > 0 else 1]
    obstacles: tuple[Solid, ...] = (*anatomy.domes, *anatomy.central)
    bounds = lung.bounds()
    found: list[Points] = []
    while sum(len(f) for f in found) < count:
        points = rng.uniform(bounds.low, bounds.high, (4 * count, 3))
        keep = lung.contains(points)
        for obstacle in obstacles:
            keep &= ~obstacle.contains(points)
        found.append(points[keep])
    return np.vstack(found)[:count]


def hilum(side: int) -> tuple[float, float, float]:
    """Return where the vessels of a lung enter it; the left hilum lies higher."""
    return (36.0, 16.0, 24.0) if side > 0 else (-38.0, 14.0, 10.0)


def grow_vessels(
    anatomy: Anatomy, side: int, rng: np.random.Generator, leaves: int = 420
) -> tuple[Tube, ...]:
    """Return the vessels of one lung: every leaf joined to the tree at its nearest."""
    targets = lung_points(anatomy, side, leaves, rng)
    root = np.array(hilum(side))
    nodes, parents = _grow(root, targets, rng)
    return (*_tubes(nodes, parents), *_hilar_arteries(side))


def _hilar_arteries(side: int) -> tuple[Tube, ...]:
    """Return a lung's main artery, which crosses the hilum and descends."""
    right = ((-16, 4, 26), (-34, 10, 20), (-46, 16, 2), (-52, 22, -24), (-56, 28, -48))
    left = ((18, 6, 40), (36, 14, 36), (46, 22, 20), (50, 28, -6), (54, 34, -34))
    curve = smooth_curve(np.array(left if side > 0 else right, dtype=np.float64), 6)
    return (Tube(curve, np.linspace(8.5, 1.6, len(curve))),)


def vessel_path(grid: RayGrid, vessels: tuple[Tube, ...]) -> Floats:
    """Return millimetres of blood on each ray, (rows, columns)."""
    path = np.zeros(grid.shape, dtype=np.float32)
    for tube in vessels:
        deposit(path, grid, tube, 1.0)
    return path


def _grow(
    root: Points, targets: Points, rng: np.random.Generator
) -> tuple[Points, list[int]]:
    """Return node positions (n, 3) and each node's parent; node 0 is the root."""
    order = np.argsort(np.linalg.norm(targets - root, axis=1), kind="stable")
    nodes, from_root, parents = root[np.newaxis], np.zeros(1), [-1]
    for target in targets[order]:
        reach = np.linalg.norm(nodes - target, axis=1)
        start = int(np.argmin(reach + 0.35 * from_root))
        steps = max(1, int(reach[start] // 14))
        bend = rng.normal(0, 0.8, (steps, 3))
        bend[-1] = 0
        along = np.arange(1, steps + 1)[:, np.newaxis] / steps
        added = nodes[start] + (target - nodes[start]) * along + bend
        parents += [start, *range(len(nodes), len(nodes) + steps - 1)]
        nodes = np.vstack([nodes, added])
        from_root = np.append(from_root, np.linalg.norm(added - root, axis=1))
    return nodes, parents


def _tubes(nodes: Points, parents: list[int]) -> tuple[Tube, ...]:
    """Return one tube per unbranched run, thick as its leaves demand."""
    children: list[list[int]] = [[] for _ in nodes]
    for child, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(child)
    load = np.where([not c for c in children], 1.0, 0.0)
    for node in range(len(nodes) - 1, 0, -1):
        load[parents[node]] += load[node]
    radii = LEAF_RADIUS_MM * load ** (1 / _BRANCHING_EXPONENT)
    return tuple(
        _run(nodes, radii, children, start, first)
        for start in range(len(nodes))
        if start == 0 or len(children[start]) > 1
        for first in children[start]
    )


def _run(
    nodes: Points, radii: Points, children: list[list[int]], start: int, first: int
) -> Tube:
    path = [start, first]
    while len(children[path[-1]]) == 1:
        path.append(children[path[-1]][0])
    curve = smooth_curve(nodes[path], 3)
    along = np.linspace(0, len(path) - 1, len(curve))
    thickness = np.minimum(radii[path], radii[first])
    return Tube(curve, np.interp(along, np.arange(len(path)), thickness))
