"""Which colours a JPEG holds, by its own word."""

import io

import numpy as np
import pytest
from PIL import Image

from viewer.readers.codecs.jpeg_color import holds_ycbcr

PIXELS = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)


def _jpeg(**settings: object) -> bytes:
    with io.BytesIO() as stream:
        Image.fromarray(PIXELS).save(stream, "JPEG", **settings)
        return stream.getvalue()


def _without_jfif(jpeg: bytes) -> bytes:
    length = int.from_bytes(jpeg[4:6], "big")
    assert jpeg[6:10] == b"JFIF"
    return jpeg[:2] + jpeg[4 + length :]


@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_that_a_jfif_file_holds_ycbcr(subsampling: int) -> None:
    assert holds_ycbcr(_jpeg(subsampling=subsampling))


def test_that_rgb_said_by_adobe_is_rgb() -> None:
    jpeg = _jpeg(keep_rgb=True)
    assert b"Adobe" in jpeg[:200]
    assert not holds_ycbcr(jpeg)


def test_that_ycbcr_said_by_adobe_is_ycbcr() -> None:
    jpeg = bytearray(_jpeg(keep_rgb=True))
    jpeg[jpeg.index(b"Adobe") + 11] = 1
    assert holds_ycbcr(bytes(jpeg))


def test_that_fewer_samples_of_two_components_are_chrominance() -> None:
    assert holds_ycbcr(_without_jfif(_jpeg(subsampling=2)))
    assert not holds_ycbcr(_without_jfif(_jpeg(subsampling=0)))


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", b"\x00" * 64, b"\xff\xd8\xff\xc0"])
def test_that_what_is_no_jpeg_says_nothing(data: bytes) -> None:
    assert not holds_ycbcr(data)


def test_that_a_stream_that_ends_early_says_nothing() -> None:
    plain = _without_jfif(_jpeg(subsampling=2))
    for end in range(2, 40):
        assert not holds_ycbcr(plain[:end])
