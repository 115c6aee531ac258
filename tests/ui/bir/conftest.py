"""The workspace Read with a CT series or a radiograph, for the checklist of IHE BIR.

Each test is named after its number in the checklist: test_b09_... is B9.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.domain.geometry import PointPx
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.workspaces.read import ReadWorkspace

Open = Callable[[Path], ImageView]
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
SLICES, ROWS, COLUMNS = 6, 160, 200
SPACING = (0.8, 0.5)
"""Row and column spacing of the series, in mm: not square."""


@pytest.fixture(autouse=True)
def _own_preferences() -> Iterator[None]:
    preferences.use(Preferences())
    yield
    preferences.use(Preferences())


@pytest.fixture
def context(settings: Settings) -> Iterator[AppContext]:
    """A context with an empty store and a worker that nobody has started."""
    with open_store(settings.store):
        pass
    made = AppContext(settings, WorkerBridge(settings.store))
    yield made
    made.worker.close()


@pytest.fixture
def read(qtbot: QtBot, context: AppContext) -> ReadWorkspace:
    """The workspace Read at 1200 × 800, on the screen."""
    workspace = ReadWorkspace(context)
    qtbot.addWidget(workspace)
    context.actions.handle(workspace.handlers())
    workspace.resize(1200, 800)
    workspace.show()
    return workspace


@pytest.fixture
def opened(qtbot: QtBot, read: ReadWorkspace) -> Open:
    """Open a path in place of what is open, wait for its image, return its view."""

    def open_it(path: Path) -> ImageView:
        read.close_all()
        read.open_paths([path])
        qtbot.waitUntil(
            lambda: read.lightbox.active.shown is not None and not read._opening.running
        )
        return read.lightbox.view

    return open_it


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """The folder of a CT series whose files are not named in the order of slices."""
    folder = tmp_path / "series"
    folder.mkdir()
    for number in range(SLICES):
        ramp = np.add.outer(np.arange(ROWS), np.arange(COLUMNS)) + 100 * number
        dataset = dicom_dataset(
            ramp.astype(np.int16),
            Modality="CT",
            SOPInstanceUID=f"1.2.3.4.5.{number}",
            RescaleSlope=1,
            RescaleIntercept=-1024,
            WindowCenter=["40", "-600"],
            WindowWidth=["400", "1500"],
            PixelSpacing=list(SPACING),
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
            ImagePositionPatient=[0, 0, 5 * number],
            SliceLocation=5 * number,
            SliceThickness=5,
            InstanceNumber=number + 1,
            PatientName="Doe^Jane",
            PatientSex="F",
            PatientAge="067Y",
            PatientBirthDate="19580302",
            InstitutionName="A hospital",
            StudyDescription="CT chest",
            StudyID="ST7",
            AccessionNumber="A123",
            StudyDate="20260302",
            StudyTime="101500",
            SeriesNumber=2,
            SeriesDescription="Axial",
            ContrastBolusAgent="Iohexol",
        )
        save_dicom(dataset, folder / f"{(number * 5) % 7}.dcm")
    return folder


@pytest.fixture
def radiograph(tmp_path: Path) -> Path:
    """A chest radiograph, frontal, MONOCHROME2, with detector spacing."""
    ramp = np.add.outer(np.arange(ROWS), np.arange(COLUMNS)).astype(np.uint16)
    dataset = dicom_dataset(
        ramp,
        bits_stored=12,
        Modality="DX",
        ViewPosition="PA",
        WindowCenter=180,
        WindowWidth=360,
        ImagerPixelSpacing=[0.2, 0.2],
        LossyImageCompression="01",
        LossyImageCompressionRatio=9,
        LossyImageCompressionMethod="ISO_10918_1",
    )
    folder = tmp_path / "film"
    folder.mkdir()
    return save_dicom(dataset, folder / "film.dcm")


@pytest.fixture
def scintigram(tmp_path: Path) -> Path:
    """A bone scan of two frames whose window in the file does not start at zero."""
    counts = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint16) * 4
    dataset = dicom_dataset(
        counts, Modality="NM", WindowCenter=300, WindowWidth=400, NumberOfFrames=2
    )
    dataset.PixelData = counts.tobytes() * 2
    folder = tmp_path / "scintigram"
    folder.mkdir()
    return save_dicom(dataset, folder / "scan.dcm")


def at(view: ImageView, x: float, y: float) -> QPoint:
    """Return a native position in the view's pixels."""
    return view.to_view(PointPx(x, y)).toPoint()


def click(view: ImageView, x: float, y: float) -> None:
    """Click a native position."""
    QTest.mouseClick(view.viewport(), LEFT, NONE, at(view, x, y))


def stroke(
    view: ImageView,
    *points: tuple[float, float],
    keys: Qt.KeyboardModifier = NONE,
) -> list[PointPx]:
    """Paint along native positions; return where the mouse was, in native pixels."""
    screen = [at(view, *point) for point in points]
    QTest.mousePress(view.viewport(), LEFT, keys, screen[0])
    for place in screen[1:]:
        QTest.mouseMove(view.viewport(), place)
    QTest.mouseRelease(view.viewport(), LEFT, keys, screen[-1])
    return [view.to_native(place) for place in screen]
