"""An image view of a known size, and images and answers to show in it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from viewer.domain.answer import Status
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.result import Outcome, Score
from viewer.services.answers import StoredAnswer
from viewer.services.view_image import CornerText, ShownImage
from viewer.ui.canvas.image_view import ImageView

MakeShown = Callable[..., ShownImage]
MakeAnswer = Callable[..., StoredAnswer]


def pixels(widget: QWidget) -> npt.NDArray[np.uint8]:
    """Return what a widget paints as (rows, columns, 3) RGB in device pixels."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8)
    rows = rows.reshape(image.height(), image.bytesPerLine())
    packed = rows[:, : image.width() * 3].copy()
    return packed.reshape(image.height(), image.width(), 3)


def drag(view: ImageView, start: QPoint, end: QPoint, button: Qt.MouseButton) -> None:
    """Press, move in two steps and let go, as a hand does."""
    target = view.viewport()
    QTest.mousePress(target, button, Qt.KeyboardModifier.NoModifier, start)
    for at in ((start + end) / 2, end):
        event = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            QPointF(at),
            QPointF(target.mapToGlobal(at)),
            Qt.MouseButton.NoButton,
            button,
            Qt.KeyboardModifier.NoModifier,
        )
        view.mouseMoveEvent(event)
    QTest.mouseRelease(target, button, Qt.KeyboardModifier.NoModifier, end)


@pytest.fixture
def make_shown() -> MakeShown:
    def make(image: PixelImage | None = None, **header: object) -> ShownImage:
        if image is None:
            ramp = np.arange(600 * 500).reshape(600, 500) % 4096
            image = PixelImage(ramp.astype(np.uint16), Photometric.MONOCHROME2)
        ref = ImageRef(Path("somewhere.dcm"))
        known: dict[str, object] = {
            "ref": ref,
            "size": image.size,
            "frames": 1,
            "modality": "DX",
            "view": View.FRONTAL,
            "laterality": "",
            "patient_orientation": (),
            "patient_key": "p",
            "study_key": "s",
            "series_key": "e",
        }
        known |= header
        corners = CornerText((), (), (), ())
        made = ImageHeader(**known)  # type: ignore[arg-type]
        return ShownImage(made.ref, made, image, corners)

    return make


@pytest.fixture
def view(qtbot: QtBot) -> ImageView:
    made = ImageView()
    qtbot.addWidget(made)
    made.resize(420, 380)
    made.show()
    return made


@pytest.fixture
def make_answer() -> MakeAnswer:
    def make(
        label: str = "C2",
        outcome: Outcome | None = Outcome.MISS,
        status: Status = Status.SCORED_WRONG,
        model: str = "asymmetry",
        grid: Grid | None = None,
        field: BoxPx | None = None,
    ) -> StoredAnswer:
        return StoredAnswer(
            trial=7,
            run=3,
            ref=ImageRef(Path("somewhere.dcm")),
            finding="Nodule",
            view="frontal",
            model=model,
            adapter="scripted",
            grid=grid or Grid(8, 8),
            field=field or BoxPx(0, 50, 500, 550),
            score=Score(status, "", label, 0.0, outcome),
            reference_cells=("D4",),
            reply_text="C2",
            note="",
            latency_ms=5,
            cost_microusd=None,
            model_returned="asymmetry-1.2",
            prompt_sha256="ab" * 32,
            request_sha256="cd" * 32,
            parameters={"temperature": "0"},
            asked_at="2026-01-01T00:00:00Z",
        )

    return make
