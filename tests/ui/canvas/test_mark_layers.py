"""Layers of many marks: drawn again only where something changed, and as if anew."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from scipy.ndimage import binary_dilation

from tests.ui.canvas.conftest import MakeShown, pixels
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.domain.reference import Patch
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks import layer
from viewer.ui.canvas.marks.item import MarkItem, Step
from viewer.ui.canvas.marks.layer import LinesLayer, MarksLayer
from viewer.ui.canvas.overlays.kept_picture import Sight

_ROUNDED = 8
"""Grey levels that a line's edge is off where it was drawn in two parts; it has 150."""
_KINDS = (
    (MarkKind.LENGTH, 2),
    (MarkKind.ARROW, 2),
    (MarkKind.ELLIPSE, 2),
    (MarkKind.RECTANGLE, 2),
    (MarkKind.ANGLE, 3),
    (MarkKind.POINT, 1),
)


def _marks(count: int, seed: int) -> list[Mark]:
    rng, made = random.Random(seed), list[Mark]()
    for n in range(count):
        kind, points = _KINDS[n % len(_KINDS)]
        x, y = rng.uniform(40, 460), rng.uniform(40, 560)
        ends = ((rng.gauss(x, 30), rng.gauss(y, 30)) for _ in range(points))
        made.append(Mark(kind, tuple(PointPx(*end) for end in ends)))
    return made


@pytest.fixture
def crowded(view: ImageView, shown: ShownImage) -> ImageView:
    """A view of an image with thirty marks, one of them painted."""
    view.resize(400, 300)
    view.show_image(shown)
    rows, columns = np.mgrid[:90, :80]
    disc = Patch.of_array(np.hypot(rows - 45, columns - 40) < 38, 180, 220)
    for each in (*_marks(30, 5), Mark(MarkKind.MASK, (), painted=disc)):
        view.marks.add(each)
    view.marks.cancel()
    return view


@pytest.fixture
def shown(make_shown: MakeShown) -> ShownImage:
    return make_shown()


def _layers(view: ImageView) -> tuple[MarksLayer, ...]:
    return tuple(i for i in view.stage.items() if isinstance(i, MarksLayer))


def _finished(view: ImageView) -> npt.NDArray[np.uint8]:
    """Return the view once every mark is drawn."""
    view._layers.settle()
    pixels(view)
    for each in _layers(view):
        while not each.go_on():
            continue
    return pixels(view)


def _anew(view: ImageView) -> npt.NDArray[np.uint8]:
    for each in _layers(view):
        each.draw_anew()
    return _finished(view)


@pytest.mark.parametrize("seed", range(6))
def test_that_marks_look_as_if_drawn_anew_whatever_happened(
    crowded: ImageView, seed: int
) -> None:
    rng = random.Random(seed)
    further = iter(_marks(40, 100 + seed))

    def change() -> None:
        old = rng.choice(crowded.marks.marks)
        crowded.marks.book.exchange(crowded._shown.ref, old, next(further), "move")  # type: ignore[union-attr]

    ways = (
        lambda: crowded.pan_by(rng.randint(-60, 60), rng.randint(-60, 60)),
        lambda: crowded.zoom_at(QPointF(200, 150), rng.choice((0.8, 1.3))),
        lambda: crowded.marks.add(next(further)),
        lambda: crowded.marks.choose_at(QPointF(rng.random() * 400, 150)),
        crowded.marks.delete_chosen,
        change,
    )
    for _ in range(12):
        rng.choice(ways)()
        if rng.random() < 0.7:
            pixels(crowded)
    off = _finished(crowded).astype(int) - _anew(crowded)
    assert np.abs(off).max() <= _ROUNDED


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[MarkItem]:
    """The marks whose lines are drawn from now on, one by one."""
    steps, marks = LinesLayer.steps, list[MarkItem]()

    def counted(of: LinesLayer, mark: MarkItem, sight: Sight) -> Iterator[Step]:
        marks.append(mark)
        return steps(of, mark, sight)

    monkeypatch.setattr(LinesLayer, "steps", counted)
    return marks


def test_that_only_marks_that_changed_or_come_into_sight_are_drawn(
    crowded: ImageView, drawn: list[MarkItem]
) -> None:
    crowded.zoom_at(QPointF(200, 150), 4.0)
    _finished(crowded)
    drawn.clear()
    _finished(crowded)
    assert drawn == []
    crowded.pan_by(5, 0)
    _finished(crowded)
    assert len(drawn) < len(crowded.marks.marks) / 2
    drawn.clear()
    crowded.marks.add(Mark(MarkKind.LENGTH, (PointPx(250, 300), PointPx(254, 303))))
    _finished(crowded)
    assert 0 < len(drawn) < len(crowded.marks.marks) / 2


def test_that_many_marks_are_drawn_in_several_turns(
    crowded: ImageView, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Until then they are seen as they were, but magnified."""
    before = _finished(crowded)
    monkeypatch.setattr(layer, "_TURN_S", 0.0)
    monkeypatch.setattr(MarksLayer.go_on, "__defaults__", (0.0,))
    crowded.zoom_by(1.01)
    meanwhile = pixels(crowded)
    assert any(each.unfinished for each in _layers(crowded))
    assert _like(before, meanwhile) > 0.9
    QApplication.processEvents()
    assert any(each.unfinished for each in _layers(crowded))
    qtbot.waitUntil(lambda: not any(each.unfinished for each in _layers(crowded)))
    np.testing.assert_array_equal(pixels(crowded), _finished(crowded))


def _like(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> float:
    """Return how many of the pixels with marks' colour are near such in another."""
    lines, near = _coloured(one), binary_dilation(_coloured(other), iterations=6)
    return float((lines & near).sum() / lines.sum())


def test_that_marks_of_another_image_are_never_seen(
    crowded: ImageView, shown: ShownImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finished(crowded)
    monkeypatch.setattr(MarksLayer.go_on, "__defaults__", (0.0,))
    other = replace(shown, ref=ImageRef(Path("other.dcm")))
    for each in _marks(12, 8):
        crowded.marks.book.add(other.ref, each, "mark")
    crowded.show_image(other)
    seen = _coloured(pixels(crowded))
    assert any(each.unfinished for each in _layers(crowded))
    assert (seen <= _coloured(_finished(crowded))).all()


def _coloured(view: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.ptp(view.astype(int), axis=2) > 60)
