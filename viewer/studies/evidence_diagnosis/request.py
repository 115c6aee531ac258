"""The question of one step, with the exact images and texts sent."""

import re
from typing import Final

import numpy as np

from viewer.domain.choice import LETTERS
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ImagePart, Message, TextPart
from viewer.domain.interpretability import Measures, Section, letter_spellings
from viewer.domain.interpretability import QueryPosition as Query
from viewer.domain.run import Step
from viewer.metrics.posterior import Estimator
from viewer.metrics.seeding import generator
from viewer.studies.evidence_diagnosis.building import (
    Asked,
    Part,
    Picture,
    Replaced,
    ask_choice,
    ask_differential,
    ask_judge_of_differential,
    ask_judge_of_final,
    ask_open,
)
from viewer.studies.evidence_diagnosis.params import Params, RandomText, Task
from viewer.studies.evidence_diagnosis.people import (
    PHYSICIANS,
    PROMPT,
    WRITTEN,
    answered,
)
from viewer.studies.evidence_diagnosis.showing import Textual
from viewer.studies.evidence_diagnosis.steps import (
    DIFFERENTIAL,
    FINAL,
    TURNED,
    Asking,
)
from viewer.studies.evidence_diagnosis.templates import open_prompt
from viewer.studies.prompts import asked_with
from viewer.studies.steps import Question, Sources, Turn

RANDOM_WORDS: Final = "random words replaced random tokens of its own"
"""What a run is badged with where a model gave no access to its tokens."""


def question(turn: Turn, step: Step, sources: Sources, params: Params) -> Question:
    """Return the question of a step, in new messages."""
    asking = Asking(turn, params)
    if step.role:
        return _plain(_judging(asking), params)
    if turn.trial.model == PHYSICIANS.name:
        return _written(turn)
    replaced, note = _replaced(asking, sources)
    asked = _asked(asking, step, replaced)
    return Question(
        messages=_messages(asked, sources),
        prompt=asked.prompt,
        template=open_prompt(asked.prompt, params.prompts),
        measures=_measures(asked, asking, sources),
        note=note,
    )


def _written(turn: Turn) -> Question:
    """Return a placeholder for a question that a physician was asked elsewhere."""
    answer = answered(turn.item)[turn.trial.repeat]
    message = Message("user", (TextPart(WRITTEN),))
    return Question((message,), PROMPT, WRITTEN, written=answer.reply)


def _asked(asking: Asking, step: Step, replaced: Replaced | None) -> Asked:
    case, showing, prompts = asking.case, asking.showing, asking.params.prompts
    if step.name == DIFFERENTIAL:
        return ask_differential(case, showing, replaced, prompts)
    if step.name == FINAL:
        listed = asking.differential()
        entries = getattr(listed, "entries", ())
        return ask_open(case, showing, entries, replaced, prompts)
    word, _, turned = step.name.partition(" ")
    order = asking.order(int(turned) if word == TURNED else 0)
    return ask_choice(case, showing, order, replaced, prompts)


def _judging(asking: Asking) -> Asked:
    diagnosis = asking.case.diagnosis
    entries: tuple[str, ...] = getattr(asking.words(), "entries", ())
    if asking.task is Task.DDX:
        return ask_judge_of_differential(diagnosis, entries, asking.params)
    return ask_judge_of_final(diagnosis, "; ".join(entries), asking.params)


def _plain(asked: Asked, params: Params) -> Question:
    announced = params.announce_examples
    text = open_prompt(asked.prompt, params.prompts, announce_examples=announced)
    message = Message("user", (TextPart(asked.text),))
    return Question((message,), asked.prompt, text)


def _messages(asked: Asked, sources: Sources) -> tuple[Message, ...]:
    return asked_with(asked.system, tuple(_part(p, sources) for p in asked.parts))


def _part(part: Part, sources: Sources) -> TextPart | ImagePart:
    if isinstance(part, Picture):
        return sources.picture(sources.raster(part.image))
    return TextPart(part.text)


def _replaced(asking: Asking, sources: Sources) -> tuple[Replaced | None, str]:
    """Return the random text where it is shown, and a note where it is of words."""
    if asking.showing.textual is not Textual.RANDOM:
        return None, ""
    texts, note = [], ""
    for name in ("history", "examination"):
        rng = generator(asking.seed, "random text", asking.case.key, name)
        like = str(getattr(asking.case, name))
        found = None
        if like and asking.params.random_text is RandomText.TOKENS:
            found = sources.random_text(like, int(rng.integers(2**31)))
        if like and found is None:
            note = RANDOM_WORDS
        texts.append(found.text if found else random_words(like, rng))
    return Replaced(*texts), note


def _measures(asked: Asked, asking: Asking, sources: Sources) -> Measures | None:
    """Return the measures requested from a local model."""
    params = asking.params
    if asking.task is not Task.FDX or not sources.interpretable:
        return None
    spellings = _spellings(asked, asking.case, params) if params.sensitivity else ()
    attention = params.rapt and not sources.why_no_attention
    if not spellings and not attention:
        return None
    sections = tuple(Section(name, text) for name, text in asked.sections.items())
    return Measures(
        spellings=spellings,
        sections=sections if attention else (),
        attention=Query(str(params.rapt_query)) if attention else None,
    )


def _spellings(
    asked: Asked, case: EvidenceCase, params: Params
) -> tuple[tuple[str, ...], ...]:
    """Return the spellings of each option, in the order of their letters."""
    if params.estimator in {Estimator.LETTERS, Estimator.PERMUTED}:
        return letter_spellings(LETTERS[: len(asked.order)])
    if params.estimator is Estimator.SEQUENCES:
        return tuple((case.options[option],) for option in asked.order)
    return ()


_CHINESE: Final = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_OTHER: Final = re.compile(r"[^\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_FIRST, _LAST = 0x4E00, 0x9FA5


def random_words(text: str, rng: np.random.Generator) -> str:
    """Return a text with every word replaced by as many random letters.

    Random text must carry no information (Chen 2026, 4.3), so numbers, punctuation and
    capitals become letters as well; Chinese characters and punctuation become others of
    the first Unicode block. Blanks stay. The number of tokens may differ, which is
    noted wherever the arm is shown.
    """

    def letters(word: re.Match[str]) -> str:
        return "".join(_SMALL[int(i)] for i in rng.integers(0, 26, len(word[0])))

    replaced = _OTHER.sub(letters, text)
    return _CHINESE.sub(lambda _: chr(int(rng.integers(_FIRST, _LAST + 1))), replaced)
