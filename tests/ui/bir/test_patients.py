"""Whose images these are: the patient's identity, and two patients side by side."""

from pathlib import Path

import pydicom
import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom, write_picture
from viewer.ui.panels.read.hanging_line import LayoutChosen
from viewer.ui.workspaces.read import ReadWorkspace


def _film(path: Path, **tags: str) -> Path:
    write_dicom(path, view_position="PA")
    header = pydicom.dcmread(path)
    header.StudyInstanceUID = f"1.2.{path.stem}"
    for name, value in tags.items():
        setattr(header, name, value)
    header.save_as(path)
    return path


def _open(qtbot: QtBot, read: ReadWorkspace, folder: Path, count: int) -> list[str]:
    """Return the words over the rows of the patients, once all is listed."""
    read.open_paths([folder])
    tree = read.browser.tree
    qtbot.waitUntil(lambda: len(list(tree.rows())) == count)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    qtbot.waitUntil(lambda: read.hanging.line.findChild(QToolButton) is not None)
    return [case.text(0) for case in tree._cases()]


def _place_second(read: ReadWorkspace) -> str:
    """Hang the last row beside the first, and return what the bar warns of."""
    bar = read.lightbox.patients
    assert bar.isHidden()
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 2))
    *_, last = read.browser.tree.rows()
    read.hanging.place(read.lightbox.viewports[1], last.stack)
    return bar.words.text() if bar.isVisible() else ""


def test_b06_a_patient_is_one_row_and_two_side_by_side_are_warned_of(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    jane = {"PatientID": "1", "PatientName": "Doe^Jane", "PatientBirthDate": "19580302"}
    _film(folder / "1.dcm", **jane)
    _film(folder / "2.dcm", **jane)
    _film(folder / "3.dcm", PatientID="2", PatientName="Roe^Jane")
    words = _open(qtbot, read, folder, 3)
    assert words == ["Doe, Jane · 1", "Roe, Jane · 2"]
    warned = _place_second(read)
    assert warned == "Images of 2 patients side by side: 1 and 2"
    read.hanging.place(
        read.lightbox.viewports[1], list(read.browser.tree.rows())[1].stack
    )
    assert read.lightbox.patients.isHidden()


@pytest.mark.parametrize(
    ("first", "second", "warning"),
    [
        ("Doe^Jane", "Roe^Jane", "several names side by side: Doe, Jane and Roe, Jane"),
        ("Doe^Jane", "DOE^JANE^", ""),
        ("Doe^Jane", "", ""),
    ],
)
def test_b06_one_identifier_of_two_names_is_warned_of(
    qtbot: QtBot,
    read: ReadWorkspace,
    tmp_path: Path,
    first: str,
    second: str,
    warning: str,
) -> None:
    _film(tmp_path / "in" / "1.dcm", PatientID="1", PatientName=first)
    _film(tmp_path / "in" / "2.dcm", PatientID="1", PatientName=second)
    _open(qtbot, read, tmp_path / "in", 2)
    assert _place_second(read).endswith(warning)


def test_b06_one_identifier_of_two_dates_of_birth_is_warned_of(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    _film(tmp_path / "in" / "1.dcm", PatientID="1", PatientBirthDate="19580302")
    _film(tmp_path / "in" / "2.dcm", PatientID="1", PatientBirthDate="19680302")
    _open(qtbot, read, tmp_path / "in", 2)
    assert _place_second(read).endswith("dates of birth: 19580302 and 19680302")


def test_b06_pictures_of_two_folders_may_be_of_two_patients(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    write_picture(tmp_path / "in" / "a" / "1.png")
    write_picture(tmp_path / "in" / "b" / "2.png")
    _open(qtbot, read, tmp_path / "in", 2)
    assert _place_second(read).startswith("These images name no patient")


def test_that_the_earlier_of_two_studies_of_a_day_is_the_prior(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    day = {"PatientID": "1", "StudyDate": "20260302"}
    _film(tmp_path / "in" / "1.dcm", StudyTime="141500", **day)
    _film(tmp_path / "in" / "2.dcm", StudyTime="0805", **day)
    _film(tmp_path / "in" / "3.dcm", StudyTime="120000.5", **day)
    _open(qtbot, read, tmp_path / "in", 3)
    names = [row.stack.name for row in read.browser.tree.rows()]
    assert names == ["1.dcm", "3.dcm", "2.dcm"]  # the most recent is read first
    entry = read.browser.tree.listing.entries[0]
    priors = [study[0].name for study in entry.chosen().priors]
    assert priors == ["3.dcm", "2.dcm"]
