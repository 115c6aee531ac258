"""The settings that shape how a model's answers are understood, not how it is asked.

Models may answer in coordinates instead of naming a cell, and may stand for a model of
a paper. The settings are not part of a request's key: the same bytes are sent, only the
reply is parsed differently. The names are repeated here so that the catalogue of models
need not import the parsers; a test compares both lists.
"""

from dataclasses import replace
from typing import Final

from viewer.domain.exchange import PAPER_MODELS
from viewer.models.protocol import Setting

CONVENTION_NAMES: Final = (
    "grid",
    "qwen2_vl",
    "qwen2_5_vl",
    "qwen3_vl",
    "gemini",
    "paligemma",
    "molmo",
    "florence2",
    "kosmos2",
    "deepseek_vl2",
    "internvl",
    "claude",
    "xyxy_1000",
    "maira2",
)
VIEW_NAMES: Final = (
    "none",
    "openai_low",
    "openai_high",
    "openai_patch",
    "claude",
    "gemini",
    "qwen2_5",
    "qwen2_5_hub",
    "qwen3",
    "gemma3",
)

COORDINATE_SETTINGS: Final = (
    Setting(
        "convention",
        str,
        None,
        "how the model writes where something is: the name of a grid cell, or "
        "coordinates as its family writes them, which a calibration finds out; a grid "
        "cell by default",
        choices=CONVENTION_NAMES,
    ),
    Setting(
        "provider_view",
        str,
        None,
        "how the provider resizes an image before the model sees it, so that "
        "coordinates in pixels are read right; no resizing by default",
        choices=VIEW_NAMES,
    ),
    Setting(
        "paper_model",
        str,
        None,
        "the model of Gosai 2025 that it counts as in claims and published values; by "
        "default decided by what it is called at its server",
        choices=PAPER_MODELS,
    ),
)

WRITTEN_SETTINGS: Final = tuple(
    replace(setting, choices=(*CONVENTION_NAMES, "native"))
    if setting.key == "convention"
    else setting
    for setting in COORDINATE_SETTINGS
)
"""Those of answers written down beforehand, which may be in native pixels as kept."""
