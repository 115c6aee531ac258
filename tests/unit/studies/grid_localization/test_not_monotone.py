"""The hit rule's known weakness is shown as it is, and told where it is met."""

from dataclasses import fields
from importlib.resources import files

import pytest

from tests.unit.studies.grid_localization.cases import block, condition, spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.study import STUDY


@pytest.mark.statement("E000-18")
def test_that_a_mask_one_pixel_smaller_can_have_more_winning_cells() -> None:
    """Half of A1 and one pixel of B1: take one pixel of A1, and both cells win."""
    places = STUDY.places(STUDY.read_params("gosai2025", {}))
    mask = block(0, 32, 0, 16, 256)
    mask[32, 0] = True
    smaller = mask.copy()
    smaller[0, 0] = False
    shown = ImageGeometry(SizePx(256, 256))
    before = places.reference(Mask.of_array(mask), shown, condition(8))
    after = places.reference(Mask.of_array(smaller), shown, condition(8))
    assert (before.hits, before.fallback) == ((0,), False)
    assert (after.hits, after.fallback) == ((0, 8), True)


@pytest.mark.statement("E000-18")
def test_that_the_help_the_report_and_the_protocol_say_so() -> None:
    threshold = next(f for f in fields(Params) if f.name == "hit_threshold")
    data = STUDY.report([result("p1_a", "Edema", 0, (0,))], spec())
    page = files("viewer.studies.grid_localization") / "README.md"
    for words in (
        str(threshold.metadata["help"]),
        data.metric_definitions["hit"],
        page.read_text(encoding="utf-8"),
    ):
        assert "not monotone" in words
