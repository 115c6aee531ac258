"""The cardiothoracic ratio proposed from masks, and corrected by its reader."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.helpers.small_datasets import write_picture
from tests.ui.bir.conftest import LEFT, NONE, at
from tests.ui.canvas.conftest import drag
from viewer.domain.mark import MarkKind
from viewer.domain.reference import Mask
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.measures import cardiothoracic_ratio, proposed_heart
from viewer.ui.workspaces.read import ReadWorkspace

ROWS, COLUMNS = 160, 200
Bits = npt.NDArray[np.bool_]


def _disc(x: float, y: float, a: float, b: float) -> Bits:
    down, across = np.mgrid[:ROWS, :COLUMNS] + 0.5
    return np.asarray(((across - x) / a) ** 2 + ((down - y) / b) ** 2 <= 1)


HEART = _disc(110, 95, 35, 25)
LEFT_LUNG, RIGHT_LUNG = _disc(150, 70, 30, 50), _disc(50, 72, 32, 50)


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A chest radiograph with masks of heart and lungs next to it."""
    folder = tmp_path / "films"
    folder.mkdir()
    ramp = np.add.outer(np.arange(ROWS), np.arange(COLUMNS)).astype(np.uint16)
    make_dicom(
        folder / "film.dcm", ramp, bits_stored=12, Modality="DX", ViewPosition="PA",
        ImagerPixelSpacing=[0.2, 0.2],
    )  # fmt: skip
    for name, bits in (
        ("heart", HEART), ("left lung", LEFT_LUNG), ("right lung", RIGHT_LUNG),
    ):  # fmt: skip
        write_picture(folder / f"film.{name}.png", bits.astype(np.uint8) * 255)
    return folder


@pytest.fixture
def said(context: AppContext) -> list[str]:
    """What the window was told."""
    found = list[str]()
    context.notices.posted.connect(lambda notice: found.append(str(notice)))
    return found


def _open(qtbot: QtBot, read: ReadWorkspace, path: Path) -> ImageView:
    read.furnish()
    read.open_paths([path])
    knowledge = read.answering.knowledge
    qtbot.waitUntil(lambda: knowledge._current() is not None)
    return read.lightbox.view


def _width(*masks: Bits) -> int:
    across = np.any(np.logical_or.reduce(masks), axis=0)
    return int(np.ptp(np.flatnonzero(across))) + 1


def test_that_the_edges_of_the_masks_are_proposed_and_can_be_dragged(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    film: Path,
    said: list[str],
) -> None:
    view = _open(qtbot, read, film / "film.dcm")
    context.actions["mark.heart"].trigger()
    (mark,) = view.marks.marks
    ratio = _width(HEART) / _width(LEFT_LUNG, RIGHT_LUNG)
    assert cardiothoracic_ratio(mark) == pytest.approx(ratio, abs=1e-6)
    assert view.marks.texts[0].startswith(f"Cardiothoracic ratio {ratio:.2f}")
    assert "Drag any that is wrong" in said[-1]
    left = mark.points[0]
    drag(view, at(view, left.x, left.y), at(view, left.x + 20, left.y), LEFT)
    (moved,) = view.marks.marks
    assert cardiothoracic_ratio(moved) < ratio - 0.05
    assert moved.points[1:] == mark.points[1:]
    for before in ((mark,), ()):
        context.undo.undo()
        assert view.marks.marks == before


def test_that_nothing_is_proposed_before_the_reading_is_committed(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    film: Path,
    said: list[str],
) -> None:
    read.furnish()
    context.actions["overlays.read_first"].trigger()
    view = _open(qtbot, read, film / "film.dcm")
    context.actions["mark.heart"].trigger()
    assert view.marks.marks == ()
    assert "locked until you commit" in said[-1]
    told = said[-1]
    for path in film.glob("*.png"):
        path.unlink()
    read.close_all()
    _open(qtbot, read, film / "film.dcm")
    context.actions["mark.heart"].trigger()
    assert said[-1] == told  # it does not tell whether there are masks either
    blinding = read.answers.locked
    QTest.mouseClick(blinding.commit, LEFT, NONE)
    qtbot.waitUntil(lambda: not read.answers.blinding.locked)


def test_that_without_the_masks_it_says_what_to_do(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, film: Path, said: list[str]
) -> None:
    (film / "film.left lung.png").unlink()  # one lung is not the thorax
    view = _open(qtbot, read, film / "film.dcm")
    context.actions["mark.heart"].trigger()
    assert view.marks.marks == ()
    assert "no masks of the heart and of both lungs" in said[-1]


def _masks(**bits: npt.NDArray[Any]) -> dict[str, Mask]:
    return {name: Mask.of_array(mask) for name, mask in bits.items()}


def test_that_masks_are_found_by_the_names_that_data_sets_give_them() -> None:
    both = LEFT_LUNG | RIGHT_LUNG
    expected = proposed_heart(_masks(heart=HEART, lungs=both))
    assert expected is not None
    assert expected.kind is MarkKind.HEART
    ends = np.flatnonzero(both.any(axis=0))
    assert [p.x for p in expected.points[2:]] == [ends[0], ends[-1] + 1]
    row = np.flatnonzero(HEART[:, int(expected.points[0].x)])
    assert expected.points[0].y == pytest.approx(row.mean() + 0.5)
    parts = _masks(Heart=HEART, Left_Lung=LEFT_LUNG, right_lung=RIGHT_LUNG)
    assert proposed_heart(parts) == expected
    findings = _masks(heart=HEART, **{"Lung Lesion": both, "Lung Opacity": both})
    assert proposed_heart(findings) is None
    assert proposed_heart(_masks(heart=HEART & False, lungs=both)) is None
