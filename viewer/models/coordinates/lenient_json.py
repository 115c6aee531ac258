"""JSON as models write it: fenced, in prose, single-quoted, with stray commas, cut off.

Commas, semicolons and comments between values are ignored, quotes may be single or
missing, Python's ``None`` and tuples are accepted. Brackets and colons must be right,
because they determine what the numbers mean. No pattern has unbounded look-ahead, so
that parsing time is limited by the reply's length.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from viewer.domain.documents import whole_letters

_DEEPEST = 24
_START = re.compile(r"[\[{]|\((?=\s*[-+.\d])")
_CLOSE = {"[": "]", "{": "}", "(": ")"}
_BETWEEN = re.compile(
    r"(?:[\s,;]|//[^\n]{0,500}(?=\n|\Z)|/\*.{0,500}?\*/|```(?:json)?)*", re.DOTALL
)
DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)"
"""A number without sign and exponent; no two ways to match, so none to go back to."""
_NUMBER = re.compile(rf"[-+]?{DIGITS}(?:[eE][-+]?\d{{1,9}})?(?![\w.+-])")
_PIXELS = re.compile(rf"([-+]?{DIGITS})\s?px\b")
_NO_NUMBER = re.compile(r"[-+]?(?:infinity|inf|nan)(?=\s*[,\])}])", re.IGNORECASE)
_PERCENT = re.compile(rf"[-+]?{DIGITS}\s?%")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\\n]|\\.|'(?!\s*[,:\]})])){0,1000})'")
_WORD = re.compile(r"[^\W\d][\w \-]*")
_BREAKING_OFF = re.compile(r"[\"']|[-+.\d]+(?:[eE][-+]?)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True, slots=True)
class Pairs:
    """An object's keys and values in order; keys may be repeated."""

    pairs: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A value, its position, and whether it was closed.

    Members are lists, Pairs, str, float, bool or None. If the document is truncated,
    ``value`` has only the members that were closed, and a list truncated among its
    numbers has none.
    """

    value: list[object] | Pairs
    start: int
    end: int
    complete: bool


class _BadSyntaxError(Exception):
    """The text at this position is not JSON, however leniently parsed."""


def documents(text: str) -> Iterator[Document]:
    """Yield every outermost list or object of a text."""
    position = 0
    while start := _START.search(text, position):
        reader = _Reader(text, start.start())
        try:
            value = reader.container(0)
        except _BadSyntaxError:
            # Prose may contain a bracket that opens nothing; look for the next one.
            position = start.end()
        else:
            position = reader.position
            yield Document(value, start.start(), position, not reader.cut)


class _Reader:
    """Parses one document from ``position`` on; ``cut`` once the text has ended."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.cut = False

    def container(self, depth: int) -> list[object] | Pairs:
        """Parse a list or an object at its opening bracket.

        Nesting deeper than plausible ends the text there, like a truncation.
        """
        if depth > _DEEPEST:
            self.position, self.cut = len(self.text), True
            return []
        opening = self.text[self.position]
        self.position += 1
        if opening == "{":
            return self._object(depth)
        members: list[object] = []
        while not self._closed(_CLOSE[opening]):
            self._member(members, depth)
        if self.cut:
            return [m for m in members if isinstance(m, list | Pairs)]
        return members

    def _object(self, depth: int) -> Pairs:
        pairs: list[tuple[str, object]] = []
        while not self._closed("}"):
            key = self._key()
            if key is None:
                break
            members: list[object] = []
            self._member(members, depth)
            pairs += [(key, member) for member in members]
        return Pairs(tuple(pairs))

    def _closed(self, closing: str) -> bool:
        """Skip separators between values; tell whether the container ends here."""
        self._skip()
        if self.cut:
            return True
        if self.text[self.position] != closing:
            return False
        self.position += 1
        return True

    def _skip(self) -> None:
        between = _BETWEEN.match(self.text, self.position)
        self.position = between.end() if between else self.position
        self.cut = self.cut or self.position >= len(self.text)

    def _key(self) -> str | None:
        """Parse a key and its colon; None if the text ends first."""
        key = str(self._scalar())
        self._skip()
        if self.cut:
            return None
        if self.text[self.position] != ":":
            raise _BadSyntaxError
        self.position += 1
        return key

    def _member(self, members: list[object], depth: int) -> None:
        """Add the next value, unless the text ends inside it."""
        self._skip()
        if self.cut:
            return
        if self.text[self.position] in _CLOSE:
            members.append(self.container(depth + 1))
            return
        value = self._scalar()
        if not self.cut:
            members.append(value)

    def _scalar(self) -> object:
        # Pixels first: of "12 px" a number alone would take only the 12.
        for pattern in (_PIXELS, _NUMBER, _NO_NUMBER):
            if match := pattern.match(self.text, self.position):
                self._step(match)
                return float(match[match.lastindex or 0])
        if match := _PERCENT.match(self.text, self.position):
            self._step(match)
            return match[0]
        for pattern in (_DOUBLE, _SINGLE):
            if match := pattern.match(self.text, self.position):
                self.position = match.end()
                return _unescaped(match[1])
        if match := _WORD.match(self.text, self.position):
            self._step(match)
            return _WORDS.get(match[0].strip().casefold(), match[0].strip())
        self._run_out()
        return None

    def _step(self, match: re.Match[str]) -> None:
        """Advance behind a bare value; at the text's end it may be incomplete."""
        self.position = match.end()
        self.cut = self.cut or self.position >= len(self.text)

    def _run_out(self) -> None:
        """Treat a string or number that the text's end interrupts as cut off."""
        if not _BREAKING_OFF.match(self.text, self.position):
            raise _BadSyntaxError
        self.position, self.cut = len(self.text), True


def _unescaped(text: str) -> str:
    """Return a string with its valid JSON escapes decoded."""
    if "\\" not in text:
        return text
    try:
        return whole_letters(str(json.loads(f'"{text}"', strict=False)))
    except ValueError:
        return text
