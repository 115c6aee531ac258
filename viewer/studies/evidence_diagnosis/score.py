"""The verdict on one answer (Chen 2026, 3.2; E004-06 to -09)."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Status, Unparsed
from viewer.domain.choice import letter_of
from viewer.domain.evidence import EvidenceCase
from viewer.domain.result import Score
from viewer.studies.evidence_diagnosis.parse import JUDGE_UNPARSED, Judged

JUDGE = "judge"
"""The name of the judge's score among a verdict's numbers."""
FIRST_MATCH = "first_match"
"""The rank of the first entry that is the diagnosis in words, from 1."""
JUDGED_BY = "judge_{}"
"""The names of each judge's own score where there are several, from 1."""
OFF_RUBRIC = "off_rubric"
"""1 where the judge's score is none of the rubric's."""
GOLD_PLACE = "gold_place"
"""At which letter the right option stood, 0 for A."""

_MARKS = re.compile(r"[^\w\s]|_")


def score_choice(
    answer: ChoiceAnswer | Unparsed, case: EvidenceCase, order: Sequence[int]
) -> Score:
    """Return the verdict on an option; ``order`` gives the option of each letter."""
    place = float(list(order).index(case.answer))
    numbers = ((GOLD_PLACE, place),)
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason, numbers=numbers)
    right = answer.option == case.answer
    status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    letter = letter_of(list(order).index(answer.option))
    text = f"{letter}. {case.options[answer.option]}"
    return Score(status, answer=text, numbers=numbers)


def score_ranked(
    answer: RankedAnswer | Unparsed,
    judged: Judged | Unparsed,
    diagnosis: str,
    covered_from: int,
    by: Sequence[Judged | Unparsed] = (),
) -> Score:
    """Return the verdict on a differential or on an open diagnosis.

    Right if the judge's score reaches ``covered_from``; unscored answers stay in every
    denominator as ``judge_unparsed``. If ``by`` are the verdicts of several judges, the
    scores of each are kept as well.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    text = "; ".join(answer.entries)
    rank = first_match(answer.entries, diagnosis)
    each = tuple(
        (JUDGED_BY.format(n), float(one.score))
        for n, one in enumerate(by if len(by) > 1 else (), 1)
        if isinstance(one, Judged)
    )
    found = (*(((FIRST_MATCH, float(rank)),) if rank else ()), *each)
    if isinstance(judged, Unparsed):
        return Score(Status.UNPARSED, JUDGE_UNPARSED, text, numbers=found)
    covered = judged.score >= covered_from
    return Score(
        Status.SCORED_CORRECT if covered else Status.SCORED_WRONG,
        OFF_RUBRIC if judged.off_rubric else "",
        text,
        numbers=((JUDGE, float(judged.score)), *found, *_off_rubric(judged)),
    )


def not_judged(answer: RankedAnswer | Unparsed, diagnosis: str) -> Score:
    """Return the verdict on a differential without a judge: neither right nor wrong.

    It still records whether it contains the diagnosis verbatim.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    rank = first_match(answer.entries, diagnosis)
    found = ((FIRST_MATCH, float(rank)),) if rank else ()
    return Score(
        Status.EXCLUDED, "not_judged", "; ".join(answer.entries), numbers=found
    )


def with_numbers(score: Score, more: tuple[tuple[str, float], ...]) -> Score:
    """Return a verdict with further numbers after its own."""
    return replace(score, numbers=(*score.numbers, *more))


def first_match(entries: Sequence[str], diagnosis: str) -> int | None:
    """Return the rank, from 1, of the first entry that is the diagnosis verbatim.

    Case, punctuation and accents are ignored; synonyms are for the judge (E004-06).
    """
    wanted = plain(diagnosis)
    ranks = (rank for rank, entry in enumerate(entries, 1) if plain(entry) == wanted)
    return next(ranks, None)


def plain(name: str) -> str:
    """Return a diagnosis as names compare: no case, accents, marks, double blanks."""
    split = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(c for c in split if not unicodedata.combining(c))
    return " ".join(_MARKS.sub(" ", letters).split())


def _off_rubric(judged: Judged) -> tuple[tuple[str, float], ...]:
    return ((OFF_RUBRIC, 1.0),) if judged.off_rubric else ()
