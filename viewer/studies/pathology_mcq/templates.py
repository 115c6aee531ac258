"""The texts of every question (App. C.4)."""

from typing import Final

from viewer.studies.prompts import OURS, Prompt, Prompts, packaged

DESCRIBE, ASK_THREE = "describe", "ask_three"
"""The names of the two prompts that make questions."""
TEXT_ONLY: Final = "text_only"
"""The name of the sentence that stands before a question without its image; ours."""
SYSTEM: Final = "system"
_CONFIGURATION: Final = "the authors' configuration (github.com/PathMMU-Benchmark)"


def _packaged(name: str, use: str, source: str = OURS, *required: str) -> Prompt:
    groups = tuple((one,) for one in required)
    return Prompt(name, packaged(__package__, name), use, source, groups)


def _of_family(name: str, model: str) -> Prompt:
    use = f"the question, as worded for {model}"
    return _packaged(name, use, _CONFIGURATION, "question", "options")


PROMPTS: Final = Prompts.of(
    _of_family("llava", "LLaVA-1.5"),
    _of_family("instructblip", "InstructBLIP"),
    _of_family("blip2", "BLIP-2"),
    _of_family("qwen_vl", "Qwen-VL"),
    _packaged(TEXT_ONLY, "added before a question without its image"),
    Prompt(SYSTEM, str, "the system message; empty, so none is sent"),
    _packaged(
        DESCRIBE, "making questions: describes a captioned image", OURS, "caption"
    ),
    _packaged(
        ASK_THREE,
        "making questions: asks for three from a description",
        OURS,
        "description",
    ),
)
