"""Whose model one is, for a judge may favour models of its own family (E004-21)."""

from collections.abc import Mapping
from typing import Final

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "OpenAI": ("gpt", "o1", "o3", "o4"),
    "Google": ("gemini", "gemma"),
    "Anthropic": ("claude",),
    "Alibaba": ("qwen", "lingshu"),
    "Shanghai AI Laboratory": ("internvl",),
    "DeepSeek": ("deepseek",),
}
"""Words in the names of models, by who made them or what they were made of."""


def family_of(model: str) -> str:
    """Return whose model one is by its name, "" where the name does not say."""
    name = model.casefold()
    found = (f for f, words in FAMILIES.items() if any(w in name for w in words))
    return next(found, "")
