"""From a reply to a cell, or to the reason why there is none.

The tiers, in this order: the provider's own refusal; a text that is only a cell; a JSON
key; the last "answer is …"; a text that denies the finding or declines; "row D, column
4"; a line of its own; the only cell mentioned. Nothing is ever guessed: a reply that
names two cells is ambiguous, one that names none is unparsed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.answer import CellAnswer, Status, Unparsed
from viewer.domain.finding_names import plain_name
from viewer.domain.grid import Grid
from viewer.studies.cell_names import Mention, mentions
from viewer.studies.json_documents import documents
from viewer.studies.refusing import declines
from viewer.studies.reply_text import answering_text, without_markup
from viewer.studies.row_column import row_column_names

Reading = CellAnswer | Unparsed

_SEPARATOR = r"[\s\-_.,:;/|]{0,3}"
_WHOLE = re.compile(rf"([A-Za-z]){_SEPARATOR}(\d{{1,3}})")
_WHOLE_REVERSED = re.compile(rf"(\d{{1,2}}){_SEPARATOR}([A-Za-z])")
_AROUND = " \t\r\n.,;:!?'\"`()[]{}<>|‘’“”«»「」『』【】。、,"

_FILLER = (
    r"(?:\s|[\"'(\[:]|\b(?:at|in|on|the|grid|cell|square|coordinate|position|probably"
    r"|likely|most|clearly|therefore|thus|located|would|be|within|approximately)\b)*$"
)
_LINK = (
    r"[\"'\s)]*(?:\b(?:is|was|are|would be|should be|will be|must be|remains|es|ist|est"
    r"|é|è|är|er|jest)\b|=>|->|[:=→]|是|为|為|は|은|는|-\s)"
)
_ANSWER_MARK = re.compile(
    r"(?:\b(?:answer|ans|antwort|respuesta|réponse|reponse|resposta|risposta|antwoord"
    r"|svar|vastaus|odpowiedź|cevap|ответ)\b|答案|答え|回答|解答|정답|답|الإجابة|उत्तर)"
    + _LINK
    + _FILLER,
    re.IGNORECASE,
)
_CELL_MARK = re.compile(
    r"(?:\b(?:(?:cell|coordinates?|location|position|square|choice|selection|celda"
    r"|casilla|célula|zelle|feld|cellule|case|cella|vakje|cel|ruta|клетка|ячейка)\b|格子"
    r"|单元格|セル|셀)"
    + _LINK
    + r"|\bit(?:\s+is|'s)\b|\b(?:choose|chose|select|pick|opt for|go with"
    r"|settle on|selected|picked|final)\b)" + _FILLER,
    re.IGNORECASE,
)


class ParserMode(StrEnum):
    """How much a reply may deviate from a single cell's name."""

    STRICT = "strict"
    """A transposed name, a list or a range is not an answer."""
    LENIENT = "lenient"
    """A transposed name such as 4D is read as D4."""
    PAPER = "paper"
    """Of a list or a range the first cell is taken."""


Denies = Callable[[str, bool], bool]
"""Tells whether a text denies what is asked about; whether it names a cell, too."""


def denies_nothing(_: str, __: bool) -> bool:
    """Treat no text as a denial: what is asked about need not be present."""
    return False


@dataclass(frozen=True, slots=True)
class _Reader:
    """The settings for parsing a text."""

    grid: Grid
    mode: ParserMode
    denies: Denies

    def named(self, name: str, tier: str, *, backwards: bool = False) -> Reading:
        """Return the cell of a name, or why it is not one."""
        cell = self.grid.cell(name)
        if backwards and self.mode is not ParserMode.LENIENT:
            return Unparsed(Status.UNPARSED, "transposed")
        if cell is None:
            return Unparsed(Status.OUT_OF_RANGE, "out_of_range")
        return CellAnswer(cell, "transposed" if backwards else tier)

    def one_of(self, names: Sequence[str], tier: str, reason: str) -> Reading:
        """Return the cell if all names agree, else the first in paper mode only.

        A ``range`` is never one cell, however few names it has.
        """
        # D4-6 names D4 alone, but means three cells.
        if len(set(names)) == 1 and reason != "range":
            return self.named(names[0], tier)
        inside = [name for name in names if self.grid.cell(name)]
        if self.mode is ParserMode.PAPER and inside:
            return self.named(inside[0], "first_named")
        return Unparsed(Status.AMBIGUOUS, reason)


def read_cell(
    text: str,
    grid: Grid,
    mode: ParserMode = ParserMode.STRICT,
    denies: Denies = denies_nothing,
    *,
    truncated: bool = False,
) -> Reading:
    """Parse a reply's text; if ``truncated``, only a complete, exact answer counts."""
    reader = _Reader(grid, mode, denies)
    text = answering_text(text)
    whole = _read_whole(reader, without_markup(text))
    if whole is not None:
        return whole
    if truncated:
        return Unparsed(Status.TRUNCATED, "length")
    if not text.strip(_AROUND):
        return Unparsed(Status.UNPARSED, "empty")
    return _read_json(reader, text) or _read_prose(reader, without_markup(text))


def _read_whole(reader: _Reader, text: str) -> Reading | None:
    """Parse a text that is only a cell's name (tier 1; tier 6 if reversed)."""
    bare = text.strip(_AROUND)
    if match := _WHOLE.fullmatch(bare):
        return reader.named(_name(match[1], match[2]), "whole")
    if match := _WHOLE_REVERSED.fullmatch(bare):
        return reader.named(_name(match[2], match[1]), "whole", backwards=True)
    return None


def _read_json(reader: _Reader, text: str) -> Reading | None:
    """Read the values of a JSON answer (tier 2); None if there is no such key."""
    answers = json_answers(text)
    if not answers:
        return None
    if any(answer is None for answer in answers):
        return Unparsed(Status.UNPARSED, "null_answer")
    readings = [_read_value(reader, str(answer)) for answer in answers]
    if all(reading == readings[0] for reading in readings):
        return readings[0]
    first = next((r for r in readings if isinstance(r, CellAnswer)), None)
    if reader.mode is ParserMode.PAPER and first is not None:
        return CellAnswer(first.cell, "first_named")
    return Unparsed(Status.AMBIGUOUS, "list")


def _read_value(reader: _Reader, text: str) -> Reading:
    text = without_markup(text)
    return _read_whole(reader, text) or _read_prose(reader, text)


def _read_prose(reader: _Reader, text: str) -> Reading:
    """Read sentences (tiers 3 to 6)."""
    found = [m for m in mentions(text, reader.grid) if not m.other]
    affirmed = [m for m in found if not m.denied]
    if marked := _last_marked(text, affirmed):
        return _read_group(reader, affirmed, marked)
    names_cell = any(m.cell for m in affirmed)
    if reader.denies(text, names_cell):
        return Unparsed(Status.DENIED_FINDING, "denied_finding")
    if declines(text, beside_answer=names_cell):
        return Unparsed(Status.REFUSED, "declined")
    return (
        _read_row_and_column(reader, text)
        or _read_own_line(reader, text)
        or _read_only(reader, affirmed, denied=len(found) > len(affirmed))
    )


def _last_marked(text: str, affirmed: list[Mention]) -> Mention | None:
    """Return the last mention introduced as the answer, else as the cell (tier 3)."""
    for mark in (_ANSWER_MARK, _CELL_MARK):
        for mention in reversed(affirmed):
            # A mark ends where the mention begins; a window keeps long replies linear.
            if mark.search(text[max(0, mention.start - 80) : mention.start]):
                return mention
    return None


def _read_group(reader: _Reader, affirmed: list[Mention], marked: Mention) -> Reading:
    """Read the list that a mention belongs to."""
    group = [m for m in affirmed if m.group == marked.group]
    if len({m.name for m in group}) == 1 and marked.reversed:
        return reader.named(marked.name, "marked", backwards=True)
    return _read_mentions(reader, [m for m in group if not m.reversed], "marked")


def _read_mentions(reader: _Reader, group: list[Mention], tier: str) -> Reading:
    """Read mentions that must all name one cell."""
    reason = "range" if any(m.several for m in group) else "list"
    return reader.one_of([m.name for m in group], tier, reason)


def _read_row_and_column(reader: _Reader, text: str) -> Reading | None:
    """Read "row D, column 4" (tier 4); None if no row and column are named."""
    names = row_column_names(text, reader.grid.letters)
    if not names:
        return None
    if len({name.text for name in names}) > 1:
        return reader.one_of([name.text for name in names], "row_column", "list")
    return reader.named(names[0].text, "row_column", backwards=names[0].swapped)


def _read_own_line(reader: _Reader, text: str) -> Reading | None:
    """Parse the only line that is just a cell, among lines of prose."""
    lines = [_WHOLE.fullmatch(line.strip(_AROUND)) for line in text.splitlines()]
    names = {_name(line[1], line[2]) for line in lines if line}
    if len(names) != 1 or not any(len(s.split()) > 3 for s in text.splitlines()):
        return None
    return reader.named(names.pop(), "own_line")


def _read_only(reader: _Reader, affirmed: list[Mention], *, denied: bool) -> Reading:
    """Read the one cell mentioned (tier 5), or say why there is none."""
    straight = [m for m in affirmed if not m.reversed]
    inside = [m for m in straight if m.cell]
    groups = {m.group for m in inside}
    if inside:
        return _read_mentions(
            reader, [m for m in straight if m.group in groups], "only"
        )
    if straight:
        return Unparsed(Status.OUT_OF_RANGE, "out_of_range")
    if len({m.name for m in affirmed}) == 1:
        return reader.named(affirmed[0].name, "only", backwards=True)
    return Unparsed(Status.UNPARSED, "only_denied" if denied else "no_cell")


def _name(letter: str, number: str) -> str:
    return f"{letter.upper()}{int(number)}"


_KEYS = frozenset({"cell", "coordinate", "grid cell", "answer", "grid coordinate"})
_DEEPEST = 8


def json_answers(text: str) -> list[str | None]:
    """Return the value of every answer key in a text, none if there is no JSON.

    A row and a column are returned as words; a null value as None.
    """
    found = list(documents(text))
    return [answer for document in found for answer in _answers(document, 0)]


def _answers(document: object, depth: int) -> Iterator[str | None]:
    if depth > _DEEPEST:
        return
    if isinstance(document, list):
        for part in document:
            yield from _answers(part, depth + 1)
    if not isinstance(document, dict):
        return
    keys = {plain_name(str(key)): value for key, value in document.items()}
    named = [value for key, value in keys.items() if key in _KEYS]
    if {"row", "column"} <= keys.keys():
        yield f"row {keys['row']}, column {keys['column']}"
    for value in named or keys.values():
        yield from _value(value, depth + 1) if named else _answers(value, depth + 1)


def _value(value: object, depth: int) -> Iterator[str | None]:
    """Yield the values of an answer key."""
    if isinstance(value, dict):
        yield from _answers(value, depth)
    elif isinstance(value, list):
        yield from _listed(value, depth)
    else:
        yield None if value is None else str(value)


def _listed(values: list[object], depth: int) -> Iterator[str | None]:
    """Yield a letter and a number in a list as one name, else each of its members."""
    if [type(value) for value in values] == [str, int] and len(str(values[0])) == 1:
        yield f"{values[0]}{values[1]}"
        return
    for value in values:
        if depth <= _DEEPEST:
            yield from _value(value, depth + 1)
