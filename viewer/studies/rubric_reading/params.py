"""The settings of the ReXecution study; every choice is a recorded parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from viewer.metrics.signed_rank import PMethod, ZeroMethod
from viewer.studies.controls import controls_param
from viewer.studies.fields import (
    MaybeText,
    OneOf,
    Whole,
    param,
    read_preset,
)
from viewer.studies.prompts import (
    BUILT_IN,
    NO_VARIANTS,
    OWN_PROMPTS,
    PROMPT_VARIANTS,
    OwnPrompts,
    PromptVariants,
    Variants,
)
from viewer.studies.rubric_reading.policy import InputPolicy
from viewer.studies.rubric_reading.templates import PROMPTS


class ContentOrder(StrEnum):
    """Whether readers are averaged before or after taking the minimum (E001-12)."""

    AVERAGE_FIRST = "average_then_minimum"
    """Each dimension is averaged over readers, Content is the least of the three."""
    MINIMUM_FIRST = "minimum_then_average"
    """Each reader has a Content, which are averaged."""


class Work(StrEnum):
    """What a run does with the studies."""

    ANSWERS = "answers"
    """Models answer the selected tasks, for readers to grade."""
    CURATION = "curation"
    """Models propose tasks from the reports, score and tag them, for a radiologist."""


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; ``rexecution2025`` pins them as the paper has them."""

    work: Work = param(
        Work.ANSWERS,
        OneOf(Work),
        "Whether models answer the selected tasks, or propose tasks from the reports.",
        "Models",
        ("answer the tasks", "propose tasks"),
    )
    studies: int = param(
        100,
        Whole(1, 1_000_000),
        "Number of studies, drawn at random, for which tasks are proposed.",
        "Studies to sample",
    )
    input_policy: InputPolicy = param(
        InputPolicy.ALL_VIEWS,
        OneOf(InputPolicy),
        "Which images a model is shown; a temporal task adds the prior's.",
        "Images shown",
        ("all views", "one PA, else AP"),
    )
    single_view_models: str = param(
        "",
        MaybeText(),
        "Models that are shown one PA image, else AP, whatever the others are shown; "
        "names of profiles or of their models, separated by commas.",
        "One view only for",
    )
    no_box_models: str = param(
        "",
        MaybeText(),
        "Models that are not asked for boxes; names of profiles or of their models, "
        "separated by commas.",
        "No boxes from",
    )
    max_prior_days: int = param(
        365,
        Whole(0, 36_500),
        "Maximum age in days of a prior for a temporal task; 0 for any.",
        "Oldest prior, days",
    )
    longest_side: int = param(
        1024,
        Whole(64, 4096),
        "Longest side of an image sent, in pixels; smaller ones are sent as they are.",
        "Longest side, px",
    )
    controls: tuple[str, ...] = controls_param()
    candidates: int = param(
        5, Whole(1, 20), "Tasks that a model proposes for each study.", "Candidates"
    )
    main_reader: str = param(
        "",
        MaybeText(),
        "The reader who graded everything; empty for the one who graded most.",
        "Main reader",
    )
    content_order: ContentOrder = param(
        ContentOrder.AVERAGE_FIRST,
        OneOf(ContentOrder),
        "Content for two readers: the minimum of the averaged dimensions, or the "
        "average of each reader's minimum. Both are shown; this one is tested.",
        "Content",
        ("average, then minimum", "minimum, then average"),
    )
    zero_method: ZeroMethod = param(
        ZeroMethod.WILCOX,
        OneOf(ZeroMethod),
        "How the signed-rank test treats pairs without a difference.",
        "Pairs without difference",
        ("left out", "ranked, then left out", "split to both sides"),
    )
    p_method: PMethod = param(
        PMethod.EXACT,
        OneOf(PMethod),
        "How p-values of the signed-rank test are computed: exactly, including ties "
        "and pairs without difference (up to 1,000 pairs), by the normal "
        "approximation, or as scipy 1.17 chooses by itself.",
        "p-values",
        ("exact", "normal approximation", "as scipy chooses"),
    )
    high_style: int = param(
        4, Whole(1, 5), "Image Style score from which it is high.", "Style high from"
    )
    low_content: int = param(
        3,
        Whole(1, 5),
        "Image Content score up to which it is low.",
        "Content low up to",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )

    def policy_for(self, model: str) -> InputPolicy:
        """Return which images a model is shown."""
        if model.casefold() in names_of(self.single_view_models):
            return InputPolicy.SINGLE_VIEW
        return self.input_policy

    def asks_boxes_of(self, model: str) -> bool:
        """Tell whether a model is asked for boxes."""
        return model.casefold() not in names_of(self.no_box_models)


_PAPERS_MODELS: Mapping[str, object] = {
    "single_view_models": "medgemma-4b-it",
    "no_box_models": "medgemma-4b-it",
}
"""Anyone who asks the paper's MedGemma, under whatever name, is treated as it was."""
PRESETS: Mapping[str, Mapping[str, object]] = {
    "rexecution2025": _PAPERS_MODELS,
    "recommended": {**_PAPERS_MODELS, "zero_method": "pratt"},
}
"""What each preset pins beyond the defaults, which are the paper's."""
PRESET_TITLES: Mapping[str, str] = {
    "rexecution2025": "As published (Banerjee 2025)",
    "recommended": "Recommended",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; a bad one raises."""
    return read_preset(Params, "ReXecution", PRESETS, preset, overrides)


def names_of(written: str) -> tuple[str, ...]:
    """Return the names of a list with commas, in lower case."""
    return tuple(n.strip().casefold() for n in written.split(",") if n.strip())
