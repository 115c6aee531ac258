"""How replies refuse, in every study: by the provider, or in words."""

import re
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.exchange import ModelReply

REFUSAL_FINISHES: Final = frozenset(
    {"content_filter", "refusal", "safety", "prohibited_content", "blocklist"}
)
"""Finish reasons of a reply that the provider withheld."""
TRUNCATED_FINISHES: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
"""Finish reasons of a reply that was cut short."""
ABLE: Final = r"(?:cannot|can ?not|can't|could not|couldn't|unable to|not able to)"
"""Pattern of words that say somebody is not able."""

_DECLINES = re.compile(
    rf"\b(?:{ABLE}|won't|will not|must decline to|not comfortable|not qualified to"
    r"|not permitted to|not allowed to|decline to|refuse to) (?:\w+ly )?(?:help|assist"
    r"|provid\w+|comply|do (?:that|this)|fulfil\w*|analy[sz]\w+|interpret\w*|diagnos\w*"
    r"|offer\w*|give|giving|process|view|determine|answer|make|making|evaluate|complete"
    r"|identify|locali[sz]e|locate|perform|respond|continue|read|review|examine|see"
    r"|access|assess|pinpoint)\b"
)
_REGRETS = re.compile(
    r"\b(?:i'?m|i am) (?:\w+ )?(?:sorry|afraid|not a (?:doctor|radiologist|physician"
    r"|medical))|\bi apologi[sz]e|\bmy apologies|\bas an ai\b|\bconsult (?:a|with|your)"
    r"\b|\bagainst my (?:guidelines|policy)"
)


def withheld(reply: ModelReply) -> Unparsed | None:
    """Return that a provider or model withheld a reply, None if it did not."""
    finish = reply.finish_reason.casefold()
    if reply.refusal is not None and reply.refusal.strip():
        return Unparsed(Status.REFUSED, "refusal_field")
    if finish in REFUSAL_FINISHES:
        return Unparsed(Status.REFUSED, finish)
    return None


def is_cut(reply: ModelReply) -> bool:
    """Tell whether a reply was truncated."""
    return reply.finish_reason.casefold() in TRUNCATED_FINISHES


def declines(text: str, *, beside_answer: bool) -> bool:
    """Tell whether a text refuses; regret alone is not a refusal beside an answer."""
    text = lowered(text)
    if _DECLINES.search(text):
        return True
    return not beside_answer and _REGRETS.search(text) is not None


def lowered(text: str) -> str:
    """Return a text in lower case, with plain apostrophes and single blanks."""
    return re.sub(r"[ \t]+", " ", text.casefold().replace("’", "'")).strip()
