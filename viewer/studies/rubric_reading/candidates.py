"""Tasks that a model proposes for a study, and the model's scores (E001-02, -03)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.task_selection import Category, Source
from viewer.studies.json_documents import documents
from viewer.studies.reply_text import answering_text, without_markup


class Criterion(StrEnum):
    """What a task is scored on, 1 (strongly disagree) to 5 (strongly agree)."""

    RELEVANCE = "Clinical relevance"
    ANSWERABILITY = "Answerability"
    REASONING = "Complexity/Reasoning"
    CLARITY = "Clarity/Precision"


RISK: Final = "Risk flag"
PAPERS_THREE: Final = (
    Criterion.RELEVANCE,
    Criterion.ANSWERABILITY,
    Criterion.REASONING,
)
"""The criteria that the paper's text names; its supplement's prompt has four."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed task."""

    category: Category
    source: Source
    task: str


@dataclass(frozen=True, slots=True)
class Quality:
    """A model's scores of a task.

    ``conclusion`` is the sum as written, None if there is none; it is shown but never
    used. ``risk`` is True if the model raised the flag.
    """

    scores: Mapping[Criterion, int]
    risk: bool
    conclusion: int | None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The sum of the four, by which candidates are sorted: 4 to 20."""
        return sum(self.scores.values())

    @property
    def total_of_three(self) -> int:
        """The sum of the three that the paper's text names: 3 to 15."""
        return sum(self.scores[criterion] for criterion in PAPERS_THREE)

    @property
    def disagreement(self) -> str:
        """A sentence if the model's own sum is not that of the four, else ""."""
        if self.conclusion is None:
            return "The reply has no Conclusion."
        if self.conclusion == self.total:
            return ""
        parts = _adding_up(self.scores, self.conclusion)
        words = f"which is the sum of {parts}" if parts else "which no three add up to"
        return f"Conclusion says {self.conclusion}, {words}; the four are {self.total}."


def read_candidates(text: str, number: int = 5) -> tuple[Candidate, ...] | Unparsed:
    """Parse a reply of ``number`` tasks as a JSON list, each with its three members.

    All three categories must occur if there are that many tasks.
    """
    lists = [d for d in documents(answering_text(text)) if isinstance(d, list)]
    if len(lists) != 1:
        reason = "no_list" if not lists else "several_lists"
        return Unparsed(Status.UNPARSED, reason)
    found = [_candidate(part) for part in lists[0]]
    bad = next((one for one in found if isinstance(one, str)), "")
    if bad:
        return Unparsed(Status.UNPARSED, bad)
    candidates = tuple(one for one in found if isinstance(one, Candidate))
    if len(candidates) != number:
        return Unparsed(Status.UNPARSED, f"{len(candidates)} candidates")
    if len({one.task.casefold() for one in candidates}) < number:
        return Unparsed(Status.AMBIGUOUS, "a task twice")
    missing = [c for c in Category if c not in {one.category for one in candidates}]
    if missing and number >= len(Category):
        return Unparsed(Status.UNPARSED, f"no {missing[0]}")
    return candidates


def read_quality(text: str) -> Quality | Unparsed:
    """Read a reply of five lines ``- Criterion: N - justification`` and a Conclusion.

    Every criterion stands once with a whole number from 1 to 5, the risk flag with Yes
    or No. The sum is computed, whatever the Conclusion says.
    """
    lines = _criteria(text)
    if isinstance(lines, Unparsed):
        return lines
    scores: dict[Criterion, int] = {}
    for criterion in Criterion:
        value = lines.get(_plain(criterion), ("", ""))[0]
        if not re.fullmatch("[1-5]", value):
            return Unparsed(Status.UNPARSED, f"no score of {criterion}")
        scores[criterion] = int(value)
    risk = lines.get(_plain(RISK), ("", ""))[0].casefold()
    if risk not in {"yes", "no"}:
        return Unparsed(Status.UNPARSED, "no risk flag")
    reasons = {str(c): lines[_plain(c)][1] for c in (*Criterion, RISK)}
    return Quality(scores, risk == "yes", _conclusion(text), reasons)


_LINE: Final = re.compile(r"^\W*([A-Za-z][A-Za-z /]*?)\s*:\s*(\w+)\W*(.*)$")
_SUM: Final = re.compile(r"^\W*conclusion\W*:\W*(\d{1,3})\b", re.IGNORECASE)


def _criteria(text: str) -> Mapping[str, tuple[str, str]] | Unparsed:
    """Return value and justification of each known line; one twice is ambiguous."""
    known = {_plain(name) for name in (*Criterion, RISK)}
    found: dict[str, tuple[str, str]] = {}
    for line in answering_text(text).splitlines():
        match = _LINE.match(without_markup(line))
        if match is None or _plain(match[1]) not in known:
            continue
        if _plain(match[1]) in found:
            return Unparsed(Status.AMBIGUOUS, f"twice {match[1]}")
        found[_plain(match[1])] = match[2], match[3].strip()
    return found


def _conclusion(text: str) -> int | None:
    sums = [
        _SUM.match(without_markup(line)) for line in answering_text(text).splitlines()
    ]
    found = [int(match[1]) for match in sums if match]
    return found[-1] if found else None


def _plain(name: str) -> str:
    return re.sub(r"\W+", "", name).casefold()


def _adding_up(scores: Mapping[Criterion, int], total: int) -> str:
    """Name the first criteria, fewer than all, whose scores add up to a number."""
    for size in range(len(scores) - 1, 0, -1):
        for chosen in combinations(scores, size):
            if sum(scores[one] for one in chosen) == total:
                return ", ".join(chosen)
    return ""


def _candidate(part: object) -> Candidate | str:
    """Return a candidate, or in a word what it lacks."""
    if not isinstance(part, dict):
        return "no object"
    category, source, task = (part.get(k) for k in ("category", "source", "task"))
    if category not in set(Category):
        return "unknown category"
    if source not in set(Source):
        return "unknown source"
    if not isinstance(task, str) or not task.strip():
        return "no task"
    return Candidate(Category(category), Source(source), task.strip())
