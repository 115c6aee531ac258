"""The section of a prompt that each of its tokens belongs to (E004-16)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.interpretability import IMAGE, SPECIAL, TEXT, Section
from viewer.models.transformers_local.foreign import Foreign


def sections_of(
    ids: Sequence[int], image: int, words: Foreign, sections: Sequence[Section]
) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    """Return the names of all sections, and (tokens,) the index of each token's.

    A token that reaches into a named section belongs to it; tokens of images and
    special tokens never do. Everything else is ``text``.

    Parameters
    ----------
    ids : sequence of int
        The prompt's tokens.
    image : int
        The id of the token that represents a part of an image.
    words : tokenizer
        The model's tokenizer.
    sections : sequence of Section
        Parts of the prompt's text.

    Raises
    ------
    WrongUseError
        If a part is not in the prompt exactly once, or two overlap.
    """
    names = (IMAGE, TEXT, SPECIAL, *(section.name for section in sections))
    special = set(words.all_special_ids) - {image}
    numbers = np.ones(len(ids), dtype=np.intp)
    for place, token in enumerate(ids):
        if token == image:
            numbers[place] = 0
        elif token in special:
            numbers[place] = 2
    read = _Read(list(ids), words)
    for number, section in enumerate(sections, start=3):
        first, end = read.places(section)
        part = numbers[first:end]
        if (part > 2).any():
            raise WrongUseError(
                f"The section '{section.name}' of a prompt overlaps another one.",
                "Give every section its own text.",
            )
        part[part == 1] = number
    return names, numbers


def section_sums(
    attention: npt.NDArray[np.float64], numbers: npt.NDArray[np.intp], sections: int
) -> npt.NDArray[np.float64]:
    """Return (layers, sections) the share of attention on each section.

    Parameters
    ----------
    attention : (layers, tokens) array
        Attention over the prompt's tokens; normalised here to 1 in each layer.
    numbers : (tokens,) array
        The index of each token's section.
    sections : int
        Number of sections.
    """
    belongs = numbers[:, None] == np.arange(sections)[None, :]
    shares = attention / attention.sum(axis=1, keepdims=True)
    return np.asarray(shares @ belongs.astype(np.float64))


class _Read:
    """A prompt's text, and where its tokens end in it."""

    def __init__(self, ids: list[int], words: Foreign) -> None:
        self._ids, self._words = ids, words
        self._text = self._decoded(len(ids))

    def places(self, section: Section) -> tuple[int, int]:
        """Return the index of a section's first token and of the one after its last."""
        count = self._text.count(section.text) if section.text else 0
        if count != 1:
            raise WrongUseError(
                f"The section '{section.name}' appears {count} times in the prompt as "
                "the model reads it.",
                "Name text that appears in it exactly once.",
            )
        start = self._text.index(section.text)
        return self._token_at(start), self._token_at(start + len(section.text) - 1) + 1

    def _token_at(self, character: int) -> int:
        """Return the index of the token that writes a character, by bisection."""
        low, high = 0, len(self._ids)  # low tokens do not reach it, high tokens do
        while high - low > 1:
            middle = (low + high) // 2
            if len(self._decoded(middle)) > character:
                high = middle
            else:
                low = middle
        return low

    def _decoded(self, tokens: int) -> str:
        text: str = self._words.decode(
            self._ids[:tokens],
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
        )
        return text
