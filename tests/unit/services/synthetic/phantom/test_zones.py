"""The anatomies that questions about a phantom name."""

from dataclasses import replace

import numpy as np
import pytest

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.patient import Finding, make_patient
from viewer.services.synthetic.phantom.projection import project
from viewer.services.synthetic.phantom.zones import ANATOMIES, anatomies, thirds

SIZE = SizePx(200, 160)


@pytest.mark.statement("E002-01")
@pytest.mark.parametrize("view", [View.FRONTAL, View.LATERAL])
def test_that_a_phantom_has_every_anatomy_where_it_belongs(view: View) -> None:
    patient = make_patient(0, 3)
    projection = project(patient, view, SIZE)
    found = anatomies(patient, view, projection)
    assert tuple(found) == ANATOMIES
    assert all(mask.any() for mask in found.values())
    for side in ("Right", "Left"):
        zones = [found[f"{side} {zone} lung"] for zone in ("upper", "middle", "lower")]
        lung = projection.anatomy[f"{side.lower()} lung"]
        assert (np.sum(zones, axis=0) == lung).all()
        heights = [np.flatnonzero(z.any(axis=1)) for z in zones]
        assert heights[0][-1] + 1 == heights[1][0]
        assert heights[1][-1] + 1 == heights[2][0]
        assert np.ptp([len(h) for h in heights]) <= 1
    central = projection.anatomy["mediastinum"]
    assert (found["Aorta"] & ~central).sum() == 0
    assert found["Trachea"][: SIZE.rows // 4].any()


def test_that_the_patient_s_right_is_on_the_left_of_a_frontal_view() -> None:
    patient = replace(make_patient(0, 3), findings=frozenset({Finding.CARDIOMEGALY}))
    projection = project(patient, View.FRONTAL, SIZE)
    found = anatomies(patient, View.FRONTAL, projection)
    columns = {n: np.flatnonzero(m.any(axis=0)).mean() for n, m in found.items()}
    assert columns["Right middle lung"] < columns["Trachea"]
    assert columns["Trachea"] < columns["Left middle lung"]
    assert columns["Trachea"] < columns["Heart"]
    assert (found["Heart"] == projection.masks[Finding.CARDIOMEGALY]).all()


def test_that_thirds_share_a_mask_among_them() -> None:
    mask = np.zeros((20, 5), dtype=np.bool_)
    mask[3:13, 1:4] = True
    upper, middle, lower = thirds(mask)
    assert [int(m.any(axis=1).sum()) for m in (upper, middle, lower)] == [3, 3, 4]
    assert ((upper | middle | lower) == mask).all()
    assert not any(m.any() for m in thirds(np.zeros((4, 4), dtype=np.bool_)))
