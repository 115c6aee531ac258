"""Requests and profiles."""

import hashlib

import numpy as np
import pytest

from viewer.domain.exchange import (
    LEFT_OUT,
    LENGTH_CAP,
    PEAK_MEMORY,
    WORK_TIME,
    Facts,
    ImagePart,
    Message,
    ModelProfile,
    ModelRequest,
    RawReply,
    ReplyKind,
    TextPart,
)
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric, PixelImage, Raster
from viewer.domain.image_geometry import ImageGeometry


def _facts() -> Facts:
    return Facts(
        rows=8,
        columns=8,
        letters="row",
        finding="Edema",
        view="frontal",
        item="a|Edema",
        condition="grid=8",
        seed=0,
        repeat=0,
        plain=Raster(np.zeros((2, 3), np.uint8)),
        plain_sha256="0",
    )


def test_that_a_request_lists_its_images_in_the_order_sent() -> None:
    first, second = ImagePart(b"one"), ImagePart(b"two")
    messages = (
        Message("system", (TextPart("Look."),)),
        Message("user", (first, TextPart("Where?"), second)),
    )
    assert ModelRequest(messages, _facts(), "0").images == (first, second)


def test_that_an_image_is_named_by_its_exact_bytes() -> None:
    assert ImagePart(b"one").sha256 == hashlib.sha256(b"one").hexdigest()


def test_that_profiles_are_equal_whatever_the_order_of_their_settings() -> None:
    one = ModelProfile("m", "openai_api", {"seed": 1, "temperature": 0})
    other = ModelProfile("m", "openai_api", {"temperature": 0, "seed": 1})
    assert one == other
    assert len({one, other}) == 1


def test_that_images_know_their_size_as_rows_and_columns() -> None:
    pixels = np.zeros((4, 5), np.uint8)
    assert Raster(pixels).size == SizePx(4, 5)
    assert PixelImage(pixels, Photometric.MONOCHROME2).size == SizePx(4, 5)


def test_that_pixels_keep_the_geometry_they_come_with() -> None:
    pixels = np.zeros((4, 5), np.uint8)
    given = ImageGeometry(SizePx(4, 5), aspect_ratio=2.0)
    image = PixelImage(pixels, Photometric.MONOCHROME2, geometry=given)
    assert image.geometry is given
    assert PixelImage(pixels, Photometric.MONOCHROME2).geometry.pixel_aspect == 1.0


def test_that_a_reply_keeps_what_was_noted_beside_its_headers() -> None:
    noted = {
        LEFT_OUT: "seed temperature",
        LENGTH_CAP: "4096",
        PEAK_MEMORY: "123456789",
        WORK_TIME: "250",
    }
    reply = RawReply(ReplyKind.LOCAL, b"{}", headers=noted)
    assert reply.dropped == ("seed", "temperature")
    assert (reply.length_cap, reply.peak_memory_bytes) == (4096, 123456789)
    assert reply.work_ms == 250


@pytest.mark.parametrize("value", ["", "many", "-1", "1.5"])
def test_that_what_is_no_count_is_unknown(value: str) -> None:
    noted = dict.fromkeys((LENGTH_CAP, PEAK_MEMORY, WORK_TIME), value)
    for reply in (
        RawReply(ReplyKind.LOCAL, b"{}", headers=noted),
        RawReply(ReplyKind.CHAT_COMPLETION, b"{}"),
    ):
        assert reply.dropped == ()
        assert (reply.length_cap, reply.peak_memory_bytes, reply.work_ms) == (None,) * 3
