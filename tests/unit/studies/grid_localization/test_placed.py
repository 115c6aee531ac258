"""Places are held against what is outlined on their images."""

from dataclasses import replace

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.answer import PointAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.domain.result import Score, TrialResult
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.placed import NOWHERE, placed_trials

DATA = a_dataset()
IMAGE = next(one for one in DATA.images if one.masks)
FINDING = next(iter(IMAGE.masks))
TRIAL = TrialResult(
    *(f"{IMAGE.key}|{FINDING}", IMAGE.patient, IMAGE.key, "frontal", FINDING),
    *("grid=8", 0, "m", Score(Status.SCORED_WRONG, answer="A1")),
)


def test_that_a_window_beside_the_grid_changes_no_reference() -> None:
    windowed = replace(TRIAL, condition="grid=8 window=40/400")
    (one, other) = placed_trials([TRIAL, windowed], Params(), DATA)
    assert one.placed == other.placed
    assert (one.placed.n_cells, one.placed.cell_index) == (64, 0)
    assert one.placed.reference_index


@pytest.mark.parametrize("data", [None, replace(DATA, images=())])
def test_that_nothing_is_known_without_the_image(data: Dataset | None) -> None:
    assert [t.placed for t in placed_trials([TRIAL], Params(), data)] == [NOWHERE]


def test_that_millimetres_are_those_of_the_spacing_that_is_told() -> None:
    said = PointAnswer(PointPx(0.5, 0.5))
    spacing = Spacing(0.5, 0.5, SpacingMeaning.PATIENT)
    geometry = replace(IMAGE.geometry, spacing=spacing)
    spaced = replace(DATA, images=(replace(IMAGE, geometry=geometry),))
    (one,) = placed_trials([replace(TRIAL, said=said)], Params(), spaced)
    measures = one.placed.measures
    assert measures is not None
    assert measures.distance_px > 0
    assert measures.distance_mm == pytest.approx(measures.distance_px / 2)


def test_that_placed_trials_stay_as_they_are() -> None:
    placed = placed_trials([TRIAL], Params(), DATA)
    assert placed_trials(placed, Params(), None) == placed
