"""B26-B29: measurements (IHE BIR 5.10)."""

from math import hypot
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import SPACING, Open, click
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView


def _length_mm(view: ImageView) -> float:
    start, end = view.marks.marks[-1].points
    return hypot((end.y - start.y) * SPACING[0], (end.x - start.x) * SPACING[1])


def test_b26_a_distance_is_two_clicks(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.length"].trigger()
    click(view, 40, 40)
    click(view, 120, 80)
    assert view.marks.texts == (f"{_length_mm(view):.1f} mm",)


def test_b27_an_angle_is_two_segments_of_four_clicks(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.cobb"].trigger()
    for place in ((20, 40), (120, 40), (120, 90), (40, 60)):
        click(view, *place)
    (text,) = view.marks.texts
    assert float(text.removeprefix("Cobb ").removesuffix("°")) == pytest.approx(
        31.0, abs=1.0
    )


def test_b28_ends_lie_between_pixels_and_lengths_are_in_millimetres(
    opened: Open, context: AppContext, series: Path, radiograph: Path
) -> None:
    view = opened(series)
    context.actions["tool.length"].trigger()
    click(view, 40.4, 40.3)
    click(view, 120.6, 80.7)
    (mark,) = view.marks.marks
    assert any(point.x != round(point.x) for point in mark.points)
    assert view.marks.texts[0].endswith(" mm")
    film = opened(radiograph)
    click(film, 40, 40)
    click(film, 120, 80)
    assert film.marks.texts[0].endswith(" mm at detector")


def test_b29_a_measurement_shows_on_its_slice_only(
    qtbot: QtBot, opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.length"].trigger()
    click(view, 40, 40)
    click(view, 120, 80)
    assert len(view.marks.texts) == 1
    QTest.keyClick(view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: view.marks.texts == ())
    QTest.keyClick(view, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: len(view.marks.texts) == 1)
