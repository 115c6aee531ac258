"""A study file to start from is one that runs, and says all that a file may say."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from viewer.cli import run_command_line
from viewer.services.configuring.new_study_file import new_study_file
from viewer.services.configuring.study_file import (
    make_spec,
    paper_preset,
    read_study_file,
)
from viewer.studies.catalog import OURS, study_named

studies = pytest.mark.parametrize("study", sorted(OURS))


def named(text: str) -> str:
    """Return a new study file with its data set and its model named."""
    text = text.replace('\ndataset = ""', '\ndataset = "d"')
    return text.replace("models = []", 'models = ["uniform"]')


@studies
def test_that_it_is_the_papers_run_once_data_set_and_models_are_named(
    study: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(named(new_study_file(study)), encoding="utf-8")
    spec = read_study_file(path, tmp_path / "models.toml")
    assert spec == make_spec(
        study=study,
        dataset="d",
        preset=paper_preset(study),
        seed=0,
        repeats=1,
        models=spec.models,
        overrides={},
    )


@studies
def test_that_every_setting_can_be_taken_out_of_its_comment(
    study: str, tmp_path: Path
) -> None:
    text = named(new_study_file(study))
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    (tmp_path / "all.toml").write_text(
        re.sub(r"^#(?! )", "", text, flags=re.MULTILINE), encoding="utf-8"
    )
    spec, every = (
        read_study_file(tmp_path / name, tmp_path / "models.toml")
        for name in ("study.toml", "all.toml")
    )
    assert every == replace(spec, limit=10, ceiling_microusd=5_000_000)
    for one in fields(study_named(study).read_params(paper_preset(study), {})):
        assert f"\n#{one.name} = " in text or one.name in {"prompts", "prompt_variants"}


@studies
def test_that_it_names_every_prompt_within_the_width_of_a_page(study: str) -> None:
    text = new_study_file(study)
    for name in study_named(study).known_prompts.known:  # type: ignore[attr-defined]
        assert f"# {name}: " in text
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    assert max(map(len, comments)) <= 88


def test_that_it_is_printed_or_written_and_no_file_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["init", "pathology_mcq"]) == 0
    printed = capsys.readouterr().out
    assert printed == new_study_file("pathology_mcq")
    path = tmp_path / "study.toml"
    assert run_command_line(["init", "pathology_mcq", "--out", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == printed
    assert run_command_line(["init", "rubric_reading", "--out", str(path)]) == 2
    assert "The file 'study.toml' is there already." in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == printed
    assert run_command_line(["init", "nothing"]) == 2
    assert "There is no study named 'nothing'." in capsys.readouterr().err
