"""Reports become extractions, summaries and distractors through a whole run."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import ENGLISH, reply
from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.unit.studies.evidence_diagnosis.turns import dataset_of
from viewer.domain.answer import ReportAnswer, Status, Unparsed
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec, Step
from viewer.readers.datasets.medsyn import read
from viewer.services.reporting.report_run import report_data
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.plan import plan, tasks_of
from viewer.studies.evidence_diagnosis.preparing import STEPS, Preparing
from viewer.studies.evidence_diagnosis.study import STUDY
from viewer.studies.steps import StepReply, Turn

TASKS = ("extraction", "summaries", "distractors")
REPORT = {
    "id": "r1",
    "background": "A man has had a cough. Calcium was 2.9 mmol/L.",
    "caption": "Figure 1. CT shows nodes.",
    "diagnosis": "Sarcoidosis",
}
EXTRACTED = {
    "Case ID": "r1",
    "Modality": "CT",
    "Patient Background": "A man has had a cough.",
    "Laboratory Findings": "Calcium was 2.9 mmol/L.\n\nPhosphate was low.",
    "CT Findings": "CT shows nodes. (Figure 1 caption)",
}
SUMMARIES = {
    "Laboratory Findings Summary": "High calcium.",
    "CT Findings Summary": "Nodes.",
}
WRONG = {
    "ground_truth": "Sarcoidosis",
    "distractors": ["Tuberculosis", "Lymphoma", "Histoplasmosis"],
}
SAID: Mapping[str, str] = {
    "extraction": json.dumps(EXTRACTED),
    "summaries": json.dumps(SUMMARIES),
    "differential": "1. Sarcoidosis\n2. Tuberculosis\n3. Lymphoma\n4. Histoplasmosis",
    "distractors": json.dumps(WRONG),
}


def folder_of(root: Path) -> Path:
    (root / "r1").mkdir(parents=True)
    (root / "r1" / "report.json").write_text(json.dumps(REPORT))
    return root


def spec_of(profile: ModelProfile) -> RunSpec:
    return a_spec(
        [profile],
        study="evidence_diagnosis",
        dataset="reports",
        params={"tasks": list(TASKS)},
    )


def turn_of(folder: Path, task: Task, said: Mapping[str, str]) -> Turn:
    dataset = read(folder_of(folder), "reports")
    profile = ModelProfile("m", "scripted", {"answer": "x"})
    trial = next(t for t in plan(dataset, spec_of(profile)) if t.finding == str(task))
    replies = tuple(
        StepReply(Step(name), reply(said[name])) for name in STEPS[task] if name in said
    )
    return Turn(trial, dataset.items[0], replies)


@pytest.mark.statement("E004-03", "E004-21", "E004-23")
def test_that_a_report_is_prepared_by_any_model_in_a_run(tmp_path: Path) -> None:
    answers = {
        f"r1|{task}|{name}": SAID[name] for task in TASKS for name in STEPS[Task(task)]
    }
    path = tmp_path / "said.json"
    path.write_text(json.dumps(answers))
    profile = ModelProfile("m", "scripted", {"answers_file": str(path)})
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, read(folder_of(tmp_path / "d"), "reports"))
        run = plan_and_finish(store, spec_of(profile))
        data = report_data(store, run).data
    tables = {table.name: table for table in data.tables}
    assert set(tables) == {"items", "results", "preparation", "invented"}
    made = {row[1]: row for row in tables["preparation"].rows}
    assert set(made) == set(TASKS)
    assert all(row[4] == "prepared" for row in made.values())
    assert made["extraction"][5:7] == (4.0, 1.0)
    assert json.loads(str(made["distractors"][7])) == WRONG
    told = json.loads(str(made["summaries"][7]))
    assert told == {"Laboratory Findings": "High calcium.", "CT Findings": "Nodes."}
    assert tables["invented"].rows == (
        ("r1", "m", "Laboratory Findings", "", "Phosphate was low."),
    )


@pytest.mark.statement("E004-23")
def test_that_no_wrong_options_are_made_without_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    text = json.dumps({**REPORT, "diagnosis": ""})
    (tmp_path / "r1" / "report.json").write_text(text)
    profile = ModelProfile("m", "scripted", {"answer": "x"})
    trials = plan(read(tmp_path, "reports"), spec_of(profile))
    excluded = {trial.finding: trial.exclusion for trial in trials}
    assert excluded == {
        "extraction": "",
        "summaries": "",
        "distractors": "no_diagnosis",
    }


@pytest.mark.statement("E004-03")
def test_that_each_step_is_asked_with_what_came_before(tmp_path: Path) -> None:
    turn = turn_of(tmp_path, Task.DISTRACTORS, SAID)
    texts = []
    for name in STEPS[Task.DISTRACTORS]:
        asked = Preparing(turn).question(Step(name))
        part = asked.messages[-1].parts[0]
        texts.append(getattr(part, "text", ""))
    assert "- Background: A man has had a cough." in texts[0]
    assert texts[1].startswith("A man has had a cough.\n\nCalcium was 2.9")
    assert "CT shows nodes." in texts[1]
    assert "- Imaging findings: CT shows nodes." in texts[2]
    assert "Sarcoidosis, Tuberculosis, Lymphoma, Histoplasmosis" in texts[2]
    summaries = Preparing(turn).question(Step("summaries"))
    text = getattr(summaries.messages[0].parts[0], "text", "")
    assert "- CT Findings: CT shows nodes." in text
    listed = dict(STUDY.prompts(Params(tasks=TASKS)))
    assert listed[summaries.prompt] == summaries.template


@pytest.mark.parametrize("name", ["extraction", "differential", "distractors"])
def test_that_nothing_is_asked_after_what_cannot_be_used(
    tmp_path: Path, name: str
) -> None:
    steps = STEPS[Task.DISTRACTORS]
    until = steps[: steps.index(name) + 1]
    said = {**{step: SAID[step] for step in until}, name: ""}
    turn = turn_of(tmp_path, Task.DISTRACTORS, said)
    assert Preparing(turn).next_step() is None
    answer = STUDY.parse(turn, Params())
    assert isinstance(answer, Unparsed)
    score = STUDY.score(turn, answer, Params())
    assert score.status is answer.status
    assert score.status is Status.UNPARSED


def test_that_a_differential_alone_is_kept_as_it_was_listed(tmp_path: Path) -> None:
    said = {name: SAID[name] for name in ("extraction", "differential")}
    turn = turn_of(tmp_path, Task.DISTRACTORS, said)
    assert Preparing(turn).next_step() == Step("distractors")
    answer = STUDY.parse(turn, Params())
    assert isinstance(answer, ReportAnswer)
    assert json.loads(answer.text)[0] == "Sarcoidosis"


def test_that_cases_are_solved_and_reports_prepared(tmp_path: Path) -> None:
    report = read(folder_of(tmp_path), "reports").items[0]
    both = Params(tasks=("fdx", "extraction"))
    assert tasks_of(report, both) == (Task.EXTRACTION,)
    assert tasks_of(ENGLISH.item(), both) == (Task.FDX,)
    assert tasks_of(report, Params(languages=("zh",))) == ()
    longest = STUDY.longest(read(tmp_path, "reports"), both)
    assert REPORT["background"] in longest[0].text
    assert len(STUDY.longest(dataset_of(ENGLISH), both)) == 1
