"""Files for multi-reader analysis, read back without the code that wrote them."""

import csv
import io
import json
import math
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.helpers.reviewed_run import FINDINGS, dataset, reviewed_run
from viewer.domain.answer import CellAnswer, PointAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import PlaceKind
from viewer.domain.form_catalog import ANATOMY, PLACE, READER_TASK, UNSURE, VERDICT
from viewer.domain.form_values import Absent
from viewer.domain.geometry import PointPx
from viewer.domain.grid import Cell
from viewer.domain.reading import Interval, SessionId
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.entering import enter
from viewer.services.readings.mrmc import doubts, export_readings
from viewer.store import cases as data_sets
from viewer.store.database import open_store

HIT, MISS = CellAnswer(Cell(0, 0)), CellAnswer(Cell(7, 7))
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@dataclass
class Imrmc:
    """What iMRMC takes from a file: the truth by case, scores by reader and case."""

    truth: dict[str, int] = field(default_factory=dict)
    scores: dict[tuple[str, str], float] = field(default_factory=dict)
    modalities: set[str] = field(default_factory=set)


def read_imrmc(text: str) -> Imrmc:
    """Read a file as its documentation says, and refuse what iMRMC refuses.

    https://github.com/DIDSR/iMRMC: the sizes stand before BEGIN DATA: with a colon, and
    spaces in fields are dropped; a case without truth, two truths, and two scores of a
    reader for a case are errors.
    """
    lines = text.splitlines()
    begin = [line.upper() for line in lines].index("BEGIN DATA:")
    sizes = {
        line[:2]: int(line[3:].strip())
        for line in lines[:begin]
        if line[:3] in {"N0:", "N1:", "NR:", "NM:"}
    }
    found = Imrmc()
    rows = [re.sub(r"\s", "", line).split(",") for line in lines[begin + 1 :]]
    for reader, case, _, score in rows:
        if reader == "-1":
            assert case not in found.truth
            found.truth[case] = int(score)
    for reader, case, modality, score in rows:
        if reader != "-1":
            assert case in found.truth
            assert (reader, case) not in found.scores
            found.scores[reader, case] = float(score)
            found.modalities.add(modality)
    truth = Counter(found.truth.values())
    readers = {reader for reader, _ in found.scores}
    told = truth[0], truth[1], len(readers), len(found.modalities)
    assert told == tuple(sizes[name] for name in ("N0", "N1", "NR", "NM"))
    return found


def check_rjafroc(sheets: Mapping[str, list[list[str]]]) -> None:
    """Refuse what RJafroc refuses in a workbook of its old format.

    https://github.com/dpc10ster/RJafroc, ReadJAFROCOldFormat.R.
    """
    tables = {name.upper(): rows[1:] for name, rows in sheets.items()}
    truth = [(int(case), int(lesion), float(w)) for case, lesion, w in tables["TRUTH"]]
    known = [(case, lesion) for case, lesion, _ in truth]
    assert len(set(known)) == len(known)
    of_case: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for case, lesion, weight in truth:
        of_case[case].append((lesion, weight))
    for lesions in of_case.values():
        if lesions[0][0] == 0:
            assert lesions == [(0, 0.0)]
        else:
            assert sum(weight for _, weight in lesions) == pytest.approx(1, abs=0.01)
    for reader, modality, number, rating in tables["FP"]:
        assert reader
        assert modality
        assert int(number) in of_case
        assert float(rating) > -math.inf
    hits = [(*row[:2], int(row[2]), int(row[3])) for row in tables["TP"]]
    assert len(set(hits)) == len(hits)
    assert {hit[2:] for hit in hits} <= set(known)


def _root(text: bytes) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - the test has just made it


def _sheets(path: Path) -> dict[str, list[list[str]]]:
    """Return a workbook's cells by sheet, as text."""
    with zipfile.ZipFile(path) as archive:
        book = _root(archive.read("xl/workbook.xml"))
        names = [sheet.attrib["name"] for sheet in book.iter(f"{_SHEET}sheet")]
        sheets = {}
        for number, name in enumerate(names, 1):
            root = _root(archive.read(f"xl/worksheets/sheet{number}.xml"))
            sheets[name] = [
                ["".join(cell.itertext()) for cell in row]
                for row in root.iter(f"{_SHEET}row")
            ]
    return sheets


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two readers over three images and two findings; B stops half-way."""
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(3, laterals=0))
    for reader, done in (("A, the first", 6), ("B", 3)):
        session = opening.open_reader_study(path, "reviewed", READER_TASK, reader)
        for position in range(done):
            place = HIT if position % 2 == 0 else MISS
            recording.lock(
                path,
                session,
                position,
                {PLACE: place, "confidence": 1 + position % 5},
                activity=[Interval(0, 1500)],
            )
    return path


def test_that_every_locked_case_is_a_row_with_its_verdict(
    study: Path, tmp_path: Path
) -> None:
    export_readings(study, SessionId(2), tmp_path / "out")
    rows = _read(tmp_path / "out" / "readings.csv")
    assert [row["reader"] for row in rows] == ["A, the first"] * 6 + ["B"] * 3
    for row in rows:
        hit = int(row["position"]) % 2 == 0
        assert row["status"] == ("scored_correct" if hit else "scored_wrong")
        assert row["outcome"] == ("full" if hit else "miss")
        assert row["cell"] == ("A1" if hit else "H8")
        assert row["coverage"] == ("1.0" if hit else "0.0")
        assert row["active_s"] == "1.5"
        assert json.loads(row["place"])["place"]["cell"] == ([0, 0] if hit else [7, 7])
        assert row["model"] == ""


def test_that_imrmc_gets_one_truth_a_patient_and_one_score_a_reading(
    study: Path, tmp_path: Path
) -> None:
    export_readings(study, SessionId(1), tmp_path / "out")
    told = _read(tmp_path / "out" / "readings.csv")
    cases_of = {row["item"]: row["case"] for row in _read(tmp_path / "out/cases.csv")}
    for finding in FINDINGS:
        name = f"study_{finding.lower()}.imrmc"
        read = read_imrmc((tmp_path / "out" / name).read_text("utf-8"))
        assert read.truth == dict.fromkeys("123", 1)
        assert read.modalities == {"image"}
        expected = {
            (
                row["reader"].replace(", ", "_").replace(" ", "_"),
                cases_of[row["item"]],
            ): (float(row["confidence"]) if row["status"] == "scored_correct" else 0)
            for row in told
            if row["finding"] == finding
        }
        assert read.scores == expected


def test_that_rjafroc_gets_marks_on_and_off_the_finding(
    study: Path, tmp_path: Path
) -> None:
    export_readings(study, SessionId(1), tmp_path / "out")
    told = _read(tmp_path / "out" / "readings.csv")
    mine = [r for r in told if (r["reader"], r["finding"]) == ("A, the first", "Edema")]
    sheets = _sheets(tmp_path / "out" / "study_edema.xlsx")
    assert list(sheets) == ["TP", "FP", "TRUTH"]
    assert sheets["TP"][0] == (
        ["ReaderID", "ModalityID", "CaseID", "LesionID", "TP_Rating"]
    )
    assert sheets["FP"][0] == ["ReaderID", "ModalityID", "CaseID", "FP_Rating"]
    assert sheets["TRUTH"] == [
        ["CaseID", "LesionID", "Weight"],
        *([str(case), "1", "1"] for case in range(1, 4)),
    ]
    marks = [row[-1] for row in sheets["TP"][1:] if row[0] == "A, the first"]
    hits = [r["confidence"] for r in mine if r["status"] == "scored_correct"]
    assert sorted(marks) == sorted(hits)
    read = sum(row["finding"] == "Edema" for row in told)
    assert len(sheets["TP"]) + len(sheets["FP"]) == 2 + read
    numbered = {row["case"]: row["item"] for row in _read(tmp_path / "out/cases.csv")}
    assert len(numbered) == 3
    check_rjafroc(sheets)


def test_that_names_that_imrmc_would_take_for_one_stay_two(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(2, laterals=0, findings=("Edema",)))
    names = ("Ann B", "Ann_B", "Ann,B", "-1")
    for level, name in enumerate(names, 1):
        session = opening.open_reader_study(path, "reviewed", READER_TASK, name)
        for position in range(2):
            recording.lock(path, session, position, {PLACE: HIT, "confidence": level})
    export_readings(path, SessionId(1), tmp_path / "out")
    found = read_imrmc((tmp_path / "out" / "study.imrmc").read_text("utf-8"))
    by_reader = {reader: score for (reader, _), score in found.scores.items()}
    assert by_reader == {"Ann_B": 1, "Ann_B_2": 2, "Ann_B_3": 3, "-1_2": 4}


@pytest.fixture
def views(tmp_path: Path) -> Path:
    """A patient with two films, and one with a single film."""
    path = tmp_path / "s.sqlite"
    held = dataset(3, laterals=0, findings=("Edema",))
    first, second, third = held.images
    films = (first, replace(second, patient=first.patient), third)
    with open_store(path) as store:
        data_sets.add_dataset(store, replace(held, images=films))
    session = opening.open_reader_study(path, "reviewed", READER_TASK, "R")
    for task in cases.queue(path, session):
        place = HIT if task.position else MISS
        recording.lock(
            path,
            session,
            task.position,
            {PLACE: place, "confidence": 2 + task.position},
        )
    return path


def test_that_a_patient_is_the_case_whatever_the_number_of_images(
    views: Path, tmp_path: Path
) -> None:
    export_readings(views, SessionId(1), tmp_path)
    told = _read(tmp_path / "readings.csv")
    held = _read(tmp_path / "cases.csv")
    patients = {row["case"] for row in held}
    assert len(held) > len(patients)
    lines = (tmp_path / "study.imrmc").read_text("utf-8").splitlines()
    assert lines[2] == f"N1: {len(patients)}"
    scores = {line.split(",")[1]: line[-1] for line in lines if line[:2] == "R,"}
    for case in patients:
        items = {row["item"] for row in held if row["case"] == case}
        ratings = [
            int(row["confidence"]) * (row["status"] == "scored_correct")
            for row in told
            if row["item"] in items
        ]
        assert int(scores[case]) == max(ratings)
    truth = _sheets(tmp_path / "study.xlsx")["TRUTH"][1:]
    assert len({(case, lesion) for case, lesion, _ in truth}) == len(held)
    for case in patients:
        weights = [float(weight) for number, _, weight in truth if number == case]
        assert sum(weights) == pytest.approx(1)


def test_that_a_study_without_normal_patients_says_that_no_auc_is_defined(
    views: Path,
) -> None:
    assert doubts(views, SessionId(1)) == (
        "The area under the ROC curve is not defined: every patient has Edema.",
    )


def test_that_the_same_readings_give_the_same_bytes(
    study: Path, tmp_path: Path
) -> None:
    first = export_readings(study, SessionId(1), tmp_path / "one")
    second = export_readings(study, SessionId(2), tmp_path / "two")
    assert [path.name for path in first] == [
        *("readings.csv", "readers.csv", "agreement.csv"),
        *("study_edema.imrmc", "study_edema.xlsx"),
        *("study_pneumothorax.imrmc", "study_pneumothorax.xlsx"),
        "cases.csv",
    ]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.statement("E000-32")
def test_that_cases_without_the_finding_have_the_truth_0(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        held = dataset(2, laterals=0, findings=("Edema",))
        with_absent = tuple(
            replace(image, labels={**image.labels, "Pneumothorax": False})
            for image in held.images
        )
        data_sets.add_dataset(store, replace(held, images=with_absent))
    session = opening.open_reader_study(
        path, "reviewed", READER_TASK, "R", findings=FINDINGS, absent=True
    )
    tasks = cases.queue(path, session)
    assert len(tasks) == 4
    for task in tasks:
        denies = task.position % 2 == 0
        place = Absent() if denies else HIT
        recording.lock(path, session, task.position, {PLACE: place, "confidence": 4})
    export_readings(path, session, tmp_path)
    written = {
        finding: (tmp_path / f"study_{finding.lower()}.imrmc").read_text("utf-8")
        for finding in FINDINGS
    }
    assert written["Edema"].splitlines()[1:3] == ["N0: 0", "N1: 2"]
    assert written["Pneumothorax"].splitlines()[1:3] == ["N0: 2", "N1: 0"]
    numbered = {row["item"]: row["case"] for row in _read(tmp_path / "cases.csv")}
    for row in _read(tmp_path / "readings.csv"):
        present = row["finding"] == "Edema"
        denied = int(row["position"]) % 2 == 0
        lines = written[row["finding"]].splitlines()
        truths = {n.split(",")[1]: n[-1] for n in lines if n.startswith("-1,")}
        assert truths[numbered[row["item"]]] == str(int(present))
        score = next(
            line.split(",")[3]
            for line in lines
            if line.startswith(f"R,{numbered[row['item']]},")
        )
        assert score == ("0" if denied else "4")
        if present:
            assert row["status"] == ("denied_finding" if denied else "scored_correct")
    assert enter(path, session).added == 0  # the last lock has entered all


def test_that_a_point_beyond_what_was_asked_about_is_out_of_range(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(1, laterals=0))
    session = opening.open_reader_study(
        path, "reviewed", READER_TASK, "A", place=PlaceKind.POINT
    )
    place = PointAnswer(PointPx(9.5, 9.5))
    recording.lock(path, session, 0, {PLACE: place, "confidence": 2})
    export_readings(path, session, tmp_path)
    (row,) = _read(tmp_path / "readings.csv")
    assert (row["status"], row["cell"]) == ("scored_correct", "A1")


def test_that_a_review_is_told_with_its_models_once_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 2)
    session = opening.open_error_review(path, run, "R")
    with pytest.raises(WrongUseError, match="Nothing in the work"):
        export_readings(path, session, tmp_path / "none")
    recording.lock(path, session, 0, {VERDICT: UNSURE})
    recording.resolve(path, session, 0, {VERDICT: ANATOMY}, comment="below")
    cases.reveal(path, session, 0)
    assert [p.name for p in export_readings(path, session, tmp_path)] == [
        "readings.csv",
        "readers.csv",
    ]
    (row,) = _read(tmp_path / "readings.csv")
    assert row["model"].startswith("secret-model")
    assert (row["verdict"], row["resolved"], row["answer"]) == (ANATOMY, "1", "D4")
    assert json.loads(row["first_values"]) == {VERDICT: UNSURE}
