"""What physicians do for the study: diagnose its cases, and validate them before use.

Chen 2026, appendices C and E (E004-04, -05, -20, -24): a ranked differential, locked
before the options are seen, then the final diagnosis; Tasks A1 to A3 of a validation.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.aid import latest_values
from viewer.domain.case import Dataset
from viewer.domain.case_validation import ANONYMISATION, VALIDATIONS
from viewer.domain.choice import letter_of, option_of
from viewer.domain.counting import counted
from viewer.domain.evidence import EvidenceCase
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
    Part,
    RankedTextQuestion,
    RevealedChoiceQuestion,
)
from viewer.domain.form_catalog import CONFIDENCE_ANCHORS
from viewer.domain.form_values import Flagged, Values
from viewer.domain.item import Item
from viewer.domain.physician import Alignment
from viewer.domain.reading import Exhibit, Material, Withheld
from viewer.studies.evidence_diagnosis.judging import JUDGING, images_of
from viewer.studies.evidence_diagnosis.validation import cases_to_read, revalidated
from viewer.studies.reading_tasks import (
    CaseRead,
    Choice,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
    Verdict,
)

DIFFERENTIAL, SURE, CHOICE, AMBIGUOUS = "differential", "sure", "choice", "ambiguous"
CONFIRMED, INCOMPLETE, CHECKLIST = "confirmed", "incomplete", "checklist"
_ALIGNMENT: Final = "alignment_"
_TRAINING: Final = 2
"""Cases to learn the task with, which do not count (Chen 2026, appendix C)."""
_MOST: Final = 20
_FEWEST_OTHERS: Final = 100
"""So many diagnoses of other cases are offered beside the options of a case."""
_BRIEFING: Final = (
    "You will see cases with their history, examination and every image. Write your "
    "differential diagnosis, most likely first, and lock it. Only then the four "
    "options appear: choose the final diagnosis. The first "
    f"{counted(_TRAINING, 'case')} are for training and do not count. You may skip a "
    "case, pause at any time and go on later; everything is saved as you type."
)
_CONSENT: Final = (
    "I take part voluntarily. I can stop at any time and withdraw, and then my "
    "answers are purged and no longer used."
)


def _differential_form(dataset: Dataset, _: object) -> Form:
    return Form(
        "medsyn_differential",
        "2",
        "Differential, then the options",
        (
            RankedTextQuestion(
                DIFFERENTIAL,
                "Your differential, most likely first",
                1,
                _MOST,
                suggestions=_completions(cases_to_read(dataset.items)),
            ),
            LikertQuestion(
                SURE,
                "How sure are you of the first diagnosis?",
                CONFIDENCE_ANCHORS,
                required=False,
            ),
            RevealedChoiceQuestion(CHOICE, "Which of these is it?"),
            FlagQuestion(AMBIGUOUS, "The case is ambiguous", "Say why."),
        ),
        revealed=frozenset({Part.TRUTH}),
        briefing=_BRIEFING,
        consent=_CONSENT,
    )


def _completions(shown: Iterable[EvidenceCase]) -> tuple[str, ...]:
    """Return the diagnoses that a line may be completed with, () if they tell too much.

    Among few others, the options of a case could be told before they are shown.
    """
    options = [{option.strip() for option in case.options} for case in shown]
    every = set[str]().union(*options)
    others = min((len(every - own) for own in options), default=0)
    return tuple(sorted(every)) if others >= _FEWEST_OTHERS else ()


def _cases(dataset: Dataset, _: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the cases with images; their options and the diagnosis are withheld."""
    for case in cases_to_read(dataset.items):
        options = tuple(
            Option(letter_of(i), text) for i, text in enumerate(case.options)
        )
        material = Material(
            "What is the diagnosis?",
            exhibits=(*images_of(case), *_words(case)),
        )
        truth = Exhibit("Diagnosis", case.diagnosis)
        withheld = Withheld(options={CHOICE: options}, truth=(truth,))
        yield ReadingCase(case.key, case.images[0], material, withheld)


def _words(case: EvidenceCase) -> Iterator[Exhibit]:
    for title, text in (("History", case.history), ("Examination", case.examination)):
        if text:
            yield Exhibit(title, text)


def _right(item: Item) -> str:
    """Return the letter of a case's diagnosis among its options."""
    return letter_of(EvidenceCase.of_item(item).answer)


def _answers(read: CaseRead) -> Iterator[Entry]:
    """Yield a physician's answer, as ``physicians.csv`` would bring it."""
    values = latest_values(read.values)
    flag, ranked = values.get(AMBIGUOUS), values[DIFFERENTIAL]
    yield (
        "physicians",
        [
            read.reader,
            list(ranked) if isinstance(ranked, tuple) else [],
            option_of(str(values[CHOICE])),
            flag is not None,
            flag.comment if isinstance(flag, Flagged) else "",
        ],
    )


def _validation_form(dataset: Dataset, _: object) -> Form:
    most = max((len(case.evidence) for case in cases_to_read(dataset.items)), default=0)
    return Form(
        "medsyn_validation",
        "2",
        "Validation of cases",
        (
            ChecklistQuestion(INCOMPLETE, "Which evidence cannot be interpreted?"),
            ChoiceQuestion(
                CONFIRMED,
                "Does the evidence confirm the diagnosis?",
                (Option("yes", "Yes"), Option("no", "No")),
            ),
            *(
                ChoiceQuestion(f"{_ALIGNMENT}{i}", f"Evidence {i + 1}", _ALIGNMENTS)
                for i in range(most)
            ),
            ChecklistQuestion(
                CHECKLIST,
                "Anonymisation: tick what is done",
                tuple(
                    Option(str(line), text)
                    for line, text in enumerate(ANONYMISATION, 1)
                ),
                help="Chen 2026, appendix E.2",
            ),
        ),
        shown=frozenset({Part.PIXELS}),
    )


_ALIGNMENTS: Final = (
    Option(Alignment.OK.value, "The text says what the images show"),
    Option(Alignment.MISALIGNED.value, "They differ"),
    Option(Alignment.UNSUPPORTED.value, "The images do not support it"),
    Option(Alignment.NOT_GROUNDED.value, "It is not about the images"),
)


def _validated(dataset: Dataset, _: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the cases with everything known about them."""
    for case in cases_to_read(dataset.items):
        keys = tuple(Option(one.key, one.title) for one in case.evidence)
        asked = tuple(f"{_ALIGNMENT}{i}" for i in range(len(case.evidence)))
        texts = {
            name: f"{one.title}: {one.finding}"
            for name, one in zip(asked, case.evidence, strict=True)
        }
        material = Material(
            case.diagnosis,
            exhibits=(*images_of(case), *_words(case)),
            options={INCOMPLETE: keys},
            texts=texts,
            asked=(INCOMPLETE, CONFIRMED, *asked, CHECKLIST),
        )
        yield ReadingCase(case.key, case.images[0], material)


def _validations(read: CaseRead) -> Iterator[Entry]:
    """Yield a validation, as ``validations.csv`` would bring it."""
    values = read.values
    done = _ticked(values, CHECKLIST)
    yield (
        VALIDATIONS,
        {
            "reader": read.reader,
            "incomplete": _ticked(values, INCOMPLETE),
            "diagnosis_confirmed": values[CONFIRMED] == "yes",
            "alignment": [values[name] for name in _aligned(read.material)],
            "unticked": [
                line
                for line in range(1, len(ANONYMISATION) + 1)
                if str(line) not in done
            ],
        },
    )


def _aligned(material: Material) -> list[str]:
    """Return the questions on each piece of evidence, in its order.

    The texts have lost theirs: their keys were sorted when they were stored.
    """
    return [name for name in material.asked if name.startswith(_ALIGNMENT)]


def _criteria(read: CaseRead) -> Iterator[Verdict]:
    """Yield what a validation says of a case and of each piece of its evidence."""
    values, pieces = read.values, [o.key for o in read.material.options[INCOMPLETE]]
    incomplete, done = _ticked(values, INCOMPLETE), _ticked(values, CHECKLIST)
    for key in pieces:
        yield "evidence can be interpreted", key, key not in incomplete
    yield "evidence confirms the diagnosis", "", values[CONFIRMED] == "yes"
    for key, name in zip(pieces, _aligned(read.material), strict=True):
        yield "text says what the images show", key, values[name] == Alignment.OK
    for line in range(1, len(ANONYMISATION) + 1):
        yield "case is anonymised", str(line), str(line) in done


def _ticked(values: Values, name: str) -> list[str]:
    found = values.get(name, ())
    return list(found) if isinstance(found, tuple) else []


_VALIDATION: Final = ReadingTask(
    "validation",
    "Validate the cases",
    "A reader checks each case before it is used: evidence, diagnosis, expert text "
    "and anonymisation.",
    _validation_form,
    _validated,
    _validations,
    case_s=180,
    criteria=_criteria,
)
READING_TASKS: Final = (
    ReadingTask(
        "differential",
        "Diagnose the cases",
        "Physicians write a ranked differential, lock it, and choose an option. Their "
        "answers are scored like a model's in the next run.",
        _differential_form,
        _cases,
        _answers,
        training=_TRAINING,
        choice=Choice(
            CHOICE, lambda item: letter_of(EvidenceCase.of_item(item).answer)
        ),
        case_s=240,
    ),
    _VALIDATION,
    replace(
        _VALIDATION,
        name="revalidation",
        title="Validate a fifth of the cases again",
        about="A second reader checks a drawn fifth of the cases without seeing what "
        "the first found. Results show how far they agree.",
        again="validation",
        draw=revalidated,
    ),
    JUDGING,
)
