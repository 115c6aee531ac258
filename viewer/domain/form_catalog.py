"""The built-in forms; to add one, add a row here.

Grading follows ReXecution's rubric: images are graded if an output has any.
"""

from collections.abc import Mapping
from typing import Final

from viewer.domain.form import (
    ChoiceQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
    Part,
    PlaceKind,
    PlaceQuestion,
    RankedTextQuestion,
    RevealedChoiceQuestion,
)
from viewer.domain.rubric import OF_IMAGE, RUBRIC

VERDICT: Final = "verdict"
"""The question of error review; its keys are those below."""
PARTIAL, POSITION, ANATOMY, UNSURE = "1", "2", "3", "4"
PLACE, CONFIDENCE = "place", "confidence"

_PROBLEM = FlagQuestion("problem", "Something is wrong with this case")

ERROR_REVIEW: Final = Form(
    "error_review",
    "1",
    "Error review",
    (
        ChoiceQuestion(
            VERDICT,
            "What kind of miss is this?",
            (
                Option(PARTIAL, "Partial", "It touches the finding."),
                Option(
                    POSITION,
                    "Position error",
                    "A plausible place for this finding, but not where it is.",
                ),
                Option(
                    ANATOMY,
                    "Anatomy error",
                    "A place where this finding cannot occur.",
                ),
                Option(UNSURE, "Unsure", "Comes back at the end.", unsure=True),
            ),
            help="Gosai 2025, error analysis",
        ),
    ),
    shown=frozenset({Part.ANSWER}),
    revealed=frozenset({Part.REFERENCE, Part.SUGGESTION}),
)

CONFIDENCE_ANCHORS: Final = (
    "a guess",
    "unlikely",
    "as likely as not",
    "likely",
    "certain",
)

READER_TASK: Final = Form(
    "reader_task",
    "1",
    "Reader task",
    (
        PlaceQuestion(PLACE, "Where is it?", tuple(PlaceKind)),
        LikertQuestion(CONFIDENCE, "How sure are you?", CONFIDENCE_ANCHORS),
        _PROBLEM,
    ),
)

GRADING: Final = Form(
    "rexecution_grading",
    "2",
    "Grading of an output",
    (
        *(
            LikertQuestion(
                dimension.value,
                f"{dimension.words}: {row.heading}",
                row.anchors,
                required=dimension not in OF_IMAGE,
            )
            for dimension, row in RUBRIC.items()
        ),
        RankedTextQuestion("concerns", "Concerns, most serious first", 0, 5),
        PlaceQuestion(
            "concern_place",
            "Where on the image?",
            (PlaceKind.POINT, PlaceKind.BOXES),
            required=False,
        ),
        _PROBLEM,
    ),
    shown=frozenset({Part.ANSWER}),
)

DIFFERENTIAL: Final = Form(
    "medsyn_differential",
    "1",
    "Differential, then the options",
    (
        RankedTextQuestion(
            "differential", "Your differential, most likely first", 1, 5
        ),
        LikertQuestion(
            "differential_confidence",
            "How sure are you of the first diagnosis?",
            CONFIDENCE_ANCHORS,
        ),
        RevealedChoiceQuestion("choice", "Which of these is it?"),
        _PROBLEM,
    ),
    revealed=frozenset({Part.REFERENCE}),
)

FORMS: Final[Mapping[str, Form]] = {
    form.name: form for form in (ERROR_REVIEW, READER_TASK, GRADING, DIFFERENTIAL)
}
