"""Several models that name one cell: every colour is seen, and one fill."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor

from tests.ui.canvas.conftest import MakeAnswer, MakeShown, pixels
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.answers import depths
from viewer.ui.canvas.overlays.cell_answer import INSET_PX
from viewer.ui.widgets.theme import current

MODELS = ("a", "b", "c")


def _rgb(color: str) -> tuple[int, int, int]:
    return QColor(color).red(), QColor(color).green(), QColor(color).blue()


def _reach(painted: npt.NDArray[np.uint8], color: str) -> tuple[int, int]:
    """Return the first and the last column below the tags that hold a colour."""
    close = np.abs(painted.astype(int) - _rgb(color)).max(axis=2) < 40
    columns = np.flatnonzero(close.sum(axis=0) > 20)
    return int(columns[0]), int(columns[-1])


def test_that_frames_of_one_cell_lie_within_one_another(
    view: ImageView, make_shown: MakeShown, make_answer: MakeAnswer
) -> None:
    black = PixelImage(
        np.zeros((600, 500), np.uint16),
        Photometric.MONOCHROME2,
        windows=(Window(1000, 100),),
    )
    view.show_image(make_shown(black))
    view.set_answers(tuple(make_answer(model=name, label="D4") for name in MODELS))
    painted = pixels(view.viewport())
    reaches = [_reach(painted, color) for color in current().models[: len(MODELS)]]
    for (left, right), (inner_left, inner_right) in pairwise(reaches):
        assert abs(inner_left - left - INSET_PX) <= 1
        assert abs(right - inner_right - INSET_PX) <= 1


def test_that_only_answers_of_the_same_cell_of_the_same_grid_are_counted(
    make_answer: MakeAnswer,
) -> None:
    answers = (
        make_answer(label="D4"),
        make_answer(label="C2"),
        make_answer(label="D4", grid=Grid(16, 16)),
        make_answer(label="D4"),
        make_answer(label="D4"),
    )
    assert depths(answers) == (0, 0, 0, 1, 2)
