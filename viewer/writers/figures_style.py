"""How figures for journals look, and how they become files, the same bytes each time.

183 mm is a page's width and 89 mm a column's; text is 7 point sans. In SVG text is
outlines, so that it looks the same where the font is missing; in PDF the font is
embedded, so that it can be searched. No date is written.
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from viewer.domain.figure import FigureHead
from viewer.domain.styles import LIGHT
from viewer.writers.figures_letters import missing_letters, stand_in
from viewer.writers.han_font import figure_families

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

PAGE_MM: Final = 183.0
TEXT_PT: Final = 7.0
SMALL_PT: Final = 5.5
INK, SOFT, LINE = LIGHT.ink, LIGHT.soft, LIGHT.line
_INCH: Final = 25.4
_POINTS: Final = 72.0
_LETTER: Final = 0.62
"""How wide a letter is, of the letters' size, in a word of average letters."""
_AXES_SHARE: Final = 0.92
"""How much of the page's width the axes have."""
_PARTED: Final = {"Cardiomediastinum": "Cardio- mediastinum"}
_NO_DATE: Final = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def style(
    text_pt: float = TEXT_PT, *, framed: bool = False
) -> "AbstractContextManager[None]":
    """Return the settings under which a figure is drawn and written.

    ``framed`` axes have lines on all four sides, others at the left and below.
    """
    import matplotlib as mpl

    return mpl.rc_context(
        {
            "text.parse_math": False,  # a finding may be called "$\\frac{x$"
            "text.usetex": False,
            "svg.hashsalt": "overread",
            "svg.fonttype": "path",
            "pdf.fonttype": 42,
            "font.family": figure_families("DejaVu Sans"),
            "font.size": text_pt,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": SOFT,
            "axes.linewidth": 0.5,
            "axes.spines.top": framed,
            "axes.spines.right": framed,
            "axes.titlesize": TEXT_PT,
            "xtick.color": INK,
            "ytick.color": INK,
            "xtick.major.width": 0.5,
            "ytick.major.width": 0.5,
            "xtick.major.size": 2.0,
            "ytick.major.size": 2.0,
            "hatch.linewidth": 0.4,
            "image.interpolation": "none",
            "image.resample": False,
        }
    )


def page(width_mm: float, height_mm: float, between: float = 0.02) -> "Page":
    """Return an empty page; ``between`` panels is a part of their width."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    pads = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, wspace=between)
    return Figure(figsize=(width_mm / _INCH, height_mm / _INCH), layout=pads)


def saved(figure: "Page", head: FigureHead) -> Mapping[str, bytes]:
    """Return the SVG and the PDF of a page by file name."""
    return {f"{head.name}.{kind}": written(figure, kind) for kind in ("svg", "pdf")}


def written(figure: "Page", kind: str) -> bytes:
    """Return a page as ``svg`` or ``pdf``, the same bytes for the same page.

    Letters that no font has are not drawn as empty boxes: a note says so.
    """
    out = io.BytesIO()
    missing = missing_letters(lambda: _save(figure, out, kind))
    if missing:
        stand_in(figure, missing)
        out = io.BytesIO()
        _save(figure, out, kind)
    return out.getvalue()


def _save(figure: "Page", out: io.BytesIO, kind: str) -> None:
    figure.savefig(out, format=kind, metadata=_NO_DATE[kind], dpi=300)
    figure.set_layout_engine("none")  # laid out once: the next file is the same


def bare(axes: "Axes") -> None:
    """Leave of a picture's axes nothing but the picture."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def wrapped(name: str, most: int = 13) -> str:
    """Return a name in lines of at most ``most`` letters, words whole."""
    import textwrap

    return "\n".join(textwrap.wrap(name, most, break_long_words=False))


def name_groups(axes: "Axes", names: Sequence[str]) -> None:
    """Write the names of groups at 0, 1, … below them, so that none meets the next.

    Words too long for a group's width are parted at their stem, then the letters are
    made smaller, down to the small size.
    """
    lines = [wrapped(_parted(name)) for name in names]
    room = _AXES_SHARE * PAGE_MM / _INCH * _POINTS / max(1, len(lines))
    longest = max((len(line) for text in lines for line in text.split("\n")), default=1)
    size = min(TEXT_PT, max(SMALL_PT, room / (_LETTER * max(1, longest))))
    axes.set_xticks(range(len(lines)), lines, fontsize=size)


def _parted(name: str) -> str:
    """Part the long words of the findings' names, with a hyphen."""
    for word, parts in _PARTED.items():
        name = name.replace(word, parts)
    return name
