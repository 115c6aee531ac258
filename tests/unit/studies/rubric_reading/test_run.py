"""Runs of the study on a folder of studies, with scripted models and grades."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.item_datasets import TASKS, report_dataset, report_folder
from tests.helpers.tiny_study import plan_and_finish, prepare_trial
from viewer.domain.answer import ReportAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.errors import TOO_LONG, WrongUseError
from viewer.domain.exchange import ModelProfile, TextPart
from viewer.domain.report import ReportData
from viewer.domain.result import Score
from viewer.domain.run import RunSpec, Trial
from viewer.readers.datasets.report_studies import read
from viewer.results.evaluate import evaluate
from viewer.results.spec import TRIALS
from viewer.services.configuring.study_file import make_spec
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.running.batch_estimate import notices_of
from viewer.services.trials.grades import grades_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.protocol import ReportContext
from viewer.studies.rubric_reading.frames import trial_frame
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.plan import plan, sampled
from viewer.studies.rubric_reading.request import longest
from viewer.studies.rubric_reading.study import STUDY
from viewer.studies.rubric_reading.tables import OUTPUTS

SAID = 'An effusion. {"boxes": [{"image": 2, "label": "it", "box": [0, 0, 500, 500]}]}'
DIMENSIONS = "process,execution,synthesis,language,image_content,image_style"
GRADES = f"""reader,model,item,image,{DIMENSIONS}
A,o3,s1|t1,,5,5,5,4,,
A,o3,s1|t2,,5,2,4,4,,
B,o3,s1|t2,,2,5,4,4,,
A,o3,s1|t1,1,,,,,4,5
A,medgemma-4b-it,s1|t1,,4,4,4,5,,
"""
Row = Mapping[str, object]


def models(**answers: str) -> list[ModelProfile]:
    return [
        ModelProfile(name, "scripted", {"answer": text})
        for name, text in answers.items()
    ]


def a_spec(profiles: list[ModelProfile], **overrides: object) -> RunSpec:
    return make_spec(
        study="rubric_reading",
        dataset="studies",
        preset="rexecution2025",
        seed=3,
        repeats=1,
        models=profiles,
        overrides=dict(overrides),
    )


BOTH = {"o3": SAID, "medgemma-4b-it": "Clear."}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return report_dataset(tmp_path / "studies")


def reported(tmp_path: Path, dataset: Dataset, spec: RunSpec) -> RunReport:
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        run = plan_and_finish(store, spec)
        return report_data(store, run)


def rows(data: ReportData, name: str) -> list[Row]:
    table = next(table for table in data.tables if table.name == name)
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


@pytest.mark.statement("E001-07")
def test_that_each_model_has_a_trial_for_each_task_with_its_own_images(
    dataset: Dataset,
) -> None:
    trials = plan(dataset, a_spec(models(**BOTH)))
    assert [(t.item, t.model) for t in trials] == [
        (f"{task.item}|{task.id}", model) for task in TASKS for model in BOTH
    ]
    first, second = trials[:2]
    assert (first.image, second.image) == ("s1/pa", "s1/pa")
    assert (trials[2].view, trials[2].finding) == (
        "temporal",
        "measurements_and_temporal_comparisons",
    )
    assert not any(trial.exclusion for trial in trials)


def test_that_a_task_without_its_prior_is_excluded(tmp_path: Path) -> None:
    lonely = replace(TASKS[1], item="s2")
    dataset = read(report_folder(tmp_path / "d", (lonely,)), "studies")
    (trial,) = plan(dataset, a_spec(models(o3="x")))
    assert trial.exclusion == "no_prior"
    (tmp_path / "d" / "tasks.json").unlink()
    with pytest.raises(WrongUseError, match="have no tasks"):
        plan(read(tmp_path / "d", "studies"), a_spec(models(o3="x")))
    assert len(longest(read(tmp_path / "d", "studies"), Params())) == 1


def asked(trial: Trial, dataset: Dataset, spec: RunSpec) -> tuple[str, int]:
    """Return the words of a trial's question, and how many images go with them."""
    request = prepare_trial(RunContext(spec, dataset), trial).request
    parts = [part for message in request.messages for part in message.parts]
    words = [part.text for part in parts if isinstance(part, TextPart)]
    return "\n".join(words), len(request.images)


@pytest.mark.statement("E001-07", "E001-08")
def test_that_models_are_asked_the_same_but_for_boxes_and_views(
    dataset: Dataset,
) -> None:
    spec = a_spec(models(**BOTH), longest_side=64)
    trials = plan(dataset, spec)
    boxing, images = asked(trials[2], dataset, spec)
    plain, single = asked(trials[3], dataset, spec)
    assert (images, single) == (3, 2)
    assert "Image 3: AP, prior study" in boxing
    assert "Image 2: AP, prior study" in plain
    assert "Box and label each feature on the image(s)." in boxing
    assert "Box and label" not in plain
    assert "An effusion" not in boxing
    assert "left pleural effusion" not in boxing
    names = [name for name, _ in STUDY.prompts(Params())]
    assert names == ["task_with_boxes", "task"]


@pytest.mark.statement("E001-09", "E001-11", "E001-12", "E001-13")
def test_that_grades_beside_the_data_make_verdicts_and_tables(
    tmp_path: Path, dataset: Dataset
) -> None:
    (dataset.root / "grades.csv").write_text(GRADES, encoding="utf-8")
    report = reported(tmp_path, dataset, a_spec(models(**BOTH)))
    data = report.data
    items = {(row["item"], row["model"]): row for row in rows(data, "items")}
    assert items["s1|t1", "o3"]["status"] == "scored_correct"
    assert items["s1|t2", "o3"]["status"] == "scored_wrong"
    assert items["s1|t2", "o3"]["content"] == 3.5
    assert items["s2|t1", "o3"]["reason"] == "ungraded"
    assert items["s1|t1", "medgemma-4b-it"]["content"] == 4
    answers = {r.item: r.said for r in report.results if r.model == "o3"}
    first = answers["s1|t1"]
    assert isinstance(first, ReportAnswer)
    assert first.boxes[0].image == 1
    orders = {(r["model"], r["order"]): r["mean"] for r in rows(data, "content_orders")}
    assert orders["o3", "average_then_minimum"] == (5 + 3.5) / 2
    assert orders["o3", "minimum_then_average"] == (5 + 2) / 2
    assert [row["n_with_boxes"] for row in rows(data, "outputs")] == [2, 0]
    (third,) = [r for r in rows(data, "table_3") if r["category"] == "Process"]
    assert (third["n"], third["mad"]) == (1, 3)
    assert [s.title for s in data.sections][:2] == [
        "Scores of content and language",
        "Scores of the parts of the content",
    ]
    tests = {row["metric"]: row for row in rows(data, "tests")}
    assert tests["Content"]["n"] == 1
    scores = next(s for s in data.sections if s.number == "Table 1")
    (paper,) = scores.published
    assert paper.rows[0] == ("Content", "ChatGPT-o3", "", "2.71", "1.31", "")
    assert paper.rows[2][-1] == "0.52"
    shown = scores.table
    assert shown.header == ("Metric", "Model", "n", "Mean", "SD", "Adjusted p")
    assert shown.rows[0] == ("Content", "o3", 2, "4.25", "1.06", "1.00")
    assert shown.rows[2] == ("Content", "medgemma-4b-it", 1, "4.00", "-", "1.00")


@pytest.mark.statement("E001-14")
def test_that_grades_of_what_the_run_has_not_are_told_and_not_counted(
    tmp_path: Path, dataset: Dataset
) -> None:
    graded = ("o3,s9|t1", "medgemma-4b-it,s2|t1", "x,s1|t1")
    others = "".join(f"A,{output},,1,1,1,1,,\n" for output in graded)
    (dataset.root / "grades.csv").write_text(GRADES + others, encoding="utf-8")
    cut = {"answer": "Clear.", "finish_reason": "length"}
    profiles = [*models(o3=SAID), ModelProfile("medgemma-4b-it", "scripted", cut)]
    data = reported(tmp_path, dataset, a_spec(profiles)).data
    n = {(r["model"], r["metric"]): r["n"] for r in rows(data, "table_1")}
    assert (n["o3", "Content"], n.get(("medgemma-4b-it", "Content"), 0)) == (2, 0)
    assert not any(row["n"] for row in rows(data, "tests"))
    assert [words for _, words in data.sections[-1].table.rows] == [
        "1 grade of a model that this run did not ask, not used: 'x'.",
        "1 grade of a task that the data set does not have, not used: 's9|t1'.",
        (
            "2 grades of an output that this run does not have, not used: "
            "'s1|t1' by 'medgemma-4b-it', 's2|t1' by 'medgemma-4b-it'."
        ),
        "2 of 4 delivered outputs without a grade: excluded as ungraded.",
    ]


@pytest.mark.statement("E001-09")
def test_that_a_grade_of_an_image_that_was_not_shown_is_told(
    tmp_path: Path, dataset: Dataset
) -> None:
    others = "".join(f"A,o3,s1|t1,{n},,,,,1,1\n" for n in range(2, 9))
    (dataset.root / "grades.csv").write_text(GRADES + others, encoding="utf-8")
    data = reported(tmp_path, dataset, a_spec(models(**BOTH))).data
    assert data.sections[-1].table.rows[0][1] == (
        "6 grades of an image that the model was not shown and did not return, not "
        "used: 's1|t1' by 'o3', image 3, 's1|t1' by 'o3', image 4, 's1|t1' by 'o3', "
        "image 5, 's1|t1' by 'o3', image 6, 's1|t1' by 'o3', image 7 and 1 more."
    )


@pytest.mark.statement("E001-09")
def test_that_a_returned_picture_is_an_annotated_image_and_can_be_graded(
    tmp_path: Path, dataset: Dataset
) -> None:
    grades = "".join(f"A,o3,s1|t1,{n},,,,,1,1\n" for n in (1, 3, 4))
    header = GRADES.partition("\n")[0]
    (dataset.root / "grades.csv").write_text(f"{header}\n{grades}", encoding="utf-8")
    report = reported(tmp_path, dataset, a_spec(models(o3=SAID)))
    returned = [
        replace(one, said=replace(one.said, pictures=n))
        for one, n in zip(report.results, (3, 1, 0, 0), strict=True)
        if isinstance(one.said, ReportAnswer)
    ]
    frame = trial_frame(returned)
    # the first two drew a box on one image, the others on none
    assert list(frame["n_annotated_images"]) == [3, 1, 0, 0]
    context = ReportContext(dataset, beside=grades_of(dataset))
    data = STUDY.report(returned, a_spec(models(o3=SAID)), context)
    assert data.sections[-1].table.rows[1][1] == (
        "1 grade of an image that the model was not shown and did not return, not "
        "used: 's1|t1' by 'o3', image 4."
    )


@pytest.mark.statement("E001-12")
def test_that_a_grade_counts_for_its_own_repeat_and_for_no_other(
    tmp_path: Path, dataset: Dataset
) -> None:
    table = f"""reader,model,item,image,{DIMENSIONS},repeat,comment_process
A,o3,s1|t1,,5,5,5,4,,,,
A,o3,s1|t1,,2,2,2,2,,,2,Slow.
B,o3,s1|t1,,4,2,2,2,,,2,
A,o3,s1|t1,,1,1,1,1,,,3,
A,medgemma-4b-it,s1|t1,,4,4,4,5,,,1,
"""
    (dataset.root / "grades.csv").write_text(table, encoding="utf-8")
    spec = replace(a_spec(models(**BOTH)), repeats=3)
    data = reported(tmp_path, dataset, spec).data
    graded = {
        (row["model"], row["repeat"]): (row["status"], row["content"])
        for row in rows(data, "items")
        if row["content"] is not None
    }
    assert graded == {
        ("o3", 0): ("scored_correct", 5),
        ("o3", 2): ("scored_wrong", 2),
        ("medgemma-4b-it", 1): ("scored_wrong", 4),
    }
    content = {r["model"]: r for r in rows(data, "table_1") if r["metric"] == "Content"}
    assert (content["o3"]["n"], content["o3"]["mean"]) == (2, 3.5)
    tested = {row["metric"]: row for row in rows(data, "tests")}
    assert (tested["Content"]["n"], tested["Content"]["mean_difference"]) == (1, -0.5)
    (card,) = rows(data, "error_cards")
    assert (card["comments"], card["repeat"]) == ("Process: Slow.", 2)
    assert [words for _, words in data.sections[-1].table.rows] == [
        (
            "1 grade of an output that this run does not have, not used: "
            "'s1|t1' by 'o3', repeat 3."
        ),
        (
            "21 of 24 delivered outputs without a grade: excluded as ungraded; a "
            "grade of one repeat does not count for another."
        ),
    ]


def test_that_a_run_whose_outputs_are_graded_does_not_ask_for_grades(
    dataset: Dataset,
) -> None:
    answering = a_spec(models(**BOTH))
    (asks,) = notices_of(answering, dataset)
    assert asks.startswith("Outputs are graded by readers")
    (dataset.root / "grades.csv").write_text(GRADES, encoding="utf-8")
    assert notices_of(answering, dataset) == ()
    # they are neither of another model nor of tasks that are only proposed
    assert notices_of(a_spec(models(other="x")), dataset) == (asks,)
    (selects,) = notices_of(a_spec(models(**BOTH), work="curation"), dataset)
    assert selects.startswith("A radiologist should select")


def test_that_without_grades_nothing_is_right_or_wrong(
    tmp_path: Path, dataset: Dataset
) -> None:
    data = reported(tmp_path, dataset, a_spec(models(**BOTH))).data
    assert {row["reason"] for row in rows(data, "items")} == {"ungraded"}
    assert not any(table.name == "table_1" for table in data.tables)
    *_, note = data.sections
    assert note.table.rows == (
        ("Grades", "No reader has graded an output of this run's models."),
    )


def test_that_a_broken_file_of_grades_is_told_and_stops_nothing(
    tmp_path: Path, dataset: Dataset
) -> None:
    broken = GRADES.replace("A,o3,s1|t1,,5,5,5,4", "A,o3,s1|t1,,5,,5,4")
    (dataset.root / "grades.csv").write_text(broken, encoding="utf-8")
    data = reported(tmp_path, dataset, a_spec(models(**BOTH))).data
    *_, note = data.sections
    assert "has no execution" in str(note.table.rows[0][1])
    (dataset.root / "grades.json").write_text("{}", encoding="utf-8")
    with open_store(tmp_path / "s.sqlite") as store:
        *_, note = report_data(store, 1).data.sections
    assert "contains both grades.csv and grades.json" in str(note.table.rows[0][1])


def test_that_one_reader_alone_and_who_withdrew_are_told(
    tmp_path: Path, dataset: Dataset
) -> None:
    entry = {
        "model": "o3",
        "item": "s1|t1",
        "scores": dict.fromkeys(("process", "execution", "synthesis", "language"), 4),
    }
    document = {"grades": [{**entry, "reader": name} for name in ("A", "B")]}
    path = dataset.root / "grades.json"
    path.write_text(json.dumps({**document, "withdrawn": ["B"]}), encoding="utf-8")
    data = reported(tmp_path, dataset, a_spec(models(**BOTH))).data
    assert data.sections[-1].table.rows == (
        ("Readers", "A graded alone, so agreement cannot be measured."),
        ("Grades", "7 of 8 delivered outputs without a grade: excluded as ungraded."),
        ("Withdrawn", "B has withdrawn; none of the grades is used."),
    )
    names = {table.name for table in data.tables}
    assert not names & {"table_3", "agreement", "figure_5", "figure_5_points"}
    assert {"table_1", "agreement_of_all"} <= names


@pytest.mark.statement("E001-17", "E001-23")
def test_that_cards_and_codes_come_from_grades(
    tmp_path: Path, dataset: Dataset
) -> None:
    lines = GRADES.splitlines()
    lines = [lines[0] + ",codes,concerns", lines[1] + ",verbose;box_too_large,wrong"]
    (dataset.root / "grades.csv").write_text("\n".join(lines), encoding="utf-8")
    data = reported(tmp_path, dataset, a_spec(models(o3=SAID))).data
    (card,) = rows(data, "error_cards")
    assert card["task"] == "Describe all pleural abnormalities."
    assert (card["codes"], card["concerns"]) == ("verbose; box_too_large", "wrong")
    assert str(card["excerpt"]).startswith("An effusion.")
    codes = {row["code"]: row["outputs"] for row in rows(data, "failure_codes")}
    assert (codes["verbose"], codes["left_right_swap"]) == (1, 0)
    assert len(codes) == 10


@pytest.mark.statement("E001-08", "E001-10")
def test_that_the_rubric_and_the_difference_of_prompts_are_reported(
    tmp_path: Path, dataset: Dataset
) -> None:
    data = reported(tmp_path, dataset, a_spec(models(**BOTH))).data
    assert len(rows(data, "rubric")) == 6
    difference = {r["only"]: r["words"] for r in rows(data, "prompt_difference")}
    assert str(difference["with boxes"]).startswith("Box and label each feature")
    assert difference["without boxes"] == ""
    inputs = rows(data, "inputs")
    assert len(inputs) == 8
    assert {
        row["boxes_asked"] for row in inputs if row["model"] == "medgemma-4b-it"
    } == {False}


@pytest.mark.statement("E001-20")
def test_that_studies_are_sampled_by_the_seed() -> None:
    keys = [f"s{i:03d}" for i in range(300)]
    one = sampled(keys, 100, 7)
    assert one == sampled(list(reversed(keys)), 100, 7) == tuple(sorted(one))
    assert len(set(one)) == 100
    assert one != sampled(keys, 100, 8)
    assert sampled(keys[:5], 100, 7) == tuple(keys[:5])


@pytest.mark.statement("E001-09")
def test_that_a_reply_cut_short_and_a_context_overflown_are_the_token_limit(
    tmp_path: Path, dataset: Dataset
) -> None:
    cut = ModelProfile("cut", "scripted", {"answer": "It", "finish_reason": "length"})
    report = reported(tmp_path, dataset, a_spec([cut]))
    assert {r.score.reason for r in report.results} == {"token_limit"}
    overflown = replace(
        report.results[0], score=Score(Status.PROVIDER_ERROR, TOO_LONG), said=None
    )
    frame = trial_frame((overflown, *report.results[1:]))
    table = evaluate(OUTPUTS, {TRIALS: frame})
    (row,) = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert (row["n_planned"], row["n_token_limit"], row["n_failed"]) == (4, 4, 0)
    assert row["n_unparsed"] == row["n_delivered"] == 0
