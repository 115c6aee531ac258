"""Each label belongs to its own shape, whatever lies around it."""

import tracemalloc

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QApplication, QGraphicsScene
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from tests.helpers.random_answers import faults, random_scene
from tests.ui.canvas.conftest import MakeAnswer, MakeShown
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.marks.book import DrawnMark
from viewer.ui.canvas.marks.item import MarkItem
from viewer.ui.canvas.overlays.aside import (
    Surroundings,
    _by_rank,
    _constraints_of,
    edges,
    gap_between,
    placed,
)
from viewer.ui.canvas.overlays.halo import Face


def test_that_no_label_stands_on_a_neighbours_cell(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    view.resize(900, 800)
    view.show_image(make_shown())
    cells = {"asymmetry": "C4", "prior": "C5", "centre": "D4", "other": "D5"}
    view.set_answers(tuple(make_answer(c, model=m) for m, c in cells.items()))
    shapes = {
        i.answer.model: i.frames(i.sceneTransform())[0] for i in view.answer_items
    }
    for item in view.answer_items:
        own = shapes[item.answer.model]
        touching = [
            m for m, r in shapes.items() if gap_between(r, item.tag).length() < 4
        ]
        assert item.leader is not None or touching == [item.answer.model]
        assert not any(item.tag.intersects(r) for r in shapes.values() if r != own)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("seed", range(40))
def test_that_labels_of_random_answers_belong_to_their_shapes(seed: int) -> None:
    assert list(faults(random_scene(seed))) == []


def test_that_a_label_stands_in_its_shape_where_nothing_outside_is_free() -> None:
    view = QRectF(0, 0, 300, 200)
    seen = Surroundings(view, others=edges([QRectF(200, 0, 100, 200)]))
    at = placed(QRectF(0, 0, 195, 200), QSizeF(80, 20), seen)
    assert QRectF(0, 0, 195, 200).contains(at)


def test_that_a_label_steps_off_the_reference_and_away_if_it_must() -> None:
    view, own = QRectF(0, 0, 300, 200), QRectF(100, 80, 30, 30)
    lesion = QRectF(60, 50, 120, 100)
    at = placed(own, QSizeF(80, 20), Surroundings(view, clear=lesion))
    assert not at.intersects(lesion)
    assert gap_between(own, at).length() > 4


def test_that_a_label_without_words_has_a_place_too() -> None:
    """As that of a mark which is only begun: nothing of it can lie along an edge."""
    view, own = QRectF(0, 0, 300, 200), QRectF(100, 80, 7, 7)
    seen = Surroundings(view, others=edges([QRectF(200, 0, 100, 200)]))
    assert view.contains(placed(own, QSizeF(0, 2), seen).topLeft())


def test_that_a_gap_is_measured_between_the_nearest_edges() -> None:
    one = QRectF(0, 0, 10, 10)
    assert gap_between(one, QRectF(13, 14, 5, 5)) == QLineF(10, 10, 13, 14)
    assert gap_between(one, QRectF(20, 2, 5, 2)).p1() == QPointF(10, 3)
    assert gap_between(one, QRectF(5, 5, 50, 50)).length() == 0


def test_that_very_many_blocks_are_tried_in_little_memory() -> None:
    """Places grow with the square of the blocks, and each is held against all."""
    view = QRectF(0, 0, 900, 700)
    others = [QRectF(9 * (n % 99), 14 * (n // 99), 12, 18) for n in range(4_000)]
    tracemalloc.start()
    at = placed(
        QRectF(400, 300, 20, 20),
        QSizeF(80, 20),
        Surroundings(view, others=edges(others)),
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert view.contains(at)
    assert peak < 100_000_000


def _layers_of(words: tuple[str, ...], count: int) -> Layers:
    """Return layers with that many lengths, some of which cross."""
    rng = np.random.default_rng(5)
    ends = rng.uniform(100, 900, (count, 1, 2)) + rng.uniform(-40, 40, (count, 2, 2))
    marks = [
        Mark(MarkKind.LENGTH, tuple(PointPx(*map(float, end)) for end in two))
        for two in ends
    ]
    layers = Layers(QGraphicsScene(), Face())
    layers.set_marks(tuple(DrawnMark(mark, words, chosen=False) for mark in marks))
    return layers


@pytest.mark.usefixtures("qapp")
def test_that_the_words_of_many_marks_never_cover_one_another() -> None:
    """Off the lines of others they keep only as long as that takes no time."""
    layers = _layers_of(("12.3 mm",), 90)
    layers.place(QTransform(), QRectF(0, 0, 1000, 1000), ())
    layers.settle()
    tags = edges(item.tag for item in layers.marks)
    shared = np.minimum(tags[:, None, 2:], tags[None, :, 2:]) - np.maximum(
        tags[:, None, :2], tags[None, :, :2]
    )
    assert (shared.min(axis=2) > 0).sum() == len(tags)  # each with itself


def test_that_many_labels_are_placed_in_several_turns(qtbot: QtBot) -> None:
    """Until then they move with their marks, of which none is made again."""
    layers = _layers_of(("12.3 mm",), 90)
    area = QRectF(0, 0, 1000, 1000)
    layers.place(QTransform(), area, ())
    assert not layers.settled
    assert all(item.tag.isNull() for item in layers.marks)
    qtbot.waitUntil(lambda: layers.settled)
    items = layers.marks
    settled = [QRectF(item.tag) for item in items]
    layers.place(QTransform.fromTranslate(5, -3), area, ())
    moved = [item.tag.topLeft() for item in items]
    assert moved == [tag.topLeft() + QPointF(5, -3) for tag in settled]
    layers.place(QTransform(), area, ())
    layers.settle()
    assert [item.tag for item in items] == settled
    layers.set_marks(
        tuple(DrawnMark(i.mark, i.words, chosen=False) for i in items[:0:-1])
    )
    assert layers.marks == items[1:]


@pytest.mark.usefixtures("qapp")
def test_that_of_two_equal_marks_each_has_an_item_that_goes_with_it() -> None:
    scene = QGraphicsScene()
    layers = Layers(scene, Face())
    before = len(scene.items())
    mark = DrawnMark(Mark(MarkKind.POINT, (PointPx(5, 5),)), ("1",), chosen=False)
    layers.set_marks((mark, mark))
    assert len(set(layers.marks)) == 2
    layers.set_marks((mark,))
    layers.set_marks(())
    assert len(scene.items()) == before


@pytest.mark.parametrize("seed", range(30))
def test_that_the_place_of_a_label_is_the_best_of_all_that_are_tried(seed: int) -> None:
    """The first that nothing covers is taken, without a look at the rest."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-50, 750, (60, 2)).round()
    rects = np.hstack((corners, corners + rng.uniform(5, 90, (60, 2)).round()))
    area, size = QRectF(0, 0, 800, 700), QSizeF(70, 20)
    left, top = rng.uniform(50, 650, 2).round().tolist()
    shape = QRectF(left, top, 40, 30)
    clear = QRectF(shape.right() - 20, shape.top(), 90, 60)
    seen = Surroundings(area, rects[:20], rects[20:], clear)
    found = placed(shape, size, seen)
    constraints = _constraints_of(shape, seen)
    spots = np.vstack(tuple(_by_rank(shape, size, constraints)))
    costs = [_cost(QRectF(QPointF(x, y), size), seen, shape) for x, y, _ in spots]
    ranked = sorted(range(len(spots)), key=lambda n: (*costs[n], spots[n, 2]))
    assert found.topLeft() == QPointF(*spots[ranked[0], :2].tolist())


def _cost(label: QRectF, seen: Surroundings, shape: QRectF) -> tuple[float, ...]:
    """Return what a label covers, the worst first, by Qt's own rectangles."""
    others = [QRectF(QPointF(*r[:2]), QPointF(*r[2:])) for r in seen.others.tolist()]
    texts = [QRectF(QPointF(*r[:2]), QPointF(*r[2:])) for r in seen.taken.tolist()]
    near = [r if _meets(r, shape) else r.adjusted(-4, -4, 4, 4) for r in others]
    outside = label.width() * label.height() - _shared(label, [seen.area])
    covered = (_shared(label, rects) for rects in (texts, near, [seen.clear]))
    return tuple(round(each, 3) for each in (outside, *covered))


def _meets(rect: QRectF, shape: QRectF) -> bool:
    return rect.adjusted(-1, -1, 1, 1).intersects(shape)


def _shared(label: QRectF, rects: list[QRectF]) -> float:
    met = (label.intersected(rect) for rect in rects)
    return sum(rect.width() * rect.height() for rect in met)


def test_that_views_place_their_labels_one_after_another(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns of all views in one round of the event loop would hold the window up."""
    monkeypatch.setattr("viewer.ui.canvas.layers._TURN_S", 0.0)
    views = [_layers_of(("12.3 mm",), 20) for _ in range(4)]
    went_on, go_on = set[Layers](), Layers._go_on

    def counted(layers: Layers, seconds: float = 0.0) -> None:
        went_on.add(layers)
        go_on(layers, seconds)

    for each in views:
        each.place(QTransform(), QRectF(0, 0, 1000, 1000), ())
    monkeypatch.setattr(Layers, "_go_on", counted)
    QApplication.processEvents()
    (first,) = went_on
    assert not first.settled
    delete(first._scene)  # as where a view is closed meanwhile
    went_on.clear()
    qtbot.waitUntil(lambda: all(each.settled for each in views))
    assert went_on == {*views} - {first}


@pytest.mark.usefixtures("qapp")
def test_that_a_turn_frames_no_more_marks_than_it_has_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames, times = MarkItem.frames, list[MarkItem]()

    def counted(item: MarkItem, native: QTransform) -> tuple[QRectF, ...]:
        times.append(item)
        return frames(item, native)

    monkeypatch.setattr(MarkItem, "frames", counted)
    layers = _layers_of(("12.3 mm",), 90)
    layers.place(QTransform(), QRectF(0, 0, 1000, 1000), ())
    assert times == []
    layers._go_on(0.0)
    assert len(times) == 1
    layers.settle()
    assert len(times) == 90


@pytest.mark.usefixtures("qapp")
def test_that_a_mark_that_is_being_drawn_among_many_has_its_words_at_once() -> None:
    layers = _layers_of(("12.3 mm",), 30)
    area = QRectF(0, 0, 1000, 1000)
    layers.place(QTransform(), area, ())
    layers.settle()
    known = [DrawnMark(item.mark, item.words, chosen=False) for item in layers.marks]
    ends = PointPx(480, 500), PointPx(520, 500)
    new = DrawnMark(Mark(MarkKind.LENGTH, ends), ("40 px",), chosen=False)
    layers.set_marks((*known[::-1], new))
    layers.place(QTransform(), area, ())
    assert not layers.settled
    first, *others = layers.marks
    assert area.contains(first.tag)
    assert not any(first.tag.intersects(item.tag) for item in others)
