"""Every version of prompt and parameters that was run on a split is counted."""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.tiny_study import D4, UNIFORM, a_form, a_spec, finish, write_images
from viewer.cli import run_command_line
from viewer.domain.run import RunSpec
from viewer.readers.datasets.catalog import read_dataset
from viewer.services.asking.ask import Question, ask
from viewer.services.reporting.figures import write_report
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_estimate import estimate
from viewer.services.running.plan_run import plan_run
from viewer.services.running.prompt_versions import versions_asked
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = read_dataset("folder", write_images(tmp_path / "d", 2), "tiny")
    with open_store(tmp_path / "s.sqlite") as opened:
        cases.add_dataset(opened, replace(found, split="test"))
        yield opened


def run(store: Store, spec: RunSpec) -> int:
    number = plan_run(store, spec, new=True)
    finish(store, number)
    return number


def root(store: Store) -> str:
    return cases.dataset_named(store, "tiny").root_sha256


@pytest.mark.statement("E000-29")
def test_that_each_prompt_or_parameter_is_a_version_and_a_model_is_none(
    store: Store,
) -> None:
    assert versions_asked(store, root(store)) == ()
    first = run(store, a_spec([D4]))
    again = run(store, a_spec([UNIFORM, D4]))
    (version,) = versions_asked(store, root(store))
    assert version.runs == (first, again)
    assert version.questions == 2 + 4
    run(store, a_spec([D4], params={"grids": [8], "replicates": 50}))
    assert len(versions_asked(store, root(store))) == 1
    run(store, a_spec([D4], params={"grids": [16]}))
    points = replace(
        D4, name="points", settings={**D4.settings, "convention": "qwen3_vl"}
    )
    run(store, a_spec([points]))
    versions = versions_asked(store, root(store))
    assert [len(v.runs) for v in versions] == [3, 1, 1]
    assert versions[2].prompt_sha256 != versions[0].prompt_sha256


@pytest.mark.statement("E000-29")
def test_that_what_was_only_planned_or_asked_by_itself_is_no_version(
    store: Store,
) -> None:
    plan_run(store, a_spec([D4]))
    image = cases.dataset_named(store, "tiny").images[0]
    ask(store, Question(image.ref, "Edema", D4))
    assert versions_asked(store, root(store)) == ()


@pytest.mark.statement("E000-29")
def test_that_a_report_prints_how_many_versions_its_split_has_seen(
    store: Store, tmp_path: Path
) -> None:
    first = run(store, a_spec([D4]))
    second = run(store, a_spec([D4], params={"grids": [16]}))
    write_report(store, second, tmp_path / "out")
    text = (tmp_path / "out" / "versions.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["runs"] for row in rows] == [str(first), str(second)]
    assert [row["differs_from_preset"] for row in rows] == ["", "grids = 16"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert (
        "2 versions of prompt and parameters have been run on the test split so far."
        in page
    )
    earlier = report_data(store, first).data
    (section,) = (
        s for s in earlier.appendix if s.title == "Versions of prompt and settings"
    )
    assert "1 version of prompt and parameters has been run on the test split" in (
        section.text
    )


@pytest.mark.statement("E000-29")
def test_that_the_batch_page_says_how_often_a_test_split_was_looked_at(
    store: Store, tmp_path: Path
) -> None:
    run(store, a_spec([D4]))
    settings = Settings(tmp_path, store.path)
    said = estimate(store.path, a_form(), settings).sentence
    told = "a test split, asked with 1 version of prompt and parameters so far: "
    asked_with = re.search(f"{told}gosai2025 (\\w+) in 1 run \\(2 questions\\).", said)
    assert asked_with
    assert "not asked with" not in said
    own = {"prompts": {"gosai2025_user": "Where is {finding}?"}}
    said = estimate(store.path, a_form(params=own), settings).sentence
    assert re.search(r"It was not asked with gosai2025 [0-9a-f]{8} yet\.", said)
    assert f"gosai2025 {asked_with[1]} yet" not in said
    assert "validation split" not in said


@pytest.mark.statement("E000-29")
def test_that_a_validation_split_of_the_same_kind_is_suggested(
    store: Store, tmp_path: Path
) -> None:
    settings = Settings(tmp_path, store.path)
    for name, kind in (("other", "coco"), ("val", "folder")):
        found = read_dataset("folder", write_images(tmp_path / name, 1), name)
        cases.add_dataset(store, replace(found, split="val", format=kind))
    said = estimate(store.path, a_form(), settings).sentence
    assert (
        "The data set is a test split, and no model has been asked about it yet."
        in said
    )
    assert "Try prompts on the validation split 'val'." in said
    assert "split" not in estimate(store.path, a_form(dataset="val"), settings).sentence


@pytest.mark.statement("E000-29")
def test_that_a_run_says_how_often_its_test_split_was_asked_before_it_asks(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    text = 'study = "grid_localization"\ndataset = "tiny"\nmodels = ["uniform"]\n'
    study.write_text(text)
    words = ["run", str(study), "--store", str(store.path)]
    told = "The data set is a test split,"
    assert run_command_line(words) == 0
    assert (
        f"{told} and no model has been asked about it yet." in capsys.readouterr().err
    )
    assert run_command_line(words) == 0
    assert told not in capsys.readouterr().err
    study.write_text(f'{text}[prompts]\ngosai2025_user = "Where is {{finding}}?"\n')
    assert run_command_line(words) == 0
    said = capsys.readouterr().err
    assert (
        f"{told} asked with 1 version of prompt and parameters so far: gosai2025 "
        in said
    )
    assert "It was not asked with gosai2025 " in said


@pytest.mark.statement("E000-10")
def test_that_a_run_says_which_labels_are_hard_to_read_before_it_asks(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    text = 'study = "grid_localization"\ndataset = "tiny"\nmodels = ["uniform"]\n'
    words = ["run", str(study), "--store", str(store.path)]
    for grid, is_said in ((8, False), (20, True)):
        study.write_text(f"{text}[params]\ngrids = [{grid}]\n")
        assert run_command_line(words) == 0
        said = capsys.readouterr().err
        assert ("The labels of the 20 grid are" in said) is is_said


def test_that_a_split_that_nobody_named_is_not_called_test(tmp_path: Path) -> None:
    found = read_dataset("folder", write_images(tmp_path / "d", 2), "tiny")
    with open_store(tmp_path / "s.sqlite") as opened:
        cases.add_dataset(opened, found)
        data = report_data(opened, run(opened, a_spec([D4]))).data
    said = estimate(
        tmp_path / "s.sqlite", a_form(), Settings(tmp_path, tmp_path / "s.sqlite")
    )
    assert "test split" not in said.sentence
    (section,) = (
        s for s in data.appendix if s.title == "Versions of prompt and settings"
    )
    assert "It is not stated whether" in section.text
