"""The rubric of ReXecution, and readers' grades.

Headings are the paper's definitions (Banerjee 2025, 3.3); the levels are paraphrased
from its supplement. An official text in a data set's folder replaces them
(readers.rubric_text).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from viewer.domain.item import Item
from viewer.domain.plain import made

LEVELS: Final = (1, 2, 3, 4, 5)
"""What a dimension may be graded with, the worst first."""


class Dimension(StrEnum):
    """Graded dimensions: four of a text, two of an image."""

    PROCESS = "process"
    EXECUTION = "execution"
    SYNTHESIS = "synthesis"
    LANGUAGE = "language"
    IMAGE_CONTENT = "image_content"
    IMAGE_STYLE = "image_style"

    @property
    def words(self) -> str:
        """The dimension's name for people, such as ``Image Content``."""
        return self.value.replace("_", " ").title()


CONTENT: Final = (Dimension.PROCESS, Dimension.EXECUTION, Dimension.SYNTHESIS)
"""The dimensions whose minimum is the Content of a text (E001-11)."""
OF_TEXT: Final = (*CONTENT, Dimension.LANGUAGE)
OF_IMAGE: Final = (Dimension.IMAGE_CONTENT, Dimension.IMAGE_STYLE)


@dataclass(frozen=True, slots=True)
class RubricRow:
    """A dimension's heading, and the meanings of its levels, worst first."""

    heading: str
    anchors: tuple[str, ...]


RUBRIC: Final[Mapping[Dimension, RubricRow]] = {
    Dimension.PROCESS: RubricRow(
        "Did the model correctly interpret the task and plan an appropriate strategy?",
        (
            "Task misunderstood.",
            "Only the surface is planned for.",
            "Several omissions; the core is there.",
            "One minor omission.",
            "Everything relevant is planned for.",
        ),
    ),
    Dimension.EXECUTION: RubricRow(
        "Did it accurately identify and describe image findings without hallucinations "
        "or omissions?",
        (
            "Mostly made up or contradicting.",
            "Several errors distort the reading.",
            "One major error or several minor.",
            "One minor error, without effect.",
            "Nothing made up, nothing missing.",
        ),
    ),
    Dimension.SYNTHESIS: RubricRow(
        "Did it integrate findings into sound, clinically appropriate conclusions, "
        "accounting for uncertainty?",
        (
            "No reasoning, or none that coheres.",
            "Poor; it does not follow.",
            "Gaps, or too sure, or too unsure.",
            "A minor simplification.",
            "Sound, and hedged as it should be.",
        ),
    ),
    Dimension.LANGUAGE: RubricRow(
        "Was the response clear, concise, and professional?",
        (
            "The meaning is lost.",
            "Often ambiguous.",
            "Parts have to be guessed.",
            "Awkward in a minor point.",
            "Clear, concise and precise.",
        ),
    ),
    Dimension.IMAGE_CONTENT: RubricRow(
        "Does it correctly localize the regions it is attempting to box?",
        (
            "Largely wrong.",
            "Only one or two are right.",
            "One or two are moderately off.",
            "One is slightly off.",
            "All boxes and labels are exact.",
        ),
    ),
    Dimension.IMAGE_STYLE: RubricRow(
        "Does it plan out a useful illustration, boxing findings mentioned in the text "
        "without cluttering the image with unrelated boxes?",
        (
            "The boxes add confusion.",
            "Many are unrelated or missing.",
            "Several moderate inconsistencies.",
            "One minor inconsistency.",
            "All support findings; none is missing.",
        ),
    ),
}
"""Headings and anchors of every dimension."""


class FailureCode(StrEnum):
    """How outputs went wrong (Banerjee 2025, 4.4 and Fig. 4)."""

    LEFT_RIGHT_SWAP = "left_right_swap"
    WRONG_ABNORMALITY = "wrong_abnormality"
    HALLUCINATED_CHECKLIST = "hallucinated_checklist"
    BOX_TOO_LARGE = "box_too_large"
    BOX_MISSES_STRUCTURE = "box_misses_structure"
    NON_DISCRIMINATING = "non_discriminating_differential"
    VERBOSE = "verbose"
    UNDER_REPORTED = "under_reported"
    BOX_INSTRUCTION_IGNORED = "box_instruction_ignored"
    ASKED_WHAT_TO_DRAW = "asked_what_to_draw"


CODE_WORDS: Final[Mapping[FailureCode, str]] = {
    FailureCode.LEFT_RIGHT_SWAP: "left and right mixed up",
    FailureCode.WRONG_ABNORMALITY: "right region, wrong abnormality",
    FailureCode.HALLUCINATED_CHECKLIST: "every sign of a checklist claimed to be there",
    FailureCode.BOX_TOO_LARGE: "box too large to be useful",
    FailureCode.BOX_MISSES_STRUCTURE: "box does not meet the structure it names",
    FailureCode.NON_DISCRIMINATING: "differential without discriminating arguments",
    FailureCode.VERBOSE: "so long that it is unclear",
    FailureCode.UNDER_REPORTED: "secondary findings not reported",
    FailureCode.BOX_INSTRUCTION_IGNORED: "request for boxes ignored",
    FailureCode.ASKED_WHAT_TO_DRAW: "asked what to draw",
}
"""What each code means."""


@dataclass(frozen=True)
class Grade:
    """One reader's grade of one output, or of one of its annotated images.

    ``image`` counts the images that the model was shown, from 1, None for the text.
    ``scores`` has every dimension of the text, or of the image. ``concerns`` are the
    reader's remarks, each of which may name an image. ``abstained`` is True if the
    output did not answer, None if the reader did not say. ``repeat`` is the repeat of
    the graded trial, from 0.
    """

    reader: str
    model: str
    item: str
    image: int | None
    scores: Mapping[Dimension, int]
    codes: tuple[FailureCode, ...] = ()
    concerns: tuple[str, ...] = ()
    comments: Mapping[Dimension, str] = field(default_factory=dict)
    abstained: bool | None = None
    repeat: int = 0

    @property
    def output(self) -> tuple[str, str, int]:
        """The model, item and repeat of the graded output."""
        return self.model, self.item, self.repeat

    @property
    def content(self) -> int | None:
        """The lowest of Process, Execution and Synthesis; None for an image."""
        if self.image is not None:
            return None
        return min(self.scores[dimension] for dimension in CONTENT)


GRADES: Final = "grades"
"""Under which an item's reference holds what readers graded in sessions."""


def grades_in(item: Item) -> tuple[Grade, ...]:
    """Return the grades of an item's outputs that sessions brought, none from files."""
    listed = item.reference.get(GRADES, [])
    return made(tuple[Grade, ...], listed, where=f"the grades of '{item.key}'")


@dataclass(frozen=True)
class Grades:
    """The grades of a file; those of withdrawn readers are left out, their names kept.

    ``rubric`` is the text that the readers graded by, ``problem`` what is wrong with
    the file, "" for nothing.
    """

    grades: tuple[Grade, ...]
    withdrawn: tuple[str, ...] = ()
    rubric: Mapping[Dimension, RubricRow] = field(default_factory=lambda: RUBRIC)
    problem: str = ""

    @property
    def readers(self) -> tuple[str, ...]:
        """All readers by number of grades, the most first; ties by name."""
        names = [grade.reader for grade in self.grades]
        return tuple(sorted(set(names), key=lambda name: (-names.count(name), name)))


NO_GRADES: Final = Grades(())
"""The state of an output without grades."""


def dimensions_of(image: int | None) -> tuple[Dimension, ...]:
    """Return the graded dimensions of a text (None), or of an image of that number."""
    return OF_TEXT if image is None else OF_IMAGE


def missing_dimensions(
    image: int | None, scores: Iterable[Dimension]
) -> Sequence[Dimension]:
    """Return the dimensions that a grade still lacks before it can be finalised."""
    there = set(scores)
    return [dimension for dimension in dimensions_of(image) if dimension not in there]
