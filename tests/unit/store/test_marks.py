import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.mark import EditStep, Mark, MarkEdit, MarkKind
from viewer.domain.reference import Patch
from viewer.store.database import open_store
from viewer.store.marks import all_edits, all_marks, keep_edits, keep_marks

LENGTH = Mark(MarkKind.LENGTH, (PointPx(1.5, 2.25), PointPx(3, 1 / 3)))
ELLIPSE = Mark(MarkKind.ELLIPSE, (PointPx(0, 0), PointPx(9, 9)), "tumour é")
REF = ImageRef(Path("/films/a.dcm"))


def test_that_marks_are_kept_by_image_and_frame_in_the_order_drawn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    first, second = (ImageRef(Path("/films/a é.dcm"), frame) for frame in (0, 1))
    with open_store(path) as store:
        keep_marks(store, first, (LENGTH, ELLIPSE))
        keep_marks(store, second, (ELLIPSE,))
        keep_marks(store, second, (LENGTH,))
    with open_store(path) as store:
        assert all_marks(store) == {first: (LENGTH, ELLIPSE), second: (LENGTH,)}
        keep_marks(store, first, ())
        assert all_marks(store) == {second: (LENGTH,)}


def _edit(before: tuple[Mark, ...], after: tuple[Mark, ...]) -> MarkEdit:
    return MarkEdit.between(before, after, place="case", ref=REF, words="length")


def _point(number: int) -> Mark:
    return Mark(MarkKind.POINT, (PointPx(number, 0),))


def _changed(marks: tuple[Mark, ...], rng: random.Random) -> tuple[Mark, ...]:
    """Return the marks with one more, one fewer, one other, or none at all."""
    at, new = rng.randrange(len(marks) + 1), _point(rng.randrange(10**6))
    return rng.choice(
        [(*marks, new), (*marks[:at], new, *marks[at + 1 :]), marks[:at], marks[at:],
         (*marks[:at], *marks[at + 1 :])]
    )  # fmt: skip


def test_that_edits_lead_to_the_marks_that_were_drawn_and_back(tmp_path: Path) -> None:
    rng, made = random.Random(0), list[MarkEdit]()
    marks: tuple[Mark, ...] = (ELLIPSE, LENGTH)
    states = [marks]
    with open_store(tmp_path / "s.sqlite") as store:
        keep_marks(store, REF, marks)
        for _ in range(120):
            made.append(_edit(marks, marks := _changed(marks, rng)))
            states.append(marks)
            keep_edits(store, {}, made[-1:])
            assert all_marks(store).get(REF, ()) == marks
        assert all_edits(store) == tuple(made)
        for edit, before in zip(reversed(made), states[-2::-1], strict=True):
            keep_edits(store, {}, [replace(edit, step=EditStep.UNDONE)])
            assert all_marks(store).get(REF, ()) == before
        for edit, after in zip(made, states[1:], strict=True):
            keep_edits(store, {}, [replace(edit, step=EditStep.REDONE)])
            assert all_marks(store).get(REF, ()) == after


def test_that_an_edit_of_many_marks_takes_no_more_room_than_one_of_few(
    tmp_path: Path,
) -> None:
    marks = tuple(map(_point, range(400)))
    with open_store(tmp_path / "s.sqlite") as store:
        for number in range(400):
            edit = _edit(marks[:number], marks[: number + 1])
            keep_edits(store, {}, [edit])
        (row,) = store.rows(
            "SELECT max(length(removed) + length(added)) AS most FROM mark_edit"
        )
        assert row["most"] < 60
        assert all_marks(store) == {REF: marks}


def _painted(bits: npt.NDArray[np.bool_]) -> Mark:
    return Mark(MarkKind.MASK, (), "nodule", Patch.of_array(bits))


def test_that_strokes_of_a_mask_are_stored_and_go_back_one_by_one(
    tmp_path: Path,
) -> None:
    rng, made = np.random.default_rng(0), list[MarkEdit]()
    states: list[tuple[Mark, ...]] = [(LENGTH,)]
    bits = np.zeros((200, 300), bool)
    with open_store(tmp_path / "s.sqlite") as store:
        keep_marks(store, REF, (LENGTH,))
        for _ in range(30):
            bits, (row, column) = bits.copy(), rng.integers(0, 180, 2)
            bits[row : row + 20, column : column + 20] = rng.random() < 0.8
            states.append((_painted(bits), LENGTH) if bits.any() else (LENGTH,))
            made.append(_edit(states[-2], states[-1]))
            keep_edits(store, {}, made[-1:])
            assert all_marks(store).get(REF, ()) == states[-1]
        assert all_edits(store) == tuple(made)
        (row,) = store.rows("SELECT max(length(repainted)) AS most FROM mark_edit")
        assert row["most"] < 120  # what a stroke changes, and not the mask
        for edit, before in zip(reversed(made), states[-2::-1], strict=True):
            keep_edits(store, {}, [replace(edit, step=EditStep.UNDONE)])
            assert all_marks(store)[REF] == before
        for edit, after in zip(made, states[1:], strict=True):
            keep_edits(store, {}, [replace(edit, step=EditStep.REDONE)])
            assert all_marks(store)[REF] == after
