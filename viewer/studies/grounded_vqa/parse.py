"""From a reply to yes or no, or to findings, or to why there is neither (E002-06).

Deterministic first. Yes or no, in this order: the provider's own refusal; the answer of
the template "The location of … is at <SEG>. The answer is …"; JSON; a reply that begins
with yes or no; "the answer is …"; what the reply says of the finding asked about; a
refusal. Nothing is guessed: a reply that says both is ambiguous. What cannot be read so
may go to an extracting model, whose output is read here as well.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from viewer.domain.answer import LabelsAnswer, Status, Unparsed, YesNoAnswer
from viewer.domain.documents import read_json
from viewer.domain.exchange import ModelReply
from viewer.domain.finding_names import plain_name
from viewer.studies.grounded_vqa.mentions import (
    Mention,
    Sense,
    denies_anything,
    mentions,
)
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, dictionary
from viewer.studies.refusing import (
    declines,
    is_cut,
    lowered,
    withheld,
)
from viewer.studies.reply_text import answering_text, without_markup
from viewer.studies.yes_no import (
    WHOLE_NO,
    WHOLE_YES,
    YesNo,
    read_outright,
    says_both,
    without_echo,
)

Labels = LabelsAnswer | Unparsed

_LOCATION = re.compile(
    r"(?:the )?locations? of (?P<areas>.{1,200}?) (?:is|are) (?:at )?"
    r"(?:<\s*seg\s*>|\[\s*seg\s*\])[\s,;]*\.?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_NORMAL = re.compile(
    r"\b(?:no (?:\w+ ){0,3}?(?:abnormalit(?:y|ies)|findings?|lesions?|diseases?"
    r"|patholog(?:y|ies)|problems?)|normal|unremarkable|(?:is|are|appears?) clear"
    r"|without (?:\w+ ){0,2}?abnormalit(?:y|ies)|nothing abnormal|none|healthy)\b"
)
_NOT_NORMAL = re.compile(r"\b(?:not|isn't|aren't|ab) ?normal\b")
_CLEAR = re.compile(r"\W*clear(?: (?:\w+ ){0,2}(?:lungs?|lobes?|zones?))?\W*")
_KEYS = ("answer", "final_answer", "labels", "findings", "abnormalities", "diseases")


@dataclass(frozen=True, slots=True)
class Located:
    """A reply in LobA's template: the areas it names, and what it answers."""

    areas: str
    answer: str


def located(text: str) -> Located | None:
    """Return the parts of a reply in LobA's template, None if it is in none.

    "[SEG]" and "<SEG>" are the same token (E002-18).
    """
    match = _LOCATION.search(text)
    if match is None:
        return None
    rest = re.sub(r"^\s*the answer is\s*:?\s*", "", match["rest"], flags=re.IGNORECASE)
    return Located(match["areas"].strip(), rest.strip())


def parse_yes_no(reply: ModelReply, finding: str) -> YesNo:
    """Return yes or no of a closed question about a finding."""
    kept_back = withheld(reply)
    if kept_back:
        return kept_back
    return read_yes_no(reply.text, finding, truncated=is_cut(reply))


def parse_labels(reply: ModelReply, labels: Iterable[str]) -> Labels:
    """Return the findings that an open question's reply names, of those known."""
    kept_back = withheld(reply)
    if kept_back:
        return kept_back
    if is_cut(reply):
        return Unparsed(Status.TRUNCATED, "length")
    return read_labels(reply.text, labels)


def read_yes_no(text: str, finding: str, *, truncated: bool = False) -> YesNo:
    """Parse a reply's text; in a truncated one only a plain yes or no counts."""
    spoken = _spoken(text)
    value = _json_value(spoken)
    if isinstance(value, bool):
        return YesNoAnswer(value, "json")
    plain = lowered(without_markup(value if isinstance(value, str) else spoken))
    plain = without_echo(plain)
    if says_both(plain):
        return Unparsed(Status.AMBIGUOUS, "yes_and_no")
    outright = read_outright(plain)
    if isinstance(outright, YesNoAnswer):
        return _unless_denied(outright, plain, finding)
    if outright or truncated:
        return outright or Unparsed(Status.TRUNCATED, "length")
    return _by_statement(plain, finding)


def read_labels(text: str, labels: Iterable[str]) -> Labels:
    """Parse a reply's text; no finding at all is an answer without labels.

    A hedged finding counts as named: the question asks what is present, and "probable
    pneumonia" answers it, as for the paper's extracting model.
    """
    spoken = _spoken(text)
    words = dictionary(labels)
    value = _json_value(spoken)
    if isinstance(value, list):
        return _listed(value, words)
    text = without_markup(value if isinstance(value, str) else spoken)
    found = mentions(text, words)
    there = _with_sense(found, {Sense.THERE, Sense.UNSURE})
    if there:
        return LabelsAnswer(there)
    if found or _is_normal(text):
        return LabelsAnswer(())
    if declines(text, beside_answer=False):
        return Unparsed(Status.REFUSED, "declined")
    return Unparsed(Status.UNPARSED, "no_finding_named")


def read_extracted_yes_no(output: str) -> YesNo:
    """Parse an extracting model's output: only a plain yes or no counts."""
    outright = read_outright(lowered(without_markup(answering_text(output))))
    if isinstance(outright, YesNoAnswer):
        return YesNoAnswer(outright.yes, "extractor")
    return outright or Unparsed(Status.UNPARSED, "extractor_without_yes_or_no")


def read_extracted_labels(output: str, labels: Iterable[str]) -> Labels:
    """Parse an extracting model's output: labels with commas, on lines or as JSON.

    An unknown word makes all of it unreadable, because it may be a label.
    """
    words = dictionary(labels)
    text = without_markup(answering_text(output))
    value = _json_value(answering_text(output))
    parts = value if isinstance(value, list) else re.split(r"[,;\n]+", text)
    return _listed([part for part in parts if str(part).strip()], words)


def _spoken(text: str) -> str:
    """Return the text that answers, without reasoning and without a location."""
    found = located(answering_text(text))
    return found.answer if found else answering_text(text)


def _unless_denied(answer: YesNoAnswer, plain: str, finding: str) -> YesNo:
    """Return an answer, unless it is a yes that goes on to deny the finding."""
    senses = {m.sense for m in mentions(plain, dictionary((finding,)))}
    if answer.yes and senses == {Sense.NOT_THERE}:
        return Unparsed(Status.AMBIGUOUS, "yes_and_no")
    return answer


def _by_statement(plain: str, finding: str) -> YesNo:
    """Return what a text says of the finding, or of what it calls it."""
    whole = plain.strip(" .!\"'")
    if whole in WHOLE_YES | WHOLE_NO:
        return YesNoAnswer(whole in WHOLE_YES, "statement")
    senses = {m.sense for m in mentions(plain, dictionary((finding,)))}
    if Sense.UNSURE in senses or len(senses) > 1:
        return Unparsed(Status.AMBIGUOUS, "unsure")
    if declines(plain, beside_answer=bool(senses)):
        return Unparsed(Status.REFUSED, "declined")
    if senses:
        return YesNoAnswer(senses.pop() is Sense.THERE, "statement")
    if _is_normal(plain):
        return YesNoAnswer(yes=False, tier="normal")
    reason = "denies_something_else" if denies_anything(plain) else "no_yes_or_no"
    return Unparsed(Status.UNPARSED, reason)


def _is_normal(text: str) -> bool:
    plain = lowered(text)
    normal = _NORMAL.search(plain) or _CLEAR.fullmatch(plain)
    return bool(normal) and not _NOT_NORMAL.search(plain)


def _listed(parts: Iterable[object], words: Mapping[str, str]) -> Labels:
    """Return labels that were listed one by one; one that is unknown spoils it."""
    found: list[str] = []
    for part in parts:
        name = plain_name(str(part)).strip(" .\"'[]()")
        if name in words:
            found.append(words[name])
        elif name != plain_name(NO_FINDING) and not _is_normal(name):
            return Unparsed(Status.UNPARSED, "unknown_label")
    return LabelsAnswer(tuple(dict.fromkeys(found)))


def _with_sense(found: Iterable[Mention], senses: Collection[Sense]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(m.label for m in found if m.sense in senses))


def _json_value(text: str) -> object:
    """Return the answer of a reply that is JSON, None if it is none."""
    try:
        value = read_json(text)
    except ValueError:
        return None
    if isinstance(value, dict):
        return next((value[key] for key in _KEYS if key in value), None)
    return value if isinstance(value, list) else None
