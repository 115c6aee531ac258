"""Curation as a run: propose, score, tag, and what a radiologist gets of it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers.item_datasets import report_dataset, report_folder
from tests.helpers.tiny_study import plan_and_finish, prepare_trial
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, TextPart
from viewer.domain.run import RunSpec
from viewer.domain.task_selection import TAGS, Category, selection_of_json
from viewer.readers.datasets.folder import read as read_folder
from viewer.readers.datasets.report_studies import read
from viewer.services.configuring.study_file import make_spec
from viewer.services.exporting.export_tasks import export_tasks
from viewer.services.reporting.report_run import report_data
from viewer.services.trials.run_context import RunContext
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.rubric_reading.params import Work, read_params
from viewer.studies.rubric_reading.plan import plan
from viewer.studies.rubric_reading.study import STUDY

Row = Mapping[str, object]
FIVE = json.dumps(
    [
        {"category": category, "source": "findings", "task": f"Task {n} of the pleura."}
        for n, category in enumerate([*Category, *list(Category)[:2]], 1)
    ]
)
TAGGED = "\n".join(f"{tag}: None" for tag in TAGS[1:])


def scored(*scores: int, risk: str = "No", conclusion: int | None = None) -> str:
    names = (
        *("Clinical relevance", "Answerability"),
        *("Complexity/Reasoning", "Clarity/Precision"),
    )
    lines = [f"- {name}: {n} - why" for name, n in zip(names, scores, strict=True)]
    total = sum(scores) if conclusion is None else conclusion
    return "\n".join([*lines, f"- Risk flag: {risk}", f"Conclusion: {total}"])


ANSWERS = {
    "s1|propose": f"Here:\n{FIVE}",
    "s1|score 1": scored(3, 3, 3, 3),
    "s1|score 2": scored(5, 5, 5, 5, risk="Yes"),
    "s1|score 3": scored(5, 4, 4, 3, conclusion=13),
    "s1|score 4": "no scores",
    "s1|score 5": scored(1, 1, 1, 1),
    **{f"s1|tag {n}": f"tag_anatomical_region: pleura\n{TAGGED}" for n in (1, 2, 4, 5)},
    "s1|tag 3": f"tag_anatomical_region: pleura – airways\n{TAGGED}".replace(
        "tag_temporal_context: None", "tag_temporal_context: comparison with prior"
    ),
}


def a_spec(path: Path, **overrides: object) -> RunSpec:
    answers = path / "answers.json"
    answers.write_text(json.dumps(ANSWERS), encoding="utf-8")
    model = ModelProfile("proposer", "scripted", {"answers_file": str(answers)})
    return make_spec(
        study="rubric_reading",
        dataset="studies",
        preset="rexecution2025",
        seed=3,
        repeats=1,
        models=[model],
        overrides={"work": "curation", **overrides},
    )


@pytest.mark.statement("E001-02", "E001-03", "E001-05", "E001-06", "E001-20")
def test_that_a_model_proposes_scores_and_tags_and_a_draft_is_selected(
    tmp_path: Path,
) -> None:
    dataset, spec = report_dataset(tmp_path / "d"), a_spec(tmp_path)
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        run = plan_and_finish(store, spec)
        data = report_data(store, run).data
        n = export_tasks(store, run, tmp_path / "tasks.json")
    tables: dict[str, list[Row]] = {
        table.name: [dict(zip(table.header, row, strict=True)) for row in table.rows]
        for table in data.tables
    }
    first, second = tables["items"]
    assert (first["status"], first["reason"]) == ("excluded", "proposed")
    assert (first["scored"], first["tagged"], first["disagreements"]) == (4, 5, 2)
    assert (second["status"], second["reason"]) == ("excluded", "no_report")
    found = tables["candidates"]
    assert [row["total"] for row in found] == [16, 12, 4, 20, None]
    assert found[0]["task"] == "Task 3 of the pleura."
    assert found[0]["conclusion"] == 13
    assert "the four are 16" in str(found[0]["disagreement"])
    assert found[3]["risk"] is True
    assert found[4]["disagreement"] == "not read: no score of Clinical relevance"
    assert found[0][TAGS[0]] == "pleura – airways"
    counts = {row["total"]: row["candidates"] for row in tables["quality_histogram"]}
    assert (counts[16], counts[20], counts[5]) == (1, 1, 0)
    covered = {row["region"]: row["tasks"] for row in tables["coverage"]}
    assert (covered["pleura"], covered["airways"], covered["devices"]) == (1, 1, 0)
    values = {(row["tag"], row["value"]): row["tasks"] for row in tables["tags"]}
    assert values["tag_anatomical_region", "pleura"] == 1
    text = (tmp_path / "tasks.json").read_text(encoding="utf-8")
    (task,) = selection_of_json(text, "tasks.json")
    assert (n, task.task, task.temporal) == (1, "Task 3 of the pleura.", True)
    assert task.category is Category.MEASUREMENT


@pytest.mark.statement("E001-02", "E001-03", "E001-04")
def test_that_it_is_asked_in_words_of_the_report_alone(tmp_path: Path) -> None:
    dataset, spec = report_dataset(tmp_path / "d"), a_spec(tmp_path)
    context = RunContext(spec, dataset)
    trial = plan(dataset, spec)[0]
    request = prepare_trial(context, trial).request
    assert request.images == ()
    (part,) = request.messages[0].parts
    assert isinstance(part, TextPart)
    assert "There is a small left pleural effusion." in part.text
    assert "Indication: Cough." in part.text
    params = read_params("rexecution2025", {"work": "curation"})
    assert params.work is Work.CURATION
    assert [name for name, _ in STUDY.prompts(params)] == [
        "generation",
        "scoring",
        "tagging",
    ]
    assert len(STUDY.longest(dataset, params)) == 11
    assert "overread export tasks" in STUDY.notices(params)[0]


def test_that_what_is_no_proposal_ends_a_trial(tmp_path: Path) -> None:
    dataset = report_dataset(tmp_path / "d")
    spec = a_spec(tmp_path, candidates=4)
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        run = plan_and_finish(store, spec)
        result = report_data(store, run).results[0]
        assert (result.score.status, result.score.reason) == (
            Status.UNPARSED,
            "5 candidates",
        )
        with pytest.raises(WrongUseError, match="has proposed no tasks"):
            export_tasks(store, run, tmp_path / "tasks.json")


@pytest.mark.statement("E001-20")
def test_that_studies_are_sampled_and_others_are_no_studies(tmp_path: Path) -> None:
    dataset = report_dataset(tmp_path / "d")
    spec = a_spec(tmp_path, studies=1)
    assert len(plan(dataset, spec)) == 1
    plain = read_folder(report_folder(tmp_path / "plain"), "studies")
    with pytest.raises(WrongUseError, match="has no study with a report"):
        plan(plain, spec)
    assert read(tmp_path / "d", "x").items == dataset.items
