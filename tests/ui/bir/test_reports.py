"""B34: the report of the study on the screen."""

from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import (
    BasicTextSRStorage,
    EncapsulatedPDFStorage,
    ExplicitVRLittleEndian,
)
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.ui.bir.conftest import LEFT, NONE
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.report_text import ReportText
from viewer.ui.workspaces.read import ReadWorkspace

STUDY = "1.2.3.77"


def _code(meaning: str) -> list[Dataset]:
    code = Dataset()
    code.CodeValue, code.CodingSchemeDesignator = "1", "99TEST"
    code.CodeMeaning = meaning
    return [code]


def _item(kind: str, name: str, **values: object) -> Dataset:
    item = Dataset()
    item.RelationshipType, item.ValueType = "CONTAINS", kind
    item.ConceptNameCodeSequence = _code(name)
    for keyword, value in values.items():
        setattr(item, keyword, value)
    return item


def _measured(number: str, unit: str) -> list[Dataset]:
    measured = Dataset()
    measured.NumericValue, measured.MeasurementUnitsCodeSequence = number, _code(unit)
    return [measured]


def _save(path: Path, kind: str, study: str, **values: object) -> Path:
    report = Dataset()
    report.SOPClassUID, report.SOPInstanceUID = kind, f"1.2.3.9.{len(path.name)}"
    report.StudyInstanceUID, report.SeriesInstanceUID = study, "1.2.3.8"
    report.SpecificCharacterSet, report.ContentDate = "ISO_IR 192", "20260302"
    for keyword, value in values.items():
        setattr(report, keyword, value)
    report.file_meta = FileMetaDataset()
    report.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    report.file_meta.MediaStorageSOPClassUID = report.SOPClassUID
    report.file_meta.MediaStorageSOPInstanceUID = report.SOPInstanceUID
    report.save_as(path, enforce_file_format=True)
    return path


def _text_report(path: Path, study: str = STUDY) -> Path:
    findings = _item("CONTAINER", "Findings")
    findings.ContentSequence = [
        _item("TEXT", "Finding", TextValue="Nodule in the left lobe, né 2020"),
        _item("CODE", "Site", ConceptCodeSequence=_code("Left lung")),
        _item("NUM", "Diameter", MeasuredValueSequence=_measured("12", "mm")),
        _item("NUM", "Volume"),
        _item("PNAME", "Observer", PersonName="Roe^Jane"),
        _item("DATE", "Seen", Date="20260302"),
        _item("IMAGE", "Source"),
    ]
    return _save(
        path, BasicTextSRStorage, study, ConceptNameCodeSequence=_code("Chest report"),
        CompletionFlag="COMPLETE", VerificationFlag="VERIFIED",
        ContentSequence=[findings],
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a radiograph."""
    films = tmp_path / "films"
    films.mkdir()
    make_dicom(
        films / "film.dcm", np.zeros((80, 90), np.uint16), Modality="DX",
        ViewPosition="PA", StudyInstanceUID=STUDY,
    )  # fmt: skip
    return films


@pytest.fixture
def said(context: AppContext) -> list[str]:
    """What the window was told."""
    found = list[str]()
    context.notices.posted.connect(lambda notice: found.append(str(notice)))
    return found


def _open(qtbot: QtBot, read: ReadWorkspace, folder: Path) -> None:
    read.furnish()
    read.open_paths([folder])
    knowledge = read.answering.knowledge
    qtbot.waitUntil(
        lambda: knowledge._current() is not None and not read._opening.running
    )


def _report(qtbot: QtBot, read: ReadWorkspace, context: AppContext) -> ReportText:
    context.actions["image.report"].trigger()
    qtbot.waitUntil(lambda: bool(read.lightbox.findChildren(ReportText)))
    (report,) = read.lightbox.findChildren(ReportText)
    return report


def test_b34_the_report_of_the_study_is_shown(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, folder: Path
) -> None:
    _text_report(folder / "report.dcm")
    _text_report(folder / "of another study.dcm", "1.2.3.78")
    _save(
        folder / "letter.dcm", EncapsulatedPDFStorage, STUDY, DocumentTitle="Letter",
        EncapsulatedDocument=b"%PDF-1.4",
        MIMETypeOfEncapsulatedDocument="application/pdf",
    )  # fmt: skip
    _open(qtbot, read, folder)
    report = _report(qtbot, read, context)
    titles = [report.choice.itemText(n) for n in range(report.choice.count())]
    assert sorted(titles) == [
        "Chest report, 2026-03-02, complete, verified · report.dcm",
        "Letter, 2026-03-02 · letter.dcm",
    ]
    report.choice.setCurrentIndex(titles.index(min(titles)))
    assert report.text.toPlainText().splitlines() == [
        "Findings",
        "  Finding: Nodule in the left lobe, né 2020",
        "  Site: Left lung",
        "  Diameter: 12 mm",
        "  Volume",
        "  Observer: Roe, Jane",
        "  Seen: 20260302",
        "  Source",
    ]
    report.choice.setCurrentIndex(titles.index(max(titles)))
    assert "open letter.dcm with a program" in report.text.toPlainText()


def test_b34_a_report_stays_locked_until_the_reading_is_committed(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    folder: Path,
    said: list[str],
) -> None:
    _text_report(folder / "report.dcm")
    read.furnish()
    context.actions["overlays.read_first"].trigger()
    _open(qtbot, read, folder)
    context.actions["image.report"].trigger()
    assert "locked until you commit" in said[-1]
    assert not read.lightbox.findChildren(ReportText)
    QTest.mouseClick(read.answers.locked.commit, LEFT, NONE)
    qtbot.waitUntil(lambda: not read.answering.knowledge.locked)
    assert "Finding" in _report(qtbot, read, context).text.toPlainText()


def test_b34_without_a_report_it_says_so(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    folder: Path,
    said: list[str],
) -> None:
    _text_report(folder / "of another study.dcm", "1.2.3.78")
    _open(qtbot, read, folder)
    before = len(said)
    context.actions["image.report"].trigger()
    qtbot.waitUntil(lambda: len(said) > before)
    assert "None of the opened files is a report" in said[-1]


@pytest.mark.parametrize("missing", [9, 100, 200, 300])
def test_b34_a_report_that_is_cut_short_is_refused(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    folder: Path,
    said: list[str],
    missing: int,
) -> None:
    path = _text_report(folder / "report.dcm")
    path.write_bytes(path.read_bytes()[:-missing])
    _open(qtbot, read, folder)
    before = len(said)
    context.actions["image.report"].trigger()
    qtbot.waitUntil(lambda: len(said) > before)
    assert "report.dcm" in said[-1]
    assert not read.lightbox.findChildren(ReportText)


def test_b34_without_an_image_it_says_what_to_do(
    read: ReadWorkspace, context: AppContext, said: list[str]
) -> None:
    read.furnish()
    context.actions["image.report"].trigger()
    assert "Open an image first" in said[-1]


def test_that_a_report_is_no_broken_image(
    qtbot: QtBot, read: ReadWorkspace, folder: Path
) -> None:
    path = _text_report(folder / "report.dcm")
    assert pydicom.dcmread(path).SOPClassUID == BasicTextSRStorage
    _open(qtbot, read, folder)
    assert read.lightbox.others == (path,)
