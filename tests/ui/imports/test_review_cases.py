"""What a model prepared of reports, reviewed in the window."""

import csv
import json
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.medsyn import read
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import open_store
from viewer.ui.dialogs.review_cases import ReviewCases

REPORT = (
    "Background: A man has had a cough.\n"
    "Captions: Figure 1. CT shows nodes. Figure 2. Granulomas.\n"
    "Diagnosis: Sarcoidosis\n"
)
EXTRACTED = {
    "Case ID": "r1",
    "Modality": "CT, Pathology",
    "Patient Background": "A man has had a cough.",
    "CT Findings": "CT shows nodes. (Figure 1 caption)",
    "Pathology Findings": "Granulomas.\n\nNecrosis.",
}
WRONG = {
    "ground_truth": "Sarcoidosis",
    "distractors": ["Tuberculosis", "Lymphoma", "Histoplasmosis"],
}
SAID = {
    "r1|extraction|extraction": json.dumps(EXTRACTED),
    "r1|distractors|extraction": json.dumps(EXTRACTED),
    "r1|distractors|differential": "1. Sarcoidosis\n2. Tuberculosis\n3. Lymphoma\n"
    "4. Histoplasmosis",
    "r1|distractors|distractors": json.dumps(WRONG),
}


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """Prepare a report; return where its case is to be written."""
    (tmp_path / "reports" / "r1").mkdir(parents=True)
    (tmp_path / "reports" / "r1" / "report.txt").write_text(REPORT)
    for name in ("ct.png", "pathology.png"):
        Image.new("L", (8, 8)).save(tmp_path / "reports" / "r1" / name)
    answers = tmp_path / "said.json"
    answers.write_text(json.dumps(SAID))
    spec = a_spec(
        [ModelProfile("m", "scripted", {"answers_file": str(answers)})],
        study="evidence_diagnosis",
        dataset="reports",
        params={"tasks": ["extraction", "distractors"]},
    )
    with open_store(settings.store) as store:
        cases.add_dataset(store, read(tmp_path / "reports", "reports"))
        plan_and_finish(store, spec)
    return tmp_path / "reports-reviewed"


@pytest.fixture
def page(qtbot: QtBot, settings: Settings, folder: Path) -> ReviewCases:
    page = ReviewCases(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    assert page.folder.text() == str(folder)
    return page


def row_of(page: ReviewCases, field: str) -> int:
    rows = {
        item.text(): row
        for row in range(page.table.rowCount())
        if (item := page.table.item(row, 0))
    }
    return rows[field]


def write(page: ReviewCases, field: str, text: str) -> None:
    item = page.table.item(row_of(page, field), 1)
    assert item is not None
    item.setText(text)


def decide(page: ReviewCases, field: str, verdict: str) -> None:
    choice = page.verdicts[row_of(page, field)]
    choice.setCurrentIndex(choice.findData(verdict))
    choice.activated.emit(choice.currentIndex())


@pytest.mark.statement("E004-03", "E004-23")
def test_that_fields_are_accepted_and_edited_and_make_a_case(
    page: ReviewCases, folder: Path, qtbot: QtBot
) -> None:
    page.reader.setText("Dr. A")
    write(page, "Specialty", "Respiratory medicine")
    assert page.verdicts[row_of(page, "Specialty")].currentData() == "edit"
    write(page, "Microscopy finding", "Granulomas.\nNo necrosis.")
    page.rest.click()
    assert page.foot.sentence.text() == "r1: 10 of 10 fields are decided."
    with qtbot.waitSignal(page.written, timeout=20_000) as written:
        page.foot.go.click()
    assert written.args == [folder]
    document = json.loads((folder / "r1" / "case.json").read_text())
    assert document["specialty"] == "Respiratory medicine"
    assert [one["finding"] for one in document["evidence"]] == [
        "CT shows nodes.",
        "Granulomas.\nNo necrosis.",
    ]
    assert (folder / "r1" / "ct.png").is_file()
    assert len(read(folder, "mine").items) == 1
    with (folder / "review.csv").open(encoding="utf-8", newline="") as stream:
        readers = {row["reader"] for row in csv.DictReader(stream) if row["verdict"]}
    assert readers == {"Dr. A"}


def test_that_decisions_are_there_again_and_a_verdict_undoes_an_edit(
    page: ReviewCases, settings: Settings, qtbot: QtBot
) -> None:
    write(page, "History", "Cough.")
    decide(page, "CT finding", "reject")
    decide(page, "History", "accept")
    history = page.table.item(row_of(page, "History"), 1)
    assert history is not None
    assert history.text() == "A man has had a cough."
    decide(page, "Specialty", "edit")  # nothing is written yet, so nothing is decided
    assert page.foot.sentence.text() == "r1: 2 of 10 fields are decided."
    page.foot.go.click()
    qtbot.waitUntil(lambda: "0 cases written" in page.foot.sentence.text())
    assert "The case 'r1' is not finished: 8 of 10 fields" in page.foot.sentence.text()
    again = ReviewCases(settings)
    again.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(again)
    qtbot.waitUntil(again.foot.go.isEnabled, timeout=20_000)
    found = {
        name: again.verdicts[row_of(again, name)].currentData()
        for name in ("History", "CT finding", "Specialty")
    }
    assert found == {"History": "accept", "CT finding": "reject", "Specialty": ""}


def test_that_what_a_case_lacks_is_to_be_written_in_the_review(
    page: ReviewCases, folder: Path, qtbot: QtBot
) -> None:
    write(page, "Specialty", "Respiratory medicine")
    decide(page, "History", "reject")
    page.rest.click()
    page.foot.go.click()
    qtbot.waitUntil(lambda: "0 cases written" in page.foot.sentence.text())
    told = "The case 'r1' has no text 'history'. Edit its fields in the review."
    assert told in page.foot.sentence.text()
    assert not (folder / "r1").exists()


def test_that_closing_at_once_loses_no_decision(
    page: ReviewCases, folder: Path, qtbot: QtBot
) -> None:
    page.rest.click()
    decide(page, "CT finding", "reject")
    page.foot.leave.click()
    qtbot.waitUntil(lambda: not page.isVisible())
    with (folder / "review.csv").open(encoding="utf-8", newline="") as stream:
        found = {row["field"]: row["verdict"] for row in csv.DictReader(stream)}
    assert (found["CT finding"], found["distractor 3"]) == ("reject", "accept")


def test_that_what_does_not_stand_in_the_report_is_pointed_out(
    page: ReviewCases,
) -> None:
    row = row_of(page, "Microscopy finding")
    within = page.table.item(row, 2)
    assert within is not None
    assert within.text() == "no"
    page.table.setCurrentCell(row, 1)
    assert "does not stand in the report" in page.source.toPlainText()


def test_that_without_a_prepared_report_the_page_says_how_to_get_one(
    qtbot: QtBot, settings: Settings
) -> None:
    page = ReviewCases(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: "No run has prepared" in page.foot.sentence.text())
    assert not page.foot.go.isEnabled()
