"""The settings of the grid localization study; every choice is a recorded parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.box_reference import ANY
from viewer.domain.errors import WrongUseError
from viewer.domain.grid import Grid, LetterAxis, grid_of_name
from viewer.imaging.grid_overlay import GridStyle, LabelStyle
from viewer.imaging.resample import FitMode
from viewer.studies.cell_replies import ParserMode
from viewer.studies.controls import controls_param
from viewer.studies.fields import (
    Colour,
    Decimal,
    Grids,
    MaybeText,
    Names,
    OneOf,
    Switch,
    Text,
    Whole,
    param,
    read_preset,
)
from viewer.studies.grid_localization.findings import NINE, SPELLINGS
from viewer.studies.grid_localization.templates import PROMPTS
from viewer.studies.prompts import (
    BUILT_IN,
    NO_VARIANTS,
    OWN_PROMPTS,
    PROMPT_VARIANTS,
    OwnPrompts,
    PromptVariants,
    Variants,
)


class MaskMode(StrEnum):
    """The resolution at which a reference mask is compared with the grid (E000-17)."""

    PAPER = "paper"
    """The mask is fitted like the image, by nearest neighbour, and pixels counted."""
    EXACT = "exact"
    """Areas at native resolution, pixels cut by a cell's edge counted in part."""


class OutsideCrop(StrEnum):
    """How to treat an item whose mask is cropped off completely (E000-08)."""

    EXCLUDE = "exclude"
    MISS = "miss"


LEVELS: Mapping[str, tuple[str | int, ...]] = {
    "letters": tuple(axis.value for axis in LetterAxis),
    "labels": tuple(style.value for style in LabelStyle),
    "render_scale": (1, 2, 4),
}
"""What an ablation of the grid can vary beside its size, and how."""


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; ``gosai2025`` pins them as the paper has them."""

    grids: tuple[str, ...] = param(
        ("8",),
        Grids(),
        "Grids to draw: 8 for 8 x 8 cells, 8x10 for rows x columns, separated by "
        "commas.",
    )
    findings: tuple[str, ...] = param(
        NINE, Names(aliases=SPELLINGS), "Findings to ask for, by display name."
    )
    views: tuple[str, ...] = param(
        ("frontal", "lateral"),
        Names(("frontal", "lateral", "other")),
        "Views to include; other is anything that is not a radiograph, such as CT and "
        "slides.",
    )
    frontal_label: str = param(
        "frontal", Text(), "What the prompt calls a frontal view.", "Word for frontal"
    )
    lateral_label: str = param(
        "lateral", Text(), "What the prompt calls a lateral view.", "Word for lateral"
    )
    fit_mode: FitMode = param(
        FitMode.CROP_RESIZE,
        OneOf(FitMode),
        "How an image is made square.",
        "Made square by",
        ("crop, then resize", "resize, then crop", "black borders", "stretching"),
    )
    side: int = param(
        256, Whole(32, 4096), "Side of the square sent, in pixels.", "Side in pixels"
    )
    letters: LetterAxis = param(
        LetterAxis.ROW,
        OneOf(LetterAxis),
        "The axis along which the letters run.",
        words=("letters are rows", "letters are columns"),
    )
    labels: LabelStyle = param(
        LabelStyle.CELL,
        OneOf(LabelStyle),
        "Where cell names are drawn.",
        words=("in every cell", "along the margin", "cells and margin"),
    )
    font_scale: int = param(
        1,
        Whole(1, 16),
        "Pixels per dot of the label font, which is 7 dots high.",
        "Label height, × 7 px",
    )
    line_px: int = param(
        1, Whole(1, 16), "Width of the grid's lines, in pixels.", "Line width, px"
    )
    colour: tuple[int, int, int] = param(
        (255, 230, 0),
        Colour(),
        "Colour of lines and labels as red, green, blue.",
        "Colour, RGB",
    )
    opacity: float = param(1.0, Decimal(0, 1), "Opacity of lines and labels.")
    render_scale: int = param(
        1,
        Whole(1, 4),
        "1, 2 or 4: how many times larger the gridded image is sent; values other "
        "than 1 depart from the paper.",
        "Sent enlarged, times",
    )
    grid_for_coordinates: bool = param(
        False,
        Switch(),
        "Whether models that answer in coordinates see the grid too.",
        "Grid for coordinates",
    )
    ablation: tuple[str, ...] = param(
        (),
        Names(tuple(LEVELS), may_be_empty=True),
        "What of the grid is varied: every item is asked with each combination of the "
        "axis of the letters, the place of the names, the enlargement (1, 2 and 4 "
        "times), and the grids; departs from the paper.",
        "Grid ablation",
        ("axis of the letters", "place of the names", "enlargement"),
    )
    mask_mode: MaskMode = param(
        MaskMode.PAPER,
        OneOf(MaskMode),
        "At which resolution coverage is measured.",
        "Coverage measured",
        ("on the pixels sent", "at full resolution"),
    )
    hit_threshold: float = param(
        0.5,
        Decimal(0, 1),
        "Covered fraction from which a cell is a hit. If no cell reaches it, any cell "
        "that touches the mask is a hit, so a mask one pixel smaller can have more "
        "hit cells: the rule is not monotone.",
        "Hit from coverage of",
    )
    parser_mode: ParserMode = param(
        ParserMode.STRICT,
        OneOf(ParserMode),
        "How strictly replies are read: a single cell's name only; 4D also as D4; or "
        "also the first cell of a list or a range.",
        "Replies are read",
        ("strictly", "with 4D as D4", "first cell of a list"),
    )
    outside_crop: OutsideCrop = param(
        OutsideCrop.EXCLUDE,
        OneOf(OutsideCrop),
        "Whether an item whose mask lies outside the image sent is excluded or counts "
        "as a miss.",
        "Mask outside the square",
        ("exclude the item", "count a miss"),
    )
    reader_rule: str = param(
        ANY,
        Text(),
        "Whose boxes are the reference if readers drew them: any, majority (at least "
        "half of those who read the image) or one reader's name.",
        "Boxes of readers",
    )
    examples: int = param(
        0,
        Whole(0, 16),
        "Solved examples at the start of every question; departs from the paper.",
        "Solved examples",
    )
    examples_dataset: str = param(
        "",
        MaybeText(),
        "Name of the validation data set that examples are drawn from.",
        "Examples' data set",
    )
    absent_findings: bool = param(
        False,
        Switch(),
        "Also ask for findings that the label says are absent, in the same words; "
        "departs from the paper.",
        "Absent findings too",
    )
    controls: tuple[str, ...] = controls_param()
    paper_replicates: int = param(
        1000,
        Whole(2, 1_000_000),
        "Resamples of items for the bootstrap SD.",
        "Resamples for the SD",
    )
    replicates: int = param(
        10_000,
        Whole(2, 1_000_000),
        "Resamples of patients for the bootstrap intervals.",
        "Resamples of patients",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )

    @property
    def view_labels(self) -> dict[str, str]:
        """The prompt's word for each view."""
        return {"frontal": self.frontal_label, "lateral": self.lateral_label}

    @property
    def style(self) -> GridStyle:
        """The style of the grid."""
        return GridStyle(
            self.labels,
            self.colour,
            self.line_px,
            self.font_scale,
            self.opacity,
            self.render_scale,
        )

    def grid(self, name: str) -> Grid:
        """Return the grid of that name with its letters along the chosen axis."""
        return grid_of_name(name, self.letters)


ABLATION_PRESET = "grid_ablation"
PRESETS: Mapping[str, Mapping[str, object]] = {
    "gosai2025": {},
    "recommended": {"mask_mode": "exact"},
    ABLATION_PRESET: {"grids": [8, 16], "ablation": [*LEVELS]},
}
"""What each preset pins beyond the defaults, which are the paper's."""
PRESET_TITLES: Mapping[str, str] = {
    "gosai2025": "As published (Gosai 2025)",
    "recommended": "Recommended",
    ABLATION_PRESET: "Grid ablation",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; a bad one raises."""
    params = read_preset(Params, "grid localization", PRESETS, preset, overrides)
    _ = params.style  # its own checks speak in sentences
    if params.examples and not params.examples_dataset:
        raise WrongUseError(
            f"{params.examples} examples are requested, but no data set to draw them "
            "from is named.",
            "Name a validation data set as examples_dataset.",
        )
    return params
