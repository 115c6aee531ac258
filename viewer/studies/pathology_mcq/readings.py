"""What pathologists do for the study: answer its questions, and judge their validity.

Sun 2024, 3.2: two groups of pathologists answer (E003-11, -17); readers answer a
question before they judge it by four criteria (E003-12).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.domain.aid import latest_values
from viewer.domain.case import Dataset
from viewer.domain.choice import letter_of, option_of
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    Form,
    Option,
    Part,
    RevealedChoiceQuestion,
)
from viewer.domain.reading import Exhibit, Material, Withheld
from viewer.studies.pathology_mcq.questions import Mcq, mcq_of
from viewer.studies.reading_tasks import (
    CaseRead,
    Choice,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
)

ANSWER, VERDICT, CRITERIA = "answer", "verdict", "criteria"
KEEP, REJECT = "keep", "reject"
_ANSWER: Final = ChoiceQuestion(ANSWER, "Which answer is right?")

PANEL_FORM: Final = Form(
    "pathology_panel",
    "1",
    "Expert panel",
    (_ANSWER,),
    revealed=frozenset({Part.TRUTH}),
)
VALIDITY_FORM: Final = Form(
    "question_validity",
    "2",
    "Validity of questions",
    (
        _ANSWER,
        RevealedChoiceQuestion(
            VERDICT,
            "Is this a valid question?",
            (Option(KEEP, "Keep it"), Option(REJECT, "Reject it")),
            help="Sun 2024, 3.2",
        ),
        ChecklistQuestion(
            CRITERIA,
            "If not, why?",
            (
                Option("answerable_without_image", "It can be answered without image."),
                Option("inferable", "Image and question are not enough to answer it."),
                Option("wrong_answer", "The answer is wrong, or not the only one."),
                Option("atypical", "The image is not typical of it."),
            ),
        ),
    ),
)


def _cases(dataset: Dataset, _: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the questions with an image; the right answer is withheld."""
    for item in dataset.items:
        if "options" not in item.facts or not item.images:
            continue
        mcq = mcq_of(item)
        yield ReadingCase(
            item.key, item.images[0], _material(mcq), Withheld(truth=_truth(mcq))
        )


def _judged(dataset: Dataset, _: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the same; the answer is shown once the reader's own is locked."""
    for case in _cases(dataset, ()):
        yield ReadingCase(
            case.item, case.image, case.material, Withheld(later=case.withheld.truth)
        )


def _material(mcq: Mcq) -> Material:
    options = tuple(Option(letter_of(i), text) for i, text in enumerate(mcq.options))
    shown = tuple(Exhibit(image=key) for key in mcq.images)
    return Material(mcq.question, exhibits=shown, options={ANSWER: options})


def _truth(mcq: Mcq) -> tuple[Exhibit, ...]:
    right = f"{letter_of(mcq.correct)}   {mcq.options[mcq.correct]}"
    of_options = tuple(
        Exhibit(letter_of(i), text) for i, text in enumerate(mcq.explanations) if text
    )
    whole = (Exhibit("Why", mcq.explanation),) if mcq.explanation else ()
    return (Exhibit("Right answer", right), *(of_options or whole))


def _choices(read: CaseRead) -> Iterator[Entry]:
    """Yield a panel member's choice, as ``experts.csv`` would bring it."""
    chosen = option_of(str(latest_values(read.values)[ANSWER]))
    yield "experts", [read.panel, read.reader, chosen]


def _reviews(read: CaseRead) -> Iterator[Entry]:
    """Yield the criteria that a question fails, as ``reviews.csv`` would bring them."""
    ticked = read.values.get(CRITERIA, ())
    failed = list(ticked) if isinstance(ticked, tuple) else []
    rejected = read.values[VERDICT] == REJECT
    yield "reviews", [read.reader, failed if rejected else []]


READING_TASKS: Final = (
    ReadingTask(
        "panel",
        "Answer the questions",
        "Pathologists answer the questions that models are asked, in groups. The right "
        "answer and its explanation are shown after each lock.",
        lambda _, __: PANEL_FORM,
        _cases,
        _choices,
        in_panels=True,
        choice=Choice(ANSWER, lambda item: letter_of(mcq_of(item).correct)),
        case_s=30,
    ),
    ReadingTask(
        "validity",
        "Judge the questions",
        "A reader answers each question, sees the answer, and keeps or rejects the "
        "question. Rejected ones are left out of later runs.",
        lambda _, __: VALIDITY_FORM,
        _judged,
        _reviews,
    ),
)
