"""The radiographs and their truth against the solids they are made of."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.proof_params import always
from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom import projection
from viewer.services.synthetic.phantom.patient import (
    Finding,
    PhantomPatient,
    make_patient,
)
from viewer.services.synthetic.phantom.projection import CHILDREN, Shadow, cast, project
from viewer.services.synthetic.phantom.rays import detector
from viewer.services.synthetic.phantom.scene import Scene, build_scene
from viewer.services.synthetic.phantom.solids import Solid

SIZE = SizePx(60, 48)
COARSE = SizePx(20, 16)
VIEWS = (View.FRONTAL, View.LATERAL)
Bools = npt.NDArray[np.bool_]
Points = npt.NDArray[np.float64]


def _with(*findings: Finding, index: int = 1) -> PhantomPatient:
    return replace(make_patient(0, index), findings=frozenset(findings))


@cache
def _shadow(patient: PhantomPatient, view: View, size: SizePx = SIZE) -> Shadow:
    return cast(patient, view, size)


@pytest.mark.parametrize("view", always({View.FRONTAL}, VIEWS))
@pytest.mark.parametrize("finding", Finding)
def test_that_a_finding_changes_rays_only_inside_its_mask(
    finding: Finding, view: View
) -> None:
    without, present = _shadow(_with(), view), _shadow(_with(finding), view)
    change = np.abs(present.attenuation - without.attenuation) > 2e-3
    assert change.any()
    assert not (change & ~present.masks[finding]).any()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("finding", Finding)
def test_that_a_finding_marks_itself_and_what_stands_above_it(
    finding: Finding, view: View
) -> None:
    masks = _shadow(_with(finding), view).masks
    parents = {p for p, children in CHILDREN.items() if finding in children}
    positive = {f for f, mask in masks.items() if mask.any()}
    assert positive == {finding} | parents
    assert all(not (masks[finding] & ~masks[parent]).any() for parent in parents)


def _points(view: View, size: SizePx, patient: PhantomPatient, step: float) -> Points:
    """Return sample points (rows, columns, n, 3) along every ray of a detector."""
    grid = detector(view, size)
    along = np.arange(-190, 190, step)
    points = np.empty((*grid.shape, along.size, 3))
    points[..., grid.ray_axis] = along
    shift = patient.build.shift
    points[..., grid.across_axis] = (grid.across - shift[grid.across_axis])[..., None]
    points[..., 2] = (grid.up - shift[2])[..., None]
    return points


def _in_any(solids: Sequence[Solid], points: Points) -> Bools:
    inside = np.zeros(len(points), dtype=bool)
    for solid in solids:
        (left,) = np.nonzero(~inside)
        inside[left] = solid.contains(points[left])
    return inside


def _in_lungs(scene: Scene, points: Points) -> Bools:
    anatomy = scene.anatomy
    obstacles = (*anatomy.central, *anatomy.domes)
    return _in_any(anatomy.lungs, points) & ~_in_any(obstacles, points)


def _truth(scene: Scene, finding: Finding, points: Points) -> Bools:
    """Return which points the definition of a finding claims, in three dimensions."""
    anatomy, changes = scene.anatomy, scene.changes
    if finding is Finding.CARDIOMEGALY:
        return _in_any(anatomy.heart, points)
    if finding is Finding.ENLARGED_CARDIOMEDIASTINUM:
        return _in_any(anatomy.central, points)
    side = np.where(points[:, 0] > 0, 1, -1)
    lost = np.zeros(len(points), dtype=bool)
    if finding is Finding.PLEURAL_EFFUSION:
        for which, bowl in changes.above_fluid.items():
            lost |= (side == which) & ~bowl.contains(points)
    elif finding is Finding.PNEUMOTHORAX:
        for which, (lung, _) in changes.collapsed.items():
            lost |= (side == which) & ~lung.contains(points)
    else:
        for infiltrate in changes.infiltrates:
            for piece in infiltrate.pieces:
                lost |= (side == infiltrate.side) & piece.contains(points)
    lost[lost] = _in_lungs(scene, points[lost])
    return lost


@pytest.mark.parametrize("view", always({View.FRONTAL}, VIEWS))
@pytest.mark.parametrize("finding", [f for f in Finding if f != "Support Devices"])
def test_that_a_mask_is_the_shadow_of_the_solid(finding: Finding, view: View) -> None:
    patient = _with(finding, index=2)
    mask = _shadow(patient, view, COARSE).masks[finding]
    points = _points(view, COARSE, patient, step=1.5)
    inside = _truth(build_scene(patient), finding, points.reshape(-1, 3))
    expected = inside.reshape(points.shape[:-1]).any(-1)
    assert not (expected & ~mask).any()
    assert (mask & ~expected).sum() <= max(5, 0.1 * mask.sum())


def test_that_a_patient_gives_the_same_pixels_every_time() -> None:
    patient = make_patient(5, 3)
    first = project(patient, View.FRONTAL, SIZE)
    build_scene.cache_clear()
    second = project(patient, View.FRONTAL, SIZE)
    np.testing.assert_array_equal(first.values, second.values)
    for finding in Finding:
        np.testing.assert_array_equal(first.masks[finding], second.masks[finding])


@pytest.mark.parametrize("index", range(4))
def test_that_the_organs_lie_where_they_belong(index: int) -> None:
    anatomy = _shadow(_with(index=index), View.FRONTAL).anatomy
    column = {n: np.nonzero(m)[1].mean() for n, m in anatomy.items()}
    assert column["right lung"] < column["mediastinum"] < column["left lung"]
    assert column["mediastinum"] < column["heart"], "the apex points to the left"
    top = {n: np.nonzero(m.any(1))[0][0] for n, m in anatomy.items()}
    assert top["left lung"] < top["heart"]


@pytest.mark.parametrize("index", range(4))
def test_that_the_heart_is_half_the_chest_wide_only_when_enlarged(index: int) -> None:
    def ratio(patient: PhantomPatient) -> float:
        anatomy = _shadow(patient, View.FRONTAL).anatomy
        lungs = (anatomy["left lung"] | anatomy["right lung"]).any(0)
        return float(np.ptp(np.nonzero(anatomy["heart"].any(0))[0])) / float(
            np.ptp(np.nonzero(lungs)[0])
        )

    assert 0.35 < ratio(_with(index=index)) < 0.5
    assert ratio(_with(Finding.CARDIOMEGALY, index=index)) > 0.5


def test_that_lungs_are_darker_than_heart_and_air_is_black() -> None:
    film = project(_with(), View.FRONTAL, SIZE)
    lung = np.median(film.values[film.anatomy["right lung"]])
    heart = np.median(film.values[film.anatomy["heart"]])
    assert lung < 0.7 * heart
    assert np.median(film.values[~film.body]) < 0.05 * 4095
    assert film.values.dtype == np.uint16
    assert film.values.max() <= 4095


def test_that_a_pneumothorax_shows_no_vessels_beyond_the_pleura(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patient = _with(Finding.PNEUMOTHORAX)
    shadow = _shadow(patient, View.FRONTAL)
    bare = replace(build_scene(patient), vessels=((), ()))
    monkeypatch.setattr(projection, "build_scene", lambda _: bare)
    without = cast(patient, View.FRONTAL, SIZE)
    vessels = np.abs(shadow.attenuation - without.attenuation) > 1e-3
    gas = shadow.masks[Finding.PNEUMOTHORAX]
    lungs = (shadow.anatomy["left lung"] | shadow.anatomy["right lung"]) & ~gas
    assert vessels[gas].mean() < 0.1 < vessels[lungs].mean()
