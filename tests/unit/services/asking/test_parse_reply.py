"""A pasted reply, its status and its places in native pixels, as JSON."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit_affine
from viewer.services.asking.parse_reply import parse_reply

_SENT = SizePx(256, 256)


def _parsed(convention: str, reply: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - passed on
    body = parse_reply(convention, reply, _SENT, SizePx(252, 252), **more)
    again: dict[str, Any] = json.loads(json.dumps(body, allow_nan=False))
    return again


def test_that_a_box_is_printed_in_pixels_of_the_sent_image() -> None:
    body = _parsed("qwen2_5_vl", '[{"bbox_2d": [63, 0, 126, 252], "label": "mass"}]')
    assert (body["status"], body["scored"]) == ("ok", True)
    (place,) = body["places"]
    assert (place["kind"], place["label"], place["flags"]) == ("box", "mass", [])
    assert [place[key] for key in ("x0", "y0", "x1", "y1")] == [64.0, 0.0, 128.0, 256.0]
    assert body["seen"] == [252, 252]
    assert body["raw"].startswith('[{"bbox_2d"')


def test_that_a_native_image_gives_native_pixels() -> None:
    native = SizePx(2320, 2828)
    to_sent = fit_affine(ImageGeometry(native), 256, FitMode.CROP_RESIZE)
    reply = "[0, 0, 1000, 1000]"
    body = _parsed("xyxy_1000", reply, native=native, to_sent=to_sent)
    (place,) = body["places"]
    corners = [place[key] for key in ("x0", "y0", "x1", "y1")]
    assert corners == pytest.approx([254, 0, 2574, 2320])
    assert body["native"] == [2828, 2320]


def test_that_the_grid_prints_the_cell_and_its_box_as_the_study_reads_it() -> None:
    body = _parsed("grid", "The nodule is in cell **D4**, not E5.")
    assert body["cell"] == "D4"
    box = [body["places"][0][key] for key in ("x0", "y0", "x1", "y1")]
    assert box == [96.0, 96.0, 128.0, 128.0]
    other = _parsed("grid", "P16", grid=Grid(16, 16))
    assert other["cell"] == "P16"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("D4 or E5", "ambiguous"),
        ("I9", "out_of_range"),
        ("I'm sorry, but I can't assist with that.", "refused"),
        ("There is no evidence of pneumothorax.", "denied_finding"),
        ("", "unparsed"),
    ],
)
def test_that_a_reply_without_a_cell_has_the_studys_status(
    reply: str, status: str
) -> None:
    body = _parsed("grid", reply, finding="Pneumothorax")
    assert body["status"] == status
    assert body["reason"]
    assert body["cell"] is None
    assert body["places"] == []


def test_that_a_truncated_grid_reply_counts_only_where_it_is_whole() -> None:
    assert _parsed("grid", "D4", truncated=True)["cell"] == "D4"
    assert _parsed("grid", "It is D", truncated=True)["status"] == "truncated"


def test_that_points_outlines_masks_and_codes_are_printed() -> None:
    point = _parsed("molmo", '<point x="50" y="25" alt="a">a</point>')["places"][0]
    assert (point["kind"], point["x"], point["y"]) == ("point", 128.0, 64.0)
    outline = _parsed(
        "florence2", "a<poly><loc_0><loc_0><loc_500><loc_0><loc_0><loc_9>"
    )
    assert outline["places"][0]["kind"] == "polygon"
    codes = "".join(f"<seg{i:03}>" for i in range(16))
    text = f"<loc0000><loc0000><loc0512><loc0512>{codes} mass"
    place = _parsed("paligemma", text)["places"][0]
    assert place["seg_codes"] == list(range(16))
    assert "no mask can be drawn" in place["note"]
    assert "mask" not in place


def test_that_a_gemini_mask_is_printed_as_coco_rle() -> None:
    white = Raster(np.full((4, 4), 255, dtype=np.uint8))
    png = base64.b64encode(encode_png(white)).decode()
    reply = json.dumps([{"box_2d": [0, 0, 500, 500], "mask": png, "label": "a"}])
    place = _parsed("gemini", reply)["places"][0]
    assert place["flags"] == []
    expected = np.zeros((256, 256), dtype=bool)
    expected[:128, :128] = True
    mask = Mask(SizePx(*place["mask"]["size"]), place["mask"]["counts"])
    np.testing.assert_array_equal(mask.array(), expected)


def test_that_auto_shows_every_reading_and_chooses_none() -> None:
    body = _parsed("auto", '[{"bbox_2d": [10, 20, 100, 200]}]')
    assert (body["status"], body["reason"]) == ("ambiguous", "several_conventions")
    assert "places" not in body
    names = [candidate["convention"] for candidate in body["candidates"]]
    assert names[:2] == ["qwen2_5_vl", "qwen3_vl"]
    boxes = [candidate["places"][0]["x1"] for candidate in body["candidates"][:2]]
    assert boxes[0] != boxes[1]


def test_that_auto_says_when_one_or_none_fits() -> None:
    one = _parsed("auto", '<point x="50" y="25" alt="a">a</point>')
    assert (one["status"], len(one["candidates"])) == ("ok", 1)
    none = _parsed("auto", "The lungs are clear.")
    assert (none["status"], none["candidates"]) == ("unparsed", [])


def test_that_wrong_use_is_refused_with_sentences() -> None:
    with pytest.raises(WrongUseError, match="is unknown"):
        parse_reply("yolo", "", _SENT)
    with pytest.raises(WrongUseError, match="cannot have 256 × 0 pixels"):
        parse_reply("grid", "", SizePx(0, 256))
    with pytest.raises(WrongUseError, match="both its size and its map"):
        parse_reply("grid", "", _SENT, native=SizePx(10, 10))
