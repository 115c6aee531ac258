"""The names that a model lists, in the layouts in which models write lists.

JSON, tables, numbered, lettered or bulleted lines, bold names with words below them,
separate lines, or one line with separators; English and Chinese. Explanations and
likelihoods are not part of a name.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from viewer.studies.json_documents import documents

LONGEST_NAME: Final = 160
_LONGEST_WORDS: Final = 8
_LONGEST_HAN: Final = 16
"""A line of more words or Chinese characters that ends as a sentence is not a name."""

_COUNTED: Final = re.compile("([①-⑳])|第([一二三四五六七八九])[、，,:：.]")
_HAN_NUMBER: Final = "第?[一二三四五六七八九十]{1,3}"
_NUMBER: Final = re.compile(
    rf"^\s*(?:\(?\d{{1,2}}(?:[.)、](?!\d)|:(?=\s))|\({_HAN_NUMBER}\)|{_HAN_NUMBER}[、.,:]"
    r"|(?:#|rank |no\. ?)\d{1,2}[.):]?(?=\s))\s*(?=\S)",
    re.IGNORECASE,
)
_LETTER: Final = re.compile(r"^\s*\(?([a-z]|[ivx]{2,4})[.)]\s+(?=\S)", re.IGNORECASE)
_IN_ORDER: Final = ("a b c d e f g h i j k l m n o p", "i ii iii iv v vi vii viii ix x")
_BULLET: Final = re.compile(r"^\s*[-•·‣*+▪●]\s*(?=\S)")
_INLINE: Final = re.compile(r"(?:^|(?<=[\s,;、]))\(?(\d{1,2})[.):、]\s*(?=\D)")
_BOLD_LINE: Final = re.compile(r"^\s*(?:#+\s*)?(?:\*\*|__)([^*_]+)(?:\*\*|__):?\s*$")
_TABLE_RULE: Final = re.compile(r"^\s*\|?[\s:|-]*-{3}[\s:|-]*$")

_HEADING: Final = re.compile(
    r"^\s*(?:(?:my |the |a )?(?:final |ranked )?(?:list of )?"
    r"(?:differential(?: diagnos[ei]s)?|ddx|diagnos[ei]s|answer)(?: list)?"
    r"|(?:(?:most|more|less|least|also|other) (?:likely|probable|possible)|others?)"
    r"(?: (?:differential )?diagnos[ei]s)?"
    r"|(?:最终|最可能的?|初步|其他|次要)?(?:鉴别)?诊断|最可能|其次|其他(?:可能)?)"
    r"[^:,;\n]{0,60}:\s*",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^[^(:;]*?\b(?:diagnos[ei]s|differential)\b[^.:\n]{0,60}?"
    r"\b(?:is|are|includes?|would be)\b\s*",
    re.IGNORECASE,
)
_CONSIDERS: Final = re.compile(
    r"^(?:首先|其次|再次|然后|最后|还需|也需|需|应|可)?考虑为?|^(?:and|or)\s+|^以及"
)
_INTRODUCES: Final = re.compile(r":\s*$")
_REASON: Final = re.compile(r"\s+-+\s+.*$|\s*:\s.*$|\s*:(?=[^\x00-\x7f]).*$")
_LIKELIHOOD: Final = re.compile(
    r"\s*\((?=[^()]*(?:likel|probab|possib|confiden|suspi|\d ?%|可能|首选|概率))"
    r"[^()]{1,60}\)$",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(r"(?:\s*[,;、]\s*|\s+(?:>{1,2}|→)\s+)(?![^()]*\))")
_BOXED: Final = re.compile(r"\\boxed\{([^{}]*)\}")
_MARKS: Final = " \t.。;,\"'"
_NAMES: Final = ("diagnos", "disease", "condition", "name", "诊断", "疾病")
"""What the key of a name has in it, in JSON and at the head of a table."""


def with_numbers(text: str) -> str:
    """Return a text with circled digits and 第一 as numbers of a list."""
    return _COUNTED.sub(lambda m: f"{unicodedata.numeric(m[1] or m[2]):.0f}. ", text)


def without_bold(text: str) -> str:
    """Return a text without Markdown that keeps the numbers of its lines."""
    text = re.sub(r"\*\*|__|^#+[ \t]+|`", "", text, flags=re.MULTILINE)
    return _BOXED.sub(r"\1", text)


def listed(text: str) -> tuple[str, ...]:
    """Return the names of a reply in their order, each once.

    Parameters
    ----------
    text : str
        A reply in NFKC, without reasoning and fences.
    """
    return _once(_of_json(text) or _of_layout(text))


def is_numbered(text: str) -> bool:
    """Tell whether a text numbers two names at least."""
    return len(_numbered(without_bold(text).splitlines())) > 1


def stated(text: str) -> tuple[str, ...]:
    """Return the names on separate lines, if a name is wanted."""
    return _once(_of_json(text) or _plain(without_bold(text).splitlines()))


def _once(entries: Iterable[str]) -> tuple[str, ...]:
    names: dict[str, str] = {}
    for entry in entries:
        name = entry.strip()
        if name and len(name) <= LONGEST_NAME:
            names.setdefault(name.casefold(), name)
    return tuple(names.values())


def _of_json(text: str) -> tuple[str, ...]:
    """Return the names of the first JSON that has any: texts, or objects with one."""
    for document in documents(text):
        lists = (_names_in(value) for value in _lists_of(document))
        name = _named(document)
        if found := next(filter(None, lists), (name,) if name else ()):
            return found
    return ()


def _lists_of(document: object) -> Iterator[list[object]]:
    """Yield what may be a list of names: the document, its values, or by rank."""
    values = document.values() if isinstance(document, dict) else [document]
    yield from (value for value in values if isinstance(value, list))
    if isinstance(document, dict) and all(key.isdecimal() for key in document):
        yield list(values)


def _names_in(values: Sequence[object]) -> tuple[str, ...]:
    """Return the names that a list's values are or have, none if one lacks it."""
    names = [v if isinstance(v, str) else _named(v) for v in values]
    return tuple(names) if all(names) else ()


def _named(value: object) -> str:
    """Return the text that an object has under a key for names, "" without one."""
    texts = value.items() if isinstance(value, dict) else ()
    found = (
        text
        for wanted in _NAMES
        for key, text in texts
        if wanted in key.casefold() and isinstance(text, str)
    )
    return next(found, "")


def _of_layout(text: str) -> Sequence[str]:
    lines = without_bold(text).splitlines()
    return (
        _of_table(lines)
        or _numbered(lines)
        or _lettered(lines)
        or _bulleted(lines)
        or _bold(text.splitlines())
        or _in_one_line(lines)
        or _plain(lines)
    )


def _of_table(lines: Sequence[str]) -> list[str]:
    """Return the names of a table: its column for them, else the first of words."""
    rules = [n for n, x in enumerate(lines) if n and _TABLE_RULE.match(x)]
    if not rules or "|" not in lines[rules[0] - 1]:
        return []
    head = [cell.casefold() for cell in _cells(lines[rules[0] - 1])]
    rows = [_cells(line) for line in lines[rules[0] + 1 :] if "|" in line]
    named = [n for n, cell in enumerate(head) if any(x in cell for x in _NAMES)]
    place = named[0] if named else 0
    return [_name(row[place]) for row in rows if len(row) > place]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _numbered(lines: Sequence[str]) -> list[str]:
    """Return the names of numbered lines, those farthest left, or of one such line."""
    found = _outermost([line for line in lines if _NUMBER.match(line)])
    if len(found) < 2:
        inline = [name for line in found or lines for name in _inline(line)]
        return inline or [_name(line) for line in found]
    return [_name(line) for line in found]


def _inline(line: str) -> list[str]:
    """Return the names that one line numbers from 1 on, none if it does not."""
    found = list(_INLINE.finditer(line))
    if [int(m[1]) for m in found] != list(range(1, len(found) + 1)) or len(found) < 2:
        return []
    ends = [m.start() for m in found[1:]] + [len(line)]
    return [_name(line[m.end() : end]) for m, end in zip(found, ends, strict=True)]


def _lettered(lines: Sequence[str]) -> list[str]:
    """Return the names of lines from a or i on, none if they skip one."""
    found = [(m[1].casefold(), line) for line in lines if (m := _LETTER.match(line))]
    letters = [letter for letter, _ in found]
    orders = (words.split()[: len(letters)] for words in _IN_ORDER)
    if len(found) < 2 or letters not in orders:
        return []
    return [_name(_LETTER.sub("", line)) for _, line in found]


def _bulleted(lines: Sequence[str]) -> list[str]:
    """Return bulleted names, or the names that twice have bullets below them."""
    filled = [line for line in lines if line.strip()]
    bulleted = [bool(_BULLET.match(line)) for line in filled]
    below = zip(pairwise(filled), pairwise(bulleted), strict=True)
    heads = [a for (a, _), (is_, next_is) in below if next_is and not is_]
    names = [line for line in heads if not _INTRODUCES.search(line)]
    if len(names) > 1:
        return [_name(line) for line in names]
    bullets = [x for x, is_ in zip(filled, bulleted, strict=True) if is_]
    return [_name(line) for line in _outermost(bullets)]


def _outermost(lines: Sequence[str]) -> list[str]:
    """Return the lines that are indented least."""
    depths = [len(line) - len(line.lstrip()) for line in lines]
    least = min(depths, default=0)
    return [x for x, depth in zip(lines, depths, strict=True) if depth == least]


def _bold(lines: Sequence[str]) -> list[str]:
    """Return the names on bold lines with words below, where there are two."""
    found = [m[1] for line in lines if (m := _BOLD_LINE.match(line))]
    names = [x for x in found if not _HEADING.match(f"{x}:")]
    return [_name(x) for x in names] if len(names) > 1 else []


def _in_one_line(lines: Sequence[str]) -> list[str]:
    """Return the names of the one line there is, with signs between them."""
    filled = [line for line in lines if line.strip()]
    if len(filled) != 1:
        return []
    names = _SEPARATOR.split(_LEAD.sub("", _HEADING.sub("", filled[0])))
    return [_name(name) for name in names]


def _plain(lines: Sequence[str]) -> list[str]:
    """Return the names on lines of their own, without introductions and sentences."""
    bare = [_HEADING.sub("", line) for line in lines]
    kept = [x for x in bare if x.strip() and not _INTRODUCES.search(x)]
    names = [x for x in kept if not _is_sentence(x)]
    return [_name(x) for x in names or kept]


def _is_sentence(line: str) -> bool:
    han = sum("\u4e00" <= c <= "\u9fff" for c in line)
    long = len(line.split()) > _LONGEST_WORDS or han > _LONGEST_HAN
    return long and line.rstrip().endswith((".", "。", "!"))


def _name(line: str) -> str:
    """Return the name on a line, without number, reason and likelihood."""
    bare = _BULLET.sub("", _NUMBER.sub("", _BULLET.sub("", line)))
    bare = _CONSIDERS.sub("", _REASON.sub("", bare).strip(_MARKS))
    return _LIKELIHOOD.sub("", bare).strip(_MARKS)
