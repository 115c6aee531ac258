"""verify.py knows every specification of this program's own studies, and no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.built_in_specs import (
    COMMAND,
    fingerprints_source,
    lines_of,
    sources,
)
from tests.helpers.study_samples import STUDIES
from viewer.studies.catalog import PLACING
from viewer.writers.verify import fingerprints
from viewer.writers.verify.built_in import fingerprint, is_due, spec_departures
from viewer.writers.verify.fingerprints import FINGERPRINTS
from viewer.writers.verify.frames import Source
from viewer.writers.verify.verdicts import Placed, Verdict

EVERY = (PLACING, *STUDIES)
Document = dict[str, Any]
Change = Callable[[Document], object]


@pytest.mark.parametrize("study", EVERY)
def test_that_the_fingerprints_are_those_of_the_studies(study: str) -> None:
    assert lines_of(study) == FINGERPRINTS[study], f"If this is on purpose: {COMMAND}"


def test_that_the_command_writes_the_fingerprints_as_they_are_kept() -> None:
    assert fingerprints_source() == Path(fingerprints.__file__).read_text("utf-8")


@pytest.mark.parametrize("study", EVERY)
def test_that_every_way_to_specify_a_study_s_tables_is_known(study: str) -> None:
    for source, specs in sources(study):
        tables = [spec["name"] for spec in specs]
        assert list(spec_departures(source, specs, tables)) == []


CHANGES: tuple[tuple[str, Change], ...] = (
    ("table_4_visual", lambda spec: spec["where"].update(test=["VPT"])),
    ("table_4_visual", lambda spec: spec["cells"].pop()),
    ("table_4_visual", lambda spec: spec["cells"][0]["where"].clear()),
    ("table_4_visual", lambda spec: spec.update(frame="trials")),
    ("relative_gain", lambda spec: spec["below"].pop()),
    ("relative_gain", lambda spec: spec["keys"][-1]["values"].reverse()),
    ("closed_scores", lambda spec: spec.update(needs_several="model")),
    ("items", lambda spec: spec["columns"].append("cost")),
    ("results", lambda spec: spec["cells"][0]["names"].reverse()),
    ("passes", lambda spec: spec["where"].update(model=["one"])),
    ("sham_control", lambda spec: spec["cells"][0]["options"].update(cluster="item")),
)


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_that_whatever_makes_other_numbers_is_named(name: str, change: Change) -> None:
    source, specs = next(sources("grounded_vqa"))
    spec = next(one for one in specs if one["name"] == name)
    before = json.dumps(spec)
    change(spec)
    if json.dumps(spec) != before:
        sentence = f"specs.json: {name} is not specified as this program does it."
        assert list(spec_departures(source, specs, [])) == [sentence]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("results", lambda spec: spec["keys"][1]["values"].pop()),
        ("results", lambda spec: spec["keys"][0]["values"].remove("(micro)")),
        ("results", lambda spec: spec["cells"][9]["options"].update(replicates=9)),
        ("recommended", lambda spec: spec["cells"][-1]["options"].update(seed=9)),
        ("recommended", lambda spec: spec["cells"][-1]["options"].update(seed=None)),
        ("mask_modes", lambda spec: spec["where"].clear()),
        ("geometry", lambda spec: spec.update(frame="trials")),
        ("detection", lambda spec: spec["lines"].pop()),
        ("detection", lambda spec: spec["lines"][0]["needs"].clear()),
        ("detection", lambda spec: spec["lines"][1]["cells"][0]["of"].reverse()),
        ("froc", lambda spec: spec["cells"][0]["options"].update(overlap=0.1)),
    ],
)
def test_that_a_table_of_grids_made_otherwise_is_named(
    name: str, change: Change
) -> None:
    source, specs = next(sources(PLACING))
    change(next(one for one in specs if one["name"] == name))
    sentence = f"specs.json: {name} is not specified as this program does it."
    assert list(spec_departures(source, specs, [])) == [sentence]


@pytest.mark.parametrize(("repeats", "due"), [([0], False), ([0, 1], True)])
def test_that_replicates_are_due_where_items_were_asked_again(
    repeats: list[int], *, due: bool
) -> None:
    plan = {"study": PLACING, "params": {}}
    source = Source(plan, (), asked={"repeat": repeats})
    assert is_due("replicates", source) is due
    assert is_due("mask_modes", source)
    assert not is_due("geometry", source)


def test_that_measures_are_due_where_an_answer_was_measured() -> None:
    verdict = Verdict(
        *("i|Edema", "p", "i", "Edema", "frontal", "grid=8", 0, "m"),
        *("scored_wrong", "", "A1", "", {}, {}, {}, Placed(measures={"iou": 0.5})),
    )
    source = Source({"study": PLACING, "params": {}}, (verdict,))
    assert is_due("geometry", source)
    assert is_due("rules", source)


def test_that_words_of_a_page_are_no_part_of_it() -> None:
    source, specs = next(sources("grounded_vqa"))
    page = {"title": "Other", "text": "", "shown": []}
    assert fingerprint({**specs[0], **page}, source) == fingerprint(specs[0], source)


def test_that_a_study_that_nobody_knows_has_no_specification_of_ours() -> None:
    source, specs = next(sources("grounded_vqa"))
    other = Source({**source.plan, "study": "another"}, ())
    assert len(list(spec_departures(other, specs, []))) == len(specs)


@pytest.mark.parametrize(
    ("study", "params", "name", "due"),
    [
        ("pathology_mcq", {"work": "building"}, "official", False),
        ("pathology_mcq", {"work": "building"}, "items", True),
        ("pathology_mcq", {"work": "evaluation"}, "official", True),
        ("rubric_reading", {"work": "curation"}, "candidates", True),
        ("rubric_reading", {"work": "curation"}, "outputs", False),
        ("rubric_reading", {"work": "benchmark"}, "outputs", True),
        ("rubric_reading", {"work": "benchmark"}, "table_1", False),
        ("evidence_diagnosis", {}, "table_02", False),
        ("evidence_diagnosis", {}, "preparation", True),
        ("grounded_vqa", {}, "threshold_curve_iou", False),
    ],
)
def test_that_a_table_is_due_where_the_plan_says_so(
    study: str, params: Document, name: str, *, due: bool
) -> None:
    assert is_due(name, Source({"study": study, "params": params}, ())) is due
