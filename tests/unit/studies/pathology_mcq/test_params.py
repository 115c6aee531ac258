import pytest

from viewer.domain.errors import WrongUseError
from viewer.studies.pathology_mcq.params import (
    COLOUR_KINDS,
    KINDS,
    PRESET_TITLES,
    PRESETS,
    QUALITY_KINDS,
    Arm,
    Family,
    read_params,
)


@pytest.mark.statement("E003-19")
def test_that_eight_corruptions_are_of_colour_or_of_quality() -> None:
    assert sorted(COLOUR_KINDS + QUALITY_KINDS) == list(KINDS)


def test_that_the_recommended_preset_adds_what_tells_whether_images_are_used() -> None:
    arms = read_params("recommended", {}).arms
    assert arms == (Arm.IMAGE, Arm.TEXT_ONLY, Arm.NOISE, Arm.MISMATCH)
    assert set(PRESETS) == set(PRESET_TITLES)


@pytest.mark.statement("E003-04")
def test_that_a_model_may_be_asked_in_another_familys_words() -> None:
    params = read_params("pathmmu2024", {"prompt_by_model": "a=blip2, b = qwen_vl"})
    families = [params.family_of(model) for model in ("a", "b", "c")]
    assert families == [Family.BLIP2, Family.QWEN_VL, Family.LLAVA]


@pytest.mark.parametrize(
    ("preset", "overrides", "sentence"),
    [
        ("pathmmu", {}, "Did you mean 'pathmmu2024'?"),
        ("pathmmu2024", {"arms": ["blind"]}, "cannot be 'blind'"),
        ("pathmmu2024", {"levels": ["6"]}, "cannot be '6'"),
        ("pathmmu2024", {"prompt_by_model": "a=gpt"}, "'a=gpt' does not name a model"),
        ("pathmmu2024", {"prompt_by_model": "=blip2"}, "Write model=family with"),
        ("pathmmu2024", {"noise_sd": 0}, "a number above 0"),
    ],
)
def test_that_a_bad_parameter_gets_a_sentence(
    preset: str, overrides: dict[str, object], sentence: str
) -> None:
    with pytest.raises(WrongUseError) as raised:
        read_params(preset, overrides)
    assert sentence in str(raised.value)
