"""The table of conventions: how each model family writes locations.

A convention is chosen in a model's profile. :func:`detect` only reports which ones a
reply could be read by; it never chooses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from viewer.domain.errors import WrongUseError
from viewer.domain.places import Flag, PlacesReading, ReplyStatus
from viewer.models.coordinates import tag_places as tags
from viewer.models.coordinates import writing
from viewer.models.coordinates.convention import (
    Convention,
    GridConvention,
    NumberConvention,
    bare_cell,
)
from viewer.models.coordinates.frame import Frame, Space
from viewer.models.coordinates.json_places import JsonRules, find_in_json
from viewer.models.coordinates.marks import Found, Kind

_BOX = frozenset({Kind.BOX})
_POINT = frozenset({Kind.POINT})
_BOX_POINT = frozenset({Kind.BOX, Kind.POINT})
_BOX_POLYGON = frozenset({Kind.BOX, Kind.POLYGON})
_SEEN_PIXELS = Space(divisions=None)
_THOUSANDTHS = Space(divisions=1000)


def _x_first(text: str) -> Found:
    return find_in_json(text, JsonRules())


def _y_first(text: str) -> Found:
    return find_in_json(text, JsonRules(y_first=True, with_masks=True))


_QWEN_JSON = writing.keyed_json("bbox_2d", "point_2d", y_first=False, fenced=True)
_GEMINI_JSON = writing.keyed_json("box_2d", "point", y_first=True, fenced=True)
_FREE_JSON = writing.keyed_json("box", "point", y_first=False, fenced=False)

_TABLE: tuple[Convention, ...] = (
    GridConvention(bare_cell),
    NumberConvention(
        "qwen2_vl",
        "<|box_start|>(x1,y1),(x2,y2)<|box_end|>, thousandths of each side",
        _BOX_POINT,
        _THOUSANDTHS,
        tags.find_qwen2_vl,
        writing.write_qwen2_vl,
    ),
    NumberConvention(
        "qwen2_5_vl",
        'JSON "bbox_2d": [x1, y1, x2, y2], pixels of the image as the model saw it',
        _BOX_POINT,
        _SEEN_PIXELS,
        _x_first,
        _QWEN_JSON,
    ),
    NumberConvention(
        "qwen3_vl",
        'JSON "bbox_2d": [x1, y1, x2, y2], thousandths of each side',
        _BOX_POINT,
        _THOUSANDTHS,
        _x_first,
        _QWEN_JSON,
    ),
    NumberConvention(
        "gemini",
        'JSON "box_2d": [ymin, xmin, ymax, xmax], thousandths, y first, masks in boxes',
        _BOX_POINT,
        _THOUSANDTHS,
        _y_first,
        _GEMINI_JSON,
    ),
    NumberConvention(
        "paligemma",
        "<locY1><locX1><locY2><locX2> label, 1024ths of each side, y first",
        _BOX,
        Space(divisions=1024, largest=1023),
        tags.find_paligemma,
        writing.write_paligemma,
    ),
    NumberConvention(
        "molmo",
        '<point x="10.5" y="20.1" alt="…">, percent of each side',
        _POINT,
        Space(divisions=100, step=0.1, largest=100),
        tags.find_molmo,
        writing.write_molmo,
    ),
    NumberConvention(
        "florence2",
        "label<loc_x1><loc_y1><loc_x2><loc_y2>, middles of 1000 bins of each side",
        _BOX_POLYGON,
        Space(divisions=1000, centred=True, largest=999),
        tags.find_florence2,
        writing.write_florence2,
    ),
    NumberConvention(
        "kosmos2",
        "<phrase>…</phrase><object><patch_index_UL><patch_index_LR></object>, 32 × 32",
        _BOX,
        Space(divisions=tags.KOSMOS_SIDE, largest=tags.KOSMOS_SIDE),
        tags.find_kosmos2,
        writing.write_kosmos2,
    ),
    NumberConvention(
        "deepseek_vl2",
        "<|ref|>…<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>, 999ths of each side",
        _BOX,
        Space(divisions=999),
        tags.find_deepseek_vl2,
        writing.write_deepseek_vl2,
    ),
    NumberConvention(
        "internvl",
        "<ref>…</ref><box>[[x1, y1, x2, y2]]</box>, thousandths of each side",
        _BOX,
        _THOUSANDTHS,
        tags.find_internvl,
        writing.write_internvl,
    ),
    NumberConvention(
        "claude",
        "free JSON [x1, y1, x2, y2], pixels of the image as the model saw it",
        _BOX_POINT,
        _SEEN_PIXELS,
        _x_first,
        _FREE_JSON,
    ),
    NumberConvention(
        "xyxy_1000",
        "free JSON [x1, y1, x2, y2], thousandths of each side, as the prompt asks",
        _BOX_POINT,
        _THOUSANDTHS,
        _x_first,
        _FREE_JSON,
    ),
    NumberConvention(
        "maira2",
        "<obj>…<box><x55><y45><x70><y56></box></obj>, middles of 100 bins of the "
        "centred square",
        _BOX,
        Space(divisions=tags.MAIRA_BINS, centred=True, largest=99, cropped=True),
        tags.find_maira2,
        writing.write_maira2,
    ),
)

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({c.name: c for c in _TABLE})
"""Every convention by the name that profiles and the command line give it."""


def convention_named(name: str) -> Convention:
    """Return a convention of the table; an unknown name raises ``WrongUseError``."""
    if name not in CONVENTIONS:
        raise WrongUseError(
            f"The convention of coordinates '{name}' is unknown.",
            f"Choose one of {', '.join(CONVENTIONS)}.",
        )
    return CONVENTIONS[name]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A convention by which a reply can be parsed; confidences sum to 1."""

    name: str
    confidence: float
    reading: PlacesReading


_SIGNS: Mapping[str, tuple[tuple[re.Pattern[str], float], ...]] = {
    # A cell's name has no syntax of its own; its parser takes nothing but the name.
    "grid": ((re.compile(r"\A"), 1.0),),
    "qwen2_vl": (
        (re.compile(r"<\|(?:box|point|object_ref)_start\|>"), 1.0),
        (re.compile(r"\(\d+,\s*\d+\),\s*\(\d+,\s*\d+\)"), 0.5),
    ),
    "qwen2_5_vl": ((re.compile(r"(?:bbox|point)_2d"), 0.9),),
    "qwen3_vl": ((re.compile(r"(?:bbox|point)_2d"), 0.9),),
    "gemini": ((re.compile(r"\bbox_2d"), 1.0), (re.compile(r'"mask"'), 0.5)),
    "paligemma": ((re.compile(r"<loc\d{4}>"), 1.0),),
    "molmo": ((re.compile(r"<points?\s"), 1.0),),
    "florence2": ((re.compile(r"<loc_\d"), 1.0),),
    "kosmos2": ((re.compile(r"<patch_index_\d"), 1.0),),
    "deepseek_vl2": ((re.compile(r"<\|det\|>"), 1.0),),
    "internvl": ((re.compile(r"<box>\s*\["), 1.0),),
    "claude": ((re.compile(r"[\[{]"), 0.2),),
    "xyxy_1000": ((re.compile(r"[\[{]"), 0.2),),
    "maira2": ((re.compile(r"<x\d+>\s*<y\d+>"), 1.0), (re.compile(r"\b0\.\d"), 0.2)),
}
_UNSIGNED = 0.02
_MISFITS = frozenset({Flag.CLIPPED, Flag.SUSPECT_SCALE, Flag.SOME_REJECTED})
_MISFIT = 0.1
_LEAST = 0.01


def detect(reply: str, frame: Frame) -> tuple[Candidate, ...]:
    """Return every convention that finds a location in a reply, most likely first.

    The weight of each is that of the strongest sign of its syntax in the text, divided
    by ten for each way in which its numbers do not fit the image. Conventions that
    differ only in scale are all listed, each with its own geometry.
    """
    readings = [(c.name, c.read(reply, frame)) for c in _TABLE]
    weighed = [
        (name, _weight(name, reply, reading), reading)
        for name, reading in readings
        if reading.status is ReplyStatus.OK
    ]
    total = sum(weight for _, weight, _ in weighed)
    candidates = [Candidate(n, weight / total, r) for n, weight, r in weighed]
    likely = [c for c in candidates if c.confidence >= _LEAST]
    return tuple(sorted(likely, key=lambda c: (-c.confidence, c.name)))


def _weight(name: str, reply: str, reading: PlacesReading) -> float:
    signs = (weight for pattern, weight in _SIGNS[name] if pattern.search(reply))
    misfits = len(_MISFITS.intersection(reading.flags))
    return float(max(signs, default=_UNSIGNED) * _MISFIT**misfits)
