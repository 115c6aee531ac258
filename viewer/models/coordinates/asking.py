"""Prompts that ask for a location in each convention, in the words of its training.

``{condition}`` stands for the finding. Model families with their own syntax are asked
in it, as in their model cards; the others are told which JSON to write.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from viewer.domain.places import PlaceWords

_JSON: Final = (
    "The abnormality ‘{condition}’ is confirmed to be present in this medical image. "
    "Find where it is. "
    "Answer with nothing but JSON: %s"
)
_ASKING: Final = {
    "grid": "",
    "qwen2_vl": "Detect the bounding box of ‘{condition}’ in this medical image.",
    "qwen2_5_vl": _JSON % '[{"bbox_2d": [x1, y1, x2, y2], "label": "{condition}"}], '
    "in pixels of the image.",
    "qwen3_vl": _JSON % '[{"bbox_2d": [x1, y1, x2, y2], "label": "{condition}"}], '
    "in thousandths of the image's width and height.",
    "gemini": _JSON % '[{"box_2d": [ymin, xmin, ymax, xmax], "label": "{condition}"}], '
    "in thousandths of the image's height and width.",
    "paligemma": "detect {condition}",
    "molmo": "Point to the {condition}.",
    "florence2": "<CAPTION_TO_PHRASE_GROUNDING>{condition}",
    "kosmos2": "<grounding><phrase>{condition}</phrase>",
    "deepseek_vl2": "<|ref|>{condition}<|/ref|>.",
    "internvl": "Please provide the bounding box coordinates of the region this "
    "sentence describes: <ref>{condition}</ref>",
    "claude": _JSON % '{"box": [x1, y1, x2, y2], "label": "{condition}"}, '
    "in pixels of the image.",
    "xyxy_1000": _JSON % '{"box": [x1, y1, x2, y2], "label": "{condition}"}, '
    "in thousandths of the image's width and height.",
    "maira2": "Repeat the following finding as a grounded phrase with bounding boxes "
    "indicating all locations where it can be seen in the given chest X-ray image. "
    "Finding: {condition}",
}

ASKING: Final[Mapping[str, str]] = MappingProxyType(_ASKING)
"""The text sent for each convention; "" if the study asks for a cell itself."""
_PIXELS: Final = "in pixels of the image"
_THOUSANDTHS: Final = "in thousandths of the image's width and height"
_QWEN: Final = ('[{"point_2d": [x, y]}]', '[{"bbox_2d": [x1, y1, x2, y2]}]')
_FREE: Final = ('[{"point": [x, y]}]', '[{"box": [x1, y1, x2, y2]}]')
_FORMS: Final = {
    "qwen2_5_vl": (*_QWEN, _PIXELS),
    "qwen3_vl": (*_QWEN, _THOUSANDTHS),
    "gemini": (
        *('[{"point": [y, x]}]', '[{"box_2d": [ymin, xmin, ymax, xmax]}]'),
        "in thousandths of the image's height and width",
    ),
    "claude": (*_FREE, _PIXELS),
    "xyxy_1000": (*_FREE, _THOUSANDTHS),
}


def place_words(convention: str) -> PlaceWords:
    """Return how to tell a model of a convention to write the answer to any question.

    Families with a syntax of their own write it unasked.
    """
    if convention not in _FORMS:
        return PlaceWords()
    point, box, unit = _FORMS[convention]
    answer = "Answer with nothing but JSON"
    return PlaceWords(
        f"{answer}, with one point: {point}, {unit}.",
        f"{answer}, with one box: {box}, {unit}.",
        f"{answer}, with every box: {box}, {unit}; [] if there is none.",
    )
