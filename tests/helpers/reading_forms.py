"""Forms with every type of question, for tests of forms alone."""

from typing import Final

from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
    Part,
    PlaceKind,
    PlaceQuestion,
    RankedTextQuestion,
    RevealedChoiceQuestion,
    TextQuestion,
)
from viewer.domain.form_catalog import CONFIDENCE_ANCHORS, FORMS
from viewer.domain.rubric import OF_IMAGE, RUBRIC

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
        FlagQuestion("problem", "Something is wrong with this case"),
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
        FlagQuestion("problem", "Something is wrong with this case"),
    ),
    revealed=frozenset({Part.REFERENCE}),
)

CHECKING: Final = Form(
    "checking",
    "1",
    "Checks of a case",
    (
        ChecklistQuestion(
            "wrong",
            "What is wrong?",
            (Option("a", "The side"), Option("b", "The size"), Option("c", "The name")),
        ),
        TextQuestion("why", "Why?", required=True),
    ),
)
CURATION: Final = Form(
    "curation",
    "1",
    "Choice of a text",
    (
        ChoiceQuestion(
            "chosen",
            "Which text?",
            (
                Option("1", "Is there one?"),
                Option("2", "Are there two?"),
                Option("W", ""),
            ),
        ),
        DraftQuestion("text", "The text", "chosen", ("W",)),
    ),
)
EVERY_FORM: Final = (*FORMS.values(), GRADING, DIFFERENTIAL, CHECKING, CURATION)
