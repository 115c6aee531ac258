"""From a reply to an option, or to the reason why there is none (E003-05).

The tiers, in this order: the provider's own refusal; a text that is only a letter, an
option's text, or both; a JSON key; what follows the last "answer is"; words that
decline; a line of its own; the only letter mentioned; the only option quoted. Nothing
is ever guessed: a reply that names two options is ambiguous, one that names none is
unparsed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from viewer.domain.answer import ChoiceAnswer, Status, Unparsed
from viewer.domain.choice import option_of
from viewer.domain.exchange import ModelReply
from viewer.domain.finding_names import plain_name
from viewer.studies.choice_words import (
    Naming,
    bare,
    letter_alone,
    letter_with_text,
    letters_at_start,
    marks,
    mentioned_letters,
    plain,
    quoted,
    quoted_at_start,
    without_quotes,
)
from viewer.studies.json_documents import documents
from viewer.studies.refusing import declines, is_cut, withheld
from viewer.studies.reply_text import answering_text, without_markup

Reading = ChoiceAnswer | Unparsed


def parse(reply: ModelReply, options: Sequence[str]) -> Reading:
    """Return the option a reply names, or the status and reason without one.

    ``options`` are the texts of the options in their order, without their letters.
    """
    kept_back = withheld(reply)
    return kept_back or read_choice(reply.text, options, truncated=is_cut(reply))


def read_choice(
    text: str, options: Sequence[str], *, truncated: bool = False
) -> Reading:
    """Read a reply's text; ``truncated`` lets only a whole, exact answer count."""
    reader = _Reader(tuple(plain(option) for option in options))
    text = answering_text(text)
    whole = _read_whole(reader, text)
    if whole is not None:
        return whole
    if truncated:
        return Unparsed(Status.TRUNCATED, "length")
    if not bare(text):
        return Unparsed(Status.UNPARSED, "empty")
    return _read_json(reader, text) or _read_prose(reader, without_markup(text))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The options in normalised form, in order."""

    options: tuple[str, ...]

    def lettered(self, naming: Naming, tier: str) -> Reading:
        """Return the option of a letter, unless its text is another option's."""
        option = option_of(naming.letter)
        if option is None or option >= len(self.options):
            return Unparsed(Status.OUT_OF_RANGE, "out_of_range")
        words = self.worded(naming.text)
        if words and option not in words:
            return Unparsed(Status.AMBIGUOUS, "letter_and_text_differ")
        return ChoiceAnswer(option, tier)

    def worded(self, text: str) -> tuple[int, ...]:
        """Return every option with exactly this text; several if they are equal."""
        wanted = plain(text)
        return tuple(
            i for i, one in enumerate(self.options) if wanted and one == wanted
        )

    def only(self, options: Sequence[int], tier: str) -> Reading | None:
        """Return the one option of those found, None if none was."""
        if len(options) > 1:
            alike = len({self.options[i] for i in options}) == 1
            reason = "options_alike" if alike else "several"
            return Unparsed(Status.AMBIGUOUS, reason)
        return ChoiceAnswer(options[0], tier) if options else None


def _one_of(readings: Iterable[Reading]) -> Reading | None:
    """Return what all readings say, None if there are none."""
    different = list(dict.fromkeys(readings))
    if len(different) > 1:
        return Unparsed(Status.AMBIGUOUS, "several")
    return different[0] if different else None


def _read_whole(reader: _Reader, text: str) -> Reading | None:
    """Read a text that is nothing but an option's letter, its words, or both."""
    words = reader.worded(text)
    text = without_markup(text)
    if letter := letter_alone(text):
        return _read_letter(reader, letter, words)
    naming = letter_with_text(text)
    if naming is None or words:
        return reader.only(words, "text")
    if _starts(reader, naming) or reader.worded(naming.text):
        return reader.lettered(naming, "letter_and_text")
    return None


def _read_letter(
    reader: _Reader, letter: str, words: tuple[int, ...]
) -> Reading | None:
    """Read a text that is one letter, which may be the words of an option as well."""
    reading = reader.lettered(Naming(letter), "letter")
    if not words or (isinstance(reading, ChoiceAnswer) and reading.option in words):
        return reading
    if isinstance(reading, Unparsed):
        return reader.only(words, "text")
    return Unparsed(Status.AMBIGUOUS, "letter_or_text")


def _starts(reader: _Reader, naming: Naming) -> bool:
    """Tell whether a letter's text is the beginning of its option, as when cut off."""
    option, start = option_of(naming.letter), plain(naming.text)
    if option is None or option >= len(reader.options) or not start:
        return False
    return reader.options[option].startswith(start)


def _read_json(reader: _Reader, text: str) -> Reading | None:
    """Read the values of a JSON answer; None if there is no such key."""
    answers = json_choices(text)
    if any(answer is None for answer in answers):
        return Unparsed(Status.UNPARSED, "null_answer")
    return _one_of(_read_value(reader, str(answer)) for answer in answers)


def _read_value(reader: _Reader, text: str) -> Reading:
    return _read_whole(reader, text) or _read_prose(reader, without_markup(text))


def _read_prose(reader: _Reader, text: str) -> Reading:
    """Read sentences, the surest tier first."""
    if marked := _read_marked(reader, text):
        return marked
    # An option's own words may hold a letter, such as the B of hepatitis B.
    unquoted = without_quotes(text, reader.options)
    letters = mentioned_letters(unquoted, len(reader.options))
    words = quoted(text, reader.options)
    if declines(text, beside_answer=bool(letters or words)):
        return Unparsed(Status.REFUSED, "declined")
    return (
        _read_own_line(reader, text)
        or _one_of(reader.lettered(letter, "mentioned") for letter in letters)
        or reader.only(words, "quoted")
        or Unparsed(Status.UNPARSED, "no_option")
    )


def _read_marked(reader: _Reader, text: str) -> Reading | None:
    """Read what the last answer mark introduces, else the one before it."""
    for rest in marks(text):
        letters = letters_at_start(rest)
        words = quoted_at_start(rest, reader.options)
        if words and not letters:
            return reader.only(words, "marked_text")
        if letters:
            return _one_of(reader.lettered(letter, "marked") for letter in letters)
    return None


def _read_own_line(reader: _Reader, text: str) -> Reading | None:
    """Read the only line that is nothing but an option, among other lines."""
    lines = [line for line in text.splitlines() if bare(line)]
    if len(lines) < 2:
        return None
    readings = (_read_whole(reader, line) for line in lines)
    return _one_of(reading for reading in readings if reading)


_KEYS = frozenset(
    {
        *("answer", "choice", "option", "letter", "selection", "selected option"),
        *("final answer", "correct answer", "correct option", "prediction"),
    }
)


def json_choices(text: str) -> list[str | None]:
    """Return the value of every answer key, a null as None; empty without JSON."""
    return [value for document in documents(text) for value in _answers(document)]


def _answers(document: object) -> Iterator[str | None]:
    """Yield what stands under the answer keys of an object or of a list of them."""
    parts = document if isinstance(document, list) else [document]
    for part in parts:
        if isinstance(part, dict):
            named = (value for key, value in part.items() if plain_name(key) in _KEYS)
            for value in named:
                yield from _values(value)


def _values(value: object) -> Iterator[str | None]:
    for one in value if isinstance(value, list) else [value]:
        yield None if one is None else str(one)
