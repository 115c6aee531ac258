import json
from dataclasses import fields

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.plain import plain
from viewer.studies.pathology_mcq.params import (
    COLOUR_KINDS,
    KINDS,
    PRESET_TITLES,
    PRESETS,
    QUALITY_KINDS,
    Arm,
    BlurTable,
    Family,
    FrequentFrom,
    LineBreaks,
    MismatchScope,
    Params,
    Pooling,
    read_params,
)


@pytest.mark.statement("E003-03", "E003-07", "E003-09", "E003-11")
def test_that_the_papers_preset_pins_every_choice_it_leaves_open() -> None:
    params = read_params("pathmmu2024", {})
    assert params == Params()
    assert params.frequent_from is FrequentFrom.VAL
    assert (params.noise_mean, params.noise_sd) == (127.5, 50.0)
    assert params.mismatch_scope is MismatchScope.SUBSET
    assert params.mismatch_per_subset == 400
    assert params.unmatched_subsets == ("PathCLS",)
    assert params.expert_pooling is Pooling.AVERAGE
    assert (params.guessed_by, params.official_seed) == (3, 42)
    assert params.corruption_splits == ("test_tiny",)
    assert params.blur_table is BlurTable.PX_224
    assert params.line_breaks is LineBreaks.WRITTEN
    assert params.wanted_subsets == ()


@pytest.mark.statement("E003-19")
def test_that_eight_corruptions_are_of_colour_or_of_quality() -> None:
    assert sorted(COLOUR_KINDS + QUALITY_KINDS) == list(KINDS)
    assert len(KINDS) == 8


def test_that_the_recommended_preset_adds_what_tells_whether_images_are_used() -> None:
    arms = read_params("recommended", {}).arms
    assert arms == (Arm.IMAGE, Arm.TEXT_ONLY, Arm.NOISE, Arm.MISMATCH)
    assert set(PRESETS) == set(PRESET_TITLES)


@pytest.mark.parametrize("preset", PRESETS)
def test_that_parameters_survive_json(preset: str) -> None:
    overrides = {"arms": ["corruption"], "levels": ["3"], "prompt": "blip2"}
    params = read_params(preset, overrides)
    text = json.dumps(plain(params))
    assert read_params(preset, json.loads(text)) == params
    assert set(json.loads(text)) == {field.name for field in fields(Params)}
    hash(params)


def test_that_every_parameter_says_what_it_means() -> None:
    for field in fields(Params):
        assert field.metadata["help"].endswith(".")
        assert field.metadata["kind"].expected
        kept = field.metadata["kind"].read(field.name, field.default)
        assert kept == field.default


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
        ("pathmmu2024", {"prompt_by_model": "a=gpt"}, "'a=gpt' names no model"),
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
