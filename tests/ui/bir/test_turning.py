"""Rotating and flipping, which IHE BIR allows for radiographs alone (5.2)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.ui.bir.conftest import Open
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView

Pixels = npt.NDArray[np.uint8]
TURNS: dict[str, Callable[[Pixels], Pixels]] = {
    "image.rotate_right": lambda a: np.rot90(a, -1),
    "image.rotate_left": np.rot90,
    "image.mirror": np.fliplr,
    "image.flip": np.flipud,
}


def _painted(view: ImageView) -> Pixels:
    view.one_to_one()
    assert view._display is not None
    seen = view._camera.viewport(view._turned.size_before)
    return view._display.frame(seen, view._turned).pixels


@pytest.mark.parametrize("action", TURNS)
def test_b08_a_radiograph_is_rotated_and_flipped_and_its_letters_follow(
    opened: Open, context: AppContext, radiograph: Path, action: str
) -> None:
    view = opened(radiograph)
    before = _painted(view)
    assert context.actions[action].isEnabled()
    context.actions[action].trigger()
    np.testing.assert_array_equal(_painted(view), TURNS[action](before))
    view.reset()
    np.testing.assert_array_equal(_painted(view), before)


@pytest.mark.parametrize("action", TURNS)
def test_b08_a_slice_is_not_turned(
    opened: Open, context: AppContext, series: Path, action: str
) -> None:
    view = opened(series)
    before = _painted(view)
    assert not context.actions[action].isEnabled()
    context.actions.run(action)
    np.testing.assert_array_equal(_painted(view), before)
