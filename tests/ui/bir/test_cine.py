"""B25: cine (IHE BIR 5.9)."""

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import SLICES, Open
from viewer.domain.annotation import Tag
from viewer.ui.application.app_context import AppContext
from viewer.ui.panels.read.cine import CineBar, file_rate
from viewer.ui.workspaces.read import ReadWorkspace


def test_b25_cine_plays_at_once_loops_and_has_every_control(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    opened(series)
    active = read.lightbox.active
    seen: list[int] = []
    active.image_shown.connect(lambda _: seen.append(active.position))
    context.actions["image.cine"].trigger()
    (bar,) = read.findChildren(CineBar)
    assert bar.timer.isActive()
    bar.rate.setValue(60)
    qtbot.waitUntil(lambda: len(seen) > SLICES + 2)
    steps = {(b - a) % SLICES for a, b in pairwise(seen)}
    assert steps == {1}  # none is left out, and the first follows the last
    context.actions["image.cine"].trigger()
    assert not bar.timer.isActive()
    press = {button.objectName(): button for button in bar.findChildren(QToolButton)}
    press["last"].click()
    assert active.position == SLICES - 1
    press["first"].click()
    press["step"].click()
    press["step"].click()
    press["back"].click()
    assert active.position == 1
    bar.loop.setChecked(False)
    press["play"].click()
    qtbot.waitUntil(lambda: not bar.timer.isActive())
    assert active.position == SLICES - 1
    press["play"].click()
    qtbot.waitUntil(lambda: 0 < active.position < SLICES - 1)
    press["stop"].click()
    assert (active.position, bar.timer.isActive()) == (0, False)
    press["close"].click()
    assert not bar.isVisible()


def test_b25_there_is_nothing_to_play_in_a_single_image(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    opened(radiograph)
    said = []
    context.notices.posted.connect(lambda notice: said.append(notice.what))
    context.actions["image.cine"].trigger()
    assert said == ["There is one image, so nothing to play."]


@pytest.mark.parametrize(
    ("keyword", "value", "rate"),
    [
        ("RecommendedDisplayFrameRate", "24", 24),
        ("CineRate", "30", 30),
        ("FrameTime", "40.0", 25),
        ("FrameTime", "soon", 0),
        ("PatientName", "Doe", 0),
    ],
)
def test_that_the_rate_is_the_file_s(keyword: str, value: str, rate: int) -> None:
    assert file_rate((Tag("", keyword, "DS", value, 0),)) == rate
