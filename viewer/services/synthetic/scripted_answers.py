"""Known answers of the scripted models of generated collections.

One is right whenever it is shown what it needs, one is wrong at every third item, and
one does not look: each paper's tables have values that can be verified by hand.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import EvidenceCase, EvidenceType
from viewer.domain.item import Item, item_of
from viewer.domain.run import Trial
from viewer.services.synthetic.phantom.chest_questions import PER_PATIENT
from viewer.studies.evidence_diagnosis.building import option_order
from viewer.studies.evidence_diagnosis.params import Params as EvidenceParams
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.showing import (
    Modality,
    Showing,
    Textual,
    seed_of,
)
from viewer.studies.evidence_diagnosis.steps import ANSWER as CHOICE
from viewer.studies.evidence_diagnosis.steps import DIFFERENTIAL, FINAL, JUDGE
from viewer.studies.grounded_vqa.arms import is_perturbed, is_sham
from viewer.studies.grounded_vqa.items import Unreadable, question_of
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.request import ANSWER, BASE
from viewer.studies.pathology_mcq.arms import arm_of, corruption_of
from viewer.studies.pathology_mcq.params import Arm
from viewer.studies.pathology_mcq.questions import mcq_of
from viewer.studies.question_set.arms import option_order as option_order_shown
from viewer.studies.question_set.params import Arm as QuestionArm
from viewer.studies.question_set.questions import asked_of

Replies = Mapping[str, object]
"""The reply at each step of a trial, by the step's name."""
Script = Callable[[Trial, Item], Replies]
"""What a model says in a trial about an item."""
Worded = Callable[[Question, str], str]
"""The answer to a question under a condition, "base" for a base of a perturbed one."""
_NUMBER: Final = re.compile(r"\d+$")
_SHOWN: Final = frozenset({QuestionArm.IMAGE, QuestionArm.SHUFFLED_OPTIONS})
_SEEING: Final = frozenset({Arm.IMAGE, Arm.CORRUPTION})
_SURE, _WITHOUT_TEXT = 0.94, 0.82
"""How likely a model that looks holds the option that it chooses."""
_REFINED: Final = 0.04
"""What the refined prompt adds to what an image or a text is worth."""
_STEPS: Final = 11
"""Of what evidence is worth, told apart by case, type and form."""
_COLOURS: Final = frozenset({"brightness", "hue", "saturate"})
"""The corruptions that change colours only, and mislead half as often."""
_REFUSAL: Final = "I'm sorry, but I can't help with a diagnosis."
"""What the model that errs says of some cases."""


def answers_of(
    trials: Iterable[Trial], items: Iterable[Item], script: Script
) -> dict[str, object]:
    """Return a script's reply to every step of every trial, for a scripted model.

    The keys are ``item|condition|repeat|step``.
    """
    by_key = {item.key: item for item in items}
    return {
        f"{trial.item}|{trial.condition.name}|{trial.repeat}|{step}": reply
        for trial in trials
        for step, reply in script(trial, item_of(by_key, trial.item)).items()
    }


def errs_at(key: str) -> bool:
    """Tell whether the erring model is wrong at an item: every third."""
    return _number(key) % 3 == 1


def grounded(question: Question, condition: str) -> str:
    """Answer according to the image, after any edit of it or of the question."""
    if is_perturbed(condition):
        return "Yes" if is_sham(condition) else "No"
    if question.closed:
        return "Yes, it does." if question.yes else "No."
    return ", ".join(question.labels) or "There are no abnormalities."


def no_to_edits(question: Question, condition: str) -> str:
    """Answer correctly, but No to anything edited."""
    return "No" if is_perturbed(condition) else grounded(question, condition)


def careless(question: Question, condition: str) -> str:
    """Answer every third question wrongly, and always Yes to edits."""
    if is_perturbed(condition):
        return "Yes"
    if not errs_at(question.key):
        return grounded(question, condition)
    if question.closed:
        return "No" if question.yes else "Yes"
    return "Lung tumor"


def notices_half(question: Question, condition: str) -> str:
    """Answer every third question wrongly, and see the edits of every second one."""
    sees = is_perturbed(condition) and _number(question.key) % 2 == 0
    return (grounded if sees else careless)(question, condition)


def in_words(worded: Worded) -> Script:
    """Return a way of answering anatomy questions as a script."""

    def script(trial: Trial, item: Item) -> Replies:
        question = question_of(item)
        if isinstance(question, Unreadable):
            raise WrongUseError(
                f"The item '{item.key}' is not a question about an anatomy.",
                "Draw the questions with overread questions.",
            )
        condition = trial.condition.name
        return {ANSWER: worded(question, condition), BASE: worded(question, "base")}

    return script


def looks_at_tiles(trial: Trial, item: Item) -> Replies:
    """Name the right option if the tile is shown, otherwise the first one."""
    return _option(item, off=0) if _sees(trial) else {"answer": letter_of(0)}


def errs_on_tiles(trial: Trial, item: Item) -> Replies:
    """Name the next option at every third item, and at more the worse the tile.

    Without its tile this model is right at one item of three, with noise in its place
    at two of five, and with another question at one of four.
    """
    arm, number = arm_of(trial.condition.name), _number(item.key)
    wrong = {
        Arm.TEXT_ONLY: number % 3 != 0,
        Arm.NOISE: number % 5 > 1,
        Arm.MISMATCH: number % 4 != 0,
    }
    misled = arm is Arm.CORRUPTION and _misled(trial, number)
    return _option(item, off=int(wrong.get(arm, errs_at(item.key) or misled)))


def _misled(trial: Trial, number: int) -> bool:
    """Tell whether a corruption misleads the model that errs, at more by level."""
    kind, level = corruption_of(trial.condition.name)
    weight = 1 if kind in _COLOURS else 2
    return (number * 5 + len(kind)) % 12 < level * weight


def does_not_look(_: Trial, item: Item) -> Replies:
    """Ignore the image: right at every second item."""
    return _option(item, off=_number(item.key) % 2)


def looks_at_radiographs(trial: Trial, item: Item) -> Replies:
    """Answer correctly if the radiograph is shown, otherwise at chance level."""
    if trial.condition.name in _SHOWN:
        return _answer(trial, item, off=0)
    return _answer(trial, item, off=_at_chance(item))


def takes_shortcuts(trial: Trial, item: Item) -> Replies:
    """Err at every third item; without the radiograph still know two of five.

    Told that there is none and asked to guess, it knows one of five.
    """
    number, condition = _number(item.key), trial.condition.name
    if condition in _SHOWN:
        return _answer(trial, item, off=int(errs_at(item.key)))
    known = 1 if condition == QuestionArm.GUESS else 2
    return _answer(trial, item, off=int(number % 5 >= known))


def answers_the_words(trial: Trial, item: Item) -> Replies:
    """Answer from the text alone: right at four of seven items."""
    return _answer(trial, item, off=int(_number(item.key) % 7 < 3))


def weighs_evidence(trial: Trial, item: Item) -> Replies:
    """Choose the diagnosis, with less certainty the less evidence is shown.

    Without the case's own words another is chosen at every sixth case.
    """
    showing = Showing.of_condition(trial.condition)
    without = showing.textual is not Textual.KEPT
    sure = _moved(showing, item, _WITHOUT_TEXT if without else _SURE, 0.4, 0.3)
    off = int(without and _number(item.key) % 6 == 0)
    return _diagnosis(trial, item, sure, off=off, rank=_number(item.key) % 3)


def chooses_wrongly(trial: Trial, item: Item) -> Replies:
    """List the diagnosis late, and choose another at every third case.

    Fewer with the expert's text or the refined prompt, more without the case's own
    words. This model refuses to list or to name anything at every sixth case.
    """
    showing, number = Showing.of_condition(trial.condition), _number(item.key)
    sure = _moved(showing, item, _SURE, 0.15, 0.4)
    replies = _diagnosis(
        trial, item, sure, off=int(_is_wrong(showing, number)), rank=1 + number % 3
    )
    silent = {DIFFERENTIAL: number % 6 == 5, FINAL: number % 6 == 0}
    return {s: _REFUSAL if silent.get(s) else reply for s, reply in replies.items()}


def _is_wrong(showing: Showing, number: int) -> bool:
    """Tell whether the model that errs chooses another diagnosis."""
    if showing.textual is Textual.REMOVED:
        return number % 2 == 1
    if showing.textual is Textual.RANDOM:
        return number % 3 != 0
    every = 6 if showing.refined or showing.visual is not Modality.IMAGE else 3
    return number % every == 1


def _moved(
    showing: Showing, item: Item, sure: float, by_image: float, by_text: float
) -> float:
    """Return a model's certainty without a piece of evidence.

    It is reduced by up to the weight of an image or a text, varying by case and type.
    """
    if showing.toggled is None:
        return sure
    is_image = showing.visual is Modality.IMAGE
    place = list(EvidenceType).index(showing.toggled)
    step = (_number(item.key) * 7 + place * 3 + is_image * 5) % _STEPS / (_STEPS - 1)
    most = (by_image if is_image else by_text) + _REFINED * showing.refined
    return sure - most * step


def judges(trial: Trial, item: Item) -> Replies:
    """Score a model's list or diagnosis from 5 to 2, by case."""
    number = _number(item.key) + (trial.finding == Task.OPEN_FDX)
    score = 5 - (number + number // 4) % 4
    return {JUDGE: f"Score: {score}\nRationale: It is scored by its case."}


def _number(key: str) -> int:
    """Return the number at the end of a generated item's name, 0 without one."""
    found = _NUMBER.search(key)
    return int(found[0]) if found else 0


def _sees(trial: Trial) -> bool:
    return arm_of(trial.condition.name) in _SEEING


def _option(item: Item, *, off: int) -> Replies:
    """Return the letter of the option this many positions after the right one."""
    asked = mcq_of(item)
    return {"answer": letter_of((asked.correct + off) % len(asked.options))}


def _at_chance(item: Item) -> int:
    """Return an offset from the right answer that gives chance level."""
    patient, place = divmod(_number(item.key) - 1, PER_PATIENT)
    return (patient + place // 2) % max(len(asked_of(item).options), 2)


def _answer(trial: Trial, item: Item, *, off: int) -> Replies:
    """Return the answer this many positions after the right one, as asked for."""
    asked = asked_of(item)
    if not asked.options:
        yes = bool(item.reference["yes"]) is (off % 2 == 0)
        return {"answer": "Yes" if yes else "No"}
    right = int(str(item.reference["option"]))
    order = option_order_shown(asked, trial.condition)
    return {"answer": letter_of(order.index((right + off) % len(order)))}


def _diagnosis(
    trial: Trial, item: Item, sure: float, *, off: int, rank: int
) -> Replies:
    """Return the reply about a case: a list, a diagnosis, or an option's letter.

    The diagnosis stands in the list after ``rank`` others.
    """
    case = EvidenceCase.of_item(item)
    if trial.finding != Task.FDX:
        return {DIFFERENTIAL: _listed(case, rank), FINAL: case.diagnosis}
    condition = trial.condition
    turned = Showing.of_condition(condition).order
    order = option_order(case, EvidenceParams(), seed_of(condition), turned)
    chosen = (case.answer + off) % len(case.options)
    rest = (1.0 - sure) / (len(order) - 1)
    likely = [sure if option == chosen else rest for option in order]
    return {CHOICE: {"text": letter_of(order.index(chosen)), "posterior": likely}}


def _listed(case: EvidenceCase, rank: int) -> str:
    named = [one for i, one in enumerate(case.options) if i != case.answer]
    named.insert(rank, case.diagnosis)
    return "\n".join(f"{number}. {one}" for number, one in enumerate(named, start=1))
