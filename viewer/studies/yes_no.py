"""Yes or no in a reply that begins with it, or declares it as the answer."""

import re

from viewer.domain.answer import Status, Unparsed, YesNoAnswer
from viewer.domain.exchange import ModelReply
from viewer.studies.choices import json_choices
from viewer.studies.refusing import declines, is_cut, lowered, withheld
from viewer.studies.reply_text import answering_text, without_markup

YesNo = YesNoAnswer | Unparsed

_YES = r"(?:yes|yeah|yep|yup|true|affirmative|correct(?! answer))"
_NO = (
    r"(?:no|nope|nah|false|negative|incorrect)"
    r"(?=\s*(?:[.,;:!?)\]\"'-](?!\s*\d)|$|\n|(?:there|it|this|the|i|because)\b))"
)
_ECHO = re.compile(r"\byes\s*(?:/|\||or)\s*no\b|\bno\s*(?:/|\||or)\s*yes\b")
_BOTH = re.compile(r"\byes and no\b|\bno and yes\b")
_LEADING = re.compile(
    rf"^[\s\"'(\[:]*(?:answer\s*[:=]\s*)?(?:(?P<yes>{_YES})|(?P<no>{_NO}))(?![\w'])"
)
_MARKED = re.compile(
    r"\b(?:answer|conclusion|verdict|response)\s*(?:is|would be|should be|[:=])\s*"
    rf"[\"'(\[]*(?:(?P<yes>{_YES})|(?P<no>{_NO}))(?![\w'])"
)
WHOLE_YES = frozenset({"present", "it is present", "it is", "it does", "there is"})
WHOLE_NO = frozenset(
    {
        *("absent", "not present", "it is not present", "it is absent", "none"),
        *("it is not", "it does not", "there is not", "not seen", "not visible"),
    }
)


def parse_yes_no(reply: ModelReply) -> YesNo:
    """Return the yes or no of a reply, or the status and reason without one."""
    return withheld(reply) or read_yes_no(reply.text, truncated=is_cut(reply))


def read_yes_no(text: str, *, truncated: bool = False) -> YesNo:
    """Parse a reply's text; in a truncated one only a plain yes or no counts."""
    spoken = answering_text(text)
    values = json_choices(spoken)
    answer = values[0] if len(values) == 1 and values[0] else spoken
    plain = without_echo(lowered(without_markup(answer)))
    if says_both(plain):
        return Unparsed(Status.AMBIGUOUS, "yes_and_no")
    found = read_outright(plain)
    if found or truncated:
        return found or Unparsed(Status.TRUNCATED, "length")
    whole = plain.strip(" .!\"'")
    if whole in WHOLE_YES | WHOLE_NO:
        return YesNoAnswer(whole in WHOLE_YES, "statement")
    if declines(plain, beside_answer=False):
        return Unparsed(Status.REFUSED, "declined")
    return Unparsed(Status.UNPARSED, "no_yes_or_no")


def without_echo(plain: str) -> str:
    """Return a text without the "yes or no" of the question that it repeats."""
    return _ECHO.sub(" ", plain).strip()


def says_both(plain: str) -> bool:
    """Tell whether a text contains both yes and no."""
    return _BOTH.search(plain) is not None


def read_outright(plain: str) -> YesNo | None:
    """Return the yes or no that a text begins with or declares as its answer."""
    leading = [m for m in (_LEADING.search(plain),) if m]
    marked = list(_MARKED.finditer(plain))
    said_yes = {bool(match["yes"]) for match in (*leading, *marked[-1:])}
    if len(said_yes) == 2:
        return Unparsed(Status.AMBIGUOUS, "yes_and_no")
    if said_yes:
        return YesNoAnswer(said_yes.pop(), "leading" if leading else "marked")
    return None
