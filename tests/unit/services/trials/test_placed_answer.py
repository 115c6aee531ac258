"""From a reply with coordinates or a map to one answer in native pixels."""

import base64
import json

import numpy as np
import pytest
from PIL import Image, ImageDraw

from viewer.domain.answer import (
    BoxesAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PlacedAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply, SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png
from viewer.metrics.regions import mask_of_polygon
from viewer.models.coordinates.asking import ASKING
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.services.trials.placed_answer import (
    Shown,
    asking_of,
    is_placed,
    placed_answer,
)

# The centred 200 x 200 of a 200 x 300 image, sent as 256 x 256.
SHOWN = Shown(
    "Edema", SizePx(200, 300), BoxPx(50, 0, 250, 200), SizePx(256, 256), Grid(8, 8)
)


def read(convention: str, text: str, **settings: object) -> PlacedAnswer | Unparsed:
    profile = ModelProfile("m", "scripted", {"convention": convention, **settings})
    assert is_placed(profile, ModelReply(text))
    return placed_answer(profile, ModelReply(text), SHOWN)


def test_that_thousandths_become_native_pixels_of_what_was_sent() -> None:
    answer = read("xyxy_1000", "[100, 200, 300, 400]")
    assert answer == BoxesAnswer((BoxPx(70, 40, 110, 80),))
    point = read("molmo", '<point x="25.0" y="50.0" alt="Edema">Edema</point>')
    assert point == PointAnswer(PointPx(100, 100))


def test_that_pixels_count_on_what_the_provider_shows_its_model() -> None:
    sent = read("claude", "[0, 0, 128, 128]")
    assert sent == BoxesAnswer((BoxPx(50, 0, 150, 100),))
    enlarged = read("claude", "[0, 0, 384, 384]", provider_view="gemini")
    assert enlarged == BoxesAnswer((BoxPx(50, 0, 150, 100),))


def test_that_masks_in_boxes_become_one_mask() -> None:
    png = encode_png(Raster(np.full((8, 8), 255, np.uint8)))
    coded = "data:image/png;base64," + base64.b64encode(png).decode()
    places = [
        {"box_2d": [0, 0, 100, 100], "mask": coded, "label": "edema"},
        {"box_2d": [500, 500, 600, 700], "mask": coded, "label": "edema"},
    ]
    answer = read("gemini", json.dumps(places))
    assert isinstance(answer, MaskAnswer)
    expected = np.zeros((200, 300), bool)
    expected[0:20, 50:70] = True
    expected[100:120, 150:190] = True
    assert np.array_equal(answer.mask.array(), expected)


def test_that_an_outline_becomes_the_pixels_whose_centres_it_encloses() -> None:
    outline = PolygonPx((PointPx(2.2, 1.1), PointPx(25.7, 4.0), PointPx(11.3, 17.9)))
    mask = mask_of_polygon(outline, SizePx(20, 30))
    large = Image.new("1", (3000, 2000))
    ImageDraw.Draw(large).polygon([(p.x * 100, p.y * 100) for p in outline.points], 1)
    centres = np.asarray(large)[50::100, 50::100]
    assert np.array_equal(mask, centres)


def test_that_an_outline_that_crosses_itself_leaves_its_inside_out() -> None:
    star = PolygonPx(
        (
            PointPx(1, 1),
            PointPx(19, 1),
            PointPx(19, 19),
            PointPx(1, 19),
            PointPx(1, 1),
            PointPx(5, 5),
            PointPx(5, 15),
            PointPx(15, 15),
            PointPx(15, 5),
            PointPx(5, 5),
        )
    )
    mask = mask_of_polygon(star, SizePx(20, 20))
    assert mask.sum() == 18 * 18 - 10 * 10


def test_that_a_reply_of_outlines_is_a_mask() -> None:
    text = "Edema<loc_0><loc_0><loc_499><loc_0><loc_499><loc_499>"
    answer = read("florence2", text)
    assert isinstance(answer, MaskAnswer)
    assert answer.mask.array().sum() == pytest.approx(100 * 100 / 2, rel=0.02)


def labelled(*labels: str) -> str:
    boxes = ([100, 100, 200, 200], [500, 500, 600, 600])
    return json.dumps(
        [
            {"bbox_2d": box, "label": label}
            for box, label in zip(boxes, labels, strict=False)
        ]
    )


def test_that_of_several_labels_those_that_name_the_finding_count() -> None:
    answer = read("qwen3_vl", labelled("heart", "pulmonary edema"))
    assert answer == BoxesAnswer((BoxPx(150, 100, 170, 120),))
    both = read("qwen3_vl", labelled("left edema", "right edema"))
    assert isinstance(both, BoxesAnswer)
    assert len(both.boxes) == 2


def test_that_a_box_without_the_mask_that_others_have_is_ambiguous() -> None:
    png = encode_png(Raster(np.full((8, 8), 255, np.uint8)))
    coded = base64.b64encode(png).decode()
    places = [
        {"box_2d": [0, 0, 100, 100], "mask": coded, "label": "edema"},
        {"box_2d": [500, 500, 600, 700], "label": "edema"},
    ]
    several = Unparsed(Status.AMBIGUOUS, "several_kinds")
    assert read("gemini", json.dumps(places)) == several


def test_that_a_mask_without_a_pixel_is_no_answer() -> None:
    png = encode_png(Raster(np.zeros((8, 8), np.uint8)))
    coded = base64.b64encode(png).decode()
    places = [{"box_2d": [0, 0, 100, 100], "mask": coded, "label": "edema"}]
    expected = Unparsed(Status.UNPARSED, "empty_mask")
    assert read("gemini", json.dumps(places)) == expected


AMBIGUOUS = {
    "several_labels": ("qwen3_vl", labelled("heart", "lung")),
    "several_points": (
        "molmo",
        '<points x1="10.0" y1="10.0" x2="60.0" y2="60.0" alt="Edema">Edema</points>',
    ),
    "several_blocks": ("xyxy_1000", "First [0, 0, 10, 10]. But no: [50, 50, 90, 90]."),
    "several_kinds": (
        "qwen3_vl",
        (
            '[{"bbox_2d": [1, 1, 50, 50], "label": "Edema"}, '
            '{"point_2d": [9, 9], "label": "Edema"}]'
        ),
    ),
}


@pytest.mark.parametrize("reason", AMBIGUOUS)
def test_that_what_could_mean_several_places_is_ambiguous(reason: str) -> None:
    assert read(*AMBIGUOUS[reason]) == Unparsed(Status.AMBIGUOUS, reason)


def test_that_an_empty_list_denies_the_finding_and_prose_is_unparsed() -> None:
    assert read("qwen3_vl", "[]") == Unparsed(Status.DENIED_FINDING, "empty_list")
    prose = read("qwen3_vl", "In the left lower lobe.")
    assert isinstance(prose, Unparsed)
    assert prose.status is Status.UNPARSED


def test_that_a_map_lies_over_what_was_sent_and_a_flat_one_says_nothing() -> None:
    profile = ModelProfile("cnn", "scripted", {})
    heat = SentHeatMap.of([[0.0, 1.0], [0.5, 0.25]])
    reply = ModelReply("", heat_map=heat)
    assert is_placed(profile, reply)
    assert placed_answer(profile, reply, SHOWN) == HeatMapAnswer(heat, SHOWN.field)
    flat = ModelReply("", heat_map=SentHeatMap.of([[1.0, 1.0]]))
    expected = Unparsed(Status.UNPARSED, "flat_heat_map")
    assert placed_answer(profile, flat, SHOWN) == expected


def test_that_a_profile_without_a_convention_names_cells() -> None:
    assert not is_placed(ModelProfile("m", "scripted", {}), ModelReply("D4"))
    grid = ModelProfile("m", "scripted", {"convention": "grid"})
    assert not is_placed(grid, ModelReply("D4"))


def test_that_an_unknown_convention_is_refused() -> None:
    with pytest.raises(WrongUseError, match="unknown"):
        read("no_such_convention", "[0, 0, 1, 1]")


@pytest.mark.parametrize("name", sorted(set(CONVENTIONS) - {"grid"}))
def test_that_any_text_in_any_convention_is_an_answer_or_has_its_reason(
    name: str,
) -> None:
    for text in ("", "D4", "[]", "I cannot help with that.", "[[[[", "<loc_1>", "1,2"):
        answer = read(name, text)
        if isinstance(answer, Unparsed):
            assert answer.reason


def test_that_a_model_is_asked_in_the_words_of_its_convention() -> None:
    assert set(ASKING) == set(CONVENTIONS)
    for name, words in ASKING.items():
        profile = ModelProfile("m", "scripted", {"convention": name})
        assert asking_of(profile) == words
        assert ("{condition}" in words) == (name != "grid")
    assert asking_of(ModelProfile("m", "scripted", {})) == ""
    with pytest.raises(WrongUseError, match="unknown"):
        asking_of(ModelProfile("m", "scripted", {"convention": "yolo"}))
