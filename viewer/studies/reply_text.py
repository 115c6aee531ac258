"""A reply's text without what carries no answer: reasoning, fences, markup."""

import re
import unicodedata

_CLOSED_REASONING = re.compile(
    r"<(think|thinking|thought|reasoning|scratchpad|analysis)>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_END_OF_REASONING = re.compile(
    r"</(?:think|thinking|thought|reasoning|scratchpad|analysis)>"
    r"|<\|channel\|>final<\|message\|>|<unused95>",
    re.IGNORECASE,
)
_OPEN_REASONING = re.compile(
    r"<(?:think|thinking|thought|reasoning|scratchpad|analysis)>.*"
    r"|<\|channel\|>analysis<\|message\|>.*|<unused94>.*",
    re.DOTALL | re.IGNORECASE,
)
_SPECIAL_TOKEN = re.compile(
    r"<\|[^|<>]{1,30}\|>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn)>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"`{3,}(?:[a-z]+[ \t]*\n)?|`")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_LONG_BLANK = re.compile(r"(\s{64})\s+")
"""More blank than a reply is laid out with; the rest tells nothing and costs time."""
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣", "-"))
_TAG = re.compile(r"</?(?:h[1-6]|[A-Za-z]+)(?:\s[^<>]{0,80})?\s?/?>")
_LATEX = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|mathit|mathsf)\b|\\[()\[\]]|\$"
)
_BULLET = re.compile(r"^[ \t]*(?:[-+•·‣]|\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_EMPHASIS = re.compile(r"[*~#{}]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")


def answering_text(text: str) -> str:
    """Return the answering text: NFKC, ASCII digits and hyphens, no reasoning.

    Unterminated reasoning leaves nothing; special tokens and code fences are removed.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    text = _ascii_digits(text).translate(_DASHES)
    text = without_reasoning(_LONG_BLANK.sub(r"\1", text))
    return _FENCE.sub(" ", text).strip()


def without_reasoning(text: str) -> str:
    """Return a text as it was written, but for reasoning and special tokens."""
    if _END_OF_REASONING.search(text):
        text = _CLOSED_REASONING.sub(" ", text)
    text = _END_OF_REASONING.split(text)[-1]
    text = _OPEN_REASONING.sub(" ", text)
    return _SPECIAL_TOKEN.sub(" ", text).strip()


def without_markup(text: str) -> str:
    """Return text without Markdown, HTML and LaTeX marks and list bullets."""
    text = _LATEX.sub(" ", _TAG.sub(" ", text))
    return _EMPHASIS.sub("", _BULLET.sub("", _QUOTE.sub("", text))).strip()


def _ascii_digits(text: str) -> str:
    """Replace the decimal digits of every script by 0-9."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c
        for c in text
    )
