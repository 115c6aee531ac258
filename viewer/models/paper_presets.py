"""The models of published studies, with the settings used there, as presets.

HEAL-MedVQA's fine-tuned weights are not published. Where a paper names a family and a
size, the repository of the weights is our reading of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from viewer.domain.exchange import ModelProfile


@dataclass(frozen=True)
class Statement:
    """What a paper says of how it asked its models, with the section, and does not."""

    paper: str
    where: str
    stated: str
    unknown: str


@dataclass(frozen=True)
class PaperPreset:
    """A ``[[model]]`` table that asks as a paper did, with what the paper states.

    A setting that the paper does not state is missing, so that the server's default
    applies; only the longest reply of models that think first is ours.
    """

    statement: Statement
    title: str
    table: Mapping[str, object]

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.statement.paper

    @property
    def note(self) -> str:
        """What the paper states and what it does not, with the citation."""
        source = self.statement
        stated = f"{source.paper}, {source.where}: {source.stated}."
        return f"{stated} Unknown: {source.unknown}."


_GOSAI: Final = Statement(
    "Gosai 2025",
    "3.4",
    "model, prompt, image of 256 × 256 pixels, and the temperature or reasoning effort",
    "longest reply",
)
_BANERJEE: Final = Statement(
    "Banerjee 2025",
    "3.1 and 3.2",
    "model and prompt",
    "snapshot, temperature, image size, longest reply",
)
_HEAL: Final = Statement(
    "HEAL-MedVQA 2025",
    "Implementation Details",
    "model, temperature 0.1, beam size 1",
    "snapshot, prompt, image size, longest reply",
)
_SUN: Final = Statement(
    "Sun 2024 (PathMMU)",
    "4.1",
    "model and size, zero-shot, with prompts tuned on the validation split",
    "the prompts themselves, snapshot, temperature, image size, longest reply",
)
_SUN_GUESSES: Final = Statement(
    "Sun 2024 (PathMMU)",
    "4.1",
    "language model, asked for an educated guess without the image",
    "the prompt itself, snapshot, temperature, longest reply",
)
_CHEN: Final = Statement(
    "Chen 2026 (MEDSYN)",
    "4.1",
    "model and size, zero-shot in VLMEvalKit",
    "prompt, snapshot or variant of the weights, temperature, reasoning effort, image "
    "size, longest reply",
)
_CHEN_JUDGE: Final = Statement(
    "Chen 2026 (MEDSYN)",
    "4.1 and Appendix B.1",
    "model and both prompts of the judge",
    "snapshot, reasoning effort, temperature, longest reply",
)

_OPENAI: Final = {"server": "openai", "api_key_env": "OPENAI_API_KEY"}
_ANTHROPIC: Final = {
    "base_url": "https://api.anthropic.com/v1",
    "api_key_env": "ANTHROPIC_API_KEY",
}
_GOOGLE: Final = {
    "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
    "api_key_env": "GEMINI_API_KEY",
}
_ALIBABA: Final = {
    "base_url": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "api_key_env": "DASHSCOPE_API_KEY",
}
_BAIDU: Final = {
    "base_url": "https://qianfan.baidubce.com/v2",
    "api_key_env": "QIANFAN_API_KEY",
}
_THINKS: Final = {"max_tokens": 8192}
"""It thinks before it answers, and both count."""


def _preset(
    statement: Statement, title: str, name: str, **table: object
) -> PaperPreset:
    asked = {"name": name, "adapter": "openai_api", **table}
    return PaperPreset(statement, title, MappingProxyType(asked))


def _gosai() -> Iterator[PaperPreset]:
    """Yield its three models; GPT-5, its alias of August 2025, has no temperature."""
    yield _preset(
        _GOSAI,
        "GPT-4 (gpt-4o-2024-05-13), temperature 0",
        "gpt-4o-2024-05-13",
        **_OPENAI,
        model="gpt-4o-2024-05-13",
        temperature=0.0,
    )
    yield _preset(
        _GOSAI,
        "GPT-5, reasoning effort medium",
        "gpt-5-medium",
        **_OPENAI,
        model="gpt-5",
        reasoning_effort="medium",
        **_THINKS,
    )
    yield _preset(
        _GOSAI,
        "MedGemma 27B, 8-bit on Ollama, temperature 0.8",
        "medgemma-27b-q8",
        server="ollama",
        model="puyangwang/medgemma-27b-it:q8",
        temperature=0.8,
        seed=0,
    )


def _banerjee() -> Iterator[PaperPreset]:
    yield _preset(
        _BANERJEE,
        "o4-mini, proposes, scores and tags tasks",
        "o4-mini",
        **_OPENAI,
        model="o4-mini",
        **_THINKS,
    )
    yield _preset(
        _BANERJEE,
        "o3, all views and boxes",
        "o3",
        **_OPENAI,
        model="o3",
        max_tokens=16384,
    )
    yield _preset(
        _BANERJEE,
        "MedGemma 4B, one view and no boxes",
        "medgemma-4b-it",
        server="vllm",
        model="google/medgemma-4b-it",
    )


def _heal() -> Iterator[PaperPreset]:
    yield _preset(
        _HEAL,
        "GPT-4o, temperature 0.1",
        "gpt-4o",
        **_OPENAI,
        model="gpt-4o",
        temperature=0.1,
    )
    for title, name, model in (
        (
            "Qwen 2.5 VL 7B Instruct, temperature 0.1, one beam",
            "qwen2.5-vl-7b-instruct",
            "Qwen/Qwen2.5-VL-7B-Instruct",
        ),
        (
            "LLaVA-Med, temperature 0.1, one beam",
            "llava-med",
            "microsoft/llava-med-v1.5-mistral-7b",
        ),
    ):
        yield _preset(_HEAL, title, name, server="vllm", model=model, temperature=0.1)


def _sun() -> Iterator[PaperPreset]:
    """Yield the models of Table 1 that have an OpenAI-compatible server.

    OpenFlamingo, Kosmos-2, LLaMA-Adapter, MiniGPT-4, Otter, CogVLM and InstructBLIP run
    in their authors' code only.
    """
    for title, model, server in (
        ("GPT-4V-1106", "gpt-4-1106-vision-preview", _OPENAI),
        ("Gemini Pro Vision", "gemini-pro-vision", _GOOGLE),
        ("Qwen-VL-MAX", "qwen-vl-max", _ALIBABA),
        ("Qwen-VL-PLUS", "qwen-vl-plus", _ALIBABA),
    ):
        yield _preset(_SUN, title, model, **server, model=model)
    for title, model in (
        ("LLaVA-1.5-13B", "llava-hf/llava-1.5-13b-hf"),
        ("LLaVA-1.5-7B", "llava-hf/llava-1.5-7b-hf"),
        ("BLIP-2 FLAN-T5-XXL", "Salesforce/blip2-flan-t5-xxl"),
        ("BLIP-2 FLAN-T5-XL", "Salesforce/blip2-flan-t5-xl"),
        ("Qwen-VL-7B", "Qwen/Qwen-VL"),
        ("Fuyu-8B", "adept/fuyu-8b"),
    ):
        yield _weights(_SUN, title, model)
    for title, model, server in (
        ("GPT-4 Turbo, text only", "gpt-4-turbo", _OPENAI),
        ("GPT-3.5 Turbo, text only", "gpt-3.5-turbo", _OPENAI),
        ("Gemini Pro, text only", "gemini-pro", _GOOGLE),
        ("ERNIE-Bot 4.0, text only", "ernie-4.0-8k", _BAIDU),
    ):
        yield _preset(_SUN_GUESSES, title, model, **server, model=model)
    yield _weights(_SUN_GUESSES, "Vicuna-v1.5-13B, text only", "lmsys/vicuna-13b-v1.5")


def _chen() -> Iterator[PaperPreset]:
    """Yield the models of Table 2 whose weights or service can be had, and the judge.

    Whether Qwen3-VL thought first it does not say; HuatuoGPT-Vision is the one made
    from Qwen2.5-VL (4.2). Med-Mantis has no published weights that we know of.
    """
    for title, name, model, server in (
        ("Claude Opus 4.5", "claude-opus-4.5", "claude-opus-4-5", _ANTHROPIC),
        ("o3, zero-shot", "o3-zero-shot", "o3", _OPENAI),
        ("Gemini 2.5 Pro", "gemini-2.5-pro", "gemini-2.5-pro", _GOOGLE),
        ("GPT-5.2", "gpt-5.2", "gpt-5.2", _OPENAI),
        ("Gemini 2.5 Flash", "gemini-2.5-flash", "gemini-2.5-flash", _GOOGLE),
    ):
        yield _preset(_CHEN, title, name, **server, model=model, **_THINKS)
    for title, name, model in (
        ("Qwen3-VL (32B)", "qwen3-vl-32b", "Qwen/Qwen3-VL-32B-Instruct"),
        ("Qwen2.5-VL (72B)", "qwen2.5-vl-72b", "Qwen/Qwen2.5-VL-72B-Instruct"),
        ("InternVL3 (78B)", "internvl3-78b", "OpenGVLab/InternVL3-78B"),
        ("InternVL3.5 (38B)", "internvl3.5-38b", "OpenGVLab/InternVL3_5-38B"),
        ("Qwen3-VL (8B)", "qwen3-vl-8b", "Qwen/Qwen3-VL-8B-Instruct"),
        (
            "HuatuoGPT-Vision (7B)",
            "huatuogpt-vision-7b",
            "FreedomIntelligence/HuatuoGPT-Vision-7B-Qwen2.5VL",
        ),
        ("InternVL3.5 (8B)", "internvl3.5-8b", "OpenGVLab/InternVL3_5-8B"),
        ("Lingshu (7B)", "lingshu-7b", "lingshu-medical-mllm/Lingshu-7B"),
        ("Qwen2.5-VL (7B)", "qwen2.5-vl-7b", "Qwen/Qwen2.5-VL-7B-Instruct"),
        ("DeepSeek-VL2 (27B)", "deepseek-vl2-27b", "deepseek-ai/deepseek-vl2"),
        ("Qwen3-VL (2B)", "qwen3-vl-2b", "Qwen/Qwen3-VL-2B-Instruct"),
        ("DeepSeek-VL2 (3B)", "deepseek-vl2-3b", "deepseek-ai/deepseek-vl2-tiny"),
    ):
        yield _weights(_CHEN, title, model, name)
    yield _preset(
        _CHEN_JUDGE,
        "GPT-5, scores differentials and diagnoses",
        "gpt-5-judge",
        **_OPENAI,
        model="gpt-5",
        **_THINKS,
    )


def _weights(
    statement: Statement, title: str, model: str, name: str = ""
) -> PaperPreset:
    """Return the preset of published weights, ``owner/name`` on the hub."""
    called = name or model.partition("/")[2].casefold()
    return _preset(statement, title, called, server="vllm", model=model)


PRESETS: Final = (*_gosai(), *_banerjee(), *_heal(), *_sun(), *_chen())
"""Every preset, by paper; names differ, so that all may stand in one file."""


def samples(profile: ModelProfile) -> bool:
    """Tell whether a model samples its answers, so that repeats are informative.

    A remote model does unless its temperature is 0; without a setting the server's
    default applies.
    """
    if profile.adapter == "openai_api":
        return profile.settings.get("temperature") != 0
    return bool(profile.settings.get("temperature", 0))
