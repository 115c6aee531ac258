"""The tags of a file: search, sequences, character sets, copy, private tags marked."""

from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from tests.helpers.make_presentation import item
from tests.ui.bir.conftest import Open
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.tag_list import TagList
from viewer.ui.workspaces.read import ReadWorkspace

NAME = "Yamada^Tarou=山田^太郎=やまだ^たろう"
ROLE = Qt.ItemDataRole.FontRole


def _tagged() -> Dataset:
    code = item(CodeValue="T-28000", CodeMeaning="Lung")
    dataset = dicom_dataset(np.zeros((8, 8), np.uint8), Modality="CR")
    dataset.SpecificCharacterSet = ["", "ISO 2022 IR 87"]
    dataset.PatientName = NAME
    dataset.AnatomicRegionSequence = [code, item(CodeMeaning="Lobe")]
    block = dataset.private_block(0x0019, "ACME 1.0", create=True)
    block.add_new(0x10, "LO", "gain 7")
    return dataset


@pytest.fixture
def tags(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> TagList:
    """The tags of a file, as the action lists them."""
    folder = tmp_path / "tags"
    folder.mkdir()
    save_dicom(_tagged(), folder / "x.dcm")
    opened(folder)
    context.actions["image.tags"].trigger()
    qtbot.waitUntil(lambda: read.findChild(TagList) is not None)
    found = read.findChild(TagList)
    assert isinstance(found, TagList)
    return found


def _rows(tags: TagList) -> list[tuple[str, str, str]]:
    found = tags.found
    return [
        (*(str(found.index(n, c).data()) for c in (0, 1, 3)),)  # type: ignore[misc]
        for n in range(found.rowCount())
    ]


def test_that_a_name_in_another_character_set_is_read_and_found(tags: TagList) -> None:
    tags.search.setText("山田")
    ((tag, keyword, value),) = _rows(tags)
    assert (tag, keyword, value) == ("(0010,0010)", "PatientName", NAME)


def test_that_items_of_sequences_are_indented_and_found(tags: TagList) -> None:
    tags.search.setText("Lung")
    ((tag, keyword, value),) = _rows(tags)
    assert (tag, keyword, value) == ("  (0008,0104)", "CodeMeaning", "Lung")
    tags.search.setText("AnatomicRegion")
    assert _rows(tags)[0][2] == "2 item(s)"
    assert tags.count.text().startswith("1 of ")


def test_that_private_tags_are_marked_with_whose_they_are(tags: TagList) -> None:
    tags.search.setText("private")
    creator, gain = _rows(tags)
    assert creator == ("(0019,0010)", "Private: creator", "ACME 1.0")
    assert gain == ("(0019,1010)", "Private: ACME 1.0", "gain 7")
    font = tags.found.index(0, 0).data(ROLE)
    assert isinstance(font, QFont)
    assert font.italic()
    tags.search.setText("PatientName")
    assert tags.found.index(0, 0).data(ROLE) is None


def test_that_chosen_rows_are_copied(tags: TagList) -> None:
    tags.search.setText("gain")
    tags.view.selectRow(0)
    tags.view.setFocus()
    tags._copy()
    copied = QGuiApplication.clipboard().text()
    assert copied == "(0019,1010)\tPrivate: ACME 1.0\tLO\tgain 7"
    QTest.keyClick(tags.search, Qt.Key.Key_Escape)
