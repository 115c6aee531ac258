"""Run-length coding, against COCO's own implementation."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coco

from viewer.domain import rle
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask

SIDES = st.integers(1, 40)
NOISE = st.tuples(SIDES, SIDES).flatmap(lambda shape: arrays(np.bool_, shape))


@st.composite
def _blocks(draw: st.DrawFn) -> npt.NDArray[np.bool_]:
    """Draw a large mask of rectangles, whose runs need several characters."""
    rows, columns = draw(st.integers(1, 3000)), draw(st.integers(1, 50))
    mask = np.zeros((rows, columns), dtype=bool)
    for _ in range(draw(st.integers(0, 4))):
        top, left = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
        bottom = draw(st.integers(top, rows))
        right = draw(st.integers(left, columns))
        mask[top:bottom, left:right] ^= True
    return mask


@pytest.mark.statement("E000-01")
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@given(NOISE | _blocks())
def test_that_coding_and_decoding_equal_coco(mask: npt.NDArray[np.bool_]) -> None:
    theirs = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    counts = theirs["counts"].decode("ascii")
    assert rle.encode(mask) == rle.encode(np.asfortranarray(mask)) == counts
    decoded = rle.decode(counts, *mask.shape)
    assert decoded.dtype == np.bool_
    assert np.array_equal(decoded, coco.decode(theirs).astype(bool))
    assert np.array_equal(decoded, mask)


@given(st.lists(st.integers(-(2**40), 2**40), max_size=30))
def test_that_any_runs_survive_their_code(runs: list[int]) -> None:
    assert rle.decode_runs(rle.encode_runs(runs)) == runs


@given(st.text(max_size=30))
def test_that_any_text_is_read_or_refused_in_a_sentence(counts: str) -> None:
    try:
        mask = rle.decode(counts, 3, 4)
    except UnreadableInputError as error:
        refused = error
    else:
        assert mask.shape == (3, 4)
        return
    assert refused.what.endswith(".")
    assert refused.how


@pytest.mark.parametrize(
    ("counts", "height", "width", "words"),
    [
        ("X", 3, 4, "cut short"),
        ("\x1f", 3, 4, "alphabet"),
        ("é", 3, 4, "alphabet"),
        ("o" * 10 + "0", 3, 4, "longer than any image"),
        (rle.encode_runs([5, -1, 8]), 3, 4, "negative run"),
        (rle.encode_runs([11]), 3, 4, "cover 11 pixels, but its size says 12"),
        (rle.encode_runs([12]), 0, 4, "0 × 4 is not positive"),
        (rle.encode_runs([12]), 3, -4, "3 × -4 is not positive"),
    ],
)
def test_that_a_code_that_does_not_fit_says_why(
    counts: str, height: int, width: int, words: str
) -> None:
    with pytest.raises(UnreadableInputError, match=words):
        rle.decode(counts, height, width)


@pytest.mark.parametrize("run", [1 << 48, 1 << 70])
def test_that_a_run_longer_than_any_image_is_refused(run: int) -> None:
    with pytest.raises(UnreadableInputError, match="longer than any image"):
        rle.encode_runs([run])


@given(NOISE)
def test_that_a_mask_keeps_its_pixels_and_knows_whether_it_has_any(
    pixels: npt.NDArray[np.bool_],
) -> None:
    mask = Mask.of_array(pixels)
    assert mask.size == SizePx(*pixels.shape)
    assert np.array_equal(mask.array(), pixels)
    assert mask.is_empty is not bool(pixels.any())
