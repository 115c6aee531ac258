"""Plain answers read again from replies, and whether a text names a stored answer."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

from viewer.writers.verify.replies import ReadReply

_MARKS_AROUND = " \t\r\n.,;:!?'\"`()[]{}<>*"
_ONE_LETTER = re.compile(r"[A-Za-z]")
_TWO_LETTERS = re.compile(
    r"(?:either |both )?\(?([a-z])\)? (?:or|and|/|&) \(?([a-z])\)?"
)
_YES_OR_NO = re.compile(r"[\s*]*(yes|no)[.!\s*]*")
_SCORE_LINE = re.compile(r"Score:\s*(\d{1,3})\s*\n+\s*Rationale:\s*\S.*", re.DOTALL)
_MARKUP = frozenset("*_`#~{}<>\\$")
_GREEK_LETTERS = str.maketrans("αβγδε", "abcde")
_ONE_WORD = re.compile(r"\w+")
_BY_CHANCE, _DROPPED_CODE, _EXACT_BY_CHANCE = -1, -2, -3
_STRIPPED_IN_TURN = (",", ".", "!", "?", ";", ":", "'")


def unwrapped(text: str) -> str:
    """Return text, or the only value if it is a JSON object of one."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, dict) and list(value) == ["answer"]:
        return str(value["answer"])
    return text


def plain_letter(reply: ReadReply, options: Sequence[str]) -> int | None:
    """Return the index of the letter if a reply consists of one.

    None if there is more to read; a letter that is the words of an option as well is
    for a parser.
    """
    text = _unmarked(unwrapped(reply.text))
    if not _ONE_LETTER.fullmatch(text):
        return None
    if any(_unmarked(option).casefold() == text.casefold() for option in options):
        return None
    return ord(text.upper()) - ord("A")


def names_two(reply: ReadReply, options: Sequence[str]) -> bool:
    """Tell whether a reply is two letters and nothing else, such as "Either A or B".

    One that stands in the words of an option is for a parser.
    """
    text = _unmarked(unwrapped(reply.text)).casefold()
    found = _TWO_LETTERS.fullmatch(text)
    if found is None or found[1] == found[2]:
        return False
    pair = text.removeprefix("either ").removeprefix("both ")
    return not any(pair in _unmarked(option).casefold() for option in options)


def plain_yes(reply: ReadReply) -> bool | None:
    """Return a reply that is only yes or no."""
    text = unicodedata.normalize("NFKC", unwrapped(reply.text)).casefold()
    found = _YES_OR_NO.fullmatch(text)
    return found[1] == "yes" if found else None


def plain_labels(reply: ReadReply, known: Iterable[str], none: str) -> set[str] | None:
    """Return the labels of a reply that lists nothing but known ones with commas."""
    names = {name.casefold(): name for name in (*known, none)}
    parts = [_unmarked(part).casefold() for part in unwrapped(reply.text).split(",")]
    if not all(part in names for part in parts):
        return None
    found = {names[part] for part in parts}
    if none in found and len(found) > 1:
        return None  # it says both
    return found - {none}


def plain_score(reply: ReadReply) -> int | None:
    """Return the score of a judge who keeps to the form, 0 to 5."""
    # Markup can be removed in more than one way, so it is left to a parser.
    if _MARKUP & set(reply.text):
        return None
    found = _SCORE_LINE.fullmatch(unicodedata.normalize("NFKC", reply.text).strip())
    return int(found[1]) if found and int(found[1]) <= 5 else None


def names_letter(text: str, letter: str, words: str) -> bool:
    """Tell whether a reply has a letter by itself, or the words of its option."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_GREEK_LETTERS)
    alone = letter.casefold() in re.findall(r"[a-z]+", plain)
    return alone or has_words([text], words)


def has_words(texts: Iterable[str], words: str) -> bool:
    """Tell whether every word occurs in one of several texts, in any order.

    Of a text with JSON's escapes nothing can be said, so that it has every word.
    """
    everything = "\n".join(texts)
    if "\\u" in everything:
        return True
    whole = unicodedata.normalize("NFKC", everything).casefold()
    there = set(_ONE_WORD.findall(whole))
    # a script without blanks has no words to tell apart, and may count in words
    loose = not whole.isascii()
    return all(
        word in there or (loose and (word in whole or word.isdecimal()))
        for word in _plain_words(words)
    )


def first_in_words(entries: Sequence[str], diagnosis: str) -> int | None:
    """Return the rank, from 1, of the first entry that is a diagnosis in words."""
    wanted = _compared(diagnosis)
    for rank, entry in enumerate(entries, 1):
        if _compared(entry) == wanted:
            return rank
    return None


def official_reading(text: str, written: Sequence[str], letter: str) -> int:
    """Return the number of the option that the authors' PathMMU script reads.

    -1 by chance, -2 dropped, -3 by chance and then right for being the same text.
    """
    parts = [option.split(")") for option in written]
    place = ord(letter[0].upper()) - ord("A") if letter else len(parts)
    if any(len(one) < 2 for one in parts) or not -len(parts) <= place < len(parts):
        return _DROPPED_CODE
    options = [one[1].strip() for one in parts]
    option = _official_option(text, options)
    if text != options[place]:
        return _BY_CHANCE if option is None else option
    return _EXACT_BY_CHANCE if option is None else options.index(text)


def _official_option(text: str, options: Sequence[str]) -> int | None:
    for mark in _STRIPPED_IN_TURN:
        text = text.strip(mark)
    text = f" {text} "
    letters = [chr(ord("A") + i) for i in range(len(options))]
    ways = [[f"({one})" for one in letters], [f" {one} " for one in letters]]
    last = [[text.rfind(form) for form in forms] for forms in ways]
    # The script's own rule: only in longer replies are the words searched for.
    if len(text.split()) > 5:
        last.append([text.lower().rfind(one.lower()) for one in options])
    for places in last:
        if max(places) >= 0:
            return places.index(max(places))
    return None


def _unmarked(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip(_MARKS_AROUND)


def _plain_words(text: str) -> list[str]:
    return _ONE_WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _compared(name: str) -> str:
    """Return a name without case, accents, punctuation and double spaces."""
    split = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(c for c in split if not unicodedata.combining(c))
    return " ".join("".join(c if c.isalnum() else " " for c in letters).split())
