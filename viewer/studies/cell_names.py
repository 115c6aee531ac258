"""Every mention of a cell in a text, with its context."""

import re
from dataclasses import dataclass, replace

from viewer.domain.grid import Cell, Grid

_UNIT = r"(?!\s*(?:%|percent|mm\b|cm\b|px\b|pixels?\b|x\s*\d|×))"
_END = rf"(?![A-Za-z0-9])(?!\.\d){_UNIT}"
# "A" and "I" are words as well, so "A 4" is a cell only at the end of a phrase.
_NAME = re.compile(
    rf"""(?<![A-Za-z0-9]) (?<![A-Za-z]['’]) (?:
      (?P<glued>[A-Za-z])-?(?P<glued_n>\d{{1,3}}) {_END}
    | (?P<spaced>[B-HJ-Z])(?:\ -\ |\ )(?P<spaced_n>\d{{1,3}}) {_END}
    | (?P<pronoun>[AI])\ (?P<pronoun_n>\d{{1,3}}) (?=\s*(?:$|[.,;:!?)\]"'\n])) {_END}
    | [(\[]\s*["']?(?P<boxed>[A-Za-z])["']?\s*[,;:/|]?\s*["']?(?P<boxed_n>\d{{1,3}})
      ["']?\s*[)\]]
    | (?<!\d\.)(?P<back_n>\d{{1,2}})-?(?P<back>[A-Z]) (?![A-Za-z0-9])
      (?!\s*-?\s*(?:imag|reconstruct|view|volum|scan|model|render|ct\b|print))
    | [(\[]\s*["']?(?P<boxed_back_n>\d{{1,2}})["']?\s*[,;:/|]?\s*
      ["']?(?P<boxed_back>[A-Za-z])["']?\s*[)\]]
    )""",
    re.VERBOSE,
)
_WAYS = ("glued", "spaced", "pronoun", "boxed", "back", "boxed_back")

_JOIN = re.compile(
    r"""["')\]]*\s*
    (?: ,?\s*(?:and/or|or|and|to|through|thru|till|until|versus|vs\.?|plus)\b
      | [,;/\\&+~|] | - | \.{2,3} )
    \s*(?:(?:the|grid|cells?|possibly|also|maybe|perhaps|even)\s+)*["'(\[]*
    | ["']*\s+["']*
    | ["']*[)\]]\s*[(\[]["']*""",
    re.VERBOSE | re.IGNORECASE,
)
_MORE_NUMBERS = re.compile(
    r"""\s*(?:-|/|&|,|\bor\b|\band\b|\bto\b|\bthrough\b)\s*\d{1,2}
    (?=\s*(?:$|[.,;:!?)\]/&\n-]|or\b|and\b|to\b)) (?!\.\d)""",
    re.VERBOSE | re.IGNORECASE,
)
_MORE_LETTERS = re.compile(
    r"""(?<![A-Za-z0-9'])[A-Z]\s*(?:-|/|&|,|\bor\b|\band\b|\bto\b|\bthrough\b)\s*$""",
    re.VERBOSE,
)

# Vertebrae are called like cells: C7, T1 (or D1, dorsal), L5, S1.
_SPINE = "CTLSD"
_SPINE_AFTER = re.compile(
    r"""\s*[-/]?\s*(?:vertebr|spin(?:e|al|ous)|dis[ck]s?\b|level|interspace|pedicle
    |nerve|dermatome|endplate|transverse|body|bodies|junction|segment)""",
    re.VERBOSE | re.IGNORECASE,
)
_SPINE_BEFORE = re.compile(
    r"\b(?:levels?|spine|spinal|spinous|dis[ck]|bod(?:y|ies)|stage[d]?|tnm|segment)"
    r"\s*(?:of|at|is|the|process|from|between|:)?\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_OTHER_AFTER = re.compile(
    r"\s*[-/]?\s*(?:vertebr|ribs?\b|leads?\b|electrode)", re.IGNORECASE
)
_OTHER_BEFORE = re.compile(
    r"\b(?:vertebra\w*|ribs?|leads?|vitamin|fig(?:ure)?\.?|table|panel|grade|slice"
    r"|series|section|appendix|ward|room|bed)\s*(?:of|at|the|from|between)?\s*$",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:\bnot\b|n't\b|\brather than|\binstead of|\bother than|\bexcept(?: for)?"
    r"|\bexcluding|\bneither|\bnor\b|\bnever|\bexclude[sd]?|\bruled? out|\bavoid)"
    r"(?:\s+(?:in|at|on|be|is|the|a|grid|cell|cells|coordinate|square|simply|just"
    r"|necessarily|really|located|within|either|answer|choose|choosing|select"
    r"|selecting))*[\s\"'(\[:]*$",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"[\"')\]]*\s*(?:(?:is|was|are|would be|seems|can be)\s+(?:\w+ly\s+)?(?:not\b"
    r"|incorrect|wrong|ruled out|excluded|normal|clear\b|unaffected|spared|unlikely)"
    r"|isn't|wasn't|aren't|can't be|cannot be)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A cell named in a text at [start, end).

    ``cell`` is None if the grid has no such cell. ``reversed`` means that the number
    came first, ``denied`` that the text says it is not this one, ``other`` that the
    name belongs to a vertebra, rib, lead or figure, ``several`` that more letters or
    numbers are attached (D4-6, C/D4). Mentions of one ``group`` form a list.
    """

    start: int
    end: int
    name: str
    cell: Cell | None
    reversed: bool
    denied: bool
    other: bool
    several: bool
    group: int = 0


def mentions(text: str, grid: Grid) -> tuple[Mention, ...]:
    """Return every mention of a cell in its order."""
    found = [_mention(text, match, grid) for match in _NAME.finditer(text)]
    return _without_anatomy(_grouped(text, found))


def _mention(text: str, match: re.Match[str], grid: Grid) -> Mention:
    way = next(way for way in _WAYS if match[way])
    name = f"{match[way].upper()}{int(match[f'{way}_n'])}"
    before, after = (
        text[max(0, match.start() - 60) : match.start()],
        text[match.end() :],
    )
    after = after[:40]
    return Mention(
        match.start(),
        match.end(),
        name,
        grid.cell(name),
        reversed="back" in way,
        denied=bool(_NOT_BEFORE.search(before) or _NOT_AFTER.match(after)),
        other=_is_anatomy(name, before, after),
        several=bool(_MORE_NUMBERS.match(after) or _MORE_LETTERS.search(before)),
    )


def _is_anatomy(name: str, before: str, after: str) -> bool:
    if _OTHER_AFTER.match(after) or _OTHER_BEFORE.search(before):
        return True
    spine = name[0] in _SPINE
    return spine and bool(_SPINE_AFTER.match(after) or _SPINE_BEFORE.search(before))


def _grouped(text: str, found: list[Mention]) -> list[Mention]:
    """Return mentions with their lists numbered; a comma, a hyphen or "or" joins."""
    grouped: list[Mention] = []
    for mention in found:
        group = len(grouped)
        if grouped and _JOIN.fullmatch(text, grouped[-1].end, mention.start):
            group = grouped[-1].group
        grouped.append(replace(mention, group=group))
    return grouped


def _without_anatomy(found: list[Mention]) -> tuple[Mention, ...]:
    """Mark a whole list as anatomy if one of its members is (C7, T1 vertebrae)."""
    anatomy = {mention.group for mention in found if mention.other}
    return tuple(replace(m, other=m.group in anatomy) for m in found)
