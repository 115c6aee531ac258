"""The words around coordinates: reasoning, refusals, denials."""

import bisect
import re
import unicodedata
from dataclasses import dataclass

_REASONING = r"(?:think|thinking|thought|reasoning|scratchpad|analysis)"
_START = re.compile(rf"<({_REASONING})>", re.IGNORECASE)
_END = re.compile(rf"</({_REASONING})>", re.IGNORECASE)
_OPEN = re.compile(
    rf"(?:<{_REASONING}>|<\|channel\|>analysis<\|message\|>|<unused94>).*",
    re.DOTALL | re.IGNORECASE,
)
_LAST_END = re.compile(
    rf"</{_REASONING}>|<\|channel\|>final<\|message\|>|<unused95>", re.IGNORECASE
)
_CHAT_TOKENS = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end|return|assistant)\|>|</?s>"
    r"|<(?:eos|bos|pad|end_of_turn|start_of_turn)>|<\|end▁of▁sentence\|>",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_PLAIN = str.maketrans("“”„«»‘’‚−", '"""""\'\'\'-')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONG_BLANK = re.compile(r"\s{64,}")
"""More blank than any reply is laid out with: a model that got stuck."""
_AROUND = " \t\r\n.,;:!?'\"`()<>*_"
_NOTHING = frozenset(
    {"none", "null", "n/a", "no boxes", "no box", "nothing", "no objects", "no points"}
)
_FENCE = re.compile(r"```(?:json|python|xml|html|text)?")

_UNABLE = (
    r"\b(?:can(?:no|')?t|can not|could not|couldn't|unable to|not able to|won't"
    r"|will not|must decline to|decline to|refuse to"
    r"|not (?:permitted|allowed|comfortable|qualified)(?: to)?)"
)
_TASK = (
    r"(?:help|assist|provid\w+|comply|do (?:that|this)|analy[sz]\w+|interpret\w*"
    r"|diagnos\w*|offer\w*|process|view|answer|identify|locali[sz]e|locate|perform"
    r"|review|examine|assess|mark|draw|annotat\w+|give|see (?:the|any|an) image)"
)
_DECLINES = re.compile(
    rf"{_UNABLE}\s+(?:\w+ly )?{_TASK}\b"
    r"|\bi(?:'m| am) (?:very |so )?sorry\b|\bi apologi[sz]e\b|\bas an ai\b"
    r"|\bagainst my (?:guidelines|policy)",
)
_DENIES = re.compile(
    r"\b(?:no|without)\s+(?:\w+\s+){0,4}?(?:evidence|signs?|indication|abnormalit\w+"
    r"|finding\w*|opacit\w+|lesions?|pneumothorax|effusions?|consolidation|nodules?|mass(?:es)?"
    r"|fractures?|cardiomegaly|ed(?:e)?ma|atelectasis|boxes|box|objects?|points?|regions?)\b"
    r"|\b(?:is|are|was|were) (?:not|no) (?:\w+ly )?(?:seen|present|visible|identified"
    r"|detected|evident|noted|observed|found|shown)\b|\bthere (?:is|are) (?:none|no)\b"
    r"|\b(?:do|does|did) not (?:see|show|find|contain|reveal|detect)\b|\bnot visible\b"
    r"|\b(?:appears?|is|are|looks?) (?:normal|unremarkable|clear)\b"
)


@dataclass(frozen=True, slots=True)
class AnsweringText:
    """A reply's text without its reasoning; ``unfinished`` if that never ended."""

    text: str
    unfinished: bool


def answering_text(reply: str) -> AnsweringText:
    """Return the answering text: NFKC, plain quotes, no reasoning or chat tokens."""
    # NFKC turns full-width digits and brackets, as in Chinese text, into ASCII.
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", reply)).translate(_PLAIN)
    text = _LONG_BLANK.sub(_one_blank, _CONTROL.sub(" ", text))
    text = _after_last_end(_without_closed(text))
    answer = _OPEN.sub(" ", text)
    return AnsweringText(_CHAT_TOKENS.sub(" ", answer).strip(), answer != text)


def _one_blank(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def _without_closed(text: str) -> str:
    """Return a text without its ``<think>`` … ``</think>`` blocks."""
    ends: dict[str, list[re.Match[str]]] = {}
    for end in _END.finditer(text):
        ends.setdefault(end[1].casefold(), []).append(end)
    pieces, position = [], 0
    for start in _START.finditer(text):
        of_name = ends.get(start[1].casefold(), [])
        # By bisection: a search from every start would be quadratic in a hostile reply.
        at = bisect.bisect(of_name, start.start(), key=re.Match.start)
        if start.start() >= position and at < len(of_name):
            pieces.append(text[position : start.start()])
            position = of_name[at].end()
    return " ".join((*pieces, text[position:]))


def _after_last_end(text: str) -> str:
    """Return what follows the last ``</think>`` that has no start."""
    position = max((end.end() for end in _LAST_END.finditer(text)), default=0)
    return text[position:]


def is_nothing(text: str) -> bool:
    """Tell whether a text is only an empty list or the word none."""
    bare = _FENCE.sub(" ", text).strip(_AROUND).casefold()
    return bare in _NOTHING or re.sub(r"\s", "", bare) in {"[]", "{}", "[[]]"}


def is_blank(text: str) -> bool:
    """Tell whether a text contains only punctuation and code fences."""
    return not _FENCE.sub(" ", text).strip(_AROUND)


def declines(text: str) -> bool:
    """Tell whether a text is a refusal."""
    return _DECLINES.search(text.casefold()) is not None


def denies(text: str) -> bool:
    """Tell whether a text says that there is nothing to locate."""
    return _DENIES.search(text.casefold()) is not None
