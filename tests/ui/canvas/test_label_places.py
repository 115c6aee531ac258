"""Each label belongs to its own shape, whatever lies around it."""

import tracemalloc

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsScene

from tests.helpers.random_answers import faults, random_scene
from tests.ui.canvas.conftest import MakeAnswer, MakeShown
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.layers import DrawnMark, Layers
from viewer.ui.canvas.overlays.aside import Surroundings, edges, gap_between, placed
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


@pytest.mark.usefixtures("qapp")
def test_that_the_words_of_many_marks_never_cover_one_another() -> None:
    """Off the lines of others they keep only as long as that takes no time."""
    rng, words = np.random.default_rng(5), ("12.3 mm",)
    ends = rng.uniform(100, 900, (90, 1, 2)) + rng.uniform(-40, 40, (90, 2, 2))
    marks = [
        Mark(MarkKind.LENGTH, tuple(PointPx(*map(float, end)) for end in two))
        for two in ends
    ]
    layers = Layers(QGraphicsScene(), Face())
    layers.set_marks(tuple(DrawnMark(mark, words, chosen=False) for mark in marks))
    layers.place(QTransform(), QRectF(0, 0, 1000, 1000), ())
    tags = edges(item.tag for item in layers.marks)
    shared = np.minimum(tags[:, None, 2:], tags[None, :, 2:]) - np.maximum(
        tags[:, None, :2], tags[None, :, :2]
    )
    assert (shared.min(axis=2) > 0).sum() == len(marks)  # each with itself
