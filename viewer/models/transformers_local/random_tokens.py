"""Text of random tokens, as long as another text for one model (E004-14)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.models.transformers_local.foreign import Foreign

_CONTEXT: Final = (16, 128)
"""Tokens before the newest that are read with it, in a first and a second attempt."""
_DRAWS: Final = 1000


def random_text(words: Foreign, like: str, seed: int) -> tuple[str, int]:
    """Return random text with as many tokens as another one, and their number.

    Every token is drawn uniformly from those that are not special, and drawn again if
    the text so far, decoded and encoded again, does not have one token more.

    Parameters
    ----------
    words : tokenizer
        The model's own.
    like : str
        The text whose length is matched, without special tokens.
    seed : int
        Seed of the tokens.

    Raises
    ------
    WrongUseError
        If no such text is found.
    """
    length = len(_read(words, like))
    pool, text = ordinary_tokens(words), ""
    for context in (*_CONTEXT, length):  # the last reads the whole with each token
        rng = np.random.default_rng((seed, length, context))
        drawn: list[int] = []
        while len(drawn) < length:
            drawn.append(_next(words, drawn[-context:], pool, rng))
        text = _written(words, drawn)
        if len(_read(words, text)) == length:
            break
    return text, length


def ordinary_tokens(words: Foreign) -> npt.NDArray[np.intp]:
    """Return every token that is not a special one."""
    special = {
        *words.all_special_ids,
        *(i for i, added in words.added_tokens_decoder.items() if added.special),
    }
    return np.array(sorted(set(words.get_vocab().values()) - special), dtype=np.intp)


def _next(
    words: Foreign,
    before: list[int],
    pool: npt.NDArray[np.intp],
    rng: np.random.Generator,
) -> int:
    grown = len(_read(words, _written(words, before))) + 1
    for _ in range(_DRAWS):
        token = int(rng.choice(pool))
        if len(_read(words, _written(words, [*before, token]))) == grown:
            return token
    raise WrongUseError(
        "This model's tokenizer does not keep the number of random tokens.",
        "Match the number of words instead of tokens.",
    )


def _read(words: Foreign, text: str) -> Sequence[int]:
    tokens: Sequence[int] = words.encode(text, add_special_tokens=False)
    return tokens


def _written(words: Foreign, tokens: list[int]) -> str:
    text: str = words.decode(
        tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    return text
