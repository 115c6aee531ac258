"""Scanning a prompt for values from the image's own header.

Searching for this study's exact values finds more and errs less than patterns for names
and numbers. They are found in every order, case and spelling that people use.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from viewer.domain.errors import PrivacyError
from viewer.readers.identifiers import Identifier

_LONG: Final = 6
"""From so many characters on, a value inside a longer word is one too."""
_SPACED: Final = 4
"""From so many characters on, a value is looked for with signs between them too."""
_SIGNS: Final = r"[\W_]*"
_FEW_SIGNS: Final = r"[\W_]{0,3}"
_NOT_AFTER_LETTER, _NOT_BEFORE_LETTER = r"(?<![^\W\d_])", r"(?![^\W\d_])"
_NOT_AFTER_DIGIT, _NOT_BEFORE_DIGIT = r"(?<!\d)", r"(?!\d)"
_IDEOGRAPHS: Final = "\u2e80"
"""From here on scripts put no space between words."""

# Letters that Unicode does not decompose, so that NFKD leaves them as they are.
_PLAIN: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
_SPELLED_OUT: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
)
"""Letters that some write as two."""


def check_prompt(
    text: str, identifiers: Sequence[Identifier], known: Iterable[str] = ()
) -> None:
    """Raise ``PrivacyError`` if a text contains a value of the header.

    Parameters
    ----------
    text : str
        All text that would be sent.
    identifiers : sequence of Identifier
        The header's values.
    known : iterable of str
        Our own texts in every patient's question, which identify nobody. They must not
        include anything that a person wrote.

    Raises
    ------
    PrivacyError
        Naming the header's keywords, never their values.
    """
    spellings, common = _spellings(text), _spellings("\n".join(known))
    hits = {
        identifier.keyword: None
        for identifier in identifiers
        if _holds(spellings, identifier) and not _holds(common, identifier)
    }
    if hits:
        raise PrivacyError(
            "A question was not sent: its text contains the image's "
            f"{', '.join(hits)}.",
            "Remove it from the finding or the prompt, and ask again.",
        )


def _spellings(text: str) -> tuple[str, str]:
    """Return a text in lower case without accents, with ``ü`` as ``u`` and ``ue``."""
    # Invisible characters, such as a soft hyphen, would hide a name.
    seen = "".join(c for c in text if unicodedata.category(c) != "Cf")
    # Composed, because the letters spelled out below are single characters.
    lower = unicodedata.normalize("NFC", seen).casefold()
    return _bare(lower), _bare(lower.translate(_SPELLED_OUT))


def _bare(text: str) -> str:
    # Folded again: NFKD makes plain capitals of letters such as ℌ.
    apart = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    return bare.translate(_PLAIN)


def _holds(spellings: Sequence[str], identifier: Identifier) -> bool:
    if identifier.day is not None:
        return holds_day(spellings[0], identifier.day)
    patterns = _patterns(identifier.value)
    return any(p.search(one) for p, one in zip(patterns, spellings, strict=True))


@lru_cache(maxsize=4096)
def _patterns(value: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns that find a value in either spelling."""
    return tuple(re.compile("|".join(_ways(one))) for one in _spellings(value))


def _ways(wanted: str) -> Iterator[str]:
    """Yield the ways to write a value, the value itself first."""
    words = re.findall(r"[^\W_]+", wanted)
    bare = "".join(words)
    if not bare:
        # "(?!)" matches nowhere; an empty pattern would match every text.
        yield re.escape(wanted.strip()) or r"(?!)"
        return
    yield _bounded(_SIGNS.join(words), bare)
    if len(bare) < _SPACED:
        return
    if any(c.isdigit() for c in bare):
        # numbers are grouped by anybody's taste; zeros before them come and go
        digits = bare.lstrip("0") if len(bare.lstrip("0")) >= _SPACED + 1 else bare
        yield _bounded(_FEW_SIGNS.join(digits), digits, zeros=digits != bare)
    else:
        yield _bounded(r"[\W_]{1,3}".join(bare), bare)


def _bounded(pattern: str, bare: str, *, zeros: bool = False) -> str:
    """Return a pattern that finds a short value as a word, a long one anywhere."""
    if bare[0] >= _IDEOGRAPHS or (len(bare) >= _LONG and not zeros):
        return pattern
    if zeros:
        return f"{_NOT_AFTER_DIGIT}(?:0{_FEW_SIGNS})*{pattern}{_NOT_BEFORE_DIGIT}"
    before = _NOT_AFTER_DIGIT if bare[0].isdigit() else _NOT_AFTER_LETTER
    if bare[-1].isdigit():
        return f"{before}{pattern}{_NOT_BEFORE_DIGIT}"
    plural = "s?" if len(bare) >= _SPACED else ""
    return f"{before}{pattern}{plural}{_NOT_BEFORE_LETTER}"


_MONTH_WORDS: Final = (
    "january januar janvier enero gennaio janeiro januari styczen stycznia jaenner",
    "february februar fevrier febrero febbraio fevereiro februari luty lutego",
    "march marz maerz mars marzo marco maart marzec marca mrz",
    "april avril abril aprile kwiecien kwietnia",
    "may mai mayo maggio maio mei maj maja",
    "june juni juin junio giugno junho czerwiec czerwca",
    "july juli juillet julio luglio julho lipiec lipca",
    "august aout agosto augustus sierpien sierpnia",
    "september septembre septiembre settembre setembro wrzesien wrzesnia",
    "october oktober octobre octubre ottobre outubro pazdziernik pazdziernika",
    "november novembre noviembre novembro listopad listopada",
    "december dezember decembre diciembre dicembre dezembro grudzien grudnia",
)
"""Months without accents: English, German, French, Spanish, Italian and so on."""
_MONTHS: Final = tuple(tuple(words.split()) for words in _MONTH_WORDS)
_SHORTEST: Final = 3

_SIGN: Final = r"(?:[\W_]{1,3}|年|月)"
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th|er)?"
_YEAR: Final = r"(\d{4}|\d{2})(?!\d)"
_WORD: Final = r"([^\W\d_]{3,})"
_OF: Final = r"[\W_]*(?:(?:of|de|del|di|do)\b[\W_]*)?"
_NUMBERS: Final = re.compile(
    # A lookahead takes nothing away, so that overlapping dates are found too.
    rf"(?<!\d)(?=(\d{{1,4}}){_SIGN}(\d{{1,2}}){_SIGN}(\d{{1,4}})(?!\d))"
)
_DAY_MONTH_YEAR: Final = re.compile(rf"(?<!\d){_DAY}{_OF}{_WORD}{_OF}{_YEAR}")
_MONTH_DAY_YEAR: Final = re.compile(rf"{_WORD}[\W_]*{_DAY}[\W_]+{_YEAR}")
_YEAR_MONTH_DAY: Final = re.compile(rf"(?<!\d){_YEAR}[\W_]*{_WORD}[\W_]*(\d{{1,2}})")
_RUN: Final = re.compile(r"(?<!\d)(?:\d{6}|\d{8}\d*)(?!\d)")

_Written = tuple[str, str, str]


def holds_day(text: str, day: date) -> bool:
    """Tell whether a text may contain a date.

    Parameters
    ----------
    text : str
        In lower case and without accents.
    day : date
        Looked for in any order of day, month and year, by number or by name, with or
        without the century, with any sign between or none.
    """
    return any(_means(written, day) for written in _days(text))


def _means(written: _Written, day: date) -> bool:
    year, month, of_month = written
    if int(month) != day.month or int(of_month) != day.day:
        return False
    return int(year) == (day.year if len(year) == 4 else day.year % 100)


def _days(text: str) -> Iterator[_Written]:
    """Yield (year, month, day) as digit strings; the year has two or four digits."""
    for first, middle, last in _NUMBERS.findall(text):
        yield from _orders(first, middle, last)
    for day, word, year in _DAY_MONTH_YEAR.findall(text):
        yield from ((year, month, day) for month in _months(word))
    for word, day, year in _MONTH_DAY_YEAR.findall(text):
        yield from ((year, month, day) for month in _months(word))
    for year, word, day in _YEAR_MONTH_DAY.findall(text):
        yield from ((year, month, day) for month in _months(word))
    for run in _RUN.findall(text):
        yield from _of_run(run)


def _orders(first: str, middle: str, last: str) -> Iterator[_Written]:
    if len(first) in {2, 4}:
        yield first, middle, last
        yield first, last, middle
    if len(last) in {2, 4}:
        yield last, middle, first
        yield last, first, middle


def _of_run(run: str) -> Iterator[_Written]:
    """Yield the dates that six or eight digits may mean; a time may follow eight."""
    n = 2 if len(run) == 6 else 4
    # Year first, then day first, then month first.
    yield run[:n], run[n : n + 2], run[n + 2 : n + 4]
    yield run[4 : 4 + n], run[2:4], run[:2]
    yield run[4 : 4 + n], run[:2], run[2:4]


def _months(word: str) -> Iterator[str]:
    """Yield the months that a word may mean, abbreviated or not."""
    if len(word) >= _SHORTEST:
        for number, names in enumerate(_MONTHS, start=1):
            if any(name.startswith(word) for name in names):
                yield str(number)
