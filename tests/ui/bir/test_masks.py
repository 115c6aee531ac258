"""Masks painted with a brush: strokes, undo, measurements, and files of them."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import (
    COLUMNS,
    LEFT,
    NONE,
    ROWS,
    SPACING,
    Open,
    at,
    stroke,
)  # fmt: skip
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.mark import Mark
from viewer.readers.presentation_states import presentation_state
from viewer.services.viewing.marks import kept_edits, kept_marks
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import current
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.brush import brush_width
from viewer.ui.canvas.marks.measures import area_of, region_values
from viewer.ui.workspaces.read import ReadWorkspace

Bits = npt.NDArray[np.bool_]
SIZE = SizePx(ROWS, COLUMNS)
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def _disc(points: list[PointPx], width: float, aspect: float) -> Bits:
    """Return, by NumPy, the pixels near finely divided lines between points."""
    down, across = np.mgrid[:ROWS, :COLUMNS] + 0.5
    bits = np.zeros((ROWS, COLUMNS), bool)
    for a, b in zip(points, [*points[1:], points[-1]], strict=True):
        for t in np.linspace(0, 1, 400):
            x, y = a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)
            bits |= (across - x) ** 2 + ((down - y) * aspect) ** 2 <= width**2 / 4
    return bits


def _masks(view: ImageView) -> list[Bits]:
    return [m.painted.on(SIZE) for m in view.marks.marks if m.painted is not None]


def _mask(view: ImageView) -> Bits:
    (bits,) = _masks(view)
    return bits


def _width(view: ImageView) -> float:
    assert view.marks.geometry is not None
    return brush_width(view.marks.geometry)


def _wheel(view: ImageView, notches: int) -> None:
    spot = QPoint(300, 300)
    event = QWheelEvent(
        QPointF(spot), QPointF(view.mapToGlobal(spot)), QPoint(),
        QPoint(0, 120 * notches), Qt.MouseButton.NoButton, SHIFT,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def test_that_a_brush_paints_what_numpy_finds_under_it(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    aspect = SPACING[0] / SPACING[1]
    one = stroke(view, (60, 40), (90, 50), (90, 80))
    first = _disc(one, _width(view), aspect)
    # An edge within a hundredth of a pixel may fall on either side.
    assert (_mask(view) != first).sum() <= 2
    two = stroke(view, (90, 80), (140, 80))
    both = first | _disc(two, _width(view), aspect)
    assert (_mask(view) != both).sum() <= 4
    (mark,) = view.marks.marks
    _check(mark, view)


def _check(mark: Mark, view: ImageView) -> None:
    """Compare area and statistics with NumPy on the image as it is stored."""
    assert view._shown is not None
    assert mark.painted is not None
    image, bits = view._shown.image, mark.painted.on(SIZE)
    spacing, inside = image.geometry.spacing, image.values[bits].astype(float)
    assert spacing is not None
    mm2 = int(bits.sum()) * spacing.row_mm * spacing.column_mm
    assert area_of(mark, image.geometry) == pytest.approx(mm2, rel=1e-6)
    found = region_values(mark, image)
    for statistic in (np.mean, np.std, np.min, np.max):
        expected = float(statistic(inside))
        assert float(statistic(found)) == pytest.approx(expected, rel=1e-6)
    (said,) = view.marks.texts
    assert f"area {mm2:.{1 if mm2 < 1000 else 0}f} mm²" in said


def test_that_the_size_of_the_brush_is_set_by_keys_and_wheel(
    opened: Open, context: AppContext, read: ReadWorkspace, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    first = _width(view)
    context.actions["mark.wider"].trigger()
    assert _width(view) == pytest.approx(first * 1.25)
    context.actions["mark.narrower"].trigger()
    assert _width(view) == first
    _wheel(view, 2)
    assert _width(view) > first
    assert read.lightbox.active.position == 0  # Shift and the wheel do not scroll
    for _ in range(60):
        context.actions["mark.narrower"].trigger()
    assert _width(view) == 1
    context.actions["mark.wider"].trigger()
    assert _width(view) == pytest.approx(1.25, rel=0.2)
    assert current().brush_steps < 0  # kept for the next start


def test_that_the_eraser_and_alt_erase_down_to_nothing(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 60), (120, 60))
    whole = _mask(view)
    stroke(view, (90, 50), (90, 70), keys=ALT)
    cut = _mask(view)
    assert cut.sum() < whole.sum()
    assert not (cut & ~whole).any()
    context.actions["tool.eraser"].trigger()
    stroke(view, (20, 20), (30, 20))  # beside it
    assert (_mask(view) == cut).all()
    for _ in range(6):
        context.actions["mark.wider"].trigger()
    stroke(view, (50, 60), (130, 60))
    assert view.marks.marks == ()
    stroke(view, (50, 60), (130, 60))  # there is nothing to erase
    assert view.marks.marks == ()
    for expected in (cut, whole):
        context.undo.undo()
        assert (_mask(view) == expected).all()


def test_that_strokes_make_one_mask_until_esc_ends_it(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    stroke(view, (40, 40), (60, 40))
    stroke(view, (40, 120), (60, 120))  # apart from the first, in the same mask
    assert len(_masks(view)) == 1
    QTest.keyClick(view, Qt.Key.Key_Escape)
    stroke(view, (140, 40), (160, 40))
    assert len(_masks(view)) == 2
    QTest.keyClick(view, Qt.Key.Key_Escape)
    stroke(view, (50, 40), (50, 60))  # it meets the first
    assert [int(bits[40, 50]) for bits in _masks(view)] == [1, 0]
    assert _masks(view)[0][55, 50]


def test_that_esc_discards_the_stroke_that_is_being_painted(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    QTest.mousePress(view.viewport(), LEFT, NONE, at(view, 60, 60))
    QTest.mouseMove(view.viewport(), at(view, 90, 60))
    QTest.keyClick(view, Qt.Key.Key_Escape)
    QTest.mouseRelease(view.viewport(), LEFT, NONE, at(view, 90, 60))
    assert view.marks.marks == ()
    assert not context.undo.canUndo()


def test_that_a_stroke_is_stored_at_once_and_undone_by_itself(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    qtbot.waitUntil(lambda: read._commands.keeping.is_read)
    context.actions["tool.brush"].trigger()
    states = []
    for row in (40, 60, 80, 100):
        stroke(view, (60, row), (110, row))
        states.append(view.marks.marks)
        (kept,) = kept_marks(context.settings.store).values()
        assert kept == states[-1]
    edits = kept_edits(context.settings.store)
    assert [edit.words for edit in edits] == ["mask", *["brush stroke"] * 3]
    assert all(edit.removed == edit.added == () for edit in edits[1:])
    for before in states[-2::-1]:
        context.undo.undo()
        assert view.marks.marks == before
    context.undo.undo()
    assert view.marks.marks == ()
    for after in states:
        context.undo.redo()
        assert view.marks.marks == after
    (kept,) = kept_marks(context.settings.store).values()
    assert kept == states[-1]


TURNS: dict[str, tuple[str, ...]] = {
    "as stored": (),
    "right": ("image.rotate_right",),
    "left": ("image.rotate_left",),
    "mirrored": ("image.mirror",),
    "flipped": ("image.flip",),
    "right and mirrored": ("image.rotate_right", "image.mirror"),
}


@pytest.mark.parametrize("turns", TURNS.values(), ids=TURNS)
def test_that_a_mask_lies_where_it_was_painted_however_the_image_is_turned(
    opened: Open, context: AppContext, radiograph: Path, turns: tuple[str, ...]
) -> None:
    view = opened(radiograph)
    for action in turns:
        context.actions[action].trigger()
    context.actions["tool.brush"].trigger()
    points = stroke(view, (60, 40), (120, 40), (120, 90))
    assert (_mask(view) != _disc(points, _width(view), 1.0)).sum() <= 2
    (mark,) = view.marks.marks
    _check(mark, view)
    assert "mm² at detector" in view.marks.texts[0]
    context.actions["image.mirror"].trigger()
    assert view.marks.marks == (mark,)


def test_that_a_mask_is_a_light_fill_inside_an_outline(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    context.actions["tool.brush"].trigger()
    for _ in range(8):
        context.actions["mark.wider"].trigger()
    QTest.mouseMove(view.viewport(), at(view, 20, 20))
    plain = view.grab().toImage()
    stroke(view, (60, 90), (140, 90))
    QTest.mouseMove(view.viewport(), at(view, 20, 20))
    painted = view.grab().toImage()
    middle = at(view, 112, 90)  # between the lines of the grid
    before, after = plain.pixelColor(middle), painted.pixelColor(middle)
    assert before != after
    # A fifth at most, so that what lies below it stays visible.
    assert abs(after.green() - before.green()) <= 0.2 * 255
    context.actions["tool.select"].trigger()
    view.hide_overlays(True)
    assert view.grab().toImage().pixelColor(middle) == before


def test_that_a_mask_is_chosen_by_its_outline_labelled_and_deleted(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 60), (120, 60))
    context.actions["tool.select"].trigger()
    QTest.mouseClick(view.viewport(), LEFT, NONE, at(view, 20, 20))
    context.actions["mark.delete"].trigger()
    assert len(_masks(view)) == 1  # nothing is chosen
    QTest.mouseClick(view.viewport(), LEFT, NONE, at(view, 90, 60 - _width(view) / 3.2))
    (mark,) = view.marks.marks
    view.marks.label(mark, "nodule")
    assert view.marks.texts[0].startswith("nodule; mean")
    context.actions["mark.delete"].trigger()
    assert len(_masks(view)) == 0


def _choose(qtbot: QtBot, read: ReadWorkspace, context: AppContext, path: Path) -> str:
    """Choose a file in the dialog that an action has opened; return what is said."""
    (dialog,) = read.lightbox.findChildren(QFileDialog)
    with qtbot.waitSignal(context.notices.posted) as told:
        dialog.fileSelected.emit(str(path))
        dialog.close()
    assert told.args is not None
    return str(told.args[0])


@pytest.mark.parametrize("suffix", ["dcm", "png"])
def test_that_masks_are_saved_and_opened_again(
    qtbot: QtBot,
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    radiograph: Path,
    suffix: str,
) -> None:
    view = opened(radiograph)
    qtbot.waitUntil(lambda: read._commands.keeping.is_read)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 40), (120, 90))
    view.marks.label(view.marks.marks[0], "nodule, left")
    QTest.keyClick(view, Qt.Key.Key_Escape)
    stroke(view, (150, 20), (150, 30))
    masks = view.marks.marks
    context.actions["file.save_masks"].trigger()
    path = radiograph.parent.parent / f"masks.{suffix}"
    said = _choose(qtbot, read, context, path)
    assert ("names the patient" in said) is (suffix == "dcm")
    context.actions["mark.clear"].trigger()
    files = [path] if suffix == "dcm" else [path, path.with_stem("masks-2")]
    for file in files:
        context.actions["file.open_masks"].trigger()
        assert "added" in _choose(qtbot, read, context, file)
    assert [m.painted for m in view.marks.marks] == [m.painted for m in masks]
    if suffix == "dcm":
        assert view.marks.marks == masks
    else:
        bits = np.asarray(Image.open(path)) > 0
        assert masks[0].painted is not None
        assert (bits == masks[0].painted.on(SIZE)).all()
    (kept,) = kept_marks(context.settings.store).values()
    assert kept == view.marks.marks


def test_that_masks_of_a_series_go_back_to_their_slices(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    qtbot.waitUntil(lambda: read._commands.keeping.is_read)
    context.actions["tool.brush"].trigger()
    for _ in range(2):
        stroke(view, (60, 40), (120, 90))
        with qtbot.waitSignal(read.lightbox.active.image_shown):
            view.scroll_by(2)
    stored = dict(kept_marks(context.settings.store))
    context.actions["file.save_masks"].trigger()
    path = series.parent / "masks.dcm"
    _choose(qtbot, read, context, path)
    for _ in range(2):
        context.undo.undo()
    for file in (path, path.with_stem("masks-2")):
        context.actions["file.open_masks"].trigger()
        _choose(qtbot, read, context, file)
    assert kept_marks(context.settings.store) == stored


def test_that_the_outline_of_a_mask_is_part_of_saved_marks(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 40), (120, 90))
    bits = _mask(view)
    context.actions["file.save_marks"].trigger()
    path = series.parent / "marks.dcm"
    _choose(qtbot, read, context, path)
    assert view._shown is not None
    state = presentation_state(path, ImageRef(view._shown.ref.path))
    assert state is not None
    (outline,) = state.outlines
    (note,) = state.notes
    assert "mm²" in note.text
    x, y = np.array([(p.x, p.y) for p in outline.points]).T
    assert abs(np.trapezoid(y, x)) == pytest.approx(int(bits.sum()))


def _write_mask(path: Path, bits: npt.NDArray[Any]) -> Path:
    Image.fromarray(bits.astype(np.uint8) * 255).save(path)
    return path


@pytest.mark.parametrize(
    ("bits", "sentence"),
    [
        (np.eye(9), "9 × 9 pixels, the image 200 × 160"),
        (np.zeros((ROWS, COLUMNS)), "marks nothing"),
    ],
)
def test_that_a_mask_that_does_not_fit_is_refused_in_one_sentence(
    qtbot: QtBot,
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    radiograph: Path,
    tmp_path: Path,
    bits: npt.NDArray[Any],
    sentence: str,
) -> None:
    view = opened(radiograph)
    context.actions["file.open_masks"].trigger()
    said = _choose(qtbot, read, context, _write_mask(tmp_path / "m.png", bits))
    assert sentence in said
    assert view.marks.marks == ()


def test_that_a_segmentation_of_other_images_is_refused(
    qtbot: QtBot,
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    radiograph: Path,
) -> None:
    view = opened(series)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 40), (120, 90))
    context.actions["file.save_masks"].trigger()
    path = series.parent / "masks.dcm"
    _choose(qtbot, read, context, path)
    opened(radiograph)
    context.actions["file.open_masks"].trigger()
    said = _choose(qtbot, read, context, path)
    assert "holds no mask of the images on the screen" in said


def test_that_without_a_mask_it_says_what_to_do(
    qtbot: QtBot, opened: Open, context: AppContext, radiograph: Path
) -> None:
    opened(radiograph)
    with qtbot.waitSignal(context.notices.posted) as posted:
        context.actions["file.save_masks"].trigger()
    assert posted.args[0].what == "Paint a mask first; there is none."
