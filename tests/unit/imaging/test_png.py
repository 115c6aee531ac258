import hashlib
import io
import struct

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Raster
from viewer.imaging.png import decode_png, encode_png, is_bare_png

SHAPES = st.one_of(
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=40),
    st.tuples(st.integers(1, 20), st.integers(1, 20), st.just(3)),
)


def chunks(data: bytes) -> list[bytes]:
    kinds, position = [], 8
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        kinds.append(data[position + 4 : position + 8])
        position += 12 + length
    return kinds


@given(hnp.arrays(np.uint8, SHAPES))
def test_that_pillow_reads_back_every_pixel(pixels: npt.NDArray[np.uint8]) -> None:
    with Image.open(io.BytesIO(encode_png(Raster(pixels)))) as image:
        image.load()
        assert (np.asarray(image) == pixels).all()
    assert (decode_png(encode_png(Raster(pixels))).pixels == pixels).all()


def test_that_only_the_three_necessary_chunks_are_written() -> None:
    data = encode_png(Raster(np.zeros((5, 5, 3), np.uint8)))
    assert chunks(data) == [b"IHDR", b"IDAT", b"IEND"]


def test_that_the_bytes_are_these_and_no_others() -> None:
    y, x = np.mgrid[:64, :64]
    pixels = np.stack([x * 4, y * 4, (x * y) % 256], axis=-1).astype(np.uint8)
    data = encode_png(Raster(pixels))
    assert hashlib.sha256(data).hexdigest()[:16] == "7a16bfb0d7d08e92"
    assert data == encode_png(Raster(pixels.copy()))


def test_that_other_png_files_are_read_as_grey_or_colour() -> None:
    stream = io.BytesIO()
    Image.new("RGBA", (3, 2), (1, 2, 3, 4)).save(stream, "PNG")
    assert decode_png(stream.getvalue()).pixels[0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("cut", [0, 7, 20, 60])
def test_that_a_damaged_png_is_refused(cut: int) -> None:
    data = encode_png(Raster(np.arange(256, dtype=np.uint8).reshape(16, 16)))
    with pytest.raises(UnreadableInputError, match="cannot be decoded"):
        decode_png(data[:cut])


def test_that_a_png_of_pixels_alone_is_told_from_all_else() -> None:
    data = encode_png(Raster(np.arange(256, dtype=np.uint8).reshape(16, 16)))
    assert is_bare_png(data)
    assert not is_bare_png(data[1:])
    assert not is_bare_png(data[:-1])
    assert not is_bare_png(data + b"more")
    text = struct.pack(">I4sI", 0, b"tEXt", 0)
    assert not is_bare_png(data[:33] + text + data[33:])
