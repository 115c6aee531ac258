"""Random text of the length of a text, where a tokenizer is out of reach (E004-14)."""

import re
from typing import Final

import numpy as np

_CHINESE: Final = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_OTHER: Final = re.compile(r"[^\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")
_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_FIRST, _LAST = 0x4E00, 0x9FA5


def random_words(text: str, rng: np.random.Generator) -> str:
    """Return a text with every word replaced by as many random letters.

    Random text is to tell nothing (Chen 2026, 4.3), so that numbers, marks and capitals
    become letters as well; Chinese characters and marks become others of the first
    Unicode block of them. Blanks stay. As many tokens it need not have, which is told
    wherever the arm is shown.
    """

    def letters(word: re.Match[str]) -> str:
        return "".join(_SMALL[int(i)] for i in rng.integers(0, 26, len(word[0])))

    replaced = _OTHER.sub(letters, text)
    return _CHINESE.sub(lambda _: chr(int(rng.integers(_FIRST, _LAST + 1))), replaced)
