"""How the authors' own script reads replies, for reproducing it only (E003-05).

Do not use it for scoring: it answers unreadable replies by chance, and leaves failures
out of the denominator. Its peculiarities are reproduced and marked in the code:

- an option's text ends at its second closing bracket, in the prompt as well;
- an option without a closing bracket takes its item out of the denominator;
- a reply is stripped of one kind of mark after another, so ``A.'`` stays ``A.``;
- a letter counts between brackets or between blanks, in capitals only, so that the
  article in "A biopsy" is an answer;
- of several candidates the one that stands last wins, denied or not;
- whatever is left is answered at random, always by the same numbers.

Source: github.com/PathMMU-Benchmark/PathMMU, eval/main.py, eval/utils/data_utils.py
and eval/utils/eval_utils.py at commit f1ca4d33 (2024).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

_STRIPPED: Final = (",", ".", "!", "?", ";", ":", "'")
_FEW_WORDS: Final = 5
"""Replies of so few words are not searched for the words of an option."""
_BY_CHANCE: Final = -1
DROPPED: Final = -2
_EXACT_BY_CHANCE: Final = -3
"""What :func:`official_code` returns for no option."""


@dataclass(frozen=True, slots=True)
class OfficialSample:
    """One item as the script sees it: options and answer as data.json writes them.

    ``response`` is the reply's text, None where asking raised an exception.
    """

    name: str
    options: tuple[str, ...]
    answer: str
    response: str | None


@dataclass(frozen=True, slots=True)
class OfficialReading:
    """The script's result for one sample.

    ``predicted`` is the text of the option it chooses, ``at_random`` is True if chance
    chose it; ``dropped`` says why the sample is in no count, "" if it is.
    """

    name: str
    predicted: str = ""
    correct: bool = False
    at_random: bool = False
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class OfficialResult:
    """The script's verdicts, and its accuracy over what it did not drop."""

    readings: tuple[OfficialReading, ...]

    @property
    def n(self) -> int:
        """How many samples the script counts."""
        return sum(not reading.dropped for reading in self.readings)

    @property
    def k(self) -> int:
        """How many of them it calls correct."""
        return sum(reading.correct for reading in self.readings)

    @property
    def at_random(self) -> int:
        """How many of them chance answered."""
        return sum(reading.at_random for reading in self.readings)


def settled(
    coded: Sequence[tuple[OfficialSample, int]], seed: int = 42
) -> OfficialResult:
    """Return the verdicts on samples whose replies :func:`official_code` has read.

    Samples stand in the script's order: one stream of random numbers is for them all.
    """
    chance = Random(seed)  # noqa: S311 - their own generator, reproduced
    return OfficialResult(tuple(_settle(one, code, chance) for one, code in coded))


def official_code(response: str, written: Sequence[str], answer: str) -> int:
    """Return the option that the script reads off a reply, as one number.

    A number below 0 says why there is none: the reply is answered by chance, or by
    chance at first and then, being word for word the right option, called correct, or
    the item has been dropped.
    """
    try:
        options, truth = _options_and_truth(written, answer)
    except IndexError:
        return DROPPED
    option = official_choice(response, options)
    if response != truth:
        return _BY_CHANCE if option is None else option
    return _EXACT_BY_CHANCE if option is None else options.index(truth)


def official_options(written: Sequence[str]) -> tuple[str, ...]:
    """Return the script's options: the text between the first brackets.

    Raises
    ------
    IndexError
        An option has no closing bracket.
    """
    return tuple(option.split(")")[1].strip() for option in written)


def official_choice(response: str, options: Sequence[str]) -> int | None:
    """Return the option that the script reads, None if it leaves it to chance."""
    for mark in _STRIPPED:
        response = response.strip(mark)
    response = f" {response} "
    places = _last_places(response, options)
    return places.index(max(places)) if max(places) >= 0 else None


def _settle(sample: OfficialSample, code: int, chance: Random) -> OfficialReading:
    if sample.response is None and code == DROPPED:
        return OfficialReading(sample.name, dropped="no_reply")
    try:
        options, truth = _options_and_truth(sample.options, sample.answer)
    except IndexError:
        return OfficialReading(sample.name, dropped="options_or_answer")
    drawn = code in {_BY_CHANCE, _EXACT_BY_CHANCE}
    option = chance.choice(range(len(options))) if drawn else code
    predicted = truth if code == _EXACT_BY_CHANCE else options[option]
    right = predicted.lower() == truth.lower()
    return OfficialReading(sample.name, predicted, right, drawn)


def _options_and_truth(
    written: Sequence[str], answer: str
) -> tuple[tuple[str, ...], str]:
    options = official_options(written)
    return options, options[ord(answer[0].upper()) - ord("A")]


def _last_places(response: str, options: Sequence[str]) -> list[int]:
    """Return where each option stands last, by the first rule that finds any."""
    letters = [chr(ord("A") + i) for i in range(len(options))]
    for form in ("({})", " {} "):
        places = [response.rfind(form.format(letter)) for letter in letters]
        if max(places) >= 0:
            return places
    if len(response.split()) <= _FEW_WORDS:
        return [-1] * len(options)
    return [response.lower().rfind(option.lower()) for option in options]
