"""From a reply to a choice, a ranked differential, a diagnosis or a judge's score.

Nothing is guessed. A judge is read strictly: ``Score: X`` with a whole number, then
``Rationale:`` with words, and nothing else (E004-09).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.studies.choices import parse as parse_choice
from viewer.studies.evidence_diagnosis.chinese import (
    chosen_in_chinese,
    declines_in_chinese,
)
from viewer.studies.evidence_diagnosis.lists import (
    is_numbered,
    listed,
    stated,
    with_numbers,
    without_bold,
)
from viewer.studies.refusing import declines, is_cut, withheld
from viewer.studies.reply_text import answering_text, without_markup

DDX_LEVELS: Final = (5, 4, 3, 2, 0)
"""The scores that the rubric of a differential has; it has no 1 (E004-06)."""
FDX_LEVELS: Final = (5, 4, 3, 2, 1)
"""Those of an open final diagnosis; the prompt says 0-5 and lists these (E004-08)."""
HIGHEST: Final = 5
JUDGE_UNPARSED: Final = "judge_unparsed"
NO_OPTION: Final = "no_option"
"""Why a choice is unparsed that names nothing, in English at least."""

_FINAL = re.compile(
    r"(?:\bfinal diagnosis\b|\bdiagnosis\b|最终诊断|诊断)\s*(?:is\b|[:：]|为|是)\s*",
    re.IGNORECASE,
)
_JUDGED = re.compile(r"\s*Score:\s*(\d{1,3})\s*\n+\s*Rationale:\s*(\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's score with its rationale.

    ``off_rubric`` is True if the number is on the scale but not in the rubric, such as
    1 for a differential: it is stored, shown, and counts.
    """

    score: int
    rationale: str
    off_rubric: bool = False


def read_option(
    reply: ModelReply, options: Sequence[str], order: Sequence[int]
) -> ChoiceAnswer | Unparsed:
    """Return the option that a reply names, as its index in the case's order.

    ``order`` is the option at each letter.
    """
    shown = [options[option] for option in order]
    found = parse_choice(reply, shown)
    if isinstance(found, ChoiceAnswer):
        return ChoiceAnswer(order[found.option], found.tier)
    if found.reason != NO_OPTION:
        return found
    text = answering_text(reply.text)
    chinese = chosen_in_chinese(text, shown)
    if isinstance(chinese, int):
        return ChoiceAnswer(order[chinese], "sentence")
    if chinese is None and declines_in_chinese(text):
        return Unparsed(Status.REFUSED, "declined")
    return chinese or found


def read_differential(reply: ModelReply) -> RankedAnswer | Unparsed:
    """Return the diagnoses of a reply in their order, each once.

    In any layout that :mod:`lists` reads; what explains an entry is left out. A list
    that was cut short is not read. Numbered names are an answer whatever is said
    beside them, such as that no doctor says so.
    """
    text = _answering(reply)
    if isinstance(text, Unparsed):
        return text
    entries = listed(text)
    if not is_numbered(text) and _refuses(text, beside_answer=_has_lines(text)):
        return Unparsed(Status.REFUSED, "declined")
    if not entries:
        return Unparsed(Status.UNPARSED, "no_diagnosis")
    return RankedAnswer(entries)


def read_final(reply: ModelReply) -> RankedAnswer | Unparsed:
    """Return the single diagnosis that a reply states; two are ambiguous.

    If a phrase announces it, the lines below are its explanation.
    """
    text = _answering(reply)
    if isinstance(text, Unparsed):
        return text
    before, *marked = _FINAL.split(without_bold(text))
    entries = stated(_first_line(marked[-1]) if marked else before)
    if _refuses(text, beside_answer=bool(marked)):
        return Unparsed(Status.REFUSED, "declined")
    if not entries:
        return Unparsed(Status.UNPARSED, "no_diagnosis")
    if len(entries) > 1:
        return Unparsed(Status.AMBIGUOUS, "several")
    return RankedAnswer(entries)


def read_judgement(reply: ModelReply, levels: Sequence[int]) -> Judged | Unparsed:
    """Return the judge's score and rationale, or why they cannot be read.

    A score beyond 5 is invalid; one on the scale but not in the rubric is kept and
    marked.
    """
    text = _answering(reply)
    if isinstance(text, Unparsed):
        return text
    found = _JUDGED.fullmatch(without_markup(text))
    if found is None:
        return Unparsed(Status.UNPARSED, "no_score_and_rationale")
    score = int(found[1])
    if score > HIGHEST:
        return Unparsed(Status.OUT_OF_RANGE, f"score_{score}")
    return Judged(score, found[2].strip(), score not in levels)


def last_judgement(
    replies: Sequence[ModelReply], levels: Sequence[int]
) -> Judged | Unparsed:
    """Return the first judgement that can be read, else ``judge_unparsed`` (E004-09).

    ``replies`` are the judge's, oldest first: the first and those asked again.
    """
    for reply in replies:
        found = read_judgement(reply, levels)
        if isinstance(found, Judged):
            return found
    return Unparsed(Status.UNPARSED, JUDGE_UNPARSED)


def majority(
    verdicts: Sequence[Judged | Unparsed], levels: Sequence[int]
) -> Judged | Unparsed:
    """Return the lower median of several judges' scores.

    It reaches a score if more than half of the scores do. Unless more than half of the
    judges can be read, it is ``judge_unparsed``.
    """
    scores = sorted(one.score for one in verdicts if isinstance(one, Judged))
    if 2 * len(scores) <= len(verdicts):
        return Unparsed(Status.UNPARSED, JUDGE_UNPARSED)
    middle = scores[(len(scores) - 1) // 2]
    return Judged(middle, "", middle not in levels)


def _answering(reply: ModelReply) -> str | Unparsed:
    """Return a reply's text, or why there is none to read."""
    if kept_back := withheld(reply):
        return kept_back
    if is_cut(reply):
        return Unparsed(Status.TRUNCATED, "length")
    text = answering_text(with_numbers(reply.text))
    return text if text.strip() else Unparsed(Status.UNPARSED, "empty")


def _refuses(text: str, *, beside_answer: bool) -> bool:
    """Tell whether a text refuses, in English or in Chinese."""
    return declines_in_chinese(text) or declines(text, beside_answer=beside_answer)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _has_lines(text: str) -> bool:
    """Tell whether a text is several lines rather than a sentence."""
    return len(text.splitlines()) > 1
