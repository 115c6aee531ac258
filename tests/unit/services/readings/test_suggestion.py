import numpy as np
import pytest
from PIL import Image

from tests.helpers.public_files import shared_data
from viewer.domain.case import View
from viewer.domain.form_catalog import ANATOMY, POSITION
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.services.readings.suggestion import suggest
from viewer.services.synthetic.phantom.patient import make_patient
from viewer.services.synthetic.phantom.projection import project

SHAPE = (40, 40)


def _box(rows: slice, columns: slice) -> np.ndarray:
    area = np.zeros(SHAPE, dtype=bool)
    area[rows, columns] = True
    return area


RIGHT, LEFT = _box(slice(0, 30), slice(0, 15)), _box(slice(0, 30), slice(25, 40))
HEART = _box(slice(15, 30), slice(15, 25))
MASKS = {
    "right lung": Mask.of_array(RIGHT),
    "left lung": Mask.of_array(LEFT),
    "heart": Mask.of_array(HEART),
}
IN_LEFT = Mask.of_array(_box(slice(5, 9), slice(28, 32)))


@pytest.mark.parametrize(
    ("answered", "finding", "key", "inside"),
    [
        (_box(slice(0, 5), slice(0, 5)), "Edema", POSITION, 1.0),
        (_box(slice(0, 5), slice(28, 33)), "Edema", POSITION, 1.0),
        (_box(slice(35, 40), slice(0, 5)), "Edema", ANATOMY, 0.0),
        (_box(slice(15, 20), slice(15, 20)), "Edema", ANATOMY, 0.0),
        (_box(slice(15, 20), slice(15, 20)), "Cardiomegaly", POSITION, 1.0),
        (_box(slice(0, 5), slice(0, 5)), "Cardiomegaly", ANATOMY, 0.0),
        (_box(slice(28, 32), slice(0, 10)), "Edema", POSITION, 0.5),
        (_box(slice(28, 33), slice(0, 10)), "Edema", ANATOMY, 0.4),
    ],
)
def test_that_a_plausible_place_is_a_position_error_and_others_anatomy_errors(
    answered: np.ndarray, finding: str, key: str, inside: float
) -> None:
    said = suggest(answered, finding, MASKS, None)
    assert said is not None
    assert (said.key, said.inside) == (key, inside)
    assert finding in said.sentence


def test_that_where_the_reference_lies_is_plausible_for_a_finding_of_no_table() -> None:
    other_side = _box(slice(0, 5), slice(0, 5))
    said = suggest(other_side, "Scar", MASKS, IN_LEFT)
    assert said is not None
    assert said.key == POSITION
    assert "left lung and right lung" in said.sentence


def test_that_a_reference_that_spills_over_makes_nothing_else_plausible() -> None:
    in_heart = _box(slice(16, 20), slice(16, 20))
    spilled = Mask.of_array(_box(slice(10, 25), slice(5, 20)))
    said = suggest(in_heart, "Pleural Effusion", MASKS, spilled)
    assert said is not None
    assert said.key == ANATOMY


@pytest.mark.parametrize(
    ("answered", "finding", "masks"),
    [
        (_box(slice(0, 5), slice(0, 5)), "Edema", {}),
        (_box(slice(0, 5), slice(0, 5)), "Cardiomegaly", {"left lung": MASKS["heart"]}),
        (_box(slice(0, 5), slice(0, 5)), "Support Devices", MASKS),
        (_box(slice(0, 0), slice(0, 0)), "Edema", MASKS),
        (np.ones((10, 10), dtype=bool), "Edema", MASKS),
    ],
)
def test_that_without_anatomy_nothing_is_suggested(
    answered: np.ndarray, finding: str, masks: dict[str, Mask]
) -> None:
    assert suggest(answered, finding, masks, None) is None


def test_that_nothing_is_suggested_on_a_lateral_view() -> None:
    answered = _box(slice(0, 5), slice(0, 5))
    assert suggest(answered, "Edema", MASKS, None, View.LATERAL) is None


def test_that_a_finding_whose_structure_has_no_mask_does_not_live_in_the_lungs() -> (
    None
):
    """The lung masks hold much of an enlarged mediastinum, which is no lung."""
    lungs = {name: MASKS[name] for name in ("left lung", "right lung")}
    answered = _box(slice(0, 5), slice(0, 5))
    assert suggest(answered, "Enlarged Cardiomediastinum", lungs, IN_LEFT) is None


@pytest.mark.parametrize("index", range(3))
def test_that_an_answer_over_heart_or_mediastinum_is_an_anatomy_error(
    index: int,
) -> None:
    size = SizePx(125, 100)
    anatomy = project(make_patient(0, index), View.FRONTAL, size).anatomy
    lungs = anatomy["left lung"] | anatomy["right lung"]
    masks = {name: Mask.of_array(area) for name, area in anatomy.items()}
    for name in ("heart", "mediastinum"):
        said = suggest(lungs & anatomy[name], "Edema", masks, None)
        assert said is not None
        assert said.key == ANATOMY
        assert said.inside == 0
        assert "outside heart and mediastinum" in said.sentence


@pytest.mark.parametrize("index", range(3))
def test_that_an_answer_over_the_heart_gets_no_hint_where_only_lungs_have_masks(
    index: int,
) -> None:
    size = SizePx(125, 100)
    anatomy = project(make_patient(0, index), View.FRONTAL, size).anatomy
    lungs = {n: Mask.of_array(anatomy[n]) for n in ("left lung", "right lung")}
    in_lungs = anatomy["left lung"] | anatomy["right lung"]
    for name in ("heart", "mediastinum"):
        said = suggest(in_lungs & anatomy[name], "Edema", lungs, None)
        assert said is not None
        assert (said.key, said.inside) == ("", None)
        assert said.sentence.startswith("No hint: ")
        assert "heart, mediastinum and spine may be, which have no" in said.sentence


def test_that_one_lung_alone_gives_no_hint() -> None:
    one = {"left lung": MASKS["left lung"]}
    said = suggest(_box(slice(0, 5), slice(0, 5)), "Edema", one, None)
    assert said is not None
    assert said.key == ""


def _real_lungs() -> dict[str, np.ndarray]:
    """Return the lung masks of 21 frontal radiographs, 256 × 256 pixels."""
    folder = shared_data("cxr", "lung_masks")
    return {
        path.name: np.asarray(Image.open(path).resize((256, 256), 0)) == 255
        for path in sorted(folder.glob("*.png"))
    }


def _cell(row: float, column: float) -> np.ndarray:
    """Return an area as large as a cell of 8 × 8 about a point of the image."""
    area = np.zeros((256, 256), dtype=bool)
    top, left = round(max(0, row - 16)), round(max(0, column - 16))
    area[top : top + 32, left : left + 32] = True
    return area


def test_that_real_lungs_make_no_answer_over_spine_or_heart_a_position_error() -> None:
    for name, lungs in _real_lungs().items():
        rows, columns = (np.flatnonzero(lungs.any(axis=axis)) for axis in (1, 0))
        top, height, width = rows[0], np.ptp(rows), np.ptp(columns)
        inner = [np.flatnonzero(np.diff(lungs[row].astype(int))) for row in rows]
        middle = np.median([edges[len(edges) // 2 - 1 :][:2].mean() for edges in inner])
        masks = {"lungs": Mask.of_array(lungs)}
        places = {
            "spine": (top + height / 2, middle, {ANATOMY, ""}),
            "heart": (top + 0.7 * height, middle + 0.15 * width, {ANATOMY, ""}),
            "side": (top + 0.35 * height, columns[0] + 0.18 * width, {POSITION}),
            "shoulder": (0, 0, {ANATOMY}),
        }
        for place, (row, column, keys) in places.items():
            said = suggest(_cell(row, column), "Consolidation", masks, None)
            assert said is not None
            assert said.key in keys, (name, place, said.sentence)
