"""The forms of error review and of a reader who places findings.

Those of studies' own tasks are in the studies.
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
)

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

FORMS: Final[Mapping[str, Form]] = {
    form.name: form for form in (ERROR_REVIEW, READER_TASK)
}
