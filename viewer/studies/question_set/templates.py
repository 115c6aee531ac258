"""The words of every question: a prompt for each kind of answer, and of controls."""

from typing import Final

from viewer.domain.question_kinds import OPTIONAL, REQUIRED, AnswerKind
from viewer.studies import controls
from viewer.studies.prompts import OURS, Prompt, Prompts, packaged

GUESS, OPTIONS_ONLY = "guess", "options_only"
JUDGE, SYSTEM = "judge", "system"
_USES: Final = {
    AnswerKind.CHOICE: "a question with options",
    AnswerKind.YES_NO: "a question to be answered yes or no",
    AnswerKind.NUMBER: "a question for a number",
    AnswerKind.TEXT: "a question for words",
    AnswerKind.CELL: "a question for a cell of the grid on the image",
    AnswerKind.POINT: "a question for a point on the image",
    AnswerKind.BOX: "a question for a box on the image",
    AnswerKind.BOXES: "a question for boxes on the image",
}


def _packaged(name: str, use: str, required: tuple[str, ...] = ()) -> Prompt:
    groups = tuple((one,) for one in required)
    return Prompt(name, packaged(__package__, name), use, OURS, groups)


PROMPTS: Final = Prompts.of(
    *(
        Prompt(
            kind.value,
            packaged(__package__, kind.value),
            _USES[kind],
            OURS,
            tuple((one,) for one in REQUIRED[kind]),
            OPTIONAL[kind],
        )
        for kind in AnswerKind
    ),
    Prompt(
        GUESS,
        lambda: controls.GUESS,
        "added before a question that is asked to be guessed",
        OURS,
    ),
    _packaged(OPTIONS_ONLY, "options without their question", ("options",)),
    _packaged(JUDGE, "asks whether an answer is right", ("question", "right", "given")),
    Prompt(SYSTEM, str, "the system message; empty, so none is sent"),
)
