"""Every choice of the pathology multiple-choice study, each a recorded setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.studies.fields import (
    Decimal,
    MaybeText,
    Names,
    OneOf,
    Whole,
    param,
    read_preset,
)
from viewer.studies.pathology_mcq.templates import PROMPTS
from viewer.studies.prompts import (
    BUILT_IN,
    NO_VARIANTS,
    OWN_PROMPTS,
    PROMPT_VARIANTS,
    OwnPrompts,
    PromptVariants,
    Variants,
)

SUBSETS: Final = ("PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
"""The paper's sources, in the order of its tables (Sun 2024, 3.2 and Table 1)."""
SPLITS: Final = ("train", "val", "test_tiny", "test")
"""Splits as data.json names them; ``test`` there leaves ``test_tiny`` out (E003-01)."""
COLOUR_KINDS: Final = ("brightness", "hue", "saturate")
QUALITY_KINDS: Final = ("bubble", "defocus", "jpeg", "motion", "pixelate")
KINDS: Final = (
    *("brightness", "bubble", "defocus", "hue", "jpeg", "motion", "pixelate"),
    "saturate",
)
"""Corruptions in the order of Table 2; colour and quality are Figure 4's panels."""
LEVELS: Final = ("1", "2", "3", "4", "5")


class Work(StrEnum):
    """What a run does with the images."""

    ANSWERS = "answers"
    """Models answer questions about them."""
    BUILDING = "building"
    """Models make questions of them and their captions (Sun 2024, 3.2)."""


class Family(StrEnum):
    """Whose wording a question is asked in (App. C.4)."""

    LLAVA = "llava"
    INSTRUCTBLIP = "instructblip"
    BLIP2 = "blip2"
    QWEN_VL = "qwen_vl"


class LineBreaks(StrEnum):
    """How line breaks in a published prompt are read.

    The authors keep their prompts in YAML files as quoted text over several lines, and
    YAML folds line breaks within quotes: one becomes a blank, two become one. Their
    files show two where their script sends one.
    """

    WRITTEN = "written"
    """As the authors' files show them."""
    FOLDED = "folded"
    """As their script sends them, once YAML has read the file."""


class Arm(StrEnum):
    """What is done to a question before it is asked."""

    IMAGE = "image"
    """Nothing: question, options and image."""
    TEXT_ONLY = "text_only"
    """No image; an educated guess is asked for (Sun 2024, 4.1)."""
    NOISE = "noise"
    """Gaussian noise in place of the image (Table 3)."""
    CORRUPTION = "corruption"
    """Each kind of corruption at each level (Table 2)."""
    MISMATCH = "mismatch"
    """Another item's question over the same options, without an image (4.3)."""


class FrequentFrom(StrEnum):
    """The split in which the most frequent letter is counted (E003-03)."""

    VAL = "val"
    SAME_SPLIT = "same_split"


class MismatchScope(StrEnum):
    """The items among which questions are exchanged (E003-09)."""

    SUBSET = "subset"
    DATASET = "dataset"


class BlurTable(StrEnum):
    """The image side that the blur radii refer to (App. A.5)."""

    PX_224 = "224"
    PX_96 = "96"


class Invalid(StrEnum):
    """How to treat a question that a reviewer rejects (E003-12)."""

    EXCLUDE = "exclude"
    ASK = "ask"


class Pooling(StrEnum):
    """How the members of an expert group are combined to one score (E003-11)."""

    AVERAGE = "average"
    CONSENSUS = "consensus"


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; ``pathmmu2024`` pins them as the paper has them."""

    work: Work = param(
        Work.ANSWERS,
        OneOf(Work),
        "Whether models answer questions, or make three for each image with its "
        "caption.",
        "Models",
        ("answer questions", "make questions"),
    )
    splits: tuple[str, ...] = param(
        ("val", "test_tiny", "test"),
        Names(SPLITS),
        "Splits to ask; test is the test split without test_tiny.",
    )
    subsets: str = param(
        "",
        MaybeText(),
        "Subsets to ask, by the data set's names, separated by commas; empty for all "
        "of them.",
    )
    arms: tuple[str, ...] = param(
        (Arm.IMAGE.value,),
        Names(tuple(arm.value for arm in Arm)),
        "What is done to each question: image asks it as it is; text_only sends no "
        "image; noise sends Gaussian noise; corruption sends every kind and level; "
        "mismatch combines the options with another item's question.",
        words=(
            "image",
            "text only",
            "noise as image",
            "corrupted image",
            "another's question",
        ),
    )
    no_image_models: str = param(
        "",
        MaybeText(),
        "Models without image input, such as language models and next-sentence ones: "
        "asked only if no image is sent; names separated by commas.",
        "No image for",
    )
    prompt: Family = param(
        Family.LLAVA,
        OneOf(Family),
        "Whose published prompt is used.",
        words=("LLaVA-1.5", "InstructBLIP", "BLIP-2", "Qwen-VL"),
    )
    prompt_by_model: str = param(
        "",
        MaybeText(),
        "Models asked with another family's prompt, such as my-blip=blip2, separated "
        "by commas.",
        "Other prompts for",
    )
    line_breaks: LineBreaks = param(
        LineBreaks.WRITTEN,
        OneOf(LineBreaks),
        "Line breaks of the prompt: as the authors' files show them, or folded as "
        "YAML hands them to the authors' script.",
        words=("as written", "as their script sends them"),
    )
    corruptions: tuple[str, ...] = param(
        KINDS, Names(KINDS), "Kinds of corruption in the corruption arm."
    )
    levels: tuple[str, ...] = param(
        LEVELS, Names(LEVELS), "Levels of each corruption, 1 the mildest."
    )
    corruption_splits: tuple[str, ...] = param(
        ("test_tiny",), Names(SPLITS), "Splits whose images are also asked corrupted."
    )
    blur_table: BlurTable = param(
        BlurTable.PX_224,
        OneOf(BlurTable),
        "Side in pixels for which the blur radii are given; other images scale "
        "them by their shorter side.",
        "Blur radii for",
        ("224 px", "96 px"),
    )
    noise_mean: float = param(
        127.5, Decimal(0, 255), "Mean of the noise, in grey levels.", "Noise, mean"
    )
    noise_sd: float = param(
        50.0,
        Decimal(0, 255),
        "Standard deviation of the noise, in grey levels, before it is cut to 0 to "
        "255.",
        "Noise, SD",
    )
    mismatch_per_subset: int = param(
        400,
        Whole(2, 1_000_000),
        "Items drawn from each subset for the mismatch arm; all if it has fewer.",
        "Mismatched per subset",
    )
    mismatch_without: str = param(
        "PathCLS",
        MaybeText(),
        "Subsets excluded from the mismatch arm, separated by commas.",
        "Mismatched without",
    )
    mismatch_scope: MismatchScope = param(
        MismatchScope.SUBSET,
        OneOf(MismatchScope),
        "Whether questions are exchanged within a subset or among all.",
        words=("within the subset", "among all subsets"),
    )
    guessed_by: int = param(
        3,
        Whole(1, 64),
        "Number of models that must guess an item right without its image for it to "
        "count as guessable.",
        "Guessable from",
    )
    frequent_from: FrequentFrom = param(
        FrequentFrom.VAL,
        OneOf(FrequentFrom),
        "Where the most frequent letter for the frequent-choice baseline is counted.",
        "Frequent letter of",
        ("the validation split", "the split itself"),
    )
    expert_pooling: Pooling = param(
        Pooling.AVERAGE,
        OneOf(Pooling),
        "How the members of an expert group are combined into one score: the mean of "
        "their accuracies, or the accuracy of the option that most of them chose.",
        "Members of a group",
        ("averaged", "by majority"),
    )
    invalid: Invalid = param(
        Invalid.EXCLUDE,
        OneOf(Invalid),
        "Whether a question that any reviewer rejects is excluded with the reason, or "
        "asked anyway.",
        "Rejected questions",
        ("excluded", "asked"),
    )
    official_seed: int = param(
        42,
        Whole(0, 2**31 - 1),
        "Seed of the random choice that the authors' parser makes for an unreadable "
        "reply; it changes only the official-compatible column.",
        "Official parser's seed",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )

    @property
    def wanted_subsets(self) -> tuple[str, ...]:
        """The subsets to ask, none for all."""
        return _names(self.subsets)

    @property
    def unmatched_subsets(self) -> tuple[str, ...]:
        """The subsets that the mismatch arm leaves out."""
        return _names(self.mismatch_without)

    def shows_images_to(self, model: str) -> bool:
        """Tell whether a model is sent images at all."""
        return model not in _names(self.no_image_models)

    @property
    def families(self) -> tuple[Family, ...]:
        """Every family whose words are used."""
        others = _families(self.prompt_by_model).values()
        return tuple(dict.fromkeys((self.prompt, *others)))

    def family_of(self, model: str) -> Family:
        """Return whose words a model is asked in."""
        return _families(self.prompt_by_model).get(model, self.prompt)


PRESETS: Mapping[str, Mapping[str, object]] = {
    "pathmmu2024": {},
    "recommended": {"arms": ["image", "text_only", "noise", "mismatch"]},
}
"""What each preset pins beyond the defaults, which are the paper's."""
PRESET_TITLES: Mapping[str, str] = {
    "pathmmu2024": "As published (Sun 2024)",
    "recommended": "Recommended",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; a bad one raises."""
    params = read_preset(
        Params, "pathology multiple-choice", PRESETS, preset, overrides
    )
    _families(params.prompt_by_model)  # a bad one speaks here, not in the run
    return params


def _names(written: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in written.split(",") if name.strip())


def _families(written: str) -> dict[str, Family]:
    """Read ``name=family, name=family``."""
    pairs = [part.partition("=") for part in written.split(",") if part.strip()]
    for name, _, family in pairs:
        if not name.strip() or family.strip() not in set(Family):
            raise WrongUseError(
                f"'{name.strip()}={family.strip()}' does not name a model and its "
                "prompt.",
                f"Write model=family with one of {', '.join(Family)}.",
            )
    return {name.strip(): Family(family.strip()) for name, _, family in pairs}
