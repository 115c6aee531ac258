"""How a sentence names options: by letter, by an answer phrase, or by text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from viewer.domain.choice import option_of
from viewer.studies.reply_text import answering_text, without_markup

_AROUND = " \t\r\n.,;:!?'\"`()[]{}<>|‘’“”«»「」『』。、,-"
_LETTER = r"[^\W\d_]"
_WORD = r"(?:option|choice|answer|letter|alternative)"
_ALONE = re.compile(rf"(?:{_WORD}[\s:]*)?({_LETTER})", re.IGNORECASE)
_WITH_TEXT = re.compile(
    rf"(?:{_WORD}\s*)?(?:[\[(]\s*({_LETTER})\s*[\])]|({_LETTER})\s*[).:\]-])[\s:.-]*"
    r"(\S.*)",
    re.IGNORECASE | re.DOTALL,
)

_ARTICLES = "AaI"
"""Letters that are words as well."""
_AFTER_ARTICLE = (
    r"(?=\s*(?:[)\].:,;!?\"']|$|\n|(?:because|since|as|due|and|or|is|for|rather)\b))"
)
_NAMED = (
    rf"(?:[\[(]\s*(?P<a>{_LETTER})\s*[\])]|(?P<b>[{_ARTICLES}]){_AFTER_ARTICLE}"
    rf"|(?P<c>(?![{_ARTICLES}]){_LETTER})(?![\w'’/-]))"
)
_ALSO = re.compile(
    rf"[)\]]?\s*(?:,|/|&|\bor\b|\band\b)+\s*(?:{_WORD}\s*)?{_NAMED}(?=\W|$)",
    re.IGNORECASE,
)

_FILLER = (
    r"(?:\s|[\"'‘“:>-]|\b(?:the|probably|most|likely|clearly|therefore|thus|would|be"
    rf"|{_WORD}|correct|best|final|following)\b)*"
)
_MARK = re.compile(
    r"(?:\b(?:answer|ans|option|choice|selection|diagnosis|respuesta|réponse|antwort"
    r"|resposta|risposta)\b|答案|正确选项|答え|回答|정답)[\"'\s)]*"
    r"(?:\b(?:is|was|would be|should be|must be|es|ist|est|é|è)\b|=>|->"
    r"|[:=→]|是|为|は|은|는|：)"
    + _FILLER
    + r"|\b(?:i (?:would )?(?:choose|chose|select|pick)|opt for|go with|settle on"
    r"|selected)\b" + _FILLER + r"|\\boxed\s*",
    re.IGNORECASE,
)
_MARKED_AFTER = re.compile(
    rf"(?<![\w-]){_NAMED}\s*[)\].:]?\s*(?:is|seems|appears to be|would be)\s+"
    r"(?:\w+ly )?(?:the )?(?:single )?(?:correct|right|best"
    r"|most (?:likely|appropriate|accurate|consistent|suitable))\b"
)
_AT_START = re.compile(_NAMED + r"(?=\W|$)")

_MENTION = re.compile(
    rf"(?<![\w\[(])[\[(]\s*(?P<a>{_LETTER})\s*[\])]"
    rf"|\b{_WORD}\s+(?P<b>{_LETTER})(?![\w'’/+&-])"
    r"|(?<![\w'’(\[/+&-])(?:(?P<c>[AI])(?=\s*(?:[).:,;!?\"']|$|\n))"
    r"|(?P<d>(?![AI])[A-Z\u0391-\u0395]))(?![\w'’/+&-])"
)
_NO_OPTION_BEFORE = re.compile(
    r"\b(?:types?|grades?|stages?|groups?|class|hepatitis|vitamin|influenza|zones?"
    r"|panels?|figures?|fig|images?|phase|patterns?|factor|protein|chain|region|arrows?"
    r"|category|score)\s+$",
    re.IGNORECASE,
)
_NO_OPTION_AFTER = re.compile(
    r"\s+(?:cells?|lymphocytes?|antigens?|bands?|waves?|fibers?)"
    r"|\s*(?:细胞|淋巴|[型级期区])",
)
_DENIED_BEFORE = re.compile(
    r"(?:\bnot|n't|\bneither|\bnor|\brather than|\binstead of|\bexclud\w*|\beliminat\w*"
    rf"|\brul\w+ out|\bunlike|\bno)\s+(?:the |be |is )?(?:{_WORD}\s+)?[\"'‘“(\[]*$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[\"'’”)\].:]*\s*(?:is|are|was|were|would be|can be|could be|seems)\s+(?:\w+ly )?"
    r"(?:not\b|n't|incorrect|wrong|false|ruled out|unlikely|excluded|less likely"
    r"|eliminated|inconsistent|absent)",
    re.IGNORECASE,
)
_SHORTEST_QUOTE = 3

# With Greek Α to Ε, which options may have as letters (option_of).
_CAPITAL = r"[A-Z\u0391-\u0395]"
_BRACKETED = rf"[\[(]\s*{_LETTER}\s*[\])]"
_JOINED = (
    r"(?i:(?:[\s,(]+(?:(?:and/)?or|and|as\s+well\s+as|plus|vs\.?|versus|ou|oder|und"
    r"|oppure|et|[ouye])(?=[\s,])|\s+[/&+](?=\s)|\s*(?:、|或者?|또는|이나|または"
    r"|[和与及かとや와과및나]))"
    r"[\s,]*(?:(?:\w+ly|less|more|maybe|perhaps|else|even|also|both|either|(?:the\s+)?"
    rf"{_WORD})[\s,]+)*)"
)
"""What joins letters that a sentence names together, in the languages of ``_MARK``."""
_LISTED = re.compile(
    rf"(?<![A-Za-z\d'’/+&-])(?:(?:{_CAPITAL}|{_BRACKETED}){_JOINED})+"
    rf"(?:{_BRACKETED}|(?!I){_CAPITAL}(?![A-Za-z\d'’/+&-])"
    r"|I(?=\s*(?:[).:,;!?\"'。]|$|\n)))"
)
_JOINT = re.compile(_JOINED)
# Haematoxylin and eosin: a stain, not two options.
_STAIN = re.compile(r"H\s+(?:and|&)\s+E\b")


@dataclass(frozen=True, slots=True)
class Naming:
    """A letter in a reply, and the words that go with it."""

    letter: str
    text: str = ""


def bare(text: str) -> str:
    """Return a text without surrounding blanks and punctuation."""
    return text.strip(_AROUND)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return a text normalised for comparison of options."""
    return " ".join(bare(without_markup(answering_text(text))).casefold().split())


def letter_alone(text: str) -> str:
    """Return the letter of a text that is only a letter: ``(b).`` or ``Option B``."""
    match = _ALONE.fullmatch(bare(text))
    return match[1] if match else ""


def letter_with_text(text: str) -> Naming | None:
    """Read a text that begins with a letter and its mark, as ``(B) necrosis``."""
    match = _WITH_TEXT.fullmatch(text.strip())
    return Naming(match[1] or match[2], match[3]) if match else None


def marks(text: str) -> Iterator[str]:
    """Yield what follows each "answer is" and similar phrases, the last one first."""
    ends = [match.end() for match in _MARK.finditer(text)]
    lists = _lists(text)
    for match in _MARKED_AFTER.finditer(text):
        start = lists.get(match.start(), match.start())
        if not _DENIED_BEFORE.search(text[max(0, start - 40) : start]):
            ends.append(start)
    for end in sorted(ends, reverse=True):
        yield text[end:].lstrip(" \t\n\"'‘“:*{")


def letters_at_start(text: str) -> tuple[Naming, ...]:
    """Return the letters that a text begins with, several where it lists them.

    The first has the words that stand with it, up to the end of their line.
    """
    first = _AT_START.match(text)
    if listed := _LISTED.match(text):
        namings, position = list(_listed(listed)), listed.end()
    elif first:
        line = text[first.end() :].partition("\n")[0]
        namings, position = [Naming(_letter(first), line)], first.end()
    else:
        return ()
    while also := _ALSO.match(text, position):
        namings.append(Naming(_letter(also)))
        position = also.end()
    return tuple(namings)


def mentioned_letters(text: str, count: int) -> tuple[Naming, ...]:
    """Return every letter that a text mentions as an option and does not deny.

    A letter without a bracket or a word such as "option" counts as a mention only
    where it is one of the ``count`` options' letters, or is listed with one that is.
    Letters that are listed are mentioned, or denied, together.
    """
    return tuple(
        naming
        for start, end, namings in _named_together(text, count)
        if not _denied(text, start, end)
        and not _NO_OPTION_BEFORE.search(text[max(0, start - 24) : start])
        and not _NO_OPTION_AFTER.match(text, end)
        and not _STAIN.match(text, start)
        for naming in namings
    )


def quoted(text: str, options: Sequence[str]) -> tuple[int, ...]:
    """Return the options that a text quotes and does not deny, in their order.

    An option that stands only within a longer one that is quoted is not.
    """
    spans = _spans(text, options)
    return tuple(
        sorted(
            {
                option
                for option, start, end in spans
                if not _denied(text, start, end)
                and not any(_within(start, end, other) for other in spans)
            }
        )
    )


def quoted_at_start(text: str, options: Sequence[str]) -> tuple[int, ...]:
    """Return the longest option that a text begins with; several if they are equal."""
    found = [
        (match.end(), i)
        for i, option in enumerate(options)
        if len(option) >= _SHORTEST_QUOTE and (match := _quote(option).match(text))
    ]
    longest = max((end for end, _ in found), default=0)
    return tuple(option for end, option in found if end == longest)


def without_quotes(text: str, options: Sequence[str]) -> str:
    """Return a text with quoted options replaced by blanks of the same length."""
    for _, start, end in _spans(text, options):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _spans(text: str, options: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return option, start and end of every occurrence of an option."""
    return [
        (i, match.start(), match.end())
        for i, option in enumerate(options)
        if len(option) >= _SHORTEST_QUOTE
        for match in _quote(option).finditer(text)
    ]


@lru_cache(maxsize=1024)
def _quote(option: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in option.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _named_together(
    text: str, count: int
) -> Iterator[tuple[int, int, tuple[Naming, ...]]]:
    """Yield start, end and letters of each list, and of each letter in none."""
    for match in _LISTED.finditer(text):
        namings = _listed(match)
        if any(_inside(naming, count) for naming in namings):
            yield *match.span(), namings
    lists = _lists(text)
    for match in _MENTION.finditer(text):
        naming = Naming(_letter(match))
        if match.end() - 1 not in lists and (
            match["a"] or match["b"] or _inside(naming, count)
        ):
            yield *match.span(), (naming,)


def _lists(text: str) -> dict[int, int]:
    """Return where the list begins that a place in a text belongs to."""
    return {
        place: match.start()
        for match in _LISTED.finditer(text)
        for place in range(*match.span())
    }


def _listed(match: re.Match[str]) -> tuple[Naming, ...]:
    return tuple(Naming(bare(letter)) for letter in _JOINT.split(match[0]))


def _inside(naming: Naming, count: int) -> bool:
    option = option_of(naming.letter)
    return option is not None and option < count


def _within(start: int, end: int, other: tuple[int, int, int]) -> bool:
    return other[1] <= start and end <= other[2] and other[2] - other[1] > end - start


def _denied(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 40) : start]
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(text, end))


def _letter(match: re.Match[str]) -> str:
    return next(letter for letter in match.groups() if letter)
