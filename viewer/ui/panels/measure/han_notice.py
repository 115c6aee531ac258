"""Says once that Chinese is shown and that no font here has it."""

from collections.abc import Iterable
from typing import Final

from PySide6.QtGui import QFontDatabase

from viewer.domain.han import HAN_ADVICE, has_han
from viewer.ui.application.notices import Notice, Notices

NO_FONT: Final = Notice(
    "Chinese text is shown as boxes: no font on this machine has its characters.",
    HAN_ADVICE,
)


def has_han_font() -> bool:
    """Tell whether some installed font has Chinese characters."""
    systems = QFontDatabase.WritingSystem
    wanted = (systems.SimplifiedChinese, systems.TraditionalChinese)
    return any(QFontDatabase.families(system) for system in wanted)


def tell_of_han(notices: Notices, texts: Iterable[str]) -> None:
    """Post a notice, once per window, if Chinese text cannot be displayed."""
    if any(map(has_han, texts)) and not has_han_font():
        notices.post_once(NO_FONT)
