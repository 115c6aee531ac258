from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.mark import EditStep, Mark, MarkEdit, MarkKind, repainted
from viewer.domain.reference import Patch

A, B, C = PointPx(1.0, 2.0), PointPx(5.0, 9.0), PointPx(7.0, 3.0)


@pytest.mark.parametrize(
    ("kind", "points"),
    [
        (MarkKind.LENGTH, 2),
        (MarkKind.ANGLE, 3),
        (MarkKind.COBB, 4),
        (MarkKind.RECTANGLE, 2),
        (MarkKind.ELLIPSE, 2),
        (MarkKind.HEART, 4),
        (MarkKind.ARROW, 2),
        (MarkKind.TEXT, 1),
        (MarkKind.POINT, 1),
    ],
)
def test_that_a_mark_is_complete_with_its_last_point(
    kind: MarkKind, points: int
) -> None:
    mark = Mark(kind, ())
    for n in range(points):
        assert not mark.complete
        mark = mark.extended(PointPx(n, n))
    assert mark.complete


def test_that_a_point_of_a_line_is_its_own_handle() -> None:
    mark = Mark(MarkKind.ANGLE, (A, B, C))
    assert mark.handles == mark.points
    assert mark.with_handle(1, PointPx(0, 0)).points == (A, PointPx(0, 0), C)


@pytest.mark.parametrize(
    ("number", "points"),
    [
        (0, (PointPx(0, 0), B)),
        (1, (PointPx(1, 0), PointPx(0, 9))),
        (2, (A, PointPx(0, 0))),
        (3, (PointPx(0, 2), PointPx(5, 0))),
    ],
)
def test_that_a_corner_of_a_region_moves_its_two_sides(
    number: int, points: tuple[PointPx, PointPx]
) -> None:
    mark = Mark(MarkKind.ELLIPSE, (A, B))
    assert mark.handles == (A, PointPx(5, 2), B, PointPx(1, 9))
    moved = mark.with_handle(number, PointPx(0, 0))
    assert moved.points == points
    assert moved.handles[number] == PointPx(0, 0)


def test_that_a_region_of_one_point_has_one_handle() -> None:
    assert Mark(MarkKind.RECTANGLE, (A,)).handles == (A,)


def test_that_a_mark_moves_as_a_whole() -> None:
    moved = Mark(MarkKind.LENGTH, (A, B)).moved(-1, 0.5)
    assert moved.points == (PointPx(0, 2.5), PointPx(4, 9.5))


def test_that_a_polygon_is_complete_once_it_is_closed() -> None:
    mark = Mark(MarkKind.POLYGON, (A, B))
    assert not mark.closed().complete  # a line there and back is no region
    mark = mark.extended(C)
    assert not mark.complete
    ring = mark.closed()
    assert ring.complete
    assert ring.handles == (A, B, C)
    moved = ring.with_handle(0, PointPx(0, 0))
    assert moved.points == (PointPx(0, 0), B, C, PointPx(0, 0))


def test_that_a_freehand_line_is_complete_with_two_points_and_has_no_handles() -> None:
    mark = Mark(MarkKind.FREEHAND, (A,))
    assert not mark.complete
    assert mark.extended(B).complete
    assert mark.extended(B).handles == ()


P, Q, R = (Mark(MarkKind.POINT, (point,)) for point in (A, B, C))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((P,), (P, Q), (1, (), (Q,))),
        ((P, Q, R), (P, R), (1, (Q,), ())),
        ((P, Q, R), (P, P, R), (1, (Q,), (P,))),
        ((P, P), (P, P, P), (2, (), (P,))),
        ((P, Q), (), (0, (P, Q), ())),
    ],
)
def test_that_an_edit_tells_what_changes_and_leads_there_and_back(
    before: tuple[Mark, ...],
    after: tuple[Mark, ...],
    told: tuple[int, tuple[Mark, ...], tuple[Mark, ...]],
) -> None:
    ref = ImageRef(Path("a.dcm"))
    edit = MarkEdit.between(before, after, place="case", ref=ref, words="point")
    assert (edit.at, edit.removed, edit.added) == told
    assert edit.applied(before) == after
    assert replace(edit, step=EditStep.UNDONE).applied(after) == before


@pytest.mark.parametrize(
    ("kind", "points", "lines"),
    [
        (MarkKind.LENGTH, (A, B), ((A, B),)),
        (MarkKind.ANGLE, (A, B, C), ((A, B, C),)),
        (MarkKind.COBB, (A, B, C), ((A, B), (C,))),
        (MarkKind.COBB, (A, B), ((A, B),)),
        (
            MarkKind.RECTANGLE,
            (A, B),
            ((A, PointPx(B.x, A.y), B, PointPx(A.x, B.y), A),),
        ),
        (MarkKind.ELLIPSE, (A,), ((A,),)),
        (MarkKind.HEART, (A, B, C), ((A, PointPx(B.x, A.y), B), (C,))),
    ],
)
def test_that_lines_run_through_the_points_of_a_mark(
    kind: MarkKind,
    points: tuple[PointPx, ...],
    lines: tuple[tuple[PointPx, ...], ...],
) -> None:
    assert Mark(kind, points).lines == lines


def _painted(*columns: int) -> Mark:
    bits = np.zeros((5, 9), bool)
    bits[2, list(columns)] = True
    return Mark(MarkKind.MASK, (), painted=Patch.of_array(bits))


def test_that_a_mask_has_no_points_but_an_extent() -> None:
    mask = _painted(3, 6)
    assert mask.complete
    assert (mask.handles, mask.lines) == ((), ())
    assert mask.box == BoxPx(3, 2, 7, 3)
    assert mask.end == PointPx(7, 3)
    assert mask.moved(4, 4) == mask  # it is painted where it belongs


def test_that_other_marks_have_the_extent_of_their_points() -> None:
    mark = Mark(MarkKind.LENGTH, (C, A))
    assert mark.box == BoxPx(1, 2, 7, 3)
    assert mark.end == A
    assert Mark(MarkKind.KEY, ()).box is None


def test_that_of_a_stroke_only_the_pixels_that_change_are_told() -> None:
    before, after = (P, _painted(1, 2, 3), Q), (P, _painted(3, 4), Q)
    ref = ImageRef(Path("a.dcm"))
    edit = MarkEdit.between(before, after, place="case", ref=ref, words="erase")
    assert (edit.removed, edit.added, edit.at) == ((), (), 1)
    assert edit.repainted == _painted(1, 2, 4).painted
    assert edit.applied(before) == after
    assert replace(edit, step=EditStep.UNDONE).applied(after) == before
    assert edit.repainted is not None
    assert repainted(Mark(MarkKind.MASK, ()), edit.repainted) == _painted(1, 2, 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [(_painted(1), P), (P, _painted(1)), (_painted(1), replace(_painted(2), text="x"))],
)
def test_that_another_mark_in_place_of_a_mask_is_told_as_a_whole(
    old: Mark, new: Mark
) -> None:
    ref = ImageRef(Path("a.dcm"))
    edit = MarkEdit.between((old,), (new,), place="case", ref=ref, words="label")
    assert (edit.removed, edit.added, edit.repainted) == ((old,), (new,), None)
    assert edit.applied((old,)) == (new,)
