"""The judge, and which models have the same maker, by their profiles."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.studies.evidence_diagnosis.params import Params

MAKERS: Final[Mapping[str, tuple[str, ...]]] = {
    "OpenAI": ("gpt", "o1", "o3", "o4"),
    "Google": ("gemini", "gemma"),
    "Anthropic": ("claude",),
    "Alibaba": ("qwen", "lingshu"),
    "Shanghai AI Laboratory": ("internvl",),
    "DeepSeek": ("deepseek",),
}
"""Words in the names of models, by who made them or what they were made of."""
_IDENTITY: Final = ("model", "server", "revision")
"""The settings that tell which model a profile asks."""


def judges_of(spec: RunSpec, params: Params) -> tuple[ModelProfile, ...]:
    """Return the profiles that scored a run's answers, the first judge first."""
    known = {one.name: one for one in (*spec.models, *spec.helpers)}
    return tuple(known[name] for name in params.judges.values() if name in known)


def identity_of(profile: ModelProfile) -> str:
    """Return a profile's name, adapter and what its settings say of its model."""
    known = ((key, profile.settings.get(key)) for key in _IDENTITY)
    fields = (f"{key} {value}" for key, value in known if value)
    return f"{profile.name} ({', '.join((profile.adapter, *fields))})"


def maker_of(profile: ModelProfile) -> str:
    """Return who made the model that a profile asks, "" if its name does not say.

    A profile's own name is whatever a person calls it, and says nothing.
    """
    name = str(profile.settings.get("model") or "").casefold()
    found = (maker for maker, words in MAKERS.items() if any(w in name for w in words))
    return next(found, "")


def related_to_judge(spec: RunSpec, params: Params) -> frozenset[str]:
    """Return the names of the models whose maker is that of a judge."""
    makers = {maker_of(judge) for judge in judges_of(spec, params)} - {""}
    return frozenset(one.name for one in spec.models if maker_of(one) in makers)
