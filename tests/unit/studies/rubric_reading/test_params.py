import pytest

from viewer.domain.errors import WrongUseError
from viewer.metrics.signed_rank import ZeroMethod
from viewer.studies.rubric_reading.params import (
    PRESET_TITLES,
    PRESETS,
    ContentOrder,
    read_params,
)
from viewer.studies.rubric_reading.policy import InputPolicy


@pytest.mark.statement("E001-12", "E001-14", "E001-21")
def test_that_the_papers_preset_pins_every_choice() -> None:
    paper = read_params("rexecution2025", {})
    assert not paper.asks_boxes_of("MedGemma-4b-it")
    assert paper.policy_for("medgemma-4b-it") is InputPolicy.SINGLE_VIEW
    assert paper.asks_boxes_of("o3")
    assert paper.content_order is ContentOrder.AVERAGE_FIRST
    assert paper.zero_method is ZeroMethod.WILCOX
    assert paper.input_policy is InputPolicy.ALL_VIEWS
    assert (paper.candidates, paper.max_prior_days) == (5, 365)
    assert read_params("recommended", {}).zero_method is ZeroMethod.PRATT
    assert set(PRESETS) == set(PRESET_TITLES)


def test_that_a_bad_preset_or_value_is_told() -> None:
    with pytest.raises(WrongUseError, match="Did you mean 'recommended'"):
        read_params("recomended", {})
    with pytest.raises(WrongUseError, match="zero_method cannot be 'none'"):
        read_params("rexecution2025", {"zero_method": "none"})
