from itertools import pairwise

import numpy as np
import pytest

from viewer.imaging.outline_loops import outline_loops


@pytest.mark.parametrize("seed", range(8))
def test_that_the_outlines_enclose_what_the_mask_marks(seed: int) -> None:
    mask = np.random.default_rng(seed).random((9, 12)) < 0.5
    again = np.zeros(mask.shape, int)
    for loop in outline_loops(mask):
        assert (loop[0] == loop[-1]).all()
        for (x0, y0), (x1, y1) in pairwise(loop):
            assert (x0 == x1) != (y0 == y1)
            if x0 == x1:  # a step down or up changes sides for all pixels to its right
                again[min(y0, y1) : max(y0, y1), x0:] ^= 1
    assert (again.astype(bool) == mask).all()


def test_that_an_empty_mask_has_no_outline() -> None:
    assert outline_loops(np.zeros((4, 5), bool)) == []
