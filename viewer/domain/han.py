"""Chinese characters: detecting them, and the fonts that show them."""

import re
from typing import Final

_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
HAN_ADVICE: Final = (
    "Install one: apt install fonts-noto-cjk, or Noto Sans SC from fonts.google.com."
)
"""What the user can do if no installed font has them."""


def has_han(text: str) -> bool:
    """Tell whether a text contains a Chinese character (a CJK ideograph of Unicode)."""
    return _HAN.search(text) is not None
