"""Line integrals through a patient, and where each finding casts its shadow."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.anatomy import SIDES
from viewer.services.synthetic.phantom.film import develop
from viewer.services.synthetic.phantom.lungs import TOUCH_MM, LungCut, cut_lung
from viewer.services.synthetic.phantom.patient import Finding, PhantomPatient
from viewer.services.synthetic.phantom.rays import (
    Bools,
    Floats,
    RayGrid,
    UInts,
    detector,
    union_length,
)
from viewer.services.synthetic.phantom.scene import Scene, build_scene
from viewer.services.synthetic.phantom.skeleton import bone_path
from viewer.services.synthetic.phantom.solids import Solid, deposit
from viewer.services.synthetic.phantom.vessels import vessel_path

MU_SOFT = 0.0185
"""Effective linear attenuation of soft tissue at 120 kVp, per millimetre."""
MU_BONE = 0.05
MU_METAL = 0.22
METAL_MM = 9.0
"""More metal than this lets nothing more through."""
BAND_ROWS = 100
"""Rows cast together, few enough for the processor's cache."""
ANATOMY = ("left lung", "right lung", "heart", "mediastinum")
CHILDREN: Mapping[Finding, tuple[Finding, ...]] = {
    Finding.ENLARGED_CARDIOMEDIASTINUM: (Finding.CARDIOMEGALY,),
    Finding.AIRSPACE_OPACITY: (
        Finding.EDEMA,
        Finding.CONSOLIDATION,
        Finding.LUNG_LESION,
        Finding.ATELECTASIS,
    ),
}
"""CheXpert's hierarchy of observations (Irvin 2019, Fig. 1), as far as we draw it."""


@dataclass(frozen=True, eq=False)
class Projection:
    """One radiograph of a patient with its truth; all arrays (rows, columns).

    ``values`` are uint16 of 12 bits, dense tissue bright. ``masks`` has an entry for
    every finding, all False where absent; ``anatomy`` one for each of ANATOMY.
    ``body`` is the patient's outline.
    """

    values: UInts
    masks: Mapping[Finding, Bools]
    anatomy: Mapping[str, Bools]
    body: Bools


@dataclass(frozen=True, eq=False)
class Shadow:
    """What a detector receives before the film: line integrals and shadows.

    ``attenuation`` (rows, columns) float32 is the integral of the attenuation
    coefficient along each ray; the rest as in Projection.
    """

    attenuation: Floats
    masks: dict[Finding, Bools]
    anatomy: dict[str, Bools]
    body: Bools


def project(patient: PhantomPatient, view: View, size: SizePx) -> Projection:
    """Return a patient's frontal or lateral radiograph; the same bytes every time."""
    shadow = cast(patient, view, size)
    lungs = shadow.anatomy["left lung"] | shadow.anatomy["right lung"]
    rng = patient.stream(f"film {view}")
    values = develop(shadow.attenuation, lungs, shadow.body, rng)
    return Projection(values, shadow.masks, shadow.anatomy, shadow.body)


def cast(patient: PhantomPatient, view: View, size: SizePx) -> Shadow:
    """Return the line integrals and shadows of a patient on a detector."""
    scene = build_scene(patient)
    grid = patient_grid(patient, view, size)
    whole = _empty(grid.shape)
    blood = tuple(vessel_path(grid, vessels) for vessels in scene.vessels)
    for start in range(0, size.rows, BAND_ROWS):
        rows = slice(start, start + BAND_ROWS)
        part = grid.rows(rows.start, rows.stop)
        _cast_band(scene, part, tuple(b[rows] for b in blood), _band(whole, rows))
    _join(whole, patient)
    return whole


def patient_grid(patient: PhantomPatient, view: View, size: SizePx) -> RayGrid:
    """Return the rays of a detector in the patient's coordinates."""
    grid, shift = detector(view, size), patient.build.shift
    across = grid.across - np.float32(shift[grid.across_axis])
    return RayGrid(grid.view, across, grid.up - np.float32(shift[2]))


def _empty(shape: tuple[int, int]) -> Shadow:
    return Shadow(
        np.zeros(shape, dtype=np.float32),
        {finding: np.zeros(shape, dtype=bool) for finding in Finding},
        {name: np.zeros(shape, dtype=bool) for name in ANATOMY},
        np.zeros(shape, dtype=bool),
    )


def _band(whole: Shadow, rows: slice) -> Shadow:
    """Return writable views of some rows."""
    return Shadow(
        whole.attenuation[rows],
        {finding: mask[rows] for finding, mask in whole.masks.items()},
        {name: mask[rows] for name, mask in whole.anatomy.items()},
        whole.body[rows],
    )


def _cast_band(
    scene: Scene, grid: RayGrid, blood: tuple[Floats, ...], out: Shadow
) -> None:
    _cast_body(scene, grid, out)
    _cast_gas(scene, grid, out)
    _cast_outlines(scene, grid, out)
    for i in range(len(SIDES)):
        _cast_lung(scene, grid, i, blood[i], out)
    _cast_pacemaker(scene, grid, out)


def _cast_body(scene: Scene, grid: RayGrid, out: Shadow) -> None:
    anatomy = scene.anatomy
    outline = anatomy.body if grid.view is View.FRONTAL else anatomy.torso
    body = outline.interval(grid)
    path = body.length()
    for breast in scene.anatomy.breasts:
        path += union_length([body, breast.interval(grid)]) - body.length()
    bone = bone_path(grid, scene.skeleton)
    out.body[:] = path > TOUCH_MM
    out.attenuation[:] = MU_SOFT * path + (MU_BONE - MU_SOFT) * bone


def _cast_gas(scene: Scene, grid: RayGrid, out: Shadow) -> None:
    for bubble in scene.anatomy.gas:
        deposit(out.attenuation, grid, bubble, -0.7 * MU_SOFT)
    for tube in scene.anatomy.airways:
        deposit(out.attenuation, grid, tube, -0.8 * MU_SOFT)


def _cast_outlines(scene: Scene, grid: RayGrid, out: Shadow) -> None:
    anatomy = scene.anatomy
    _outline(out.anatomy["heart"], grid, anatomy.heart)
    _outline(out.anatomy["mediastinum"], grid, (anatomy.mediastinum, *anatomy.aorta))
    if Finding.CARDIOMEGALY in scene.patient.findings:
        out.masks[Finding.CARDIOMEGALY][:] = out.anatomy["heart"]


def _outline(mask: Bools, grid: RayGrid, solids: tuple[Solid, ...]) -> None:
    for solid in solids:
        window = grid.window(solid.bounds())
        mask[window] |= solid.interval(grid.part(window)).length() > TOUCH_MM


def _cast_lung(scene: Scene, grid: RayGrid, i: int, blood: Floats, out: Shadow) -> None:
    window = grid.window(scene.anatomy.lungs[i].bounds())
    part = grid.part(window)
    if 0 in part.shape:
        return
    cut = cut_lung(part, scene, SIDES[i])
    out.anatomy[ANATOMY[i]][window] = cut.cavity > 0
    _mark(out, window, Finding.PLEURAL_EFFUSION, cut.fluid)
    _mark(out, window, Finding.PNEUMOTHORAX, cut.gas)
    for finding, path in cut.filled.items():
        _mark(out, window, finding, path)
    out.attenuation[window] -= MU_SOFT * _missing_tissue(
        cut, blood[window], scene.patient.build.lung_density
    )


def _mark(
    out: Shadow, window: tuple[slice, slice], finding: Finding, path: Floats
) -> None:
    out.masks[finding][window] |= path > 0


def _missing_tissue(cut: LungCut, blood: Floats, density: float) -> Floats:
    """Return how much soft tissue a cavity's contents fall short of, millimetres."""
    aerated = cut.lung - cut.solid
    share = aerated / np.maximum(cut.whole, 1)
    tissue = np.minimum(blood * share, aerated)
    air = cut.gas - np.minimum(cut.pleura, cut.gas)
    return np.asarray(air + np.float32(1 - density) * (aerated - tissue))


def _cast_pacemaker(scene: Scene, grid: RayGrid, out: Shadow) -> None:
    device = scene.changes.pacemaker
    if device is None:
        return
    cut = np.zeros(grid.shape, dtype=np.float32)
    for part in device.generator:
        np.maximum(cut, part.interval(grid).length(), out=cut)
    for lead in device.leads:
        np.maximum(cut, lead.chord(grid), out=cut)
    cut[cut <= TOUCH_MM] = 0
    out.attenuation[:] += MU_METAL * np.minimum(cut, np.float32(METAL_MM))
    out.masks[Finding.SUPPORT_DEVICES][:] = cut > 0


def _join(whole: Shadow, patient: PhantomPatient) -> None:
    """Complete the masks of findings that stand above others."""
    for parent, children in CHILDREN.items():
        for child in children:
            whole.masks[parent] |= whole.masks[child]
    central = {Finding.ENLARGED_CARDIOMEDIASTINUM, Finding.CARDIOMEGALY}
    if central & patient.findings:
        whole.masks[Finding.ENLARGED_CARDIOMEDIASTINUM][:] = (
            whole.anatomy["heart"] | whole.anatomy["mediastinum"]
        )
