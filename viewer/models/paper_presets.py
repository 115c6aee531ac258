"""The models of published studies, with the settings used there, as presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from viewer.domain.exchange import ModelProfile


@dataclass(frozen=True)
class PaperPreset:
    """A ``[[model]]`` table that asks as a paper did, with the paper's description."""

    paper: str
    title: str
    table: Mapping[str, object]


def _gosai(title: str, **table: object) -> PaperPreset:
    return _of("Gosai 2025", title, table)


def _banerjee(title: str, **table: object) -> PaperPreset:
    return _of("Banerjee 2025", title, table)


def _heal(title: str, **table: object) -> PaperPreset:
    return _of("HEAL-MedVQA 2025", title, table)


def _of(paper: str, title: str, table: Mapping[str, object]) -> PaperPreset:
    asked = {"adapter": "openai_api", **table}
    return PaperPreset(paper, title, MappingProxyType(asked))


PRESETS: Final = (
    _gosai(
        "GPT-4 (gpt-4o-2024-05-13), temperature 0",
        name="gpt-4o-2024-05-13",
        server="openai",
        model="gpt-4o-2024-05-13",
        api_key_env="OPENAI_API_KEY",
        temperature=0.0,
    ),
    _gosai(
        "GPT-5, reasoning effort medium",
        name="gpt-5-medium",
        server="openai",
        model="gpt-5",
        api_key_env="OPENAI_API_KEY",
        reasoning_effort="medium",
        max_tokens=8192,  # it thinks before it answers, and both count
    ),
    _gosai(
        "MedGemma 27B, 8-bit on Ollama, temperature 0.8",
        name="medgemma-27b-q8",
        server="ollama",
        model="puyangwang/medgemma-27b-it:q8",
        temperature=0.8,
        seed=0,
    ),
    _banerjee(
        "o4-mini, proposes, scores and tags tasks",
        name="o4-mini",
        server="openai",
        model="o4-mini",
        api_key_env="OPENAI_API_KEY",
        max_tokens=8192,  # it thinks before it answers, and both count
    ),
    _banerjee(
        "o3, all views and boxes",
        name="o3",
        server="openai",
        model="o3",
        api_key_env="OPENAI_API_KEY",
        max_tokens=16384,
    ),
    _banerjee(
        "MedGemma 4B, one view and no boxes",
        name="medgemma-4b-it",
        server="vllm",
        model="google/medgemma-4b-it",
    ),
    _heal(
        "GPT-4o, temperature 0.1",
        name="gpt-4o",
        server="openai",
        model="gpt-4o",
        api_key_env="OPENAI_API_KEY",
        temperature=0.1,
    ),
    _heal(
        "Qwen 2.5 VL 7B Instruct, temperature 0.1, one beam",
        name="qwen2.5-vl-7b-instruct",
        server="vllm",
        model="Qwen/Qwen2.5-VL-7B-Instruct",
        temperature=0.1,
    ),
    _heal(
        "LLaVA-Med, temperature 0.1, one beam",
        name="llava-med",
        server="vllm",
        model="microsoft/llava-med-v1.5-mistral-7b",
        temperature=0.1,
    ),
)
"""What the papers asked.

Gosai 2025, 3.4: GPT-5 was the alias of August 2025, and takes no temperature. Banerjee
2025, 3.1 and 3.2, names models and no settings: these are the servers' own.
HEAL-MedVQA asks every model at temperature 0.1 with one beam; which snapshot of GPT-4o
it does not say, and the weights that it fine-tuned are not published.
"""


def samples(profile: ModelProfile) -> bool:
    """Tell whether a model samples its answers, so that repeats are informative.

    A remote model does unless its temperature is 0; without a setting the server's
    default applies.
    """
    if profile.adapter == "openai_api":
        return profile.settings.get("temperature") != 0
    return bool(profile.settings.get("temperature", 0))
