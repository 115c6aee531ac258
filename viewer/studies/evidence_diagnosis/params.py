"""The settings of the evidence study; every choice is a recorded parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.controls import CONTROLS
from viewer.domain.errors import WrongUseError
from viewer.metrics.posterior import Estimator
from viewer.studies.controls import controls_param
from viewer.studies.evidence_diagnosis.templates import PROMPTS
from viewer.studies.fields import (
    Decimal,
    MaybeText,
    ModelName,
    Names,
    OneOf,
    Switch,
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


class Task(StrEnum):
    """What is asked of a case."""

    DDX = "ddx"
    """A ranked differential, scored by a judge (Chen 2026, 3.2)."""
    FDX = "fdx"
    """The final diagnosis among four options."""
    OPEN_FDX = "open_fdx"
    """The final diagnosis in free words, from the model's own differential (B.4)."""
    EXTRACTION = "extraction"
    """Of a report: its text, word for word, by type of evidence (A.2)."""
    SUMMARIES = "summaries"
    """Of a report: what was extracted, in one paragraph for each section."""
    DISTRACTORS = "distractors"
    """Of a report: a differential, and three wrong options out of it."""


class Arm(StrEnum):
    """What is done to the evidence or to the words before a case is asked."""

    RAW = "raw"
    """Every visual evidence as its images: the baseline."""
    EXPERT = "expert"
    """Every visual evidence as the text of an expert (Table 3)."""
    REMOVE_TEXT = "remove_text"
    """No history and no examination (Table 4)."""
    RANDOM_TEXT = "random_text"
    """As many random tokens in their place (Table 4)."""
    REFINED = "refined"
    """The system prompt that puts pathology first (Table 6)."""


class Context(StrEnum):
    """How the other evidence is shown if one piece is left out (E004-18)."""

    ALL = "all"
    """All as images for the images' sensitivity, all as text for the text's."""
    SINGLE = "single"
    """Images both times; only the evidence in question changes."""


class OptionOrder(StrEnum):
    """The order of the options (E004-07)."""

    SEEDED = "seeded"
    """Shuffled by the run's seed, the same for every model and arm."""
    GIVEN = "given"
    """As the case has them."""


class RandomText(StrEnum):
    """What replaces text by random text of the same length (E004-14)."""

    TOKENS = "tokens"
    """Tokens of the model's own tokenizer; models on this machine only."""
    WORDS = "words"
    """As many words of as many random letters; no length in tokens is promised."""


class QueryPosition(StrEnum):
    """Whose attention RAPT is of (E004-16)."""

    LAST_PROMPT = "last_prompt"
    GENERATED = "generated"


class Decision(StrEnum):
    """Which score counts if several judges score an answer."""

    FIRST = "first"
    """That of the first judge."""
    MAJORITY = "majority"
    """The lower median: the highest score that more than half of the judges reach."""


JUDGES: Final = ("judge", "second_judge", "third_judge")
"""The settings that name judges, which are also their roles in a run."""
TASKS: Final = tuple(task.value for task in Task)
PREPARING: Final = frozenset({Task.EXTRACTION, Task.SUMMARIES, Task.DISTRACTORS})
"""Tasks that make a case of a report; all others ask about a case."""
ARMS: Final = tuple(arm.value for arm in Arm)
LANGUAGES: Final = ("en", "zh")
_TASK_WORDS: Final = (
    "differential (ddx)",
    "one of four (fdx)",
    "free text (open_fdx)",
    "prepare: extraction",
    "prepare: summaries",
    "prepare: distractors",
)
_ARM_WORDS: Final = (
    "raw images",
    "expert text",
    "text removed",
    "random text",
    "refined prompt",
)
"""The refined prompt is the last: a differential is not asked with it."""


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; ``medsyn2026`` pins them as the paper has them."""

    tasks: tuple[str, ...] = param(
        ("ddx", "fdx"),
        Names(TASKS),
        "Tasks: ddx, a ranked differential; fdx, one of four options; open_fdx, a "
        "final diagnosis in free text; for reports to be turned into cases: "
        "extraction, summaries, distractors.",
        words=_TASK_WORDS,
    )
    arms: tuple[str, ...] = param(
        ("raw",),
        Names(ARMS),
        "How evidence is shown for a final diagnosis among options: raw images, "
        "expert text, remove_text, random_text, or the refined prompt.",
        "Interventions",
        _ARM_WORDS,
    )
    differential_arms: tuple[str, ...] = param(
        ("raw",),
        Names(tuple(arm.value for arm in Arm if arm is not Arm.REFINED)),
        "The same for a differential or an open diagnosis; the paper shows images.",
        "Interventions, differential",
        _ARM_WORDS[:-1],
    )
    languages: tuple[str, ...] = param(
        LANGUAGES,
        Names(LANGUAGES),
        "Languages of the cases to ask.",
        words=("English", "Chinese"),
    )
    judge: str = param(
        "", ModelName(), "The model that scores differentials and open diagnoses."
    )
    second_judge: str = param(
        "",
        ModelName(),
        "Another model that scores the same answers, to see how judges agree.",
    )
    third_judge: str = param("", ModelName(), "One more.")
    decided_by: Decision = param(
        Decision.FIRST,
        OneOf(Decision),
        "Which score counts if several judges score an answer: the first judge's, or "
        "the lower median of all, which reaches a score if more than half of them do.",
        "Judges' decision",
        ("the first judge's score", "the majority of the judges"),
    )
    judge_retries: int = param(
        1,
        Whole(0, 5),
        "How often to ask a judge again if its score cannot be read.",
        "Judge retries",
    )
    covered_from: int = param(
        4,
        Whole(1, 5),
        "Minimum judge score for a differential to count as including the diagnosis.",
        "Covered from score",
    )
    announce_examples: bool = param(
        False,
        Switch(),
        "Also send the last lines of the printed prompts, which announce examples "
        "that the paper omits.",
        "Announce examples",
    )
    option_order: OptionOrder = param(
        OptionOrder.SEEDED,
        OneOf(OptionOrder),
        "Order of the options.",
        words=("shuffled by the seed", "as the case has them"),
    )
    cyclic_orders: bool = param(
        False,
        Switch(),
        "Ask with every cyclic order of the options: four questions instead of one.",
        "Every cyclic order",
    )
    random_text: RandomText = param(
        RandomText.TOKENS,
        OneOf(RandomText),
        "What replaces text in the arm random_text; use words for models behind an "
        "endpoint, whose tokens are not known.",
        words=("tokens of the model", "words of the same length"),
    )
    controls: tuple[str, ...] = controls_param(CONTROLS)
    sensitivity: bool = param(
        False,
        Switch(),
        "Leave out each type of evidence in turn, as images and as text, and "
        "measure how far the answer's probabilities move.",
        "Evidence Sensitivity",
    )
    context: Context = param(
        Context.ALL,
        OneOf(Context),
        "How the other evidence is shown; the paper does not say.",
        "Other evidence",
        ("all images, then all text", "images both times"),
    )
    estimator: Estimator = param(
        Estimator.LETTERS,
        OneOf(Estimator),
        "How the probabilities of the options are obtained.",
        words=(
            "letters' log-probabilities",
            "likelihood of the texts",
            "an endpoint's top log-probabilities",
            "repeated answers",
            "letters, over every cyclic order",
        ),
    )
    by_length: bool = param(
        False,
        Switch(),
        "Divide an option's likelihood by its number of tokens (log scale).",
        "Likelihood per token",
    )
    draws: int = param(
        20,
        Whole(2, 1000),
        "Number of answers sampled by the repeated-answers estimator.",
    )
    draw_where_untold: bool = param(
        False,
        Switch(),
        "If a model gives no probabilities, sample that many answers instead; the "
        "price shown before a batch includes them all.",
        "Sample if no probabilities",
    )
    log_base: float = param(
        2.0,
        Decimal(1, 10),
        "Base of the divergence's logarithm; 2 scales it from 0 to 1.",
    )
    rapt: bool = param(
        False,
        Switch(),
        "Record how much attention images and text get per token, layer by layer; "
        "models on this machine only.",
        "Attention per token",
    )
    rapt_query: QueryPosition = param(
        QueryPosition.LAST_PROMPT,
        OneOf(QueryPosition),
        "Whose attention is measured; the paper does not say.",
        "Attention of",
        ("the prompt's last token", "the answer's tokens, their mean"),
    )
    model_classes: str = param(
        "",
        MaybeText(),
        "Class of a model in Figure 4, such as my-model=Small, separated by commas; "
        "the paper's own models are known.",
        "Classes of models",
    )
    small_cases: int = param(
        10,
        Whole(1, 1000),
        "Mark rates of fewer cases than this with a warning.",
        "Warn below (cases)",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )

    @property
    def judges(self) -> Mapping[str, str]:
        """The names of the judges by their roles, the first one first."""
        named = {role: str(getattr(self, role)) for role in JUDGES}
        return {role: name for role, name in named.items() if name}


PRESETS: Mapping[str, Mapping[str, object]] = {
    "medsyn2026": {},
    "recommended": {
        "context": "single",
        "cyclic_orders": True,
        "draw_where_untold": True,
    },
}
"""What each preset pins beyond the defaults, which are the paper's."""
PRESET_TITLES: Mapping[str, str] = {
    "medsyn2026": "As published (Chen 2026)",
    "recommended": "Recommended",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; a bad one raises."""
    params = read_preset(Params, "evidence", PRESETS, preset, overrides)
    if params.sensitivity and Task.FDX not in params.tasks:
        raise WrongUseError(
            "Evidence Sensitivity needs the options of a final diagnosis, which is "
            "not asked for.",
            "Add fdx to the tasks.",
        )
    _check_judges(params)
    return params


def _check_judges(params: Params) -> None:
    """Raise if there is another judge but no first one, or one judge twice."""
    names = [*params.judges.values()]
    if names and not params.judge:
        raise WrongUseError(
            f"'{names[0]}' is to judge besides a first judge, but none is named.",
            f'Name it first: judge = "{names[0]}".',
        )
    if len(set(names)) < len(names):
        raise WrongUseError(
            "One model is named as judge twice, which would agree with itself.",
            "Name different models, or leave second_judge and third_judge out.",
        )
