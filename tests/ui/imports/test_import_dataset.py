from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QTableWidget
from pytestqt.qtbot import QtBot

from tests.helpers.item_datasets import report_folder
from tests.helpers.mask_files import DISC, READ, SIDE
from viewer.domain.case import ImageRef
from viewer.domain.reference import Mask
from viewer.services.importing.mask_pictures import MaskShown
from viewer.services.privacy.decisions import restricted_datasets
from viewer.services.running.batch_form import dataset_names
from viewer.settings import Settings
from viewer.ui.dialogs.import_dataset import ImportDataset
from viewer.ui.dialogs.import_reading import FilesRead, Reading, Wanted

_MASK = Mask.of_array(DISC)
TABLE = """\
image_id,rad_id,class_name,x_min,y_min,x_max,y_max
one,R1,Mass,10,10,30,30
one,R2,No finding,,,,
gone,R2,Mass,1,1,5,5
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vindr"
    root.mkdir()
    pixels = np.full((60, 60), 90, dtype=np.uint8)
    Image.fromarray(pixels).save(root / "one.png")
    (root / "train.csv").write_text(TABLE)
    return root


@pytest.fixture
def page(qtbot: QtBot, settings: Settings) -> ImportDataset:
    page = ImportDataset(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    return page


def _cells(table: QTableWidget) -> list[list[str]]:
    rows, columns = range(table.rowCount()), range(table.columnCount())
    items = [[table.item(row, column) for column in columns] for row in rows]
    return [[item.text() if item else "" for item in of_row] for of_row in items]


def test_that_nothing_can_be_imported_before_something_is_chosen(
    page: ImportDataset,
) -> None:
    assert not page.foot.go.isEnabled()
    assert not page.format.isEnabled()
    assert not page.foot.progress.isVisible()


def test_that_the_format_is_found_and_the_counts_are_shown_before_it_registers(
    page: ImportDataset, root: Path, settings: Settings, qtbot: QtBot
) -> None:
    page.open_path(root)
    qtbot.waitUntil(page.foot.go.isEnabled)
    assert page.format.currentData() == "vindr"
    assert page.format.currentText() == "VinDr-CXR CSV  (looks like it)"
    assert page.name.text() == "vindr"
    assert _cells(page.findings) == [["Mass", "2", "0", "1"]]
    assert ["1", "gone: Its file gone is not in the folder."] in _cells(page.notices)
    assert page.foot.sentence.text().startswith(
        "2 images, 2 patients, 1 reference, 2 read"
    )
    assert dataset_names(settings.store) == ()
    page.name.setText("mine")
    page.restricted.setChecked(True)
    with qtbot.waitSignal(page.imported) as imported:
        page.foot.go.click()
    assert imported.args == ["mine"]
    assert dataset_names(settings.store) == ("mine",)
    assert restricted_datasets(settings.store) == {"mine"}
    assert not page.isVisible()


def test_that_masks_are_shown_on_their_images_odd_ones_first(
    page: ImportDataset, tmp_path: Path, qtbot: QtBot
) -> None:
    for name, mask in (("a", "grey-255.png"), ("b", "smooth.png")):
        Image.new("L", (SIDE, SIDE), 90).save(tmp_path / f"{name}_pa.png")
        READ[mask](tmp_path / f"{name}_pa.Edema.png")
    page.open_path(tmp_path)
    qtbot.waitUntil(page.foot.go.isEnabled)
    first, second = page.masks.pictures
    assert page.masks.isVisible()
    said = "b_pa: Edema\nThe mask of Edema has 44 grey levels; those of 128 or more "
    assert first.accessibleName() == f"{said}count as the finding."
    assert second.accessibleName() == "a_pa: Edema"
    qtbot.waitUntil(lambda: not second.pixmap().isNull())
    shown = second.pixmap().toImage()
    side = shown.width()
    inside = shown.pixelColor(50 * side // SIDE, 40 * side // SIDE)
    outside = shown.pixelColor(3, 3)
    assert inside.blue() > inside.red()
    assert outside.blue() == outside.red()


def test_that_a_mask_whose_image_is_gone_says_so(
    page: ImportDataset, tmp_path: Path, qtbot: QtBot
) -> None:
    masks = (MaskShown("a", "Edema", ImageRef(tmp_path / "a.png"), _MASK, ()),)
    page.masks.show_masks(masks)
    (picture,) = page.masks.pictures
    qtbot.waitUntil(lambda: picture.text() == "a.png does not exist.")
    page.masks.show_masks(())
    assert not page.masks.isVisible()


def test_that_another_format_can_be_said(
    page: ImportDataset, root: Path, qtbot: QtBot
) -> None:
    page.open_path(root)
    qtbot.waitUntil(page.foot.go.isEnabled)
    page.format.setCurrentIndex(page.format.findData("rsna"))
    page.format.activated.emit(page.format.currentIndex())
    qtbot.waitUntil(lambda: "patientId" in page.foot.sentence.text())
    assert not page.foot.go.isEnabled()
    assert _cells(page.findings) == []


def test_that_a_name_that_is_taken_is_said_and_another_one_does(
    page: ImportDataset, root: Path, settings: Settings, qtbot: QtBot
) -> None:
    from viewer.services.importing.import_preview import preview, register

    register(settings.store, preview("folder", root, "vindr"), "vindr")
    page.open_path(root)
    qtbot.waitUntil(page.foot.go.isEnabled)
    page.foot.go.click()
    qtbot.waitUntil(lambda: "other content" in page.foot.sentence.text())
    page.name.setText("another")
    assert page.foot.go.isEnabled()
    with qtbot.waitSignal(page.imported):
        page.foot.go.click()
    assert dataset_names(settings.store) == ("another", "vindr")


def test_that_what_looks_like_nothing_asks_for_the_format(
    page: ImportDataset, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    page.open_path(tmp_path / "notes.txt")
    qtbot.waitUntil(lambda: "any known format. Choose" in page.foot.sentence.text())
    assert not page.foot.go.isEnabled()


def test_that_a_dropped_folder_is_looked_at(
    page: ImportDataset, root: Path, qtbot: QtBot
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(root))])
    copy = Qt.DropAction.CopyAction
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(9, 9), copy, data, left, none)
    QApplication.sendEvent(page, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(page, QDropEvent(QPointF(9, 9), copy, data, left, none))
    qtbot.waitUntil(page.foot.go.isEnabled)
    assert page.path.text() == str(root)


def test_that_progress_is_shown_while_it_reads_and_stopping_registers_nothing(
    page: ImportDataset, root: Path, settings: Settings, qtbot: QtBot
) -> None:
    page.open_path(root)
    assert page.foot.progress.isVisible()
    assert page.foot.stop.isVisible()
    page.foot.stop.click()
    assert page.foot.sentence.text() == "Stopped; nothing was registered."
    assert not page.foot.progress.isVisible()
    qtbot.wait(100)
    assert not page.foot.go.isEnabled()
    assert dataset_names(settings.store) == ()


def test_that_a_reading_tells_of_its_last_file(
    root: Path, qtbot: QtBot, page: ImportDataset
) -> None:
    reading = Reading(page)
    seen: list[object] = []
    told: list[FilesRead] = []
    failed: list[Exception] = []
    reading.progressed.connect(told.append)
    wanted = Wanted("vindr", root, "x", None)
    reading.read(wanted, seen.append, failed.append)
    qtbot.waitUntil(lambda: bool(seen))
    assert told[-1] == FilesRead(1, 1)
    assert not reading.is_under_way
    assert failed == []


def test_that_questions_are_counted_by_kind_where_there_are_no_findings(
    page: ImportDataset, tmp_path: Path, qtbot: QtBot
) -> None:
    assert not page.items.isVisible()
    page.open_path(report_folder(tmp_path / "studies"))
    qtbot.waitUntil(page.foot.go.isEnabled)
    assert page.format.currentData() == "report-studies"
    assert _cells(page.items) == [["temporal", "1"], ["single", "1"]]
    assert page.items.isVisible()
    assert not page.findings.isVisible()


def test_that_every_format_is_offered_by_a_name_of_its_own(page: ImportDataset) -> None:
    offered = [page.format.itemText(i) for i in range(page.format.count())]
    assert len(set(offered)) == len(offered)
    assert {
        "Report studies",
        "MIMIC-CXR-JPG",
        "HEAL-MedVQA",
        "PathMMU",
        "VLMEvalKit table",
        "Labelled tiles",
        "MEDSYN cases",
    } <= set(offered)
