"""The table, masks and codes beside boxes, and detection that never chooses."""

import base64
import random

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Grid, LetterAxis
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.places import Flag, ReplyStatus
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit_affine
from viewer.models.coordinates.conventions import (
    CONVENTIONS,
    convention_named,
    detect,
)
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.settings import CONVENTION_NAMES, VIEW_NAMES
from viewer.models.provider_view import PROVIDER_VIEWS

_NAMES = (
    *("grid", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "gemini", "paligemma", "molmo"),
    *("florence2", "kosmos2", "deepseek_vl2", "internvl", "claude", "xyxy_1000"),
    "maira2",
)
_FRAME = Frame.of_sent(SizePx(400, 800), SizePx(392, 784))


def test_that_the_table_holds_the_fourteen_conventions_in_their_order() -> None:
    assert tuple(CONVENTIONS) == _NAMES
    assert all(convention.summary for convention in CONVENTIONS.values())


def test_that_profiles_may_name_every_convention_and_view_and_no_other() -> None:
    assert tuple(CONVENTIONS) == CONVENTION_NAMES
    assert tuple(PROVIDER_VIEWS) == VIEW_NAMES


def test_that_an_unknown_convention_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WrongUseError, match="qwen2_5_vl"):
        convention_named("yolo")


def _gemini_with_mask(mask: str) -> str:
    return f'[{{"box_2d": [250, 250, 750, 750], "mask": "{mask}", "label": "mass"}}]'


def test_that_a_gemini_mask_lies_in_its_box() -> None:
    probability = np.zeros((10, 20), dtype=np.uint8)
    probability[:5] = 200
    png = base64.b64encode(encode_png(Raster(probability))).decode()
    for coded in (f"data:image/png;base64,{png}", png):
        reading = CONVENTIONS["gemini"].read(_gemini_with_mask(coded), _FRAME)
        (place,) = reading.places
        assert place.mask is not None
        array = place.mask.mask(SizePx(400, 800)).array()
        expected = np.zeros((400, 800), dtype=bool)
        expected[100:200, 200:600] = True
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("mask", ["data:image/png;base64,####", "aGVsbG8=", "x", "é"])
def test_that_an_unreadable_mask_leaves_the_box_and_says_so(mask: str) -> None:
    (place,) = CONVENTIONS["gemini"].read(_gemini_with_mask(mask), _FRAME).places
    assert place.shape == BoxPx(200, 100, 600, 300)
    assert place.flags == (Flag.MASK_UNREADABLE,)
    assert place.mask is None


def test_that_paligemma_codes_are_kept_and_no_mask_is_invented() -> None:
    codes = tuple(range(100, 116))
    tokens = "".join(f"<seg{code:03}>" for code in codes)
    text = f"<loc0100><loc0200><loc0300><loc0400>{tokens} mass"
    (place,) = CONVENTIONS["paligemma"].read(text, _FRAME).places
    assert place.seg_codes == codes
    assert place.mask is None
    assert CONVENTIONS["paligemma"].write([place], _FRAME) == text


def test_that_a_box_in_the_border_of_a_letterbox_is_cut_at_the_image() -> None:
    native = SizePx(1000, 500)
    frame = Frame(
        native,
        fit_affine(ImageGeometry(native), 256, FitMode.LETTERBOX),
        SizePx(256, 256),
        SizePx(256, 256),
    )
    read = CONVENTIONS["xyxy_1000"].read
    wide = read("[0, 0, 1000, 500]", frame)
    assert wide.places[0].shape == BoxPx(0, 0, 500, 500)
    assert wide.flags == (Flag.CLIPPED,)
    border = read("[0, 0, 200, 500]", frame)
    assert (border.status, border.reason) == ("out_of_range", "outside_image")


def test_that_a_point_one_step_outside_is_drawn_to_the_edge() -> None:
    read = CONVENTIONS["xyxy_1000"].read
    near = read('{"point": [1001, 500]}', _FRAME)
    assert near.places[0].shape == PointPx(800, 200)
    assert near.flags == (Flag.CLIPPED,)
    assert read('{"point": [1002, 500]}', _FRAME).reason == "outside_image"


def test_that_a_reply_cut_at_the_token_limit_is_shown_and_not_scored() -> None:
    for name, text in {
        "qwen3_vl": '[{"bbox_2d": [1, 2, 30, 40], "label": "a"}]',
        "molmo": '<point x="10" y="20" alt="a">a</point>',
    }.items():
        reading = CONVENTIONS[name].read(text, _FRAME, truncated=True)
        assert (reading.status, reading.reason) == ("truncated", "length")
        assert len(reading.places) == 1
        assert reading.scored == ()


def test_that_a_whole_cell_counts_even_at_the_token_limit() -> None:
    grid = CONVENTIONS["grid"]
    assert grid.read("D4", _FRAME, truncated=True).status is ReplyStatus.OK
    assert grid.read("The", _FRAME, truncated=True).status is ReplyStatus.TRUNCATED


def test_that_the_grid_follows_the_frames_own_grid_and_letters() -> None:
    frame = Frame(
        SizePx(800, 800),
        fit_affine(ImageGeometry(SizePx(800, 800)), 256, FitMode.CROP_RESIZE),
        SizePx(256, 256),
        SizePx(256, 256),
        Grid(16, 16, LetterAxis.COLUMN),
    )
    (place,) = CONVENTIONS["grid"].read("B3", frame).places
    assert place.shape == BoxPx(50, 100, 100, 150)
    assert CONVENTIONS["grid"].write([place], frame) == "B3"


def test_that_detection_is_sure_of_a_format_that_no_other_uses() -> None:
    samples = {
        "paligemma": "<loc0100><loc0200><loc0300><loc0400> mass",
        "florence2": "mass<loc_1><loc_2><loc_300><loc_400>",
        "kosmos2": "<object><patch_index_0044><patch_index_0863></object>",
        "molmo": '<point x="10" y="20" alt="a">a</point>',
        "maira2": "<obj>a <box><x1><y2><x30><y40></box></obj>",
        "grid": "D4",
    }
    for name, text in samples.items():
        best = detect(text, _FRAME)[0]
        assert best.name == name
        assert best.confidence > 0.9


def test_that_detection_shows_both_readings_of_the_same_numbers() -> None:
    text = '[{"bbox_2d": [100, 50, 300, 200], "label": "mass"}]'
    found = {c.name: c for c in detect(text, _FRAME)}
    pixels, thousandths = found["qwen2_5_vl"], found["qwen3_vl"]
    assert pixels.confidence == thousandths.confidence
    assert pixels.reading.places[0].shape != thousandths.reading.places[0].shape


def test_that_numbers_beyond_the_seen_image_speak_for_thousandths() -> None:
    text = '[{"bbox_2d": [100, 50, 300, 950], "label": "mass"}]'
    found = {c.name: c.confidence for c in detect(text, _FRAME)}
    assert found["qwen3_vl"] > 5 * found["qwen2_5_vl"]


def test_that_detection_of_prose_finds_nothing() -> None:
    assert detect("The lungs are clear.", _FRAME) == ()


def test_that_numbers_too_large_to_be_any_are_rejected() -> None:
    for text in ("[1, 2, 1e300, 4]", "[1, 2, 99999999999, 4]"):
        reading = CONVENTIONS["xyxy_1000"].read(text, _FRAME)
        assert (reading.status, reading.reason) == ("unparsed", "not_a_number")


def test_that_native_points_survive_any_frame() -> None:
    rng = random.Random(0)
    native = SizePx(2828, 2320)
    for mode in FitMode:
        to_sent = fit_affine(ImageGeometry(native), 256, mode)
        for _ in range(50):
            point = PointPx(rng.uniform(0, 2320), rng.uniform(0, 2828))
            back = to_sent.inverse().apply(to_sent.apply(point))
            assert abs(back.x - point.x) < 1e-6
            assert abs(back.y - point.y) < 1e-6
