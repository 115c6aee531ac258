"""The probability of given texts as a model's next words (E004-17 a, b)."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from viewer.domain.errors import WrongUseError
from viewer.domain.interpretability import Spelled
from viewer.models.transformers_local.foreign import Foreign

Tokens = tuple[int, ...]
Noted = list[dict[int, float]]
"""For every place, the log-probabilities of the tokens that were asked there."""
Say = Callable[[Tokens, list[list[int]]], Noted]
"""Has the model say tokens; told for each place, and one more, what to note there."""


def spelled(
    spellings: Sequence[Sequence[str]], words: Foreign, say: Say
) -> tuple[tuple[Spelled, ...], ...]:
    """Return for every option the probability of its spellings as continuation.

    A spelling with the same tokens as an earlier one is left out, so that probabilities
    can be added. Texts with a common beginning share a computation.

    Raises
    ------
    WrongUseError
        If a spelling has no token.
    """
    coded = [_distinct(option, words) for option in spellings]
    every = [tokens for option in coded for tokens in option]
    likelihoods = _likelihoods(every, say)
    return tuple(
        tuple(
            Spelled(text, len(tokens), likelihoods[tokens])
            for tokens, text in option.items()
        )
        for option in coded
    )


def _distinct(option: Sequence[str], words: Foreign) -> dict[Tokens, str]:
    found: dict[Tokens, str] = {}
    for text in option:
        tokens = tuple(words.encode(text, add_special_tokens=False))
        if not tokens:
            raise WrongUseError(
                "An option whose likelihood is wanted has no text.",
                "Give every option at least one character.",
            )
        found.setdefault(tokens, text)
    return found


def _likelihoods(every: Sequence[Tokens], say: Say) -> dict[Tokens, float]:
    """Return the log-probability of each of several token sequences."""
    likelihoods: dict[Tokens, float] = {}
    for path in _longest({tokens[:-1] for tokens in every}):
        on_path = [
            t for t in every if t not in likelihoods and path[: len(t) - 1] == t[:-1]
        ]
        asked = [
            sorted({t[place] for t in on_path if place < len(t)})
            for place in range(len(path) + 1)
        ]
        noted = say(path, asked)
        for tokens in on_path:
            likelihoods[tokens] = sum(noted[i][token] for i, token in enumerate(tokens))
    return likelihoods


def _longest(paths: set[Tokens]) -> list[Tokens]:
    """Return the sequences that are not a prefix of another, in a fixed order."""
    ordered = sorted(paths)  # a path is followed at once by those that begin with it
    longest = [path for path, after in pairwise(ordered) if after[: len(path)] != path]
    return [*longest, *ordered[-1:]]
