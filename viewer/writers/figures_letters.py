"""Letters that no font has: named below the figure, never drawn as empty boxes."""

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Page

STAND_IN: Final = "[…]"
"""What stands in a figure for letters that cannot be drawn."""
NOTE: Final = (
    f"{STAND_IN}: letters that no font of this machine has; the tables have them. "
    "overread doctor says what to install."
)
_MISSING: Final = re.compile(r"Glyph (\d+) ")
_NOTE_PT: Final = 5.0


def missing_letters(draw: Callable[[], None]) -> frozenset[str]:
    """Draw, and return the letters that were drawn as empty boxes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", message=_MISSING.pattern)
        draw()
    found = (_MISSING.match(str(warning.message)) for warning in told)
    return frozenset(chr(int(each[1])) for each in found if each)


def stand_in(page: "Page", missing: frozenset[str]) -> None:
    """Put ``STAND_IN`` for each run of letters that are missing, and say so below.

    ``page`` was drawn before, so that its ticks have their words.
    """
    from matplotlib.text import Text

    run = re.compile(f"[{re.escape(''.join(sorted(missing)))}]+")
    for axes in page.axes:
        for axis in (axes.xaxis, axes.yaxis):
            words = [label.get_text() for label in axis.get_ticklabels()]
            if any(map(run.search, words)):
                axis.set_ticklabels([run.sub(STAND_IN, word) for word in words])
    for text in page.findobj(Text):
        if isinstance(text, Text) and run.search(text.get_text()):
            text.set_text(run.sub(STAND_IN, text.get_text()))
    page.text(0.995, 0.002, NOTE, ha="right", va="bottom", fontsize=_NOTE_PT)
