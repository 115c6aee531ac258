"""An image view of a known size, and images and answers to show in it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.random_answers import a_stored_answer
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.image import Photometric, PixelImage
from viewer.services.inspecting.answers import StoredAnswer
from viewer.services.viewing.view_image import CornerText, ShownImage
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
    def make(
        image: PixelImage | None = None,
        geometry: Mapping[str, Any] = MappingProxyType({}),
        **header: object,
    ) -> ShownImage:
        if image is None:
            ramp = np.arange(600 * 500).reshape(600, 500) % 4096
            image = PixelImage(ramp.astype(np.uint16), Photometric.MONOCHROME2)
        image = replace(image, geometry=replace(image.geometry, **geometry))
        ref = ImageRef(Path("somewhere.dcm"))
        known: dict[str, object] = {
            "ref": ref,
            "geometry": image.geometry,
            "frames": 1,
            "modality": "DX",
            "view": View.FRONTAL,
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
    return a_stored_answer
