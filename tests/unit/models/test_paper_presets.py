import json
import tomllib

import pytest

from viewer.cli import run_command_line
from viewer.domain.exchange import ModelProfile
from viewer.models.catalog import adapter_for, profile_from_table
from viewer.models.endpoint import Allowance, endpoint_at
from viewer.models.paper_presets import PRESETS, PaperPreset, samples
from viewer.studies.evidence_diagnosis.published import rows
from viewer.studies.pathology_mcq.published import rows_of


def profiles() -> dict[str, ModelProfile]:
    found = [profile_from_table(dict(preset.table)) for preset in PRESETS]
    return {profile.name: profile for profile in found}


@pytest.mark.statement("E000-14")
def test_that_the_papers_three_models_are_asked_as_the_paper_asked_them() -> None:
    four, five, medgemma, *_ = profiles().values()
    assert four.settings["model"] == "gpt-4o-2024-05-13"
    assert four.settings["temperature"] == 0
    assert five.settings["model"] == "gpt-5"
    assert five.settings["reasoning_effort"] == "medium"
    assert "temperature" not in five.settings
    assert medgemma.settings["model"] == "puyangwang/medgemma-27b-it:q8"
    assert medgemma.settings["server"] == "ollama"
    assert medgemma.settings["temperature"] == 0.8


@pytest.mark.statement("E001-21")
def test_that_rexecutions_three_models_are_ready_to_be_taken_over() -> None:
    found = profiles()
    assert found["o4-mini"].settings["model"] == "o4-mini"
    assert found["o3"].settings["model"] == "o3"
    assert found["medgemma-4b-it"].settings["model"] == "google/medgemma-4b-it"
    titles = [p.title for p in PRESETS if p.paper == "Banerjee 2025"]
    assert len(titles) == 3


@pytest.mark.statement("E002-05")
def test_that_a_model_of_heal_medvqa_is_asked_at_its_temperature() -> None:
    asked = [
        profiles()[str(p.table["name"])] for p in PRESETS if p.paper.startswith("HEAL")
    ]
    assert len(asked) == 3
    assert {profile.settings["temperature"] for profile in asked} == {0.1}


@pytest.mark.statement("E003-04")
def test_that_models_of_pathmmu_state_no_setting_that_the_paper_does_not() -> None:
    presets = [p for p in PRESETS if p.paper.startswith("Sun")]
    of_the_paper = {title.removesuffix(", text only") for title in map(_title, presets)}
    printed = set(rows_of(1))
    assert {name for name in of_the_paper if name not in printed} == {
        *("GPT-4 Turbo", "GPT-3.5 Turbo", "Gemini Pro", "ERNIE-Bot 4.0"),
        "Vicuna-v1.5-13B",
    }  # Table 1 has these with "(text)"
    assert {f"{name} (text)" for name in of_the_paper - printed} <= printed
    assert all(_sampling(p) == {} for p in presets)
    assert all("temperature" in p.statement.unknown for p in presets)
    assert all("Sun 2024 (PathMMU), 4.1: " in p.note for p in presets)


@pytest.mark.statement("E004-21")
def test_that_models_of_medsyn_are_those_of_its_table_2_and_its_judge() -> None:
    presets = [p for p in PRESETS if p.paper.startswith("Chen")]
    *models, judge = presets
    printed = {row.who for row in rows() if row.table == "Table 2"}
    titles = {title.removesuffix(", zero-shot") for title in map(_title, models)}
    assert printed - titles == {"Senior physicians", "Med-Mantis (8B)"}
    assert titles <= printed
    assert judge.table["model"] == "gpt-5"
    assert all(_sampling(p) == {} for p in presets)
    assert all("temperature" in p.statement.unknown for p in presets)


def _title(preset: PaperPreset) -> str:
    return preset.title


def _sampling(preset: PaperPreset) -> dict[str, object]:
    known = {"name", "adapter", "server", "base_url", "api_key_env", "model"}
    ours = {"max_tokens"}  # of models that think first
    return {k: v for k, v in preset.table.items() if k not in known | ours}


@pytest.mark.statement("E000-14")
def test_that_what_is_sent_of_them_is_what_they_say() -> None:
    found = profiles().values()
    origins = (endpoint_at(str(p.settings["base_url"])).origin for p in found)
    everywhere = Allowance(frozenset(origins))
    sent = {
        name: dict(adapter_for(profile, everywhere).identity(0).params)
        for name, profile in profiles().items()
    }
    assert sent["gpt-4o-2024-05-13"]["temperature"] == 0
    assert "temperature" not in sent["gpt-5-medium"]
    assert sent["gpt-5-medium"]["reasoning_effort"] == "medium"
    assert sent["medgemma-27b-q8"]["temperature"] == 0.8


@pytest.mark.statement("E000-14")
def test_that_replicates_have_the_seeds_from_nought_on() -> None:
    medgemma = profiles()["medgemma-27b-q8"]
    adapter = adapter_for(medgemma)
    seeds = [adapter.identity(repeat).params["seed"] for repeat in range(5)]
    assert seeds == [0, 1, 2, 3, 4]


def test_that_models_which_draw_are_known() -> None:
    drawn = {name: samples(profile) for name, profile in profiles().items()}
    first = dict(list(drawn.items())[:9])
    assert all(drawn[name] for name in drawn.keys() - first.keys())
    assert first == {
        "gpt-4o-2024-05-13": False,
        "gpt-5-medium": True,
        "medgemma-27b-q8": True,
        "o4-mini": True,
        "o3": True,
        "medgemma-4b-it": True,
        "gpt-4o": True,
        "qwen2.5-vl-7b-instruct": True,
        "llava-med": True,
    }
    assert not samples(ModelProfile("uniform", "uniform"))
    assert samples(ModelProfile("t", "transformers_local", {"temperature": 0.7}))
    assert not samples(ModelProfile("t", "transformers_local", {"temperature": 0.0}))


def test_that_the_command_line_prints_tables_to_paste(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command_line(["models", "--presets"]) == 0
    printed = capsys.readouterr().out
    for preset in PRESETS:
        assert preset.note in printed.replace("\n# ", " ")
    tables = tomllib.loads(printed)["model"]
    assert [table["name"] for table in tables] == list(profiles())
    assert run_command_line(["models", "--presets", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == tables
