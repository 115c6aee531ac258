"""Options and refusals in Chinese sentences, which have no spaces around a letter."""

import re
from collections.abc import Sequence
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.choice import option_of

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LETTER: Final = re.compile(
    r"(?<!不)(?<!不能)(?<!不应)(?<!排除)(?:选择?|选项|答案)\s*(?:是|为|应为)?\s*:?\s*\(?([A-Z])\)?"
    r"(?=$|[^A-Za-z\u4e00-\u9fff]|项|选项|最|符合|正确)"
)
"""A letter that is chosen; one that begins a word, such as B细胞淋巴瘤, is none."""
_NAMED: Final = re.compile(
    r"(?<!不)(?:诊断|答案|可能|倾向|考虑)的?(?:应|应该)?(?:是|为|于)\s*:?\s*([^。;,\n]+)"
)
"""What a sentence says that it is."""
_DECLINES: Final = re.compile(
    r"(?:无法|不能|不便|不会)(?:为[您你]|对此|直接)?"
    r"(?:提供|给出|进行|做出|作出|协助|帮助|回答|分析|诊断|判断)"
)


def declines_in_chinese(text: str) -> bool:
    """Tell whether a text refuses in Chinese."""
    return _DECLINES.search(text) is not None


def chosen_in_chinese(text: str, options: Sequence[str]) -> int | Unparsed | None:
    """Return the index of the option that a Chinese sentence chooses.

    It is named by a letter after a word for choosing, or is the only option in the last
    clause that states the diagnosis. None if no sentence chooses one.

    Parameters
    ----------
    text : str
        A reply in NFKC, without reasoning.
    options : sequence of str
        The options in the order shown.
    """
    if not _HAN.search(text):
        return None
    letters = list(dict.fromkeys(_LETTER.findall(text)))
    if letters:
        return _of_letters(letters, len(options))
    clauses = _NAMED.findall(text)
    named = _named(clauses[-1], options) if clauses else []
    if len(named) > 1:
        return Unparsed(Status.AMBIGUOUS, "several")
    return named[0] if named else None


def _of_letters(letters: Sequence[str], n: int) -> int | Unparsed:
    if len(letters) > 1:
        return Unparsed(Status.AMBIGUOUS, "several")
    place = option_of(letters[0])
    if place is None or place >= n:
        return Unparsed(Status.OUT_OF_RANGE, "out_of_range")
    return place


def _named(clause: str, options: Sequence[str]) -> list[int]:
    """Return the options in a clause, without those contained in another one."""
    there = [i for i, option in enumerate(options) if option in clause]
    return [
        i for i in there if not any(i != j and options[i] in options[j] for j in there)
    ]
