from dataclasses import replace

import pytest

from tests.helpers.tiny_study import a_spec
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.studies.naming_models import called
from viewer.studies.rubric_reading.naming import policies
from viewer.studies.rubric_reading.params import Params, read_params

MINE = ModelProfile("mine", "openai_api", {"model": "google/medgemma-4b-it"})
O3 = ModelProfile("o3", "openai_api", {"model": "o3"})
KNOWN = {"mine": MINE, "o3": O3, "other": ModelProfile("other", "scripted")}


def spec_of(*models: ModelProfile, **overrides: object) -> RunSpec:
    return a_spec(
        models, study="rubric_reading", dataset="d", params=overrides, known=KNOWN
    )


def params_of(spec: RunSpec) -> Params:
    return read_params(spec.preset, spec.params)


@pytest.mark.parametrize(
    ("model", "is_called"),
    [
        ("google/medgemma-4b-it", True),
        ("MedGemma-4b-it:q8", True),
        ("C:\\models\\medgemma-4b-it.gguf", True),
        ("google/medgemma-27b-it", False),
        ("medgemma-4b-it-pt", False),
    ],
)
def test_that_a_profile_is_called_as_what_it_asks(model: str, is_called: bool) -> None:
    profile = ModelProfile("mine", "openai_api", {"model": model})
    assert called(profile, "medgemma-4b-it") is is_called
    assert called(ModelProfile("MedGemma-4b-it", "scripted"), "medgemma-4b-it")


@pytest.mark.statement("E001-07", "E001-21")
def test_that_the_papers_model_is_known_by_what_it_is_whatever_its_profile() -> None:
    spec = spec_of(O3, MINE)
    assert spec.params["single_view_models"] == "mine"
    assert spec.params["no_box_models"] == "mine"
    assert policies(spec, params_of(spec)).table.rows == (
        ("o3", "all views", "asked for"),
        ("mine", "one PA, else AP", "not asked for"),
    )


@pytest.mark.statement("E001-07")
def test_that_a_user_names_any_model_and_who_is_not_in_the_run_is_told() -> None:
    spec = spec_of(O3, single_view_models="O3, other", no_box_models="")
    assert policies(spec, params_of(spec)).table.rows == (
        ("o3", "one PA, else AP", "asked for"),
        ("other", "not in this run", "not in this run"),
    )
    absent = policies(spec_of(O3), params_of(spec_of(O3))).table.rows[-1]
    assert absent == ("medgemma-4b-it", "not in this run", "not in this run")


def test_that_a_name_of_no_model_is_refused_with_the_nearest() -> None:
    with pytest.raises(WrongUseError) as caught:
        spec_of(O3, MINE, no_box_models="mine, mina")
    assert caught.value.what == (
        "The parameter no_box_models names 'mina', but there is no such model."
    )
    assert caught.value.how == "Did you mean 'mine'? This run asks o3, mine."


def test_that_names_once_settled_stay_and_earlier_study_files_are_read() -> None:
    spec = spec_of(O3, MINE)
    assert spec_of(O3, MINE, **spec.params) == spec
    earlier = "medgemma, medgemma-4b-it"
    again = spec_of(MINE, single_view_models=earlier)
    assert again.params["single_view_models"] == "medgemma, mine"
    nobody = replace(spec, models=())
    assert len(policies(nobody, params_of(nobody)).table.rows) == 1
