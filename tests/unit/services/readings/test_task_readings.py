"""What people lock in sessions counts just as a file of the same answers does."""

import csv
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.task_stores import imported, overread, phantom
from viewer.domain.aid import Aid, Arm, latest_values
from viewer.domain.answer import BoxesAnswer, MaskAnswer
from viewer.domain.choice import letter_of, option_of
from viewer.domain.errors import WrongUseError
from viewer.domain.form import ChecklistQuestion
from viewer.domain.form_values import Flagged, Value, Values
from viewer.domain.geometry import BoxPx
from viewer.domain.reading import (
    Consent,
    LockedError,
    SessionId,
    Task,
    TaskState,
)
from viewer.domain.reference import Mask
from viewer.domain.rubric import OF_IMAGE, OF_TEXT, Dimension
from viewer.readers.datasets.item_reviews import WRONG_IF
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.aiding import effects
from viewer.services.readings.mrmc import export_readings
from viewer.services.readings.progress import progress
from viewer.services.readings.rating_agreement import mask_agreement
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task, task_offer
from viewer.services.reporting.report_run import checked_report, report_files
from viewer.services.sessions import datasets
from viewer.services.sessions.datasets import locked_cases
from viewer.services.sessions.ground import ground_of, material_of
from viewer.services.trials.grades import grades_of
from viewer.store import cases as store_cases
from viewer.store import readings
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit, events_of, has_consented
from viewer.studies.pathology_mcq.questions import mcq_of
from viewer.studies.pathology_mcq.readings import VALIDITY_FORM

Answered = Callable[[Task, SessionId], Values]


def read_all(store: Path, session: SessionId, answered: Answered) -> None:
    """Agree if that is asked; lock every stage of every case with an answer."""
    if not recording.has_consented(store, session):
        recording.consent(store, session)
    for position in range(len(cases.queue(store, session))):
        task = cases.task(store, session, position)
        while task.state is not TaskState.LOCKED:
            task = recording.lock(store, session, position, answered(task, session))


def tables(store: Path) -> Mapping[str, bytes]:
    """Return the tables of run 1 without the run's own times and hashes."""
    with open_store(store) as opened:
        files = report_files(checked_report(opened, 1))
    return {name: data for name, data in files.items() if name.endswith(".csv")}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store whose grades came from a file, and one without grades; the same run."""
    root = tmp_path_factory.mktemp("grades")
    filed = phantom(root / "filed", "rubric_reading", 2)
    store = imported(filed, "report-studies")
    tables(store)  # scored with the file, which the other store must not find
    bare = root / "bare"
    shutil.copytree(filed, bare)
    (bare / "grades.csv").unlink()
    (root / "bare").joinpath("study.toml").write_text(
        (filed / "study.toml").read_text("utf-8")
    )
    other = imported(bare, "report-studies")
    return store, other


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_that_grades_of_sessions_give_the_tables_that_their_file_gives(
    graded: tuple[Path, Path],
) -> None:
    filed, store = graded
    rows = rows_of(filed.parent / "filed" / "grades.csv")
    by_case = {(r["reader"], r["model"], r["item"], r["image"] or "0"): r for r in rows}
    wanted = TaskWanted("rubric_reading", "grading", "people", run=1)
    for reader in dict.fromkeys(row["reader"] for row in rows):
        session = open_task(store, wanted, reader)
        for position, read in enumerate(planned(store, session)):
            row = by_case.get((reader, read.model, read.item, str(read.part)))
            if row is None:
                continue  # the second reader grades a subset
            recording.lock(store, session, position, grade_of(row))
    with open_store(store) as opened:
        grades = grades_of(datasets.dataset_of_run(opened, 1))
    assert len(grades.grades) == len(rows)
    mine, theirs = tables(store), tables(filed)
    assert mine.keys() == theirs.keys()
    differing = [name for name in mine if mine[name] != theirs[name]]
    assert differing == []
    assert b"Reader A" in mine["agreement.csv"] or len(mine["agreement.csv"]) > 0


class Planned:
    """A case with what the reader is not told: which model answered."""

    def __init__(self, item: str, part: int, model: str) -> None:
        self.item, self.part, self.model = item, part, model


def planned(store: Path, session: SessionId) -> list[Planned]:
    with open_store(store) as opened:
        tasks = readings.tasks_of(opened, session)
        trials = readings.reviewed_trials(opened, session)
    return [
        Planned(task.item, material_of(task).part, trials[i].model)
        for i, task in enumerate(tasks)
    ]


def grade_of(row: Mapping[str, str]) -> Values:
    dimensions = OF_IMAGE if row["image"] else OF_TEXT
    values: dict[str, Value] = {d.value: int(row[d.value]) for d in dimensions}
    for dimension in Dimension:
        if words := row.get(f"comment_{dimension}"):
            values[f"comment_{dimension}"] = words
    for name in ("codes", "concerns"):
        if row[name]:
            values[name] = tuple(row[name].split(";"))
    if row["abstained"]:
        values["abstained"] = row["abstained"]
    return values


def test_that_a_graded_case_names_no_model_and_hides_content(
    graded: tuple[Path, Path],
) -> None:
    _, store = graded
    wanted = TaskWanted("rubric_reading", "grading", "people", run=1, limit=2)
    assert task_offer(store, wanted).groups >= 2
    session = open_task(store, wanted, "C")
    assert open_task(store, wanted, "C") == session
    tasks = cases.queue(store, session)
    for task in tasks:
        assert task.answer_text
        assert "knows" not in repr(task).lower().replace("acknowledges", "")
        assert "Content" not in repr(task)
    text = next(t for t in tasks if "process" in t.asked)
    values: Values = {"process": 5, "execution": 2, "synthesis": 4, "language": 3}
    with pytest.raises(LockedError):
        cases.reveal(store, session, text.position)
    recording.lock(store, session, text.position, values)
    revealed = cases.reveal(store, session, text.position)
    assert [e.title for e in revealed.truth] == ["Content 2"]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store whose experts came from a file, and one without; the same run."""
    root = tmp_path_factory.mktemp("experts")
    filed = phantom(root / "filed", "pathology_mcq", 12)
    bare = root / "bare"
    shutil.copytree(filed, bare)
    (bare / "experts.csv").unlink()
    return imported(filed, "pathmmu"), imported(bare, "pathmmu")


def test_that_a_panel_in_the_window_gives_the_tables_that_experts_csv_gives(
    questions: tuple[Path, Path],
) -> None:
    filed, store = questions
    rows = rows_of(filed.parent / "filed" / "experts.csv")
    chosen = {(r["reader"], r["item"]): r["answer"] for r in rows}
    for group, reader in dict.fromkeys((r["group"], r["reader"]) for r in rows):
        wanted = TaskWanted("pathology_mcq", "panel", "people", panel=group)
        session = open_task(store, wanted, reader)
        with open_store(store) as opened:
            items = [task.item for task in readings.tasks_of(opened, session)]
        for position, item in enumerate(items):
            if (reader, item) in chosen:
                answer: Values = {"answer": chosen[reader, item]}
                recording.lock(store, session, position, answer)
    mine, theirs = tables(store), tables(filed)
    assert [name for name in theirs if mine[name] != theirs[name]] == []
    with pytest.raises(WrongUseError, match="reads in the group 'I'"):
        open_task(store, TaskWanted("pathology_mcq", "panel", "people"), "Ann")


def test_that_the_right_answer_comes_after_the_lock(
    questions: tuple[Path, Path],
) -> None:
    _, store = questions
    session = open_task(store, TaskWanted("pathology_mcq", "panel", "people"), "Zoe")
    task = cases.task(store, session, 0)
    assert "Right answer" not in repr(task)
    recording.lock(store, session, 0, {"answer": "A"})
    truth = cases.reveal(store, session, 0).truth
    assert truth[0].title == "Right answer"
    assert truth[0].text[0] in {o.key for o in task.options["answer"]}


def test_that_a_rejected_question_is_left_out_like_one_of_a_file(
    questions: tuple[Path, Path],
) -> None:
    _, store = questions
    wanted = TaskWanted("pathology_mcq", "validity", "people", limit=2)
    session = open_task(store, wanted, "Validator")
    first = cases.task(store, session, 0)
    assert "Right answer" not in repr(first)
    second = recording.lock(store, session, 0, {"answer": "A"})
    assert second.exhibits[-1].exhibit.title
    assert "Right answer" in [e.exhibit.title for e in second.exhibits]
    verdict: Values = {"verdict": "reject", "criteria": ("wrong_answer",)}
    recording.lock(store, session, 0, verdict)
    with open_store(store) as opened:
        held = datasets.dataset_named(opened, "people")
        (read,) = locked_cases(opened, ground_of(opened, session))
    item = next(item for item in held.items if item.key == read.item)
    assert item.reference["reviews"] == [["Validator", ["wrong_answer"]]]


def test_that_the_criteria_are_those_that_a_file_names() -> None:
    (criteria,) = (q for q in VALIDITY_FORM.questions if q.id == "criteria")
    assert isinstance(criteria, ChecklistQuestion)
    assert {option.key for option in criteria.options} == set(WRONG_IF)


@pytest.fixture(scope="module")
def diagnosed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with cases that nobody has answered."""
    root = tmp_path_factory.mktemp("cases")
    return imported(phantom(root / "ed", "evidence_diagnosis", 4), "medsyn", run=False)


def test_that_physicians_count_as_physicians_csv_would_have_them(
    diagnosed: Path, tmp_path: Path
) -> None:
    wanted = TaskWanted("evidence_diagnosis", "differential", "people")
    session = open_task(diagnosed, wanted, "Dr A")
    training = [task.training for task in cases.queue(diagnosed, session)]
    assert training == [True, True, False, False]
    with open_store(diagnosed) as opened:
        keys = [task.item for task in readings.tasks_of(opened, session)]

    def answered(task: Task, _: SessionId) -> Values:
        if task.stage == 0:
            assert not task.options
            return {"differential": (f"first {task.position}", "second")}
        return {"choice": "C", "ambiguous": Flagged("two fit")}

    read_all(diagnosed, session, answered)
    folder = tmp_path / "ed"
    shutil.copytree(diagnosed.parent / "ed", folder)
    lines = ["reader,case,differential,option,flag,explanation"]
    lines += [
        f"Dr A,{key},first {i};second,C,yes,two fit"
        for i, key in enumerate(keys)
        if not training[i]
    ]
    (folder / "physicians.csv").write_text("\n".join(lines), encoding="utf-8")
    other = imported(folder, "medsyn", run=False)
    with open_store(diagnosed) as mine, open_store(other) as theirs:
        here = datasets.dataset_named(mine, "people")
        filed = datasets.dataset_named(theirs, "people")
    assert [i.reference.get("physicians") for i in here.items] == [
        i.reference.get("physicians") for i in filed.items
    ]


def test_that_a_withdrawn_physician_counts_no_longer(diagnosed: Path) -> None:
    wanted = TaskWanted("evidence_diagnosis", "validation", "people")
    session = open_task(diagnosed, wanted, "Dr B")

    def answered(task: Task, _: SessionId) -> Values:
        values: dict[str, Value] = {"confirmed": "yes", "checklist": ("1", "2")}
        return values | {q: "ok" for q in task.asked if q.startswith("alignment")}

    read_all(diagnosed, session, answered)
    with open_store(diagnosed) as opened:
        item = datasets.dataset_named(opened, "people").items[0]
        found = item.reference["validations"]
    assert json.dumps(found).count("Dr B") == 1
    recording.withdraw(diagnosed, session)
    with open_store(diagnosed) as opened:
        item = datasets.dataset_named(opened, "people").items[0]
        assert "validations" not in item.reference
        assert check_audit(opened).intact


def test_that_nothing_is_answered_before_the_reader_agrees(diagnosed: Path) -> None:
    wanted = TaskWanted("evidence_diagnosis", "differential", "people", seed=9)
    session = open_task(diagnosed, wanted, "Dr F")
    values: Values = {"differential": ("a", "b")}
    for act in (recording.autosave, recording.lock, recording.resolve):
        with pytest.raises(WrongUseError, match="has not agreed to take part"):
            act(diagnosed, session, 0, values)
    with pytest.raises(WrongUseError, match="has not agreed"):
        recording.undo(diagnosed, session, 0)
    recording.consent(diagnosed, session)
    recording.consent(diagnosed, session)
    recording.autosave(diagnosed, session, 0, values)
    with open_store(diagnosed) as opened:
        form = ground_of(opened, session).form
        (told,) = events_of(opened, session, "consent")
        # Another text, or a later version of it, was not agreed to.
        for changed in (
            Consent.on(form.name, form.version, "another"),
            Consent.on(form.name, "of later", form.consent),
        ):
            assert not has_consented(opened, session, changed)
    assert (told["to"], told["version"]) == (form.name, form.version)
    assert told["text_sha256"] == hashlib.sha256(form.consent.encode()).hexdigest()
    recording.withdraw(diagnosed, session)
    with pytest.raises(WrongUseError, match="has withdrawn"):
        recording.consent(diagnosed, session)


def test_that_nobody_agrees_to_what_is_not_asked(diagnosed: Path) -> None:
    wanted = TaskWanted("evidence_diagnosis", "validation", "people", seed=9)
    session = open_task(diagnosed, wanted, "Dr F")
    with pytest.raises(WrongUseError, match="asks for no consent"):
        recording.consent(diagnosed, session)


def test_that_a_session_of_a_task_is_told_in_words(diagnosed: Path) -> None:
    titles = {one.title for one in opening.sessions(diagnosed)}
    assert titles <= {
        "Differential, then the options of people",
        "Validation of cases of people",
    }


def test_that_readings_of_a_task_are_exported_as_a_table(
    diagnosed: Path, tmp_path: Path
) -> None:
    wanted = TaskWanted("evidence_diagnosis", "differential", "people", seed=5)
    session = open_task(diagnosed, wanted, "Dr E")
    recording.consent(diagnosed, session)
    recording.lock(diagnosed, session, 0, {"differential": ("a", "b")})
    recording.lock(diagnosed, session, 0, {"choice": "B"})
    file, readers = export_readings(diagnosed, session, tmp_path)
    assert [row["session"] for row in rows_of(readers)] == [str(session)]
    (row,) = rows_of(file)
    assert (row["differential"], row["choice"]) == ('["a", "b"]', "B")


@pytest.fixture(scope="module")
def proposed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which tasks were proposed for two studies."""
    root = tmp_path_factory.mktemp("proposed")
    folder = phantom(root / "rx", "rubric_reading", 2)
    shutil.copy(folder / "curation.toml", folder / "study.toml")
    return imported(folder, "report-studies")


def test_that_a_radiologist_takes_edits_or_writes_the_task_of_each_study(
    proposed: Path, tmp_path: Path
) -> None:
    wanted = TaskWanted("rubric_reading", "selection", "people", run=1)
    session = open_task(proposed, wanted, "Dr S")
    first = cases.task(proposed, session, 0)
    options = first.options["candidate"]
    assert [option.key for option in options] == [*"12345", "Q", "R", "M"]
    usable = [o.help for o in options[:5] if "risk" not in o.help]
    scores = [int(told.split()[1]) for told in usable]
    assert scores == sorted(scores, reverse=True)
    recording.lock(
        proposed, session, 0, {"candidate": "2", "text": f"{options[1].text} Really?"}
    )
    with pytest.raises(WrongUseError, match="Write the task, or choose"):
        recording.lock(proposed, session, 1, {"candidate": "M"})
    scored = {f"score_{n}": 4 for n in range(4)}
    written: Values = {"candidate": "M", "text": "How wide is the heart?", **scored}
    recording.lock(proposed, session, 1, written)
    out = tmp_path / "tasks.json"
    overread("export", "tasks", 1, "--out", out, "--store", proposed)
    document = json.loads(out.read_text("utf-8"))
    by_origin = {task["origin"]: task for task in document["tasks"]}
    assert by_origin.keys() == {"edited", "written"}
    assert by_origin["edited"]["diff"] == ["+ Really?"]
    assert by_origin["edited"]["candidate"] == options[1].text
    assert by_origin["written"]["rescored"] == 16
    assert by_origin["written"]["category"] == "measurements_and_temporal_comparisons"
    assert b"How wide is the heart?" in tables(proposed)["selection.csv"]
    with open_store(proposed) as opened:
        ground = ground_of(opened, session)
        read = tuple(locked_cases(opened, ground))
    assert ground.task is not None
    assert ground.task.overview is not None
    (told,) = ground.task.overview(read)
    assert "(37 %)  lung parenchyma" in told.text
    assert progress(proposed, session).overview == (told,)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two stores with the same run, whose answers a judge scored."""
    root = tmp_path_factory.mktemp("judged")
    folder = phantom(root / "first", "evidence_diagnosis", 2)
    shutil.copytree(folder, root / "second")
    return imported(folder, "medsyn"), root / "second"


def test_that_scores_of_people_correct_the_judge_as_their_file_does(
    judged: tuple[Path, Path],
) -> None:
    store, folder = judged
    wanted = TaskWanted("evidence_diagnosis", "judging", "people", run=1)
    session = open_task(store, wanted, "Dr J")
    lines = ["case,task,model,score"]
    with open_store(store) as opened:
        tasks = readings.tasks_of(opened, session)
        trials = readings.reviewed_trials(opened, session)
    for position, task in enumerate(tasks):
        shown = cases.task(store, session, position)
        assert shown.answer_text.startswith("1. ")
        assert trials[position].model not in repr(shown)
        options = shown.options["score"]
        score = options[position % len(options)].key
        recording.lock(store, session, position, {"score": score})
        kind = material_of(task).notes["task"]
        lines.append(f"{task.item},{kind},{trials[position].model},{score}")
    (folder / "judge_labels.csv").write_text("\n".join(lines), encoding="utf-8")
    other = imported(folder, "medsyn")
    mine, theirs = tables(store), tables(other)
    assert mine["judge_calibration.csv"] == theirs["judge_calibration.csv"]
    assert len(mine["judge_calibration.csv"].splitlines()) > 1
    assert [name for name in theirs if mine[name] != theirs[name]] == []


def test_that_outlines_of_two_annotators_are_compared_and_come_back_as_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "heal"
    phantom(folder, "grounded_vqa", 2)
    store = imported(folder, "vindr", run=False)
    wanted = TaskWanted("grounded_vqa", "anatomies", "people")
    drawn = {"A": slice(10, 30), "B": slice(15, 35)}
    for reader, rows in drawn.items():
        session = open_task(store, wanted, reader)
        for task in cases.queue(store, session):
            pixels = np.zeros((task.canvas.size.rows, task.canvas.size.columns), bool)
            pixels[rows, 5:25] = True
            with pytest.raises(WrongUseError, match="Outline at least one"):
                recording.lock(store, session, task.position, {})
            box: Values = {"heart": BoxesAnswer((BoxPx(5, 5, 20, 20),))}
            with pytest.raises(WrongUseError, match="A box is no outline yet"):
                recording.lock(store, session, task.position, box)
            heart: Values = {"heart": MaskAnswer(Mask.of_array(pixels))}
            recording.lock(store, session, task.position, heart)
    (found,) = mask_agreement(store, session)
    assert found.masks == len(cases.queue(store, session))
    assert found.dice.value == pytest.approx(2 * 15 / (20 + 20))
    capsys.readouterr()
    overread("readings", "--session", session, "--store", store)
    assert "0.750" in capsys.readouterr().out
    files = {path.name: path for path in export_readings(store, session, tmp_path)}
    for old in folder.glob("anatomy*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copy(files["anatomy_b.json"], folder)
    other = tmp_path / "other.sqlite"
    overread("import", "vindr", folder, "--name", "again", "--store", other)
    with open_store(other) as opened:
        images = store_cases.dataset_named(opened, "again").images
    hearts = [image.anatomy["Heart"].array() for image in images]
    assert all(np.array_equal(heart[15:35, 5:25].all(), True) for heart in hearts)
    assert {int(heart.sum()) for heart in hearts} == {20 * 20}


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize(("follows", "trust"), [(True, 1.0), (False, 0.0)])
def test_that_a_panel_beside_a_models_choices_trusts_them_or_not(
    arm: Arm, follows: bool, trust: float, questions: tuple[Path, Path]
) -> None:
    _, store = questions
    aid = Aid(1, "knows", arm, wrong=0.5)
    wanted = TaskWanted("pathology_mcq", "panel", "people", panel="II", aid=aid)
    reader = f"Aided {arm} {follows}"
    session = open_task(store, wanted, reader)
    with pytest.raises(WrongUseError, match="has not agreed"):
        recording.lock(store, session, 0, {"answer": "A"})
    recording.consent(store, session)
    for shown in cases.queue(store, session):
        right = right_of(store, session, shown.position)
        task, last = shown, "answer"
        if shown.arm is Arm.AFTER:
            assert not shown.advice
            last = "answer_again"
            task = recording.lock(store, session, shown.position, {"answer": right})
        (told,) = task.advice.values()
        chosen = told if follows else right
        recording.lock(store, session, shown.position, {last: chosen})
    every = [e for e in effects(store, session) if e.reader.endswith(str(follows))]
    assert sum(found.cases for found in every) == len(cases.queue(store, session))
    assert {found.over_trust.value for found in every} == {trust}
    for found in every[: arm is not Arm.FROM_START]:
        share = found.wrong / found.cases
        assert found.gain.value == pytest.approx(-share if follows else 0)
        assert found.automation_bias.value == (-1 if follows else 0)
    with open_store(store) as opened:
        read = [*locked_cases(opened, ground_of(opened, session))]
        held = datasets.dataset_named(opened, "people")
    item = next(item for item in held.items if item.key == read[0].item)
    final = option_of(str(latest_values(read[0].values)["answer"]))
    assert ["II", reader, final] in item.reference["experts"]  # type: ignore[operator]


def right_of(store: Path, session: SessionId, position: int) -> str:
    with open_store(store) as opened:
        item = readings.tasks_of(opened, session)[position].item
        held = store_cases.dataset_named(opened, "people")
    return letter_of(mcq_of(next(i for i in held.items if i.key == item)).correct)
