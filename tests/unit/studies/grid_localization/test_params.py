import pytest

from viewer.domain.errors import WrongUseError
from viewer.studies.catalog import OURS, study_named
from viewer.studies.grid_localization.findings import NINE, SUPPORT_DEVICES
from viewer.studies.grid_localization.params import (
    MaskMode,
    read_params,
)


@pytest.mark.statement("E000-03", "E000-09", "E000-17")
def test_that_the_papers_preset_pins_what_the_paper_did() -> None:
    params = read_params("gosai2025", {})
    assert params.grids == ("8",)
    assert params.findings == NINE
    assert SUPPORT_DEVICES not in params.findings
    assert params.views == ("frontal", "lateral")
    assert (params.side, params.hit_threshold) == (256, 0.5)
    assert params.mask_mode is MaskMode.PAPER
    assert params.paper_replicates == 1000


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"gridz": [8]}, "Did you mean 'grids'"),
        ({"grids": []}, "cannot be"),
        ({"grids": 8}, "cannot be"),
        ({"grids": [8, "8"]}, "more than once"),
        ({"grids": [1]}, "2 to 26"),
        ({"grids": [27]}, "2 to 26"),
        ({"grids": ["8x"]}, "cannot be read"),
        ({"grids": [True]}, "cannot be"),
        ({"findings": [""]}, "a list of names"),
        ({"findings": "Edema"}, "a list of names"),
        ({"findings": ["Edema", "edema"]}, "more than once"),
        ({"views": ["oblique"]}, '"frontal"'),
        ({"side": 256.0}, "whole number"),
        ({"side": True}, "whole number"),
        ({"side": 8}, "from 32 to 4096"),
        ({"hit_threshold": 0}, "above 0"),
        ({"hit_threshold": "half"}, "above 0"),
        ({"mask_mode": "best"}, '"paper", "exact"'),
        ({"mask_mode": 1}, '"paper", "exact"'),
        ({"colour": [1, 2]}, "red, green and blue"),
        ({"colour": [1, 2, 256]}, "from 0 to 255"),
        ({"render_scale": 3}, "1, 2 or 4"),
        ({"frontal_label": " "}, "not empty"),
    ],
)
def test_that_a_bad_parameter_is_refused_with_a_sentence(
    overrides: dict[str, object], sentence: str
) -> None:
    with pytest.raises(WrongUseError) as error:
        read_params("gosai2025", overrides)
    assert sentence in str(error.value)


def test_that_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(WrongUseError, match="gosai2025, recommended"):
        read_params("gosai", {})


def test_that_the_catalogue_knows_its_studies() -> None:
    for name in OURS:
        assert study_named(name).name == name
    with pytest.raises(WrongUseError, match="Did you mean 'grid_localization'"):
        study_named("grid_localisation")


@pytest.mark.statement("E000-10")
def test_that_illegible_labels_are_announced() -> None:
    study = study_named("grid_localization")
    assert study.notices(read_params("gosai2025", {})) == ()
    small = read_params("gosai2025", {"grids": [8, 26], "side": 128})
    assert len(study.notices(small)) == 1
