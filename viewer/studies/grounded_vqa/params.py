"""Every choice of the grounded VQA study, each a recorded setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.errors import WrongUseError
from viewer.domain.interpretability import (
    ATTENTION_NEEDS,
    ContrastSpace,
    WeightForm,
)
from viewer.imaging.blending import Blend
from viewer.studies.controls import controls_param
from viewer.studies.fields import (
    Decimal,
    MaybeText,
    ModelName,
    Names,
    Numbers,
    OneOf,
    Switch,
    Whole,
    param,
    read_preset,
)
from viewer.studies.grounded_vqa.templates import PROMPTS
from viewer.studies.grounded_vqa.vocabulary import EIGHT, FINDINGS, unverified
from viewer.studies.prompts import (
    BUILT_IN,
    NO_VARIANTS,
    OWN_PROMPTS,
    PROMPT_VARIANTS,
    OwnPrompts,
    PromptVariants,
    Variants,
)


class RelationRule(StrEnum):
    """How the overlap of a finding's box and an anatomy is measured (E002-02)."""

    IOU = "iou"
    """Intersection over union, as the paper has it."""
    IOA = "ioa"
    """Intersection over the box's own area."""


class Touching(StrEnum):
    """How to treat a box that overlaps an anatomy below the threshold."""

    ABSENT = "absent"
    """The finding counts as absent there, as the paper's rule has it."""
    LEFT_OUT = "left_out"
    """Nothing is asked that would take the finding as absent there."""


class HallucinatedFrom(StrEnum):
    """The pairs that hallucinated questions ask about."""

    CO_OCCURRING = "co_occurring"
    """Pairs that occur in some image of the data set."""
    ANY = "any"
    """Any finding in any anatomy of the data set."""


class Extraction(StrEnum):
    """Who extracts labels from a reply that the deterministic parser cannot read."""

    DICTIONARY = "dictionary"
    MODEL = "model"


class Swaps(StrEnum):
    """How many perturbed questions a true positive gets (E002-09)."""

    ONE = "one"
    ALL = "all"


class RegionSource(StrEnum):
    """The source of a region marked for the model (E002-14)."""

    MODEL = "model"
    """The model's own first pass, outlined by a segmenter where one is named."""
    REFERENCE = "reference"
    """The data set's mask of the anatomy."""


class DonorRule(StrEnum):
    """Which other images may provide a region (E002-10)."""

    HEALTHY = "healthy"
    """One without any finding in that anatomy."""
    NOT_QUERIED = "not_queried"
    """One without the finding asked about in that anatomy."""


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; ``heal2025`` pins them as the paper has them."""

    anatomies: tuple[str, ...] = param(
        EIGHT,
        Names(),
        "Anatomies to ask about, as the data set names them. The paper does not say "
        "which eight it used.",
    )
    findings: tuple[str, ...] = param(
        FINDINGS, Names(), "Findings to look for in replies, with their words."
    )
    arms: tuple[str, ...] = param(
        ("plain", "tpt", "vpt"),
        Names(("plain", "tpt", "vpt", "contour", "crop", "located", "loba")),
        "What to ask: every question; the textual and the visual perturbation test of "
        "the positive ones; every question with its region pointed out by a contour, "
        "an enlarged second image or its box in words (LobA without self-prompting), "
        "which approximate LobA, or by LobA itself in a local model.",
        "Tests",
        (
            "plain questions",
            "textual (TPT)",
            "visual (VPT)",
            "region as a contour",
            "region enlarged",
            "region in words",
            "LobA",
        ),
    )
    relation_rule: RelationRule = param(
        RelationRule.IOU,
        OneOf(RelationRule),
        "How the overlap of box and anatomy is measured.",
        "Overlap is",
        ("intersection over union", "intersection over the box"),
    )
    iou_threshold: float = param(
        0.10,
        Decimal(0, 1),
        "Intersection over union above which a finding is in an anatomy. Not from "
        "the paper, whose number is lost.",
        "In an anatomy above IoU",
    )
    ioa_threshold: float = param(
        0.5,
        Decimal(0, 1),
        "Share of the box from which a finding is in an anatomy, if that is the rule. "
        "Not from the paper.",
        "In an anatomy from share",
    )
    touching: Touching = param(
        Touching.ABSENT,
        OneOf(Touching),
        "How to treat a box that overlaps an anatomy by less than the threshold.",
        "Box that only touches",
        ("counts as absent", "is not used"),
    )
    fewest_questions: int = param(2, Whole(1, 100), "Fewest questions per image.")
    most_questions: int = param(5, Whole(1, 100), "Most questions per image.")
    open_share: float = param(
        0.3324,
        Decimal(0, 1),
        "Share of open questions; the paper has 22,573 of 67,904.",
    )
    positive_share: float = param(
        0.5,
        Decimal(0, 1),
        "Share of positive questions among closed ones. Not from the paper.",
    )
    hallucinated_from: HallucinatedFrom = param(
        HallucinatedFrom.CO_OCCURRING,
        OneOf(HallucinatedFrom),
        "Which pairs of anatomy and finding hallucinated questions use.",
        words=("pairs that occur somewhere", "any pair"),
    )
    extraction: Extraction = param(
        Extraction.DICTIONARY,
        OneOf(Extraction),
        "What reads open answers, and closed ones that no parser can read; in the "
        "paper, a model.",
        "Labels are read by",
        ("a dictionary", "a model"),
    )
    extractor: str = param(
        "",
        ModelName(),
        "Model that extracts labels; the paper's is Llama 3.1 8B.",
        "Extracting model",
    )
    swaps: Swaps = param(
        Swaps.ONE,
        OneOf(Swaps),
        "How many perturbed questions each true positive gets.",
        "Swaps per true positive",
        ("one, drawn", "every valid one"),
    )
    swap_absent_only: bool = param(
        True,
        Switch(),
        "Swap only to a pair that is absent in the image, where No is right.",
        "Only absent pairs",
    )
    donor: DonorRule = param(
        DonorRule.HEALTHY,
        OneOf(DonorRule),
        "Which other images may donate a region.",
        "Donor's anatomy",
        ("has no finding", "lacks the finding in question"),
    )
    blend: Blend = param(
        Blend.ALPHA,
        OneOf(Blend),
        "How a donor's region is blended into the image.",
        words=("feathered", "hard edge", "Poisson"),
    )
    feather: float = param(
        0.02,
        Decimal(0, 1),
        "Standard deviation of the feathered edge, as a share of the width of the "
        "region's box.",
        "Feather, share of width",
    )
    match_histogram: bool = param(
        False,
        Switch(),
        "Match the donor region's grey values to those of the region it replaces, "
        "including those of a finding that fills it.",
        "Match grey values",
    )
    perturb_regions: bool = param(
        False,
        Switch(),
        "Also ask the perturbation tests with the region pointed out, in each way "
        "that is used.",
        "Tests with regions",
    )
    sham: bool = param(
        True,
        Switch(),
        "Also ask about edits that change nothing that matters.",
        "Sham controls",
    )
    controls: tuple[str, ...] = controls_param()
    region_source: RegionSource = param(
        RegionSource.MODEL,
        OneOf(RegionSource),
        "Where the region to point out comes from.",
        "Region comes from",
        ("the model's first pass", "the data set's mask"),
    )
    segmenter: str = param(
        "",
        ModelName(),
        "Model that outlines what a located box contains; without one, the box is the "
        "region.",
    )
    masks_by: str = param(
        "",
        MaybeText(),
        "Who or what made the masks of anatomies, such as three radiologists or a "
        "named model; shown in the report.",
        "Masks of anatomies by",
    )
    weights: tuple[str, ...] = param(
        ("3",),
        Numbers(),
        "Weights added to the attention logits of the region's patches; Table 8 has "
        "0.5, 1, 2, 3 and 4.",
    )
    weight_form: WeightForm = param(
        WeightForm.LOG,
        OneOf(WeightForm),
        "What a weight adds to a logit; the paper's formula is lost.",
        words=("its logarithm", "itself"),
    )
    contrast: float = param(
        1.3,
        Decimal(0, 16),
        "Strength of the contrast between highlighted and plain (Zhang 2024).",
    )
    contrast_space: ContrastSpace = param(
        ContrastSpace.LOG,
        OneOf(ContrastSpace),
        "What is contrasted: log-probabilities, as Zhang 2024 does, or probabilities, "
        "as the paper words its lost equation 8.",
        "Contrast of",
        ("log-probabilities", "probabilities"),
    )
    plain_attention: bool = param(
        False,
        Switch(),
        "Measure where a local model looks during its plain answers too, for tables "
        "and figures beside the highlighted ones.",
        "Attention of plain answers",
    )
    longest_side: int = param(
        1024,
        Whole(64, 8192),
        "Longer side of the image sent, in pixels; smaller images are sent as they "
        "are. Not from the paper.",
        "Longer side in pixels",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )

    @property
    def threshold(self) -> float:
        """The threshold of the rule that is chosen."""
        return self.threshold_of(self.relation_rule)

    def threshold_of(self, rule: RelationRule) -> float:
        """Return the threshold, 0 to 1, of a rule, be it the run's or not."""
        return self.iou_threshold if rule is RelationRule.IOU else self.ioa_threshold

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about these parameters, before running."""
        names = unverified(self.anatomies)
        listed = f"The paper does not name {', '.join(names)}." if names else ""
        looked = ATTENTION_NEEDS if self.plain_attention else ""
        return (self._about_rule, *(text for text in (listed, looked) if text))

    @property
    def _about_rule(self) -> str:
        if self.relation_rule is RelationRule.IOA:
            return (
                f"A finding is in an anatomy that contains {self.threshold:.0%} of its "
                "box; the paper measures intersection over union."
            )
        return (
            f"A finding is in an anatomy where IoU exceeds {self.threshold:g}; the "
            "paper's threshold is not known. A small lesion inside a large zone is in "
            "none: intersection over the box is recommended."
        )


PRESETS: Mapping[str, Mapping[str, object]] = {
    "heal2025": {},
    "recommended": {"relation_rule": "ioa", "touching": "left_out", "swaps": "all"},
}
"""What each preset pins beyond the defaults, which are the paper's."""
PRESET_TITLES: Mapping[str, str] = {
    "heal2025": "As published (HEAL-MedVQA 2025)",
    "recommended": "Recommended",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; an invalid one raises."""
    params = read_preset(Params, "grounded VQA", PRESETS, preset, overrides)
    if params.fewest_questions > params.most_questions:
        raise WrongUseError(
            f"An image cannot have at least {params.fewest_questions} and at most "
            f"{params.most_questions} questions.",
            "Make most_questions at least fewest_questions.",
        )
    no_factor = [w for w in params.weights if float(w) <= 0]
    if params.weight_form is WeightForm.LOG and no_factor:
        raise WrongUseError(
            f"The weight {no_factor[0]} has no logarithm.",
            "Make every weight greater than 0, or weight_form linear.",
        )
    if (params.extraction is Extraction.MODEL) != bool(params.extractor):
        raise WrongUseError(
            "The settings extraction and extractor contradict each other.",
            "Set extraction to model and extractor to the model's name, or neither.",
        )
    return params
