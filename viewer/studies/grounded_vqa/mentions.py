"""Findings named in a sentence, and whether it affirms them.

A deterministic parser of English report prose in the manner of NegEx (Chapman 2001):
negations extend forward over a list and end at a full stop, a contrast or a new clause.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from viewer.studies.refusing import lowered


class Sense(StrEnum):
    """What a sentence says about a finding."""

    THERE = "there"
    NOT_THERE = "not_there"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Mention:
    """A finding by its label, and what is said about it."""

    label: str
    sense: Sense


_CLAUSE = re.compile(
    r"[.;:!?\n]+(?:\s|$)"
    r"|,?\s*\b(?:but|however|although|though|whereas|yet|except(?: for)?|apart from)\b"
)
_SEEN = (
    r"(?:seen|present|visible|identified|detected|evident|noted|observed|found|shown"
    r"|visuali[sz]ed|appreciated|apparent|demonstrated|discernible|suspected)"
)
_DENIAL = re.compile(
    r"\b(?:no(?! (?:doubt|question|change|longer only))|not(?! only)|none of"
    r"|without|absence of|lack of|lacks?|free (?:of|from)|negative for|clear of"
    r"|neither|nor|never|den(?:y|ies)|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)"
    r"|cannot|\w+n't|unremarkable for)\b"
)
_DOUBT = re.compile(
    r"\b(?:cannot|can ?not|can't|could not|couldn't|not|never) (?:be )?(?:\w+ly )?"
    r"(?:exclude[ds]?|rule[ds]? out|ruled out)\b"
    r"|\b(?:may|might|could|possibl[ey]|suspicious for|suspicion of|questionable"
    r"|equivocal|versus|vs|differential|uncertain|unclear)\b"
)
_NO_DOUBT = re.compile(
    r"\b(?:no|without)(?: \w+){0,2} (?:possible|questionable|equivocal|suspicion of)\b"
)
"""A denial of what is only possible: no evidence of possible pneumonia."""
_DOUBT_AFTER = re.compile(
    r"\b(?:cannot|can ?not|can't|not|never) (?:be )?(?:\w+ly )?(?:excluded|ruled out)\b"
    r"|\bis (?:possible|questionable|equivocal|uncertain)\b"
)
_DENIAL_AFTER = re.compile(
    r"^[^,]{0,60}?\b(?:(?:is|are|was|were) (?:not|never)\b"
    r"|(?:is|are|was|were) (?:absent|ruled out|excluded|unlikely)|isn't|aren't|wasn't"
    r"|(?:has|have) (?:resolved|cleared)|(?:does|do) not appear|absent|not present)\b"
)
_STATES = (
    "enlarged|dilated|widened|thickened|shifted|displaced|fractured|broken|collapsed"
    "|calcified|consolidated|opacified|fibrotic|increased"
)
_STRUCTURE = (
    r"(?:(?:cardiac|cardiomediastinal) (?:silhouette|shadow)|heart size|hearts?"
    r"|pulmonary arter(?:y|ies)|aortic knob|aorta|mediastinum|pleura|ribs?|clavicles?"
    r"|lungs?|lobes?)"
)
_PREDICATE = (
    r"(?P<verb> (?:(?:may|might|could) be|isn't|aren't|is|are|was|were|appears?|looks?"
    rf"|seems?)(?: to be)?)(?P<how>(?: \w+){{0,2}}?) (?P<state>{_STATES})\b"
)
_STATED = re.compile(rf"\b(?P<subject>{_STRUCTURE}){_PREDICATE}")
"""A structure and its state as a statement: the heart is mildly enlarged."""
_BOTH_STATED = re.compile(
    rf"\b(?P<other>{_STRUCTURE}) and (?:the )?(?P<subject>{_STRUCTURE}){_PREDICATE}"
)
_NEW_CLAUSE = re.compile(
    r", (?:and )?(?:there|it|this|the|a|an|with|shows?|has|but)\b"
    r"|\b(?:and|with) (?:there|it) (?:is|are)\b"
)
_SAID_THERE = re.compile(rf"^\W*(?:is|are|was|were) (?:\w+ly |also )?{_SEEN}\b")


def mentions(text: str, words: Mapping[str, str]) -> tuple[Mention, ...]:
    """Return every finding named, in order; a longer name hides those within it.

    ``words`` maps names in lower case to labels.
    """
    if not words:
        return ()
    names = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/])(?:{names})(?![\w/])")
    return tuple(
        Mention(words[match[0]], sense)
        for clause in _clauses(text)
        for match, sense in _senses(clause, pattern)
    )


def denies_anything(text: str) -> bool:
    """Tell whether some clause denies what it is about."""
    return any(_DENIAL.search(clause) for clause in _clauses(text))


def _clauses(text: str) -> Iterator[str]:
    plain = lowered(text).replace("-", " ").replace("_", " ")
    for clause in _CLAUSE.split(plain):
        if clause.strip():
            each = _BOTH_STATED.sub(_apart, clause.strip())
            yield _STATED.sub(_as_name, each)


def _apart(stated: re.Match[str]) -> str:
    """Return a statement about two structures as one about each."""
    statement = f"{stated['verb']}{stated['how']} {stated['state']}"
    return f"{stated['other']}{statement} and {stated['subject']}{statement}"


def _as_name(stated: re.Match[str]) -> str:
    """Return a statement as the name of what it states: mildly enlarged heart.

    Words of doubt and denial stay before the name, so that they apply to it.
    """
    verb = stated["verb"].split()[0]
    prefix = f"{verb} " if verb in _TELLING_VERBS else ""
    return f"{prefix}{stated['how'].strip()} {stated['state']} {stated['subject']}"


_TELLING_VERBS = frozenset({"may", "might", "could", "isn't", "aren't"})


def _senses(
    clause: str, pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], Sense]]:
    found = list(pattern.finditer(clause))
    starts = [*(match.start() for match in found), len(clause)]
    for match, end in zip(found, starts[1:], strict=True):
        yield match, _sense(clause[: match.start()], clause[match.end() : end])


def _sense(before: str, after: str) -> Sense:
    if _NO_DOUBT.search(_reach(before)):
        return Sense.NOT_THERE
    if _DOUBT.search(_reach(before)) or _DOUBT_AFTER.search(after):
        return Sense.UNSURE
    if _DENIAL_AFTER.search(after):
        return Sense.NOT_THERE
    denials = list(_DENIAL.finditer(before))
    if denials:
        between = before[denials[-1].end() :]
        ended = _NEW_CLAUSE.search(between)
        restated = "," in between and _SAID_THERE.search(after)
        if not ended and not restated:
            return Sense.NOT_THERE
    return Sense.THERE


def _reach(before: str) -> str:
    """Return the text before a name, from the last new clause on."""
    ends = [match.end() for match in _NEW_CLAUSE.finditer(before)]
    return before[ends[-1] :] if ends else before
