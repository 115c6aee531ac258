"""The style of figures for journals, and their export with reproducible bytes.

183 mm is a page's width and 89 mm a column's; text is 7 point sans. In SVG text is
outlines, so that it looks the same where the font is missing; in PDF the font is
embedded, so that it can be searched. No date is written. The same drawing stands on
light ground in print, and on the ground of the theme on the screen.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from viewer.domain.styles import LIGHT, Ground, style_of
from viewer.writers.figures_letters import FAMILY, Readable, readable
from viewer.writers.recorded import made, real, recorded, script_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

T = TypeVar("T")
Draw = Callable[[T, Ground], "Page"]
"""Draws a figure on a page of a ground."""
PAGE_MM: Final = 183.0
TEXT_PT: Final = 7.0
SMALL_PT: Final = 5.5
PRINT_DPI: Final = 300.0
_NOTE_PT: Final = 5.0
_INCH: Final = 25.4
_POINTS: Final = 72.0
_LETTER: Final = 0.62
"""How wide a letter is, of the letters' size, in a word of average letters."""
_AXES_SHARE: Final = 0.92
"""How much of the page's width the axes have."""
_PARTED: Final = {"Cardiomediastinum": "Cardio- mediastinum"}
_METADATA: Final[Mapping[str, dict[str, Any]]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {},
}
_SETTING_TABLES: Final = ("GDEF", "GPOS", "GSUB", "MATH", "kern")
_LAST: Final = """
# Give another file to save to; its ending chooses PNG, SVG or PDF.
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else {name!r}, dpi={dpi:g})"""
_DRAWING: Final = RLock()
"""Held while anything is drawn: matplotlib's settings are those of the process."""


def settings(
    ground: Ground = LIGHT,
    text_pt: float = TEXT_PT,
    *,
    framed: bool = False,
    pixels: bool = False,
    families: Sequence[str] = (FAMILY,),
) -> dict[Any, Any]:
    """Return matplotlib's settings for drawing and saving a figure.

    ``framed`` axes have lines on all four sides, others at the left and below. Pictures
    are kept as they are, but for a figure that is made of ``pixels`` itself.
    """
    return {
        "text.parse_math": False,  # a finding may be called "$\\frac{x$"
        "text.usetex": False,
        "svg.hashsalt": "overread",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        "font.family": list(families),
        "font.size": text_pt,
        "figure.facecolor": ground.paper,
        "axes.facecolor": ground.paper,
        "text.color": ground.ink,
        "axes.labelcolor": ground.ink,
        "axes.edgecolor": ground.soft,
        "axes.linewidth": 0.5,
        "axes.spines.top": framed,
        "axes.spines.right": framed,
        "axes.titlesize": TEXT_PT,
        "grid.color": ground.line,
        "grid.linewidth": 0.4,
        "xtick.color": ground.ink,
        "ytick.color": ground.ink,
        "xtick.major.width": 0.5,
        "ytick.major.width": 0.5,
        "xtick.major.size": 2.0,
        "ytick.major.size": 2.0,
        "hatch.linewidth": 0.4,
        "image.interpolation": "antialiased" if pixels else "none",
        "image.resample": pixels,
    }


def page(width_mm: float, height_mm: float, between: float = 0.02) -> "Page":
    """Return an empty page; ``between`` panels is a fraction of their width."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    pads = made(ConstrainedLayoutEngine, w_pad=0.02, h_pad=0.02, wspace=between)
    size = width_mm / _INCH, height_mm / _INCH
    return recorded("figure", Figure, figsize=size, layout=pads)


def drawn_as(
    figure: T,
    draw: Draw[T],
    kinds: Sequence[str],
    ground: Ground = LIGHT,
    dpi: float = PRINT_DPI,
    options: Mapping[str, Any] | None = None,
) -> Mapping[str, bytes]:
    """Return a figure as ``svg``, ``pdf`` or ``png``, by kind; ``options`` of settings.

    The same bytes for the same figure. Letters that no font has are not drawn as empty
    boxes: a note says so.
    """
    import matplotlib as mpl

    told = readable(figure)
    wanted = {"pixels": "png" in kinds, "families": told.families, **(options or {})}
    with _DRAWING, mpl.rc_context(settings(ground, **wanted)):
        sheet = _noted(told, draw, ground)
        return {kind: _saved(real(sheet), kind, dpi) for kind in kinds}


def script_for(figure: T, draw: Draw[T], name: str, ground: Ground = LIGHT) -> str:
    """Return a script that draws a figure into a PNG of the given or another name."""
    import matplotlib as mpl

    told = readable(figure)
    first = settings(ground, pixels=True, families=told.families)
    with _DRAWING, mpl.rc_context(first):
        script = script_of(_noted(told, draw, ground))
    if script is None:
        raise TypeError("only a page that was made by page() is written down")
    return script.text(first, _LAST.format(name=f"{name}.png", dpi=PRINT_DPI))


def _noted(told: Readable[T], draw: Draw[T], ground: Ground) -> "Page":
    """Draw a figure, and a note below it if characters were left out."""
    sheet = draw(told.figure, ground)
    if told.note:
        sheet.text(0.995, 0.002, told.note, ha="right", va="bottom", fontsize=_NOTE_PT)
    return sheet


def _saved(sheet: "Page", kind: str, dpi: float) -> bytes:
    _lay_out(sheet, kind, dpi)
    out = io.BytesIO()
    with _fonts_for_set_text():
        sheet.savefig(out, format=kind, metadata=_METADATA[kind], dpi=dpi)
    return out.getvalue()


@contextmanager
def _fonts_for_set_text() -> Iterator[None]:
    """Embed fonts without the tables that only setting text needs.

    matplotlib drops others, but reduces these to the letters in use: three quarters of
    the time that embedding a font takes. They go as the font is opened, since fontTools
    reads them whole before it drops any.
    """
    from fontTools import subset

    usual: Any = subset.load_font

    def load(*file: object, **options: object) -> Any:  # noqa: ANN401 - fontTools has no types
        font = usual(*file, **options)
        for table in _SETTING_TABLES:
            if table in font:
                del font[table]
        return font

    subset.load_font = load
    try:
        yield
    finally:
        subset.load_font = usual


def _lay_out(sheet: "Page", kind: str, dpi: float) -> None:
    """Lay a page out once, for its first kind of file; the next file is the same.

    Saved before that, a page is drawn twice: the first time only for its layout.
    """
    from matplotlib.backend_bases import get_registered_canvas_class

    layout = sheet.get_layout_engine()
    if layout is not None:
        get_registered_canvas_class(kind)(sheet)  # whose letters are measured
        sheet.set_dpi(dpi)
        layout.execute(sheet)
        sheet.set_layout_engine(None)


def bare(axes: "Axes") -> None:
    """Hide everything on a picture's axes except the picture."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def say_none(axes: "Axes", ground: Ground) -> None:
    """Write, in place of a panel, that a run has nothing to show there."""
    bare(axes)
    axes.annotate(
        "None in this run.",
        (0.5, 0.5),
        xycoords="axes fraction",
        ha="center",
        va="center",
        color=ground.soft,
    )


def wrapped(name: str, most: int = 13) -> str:
    """Return a name in lines of at most ``most`` characters, broken between words."""
    import textwrap

    return "\n".join(textwrap.wrap(name, most, break_long_words=False))


def titled(name: str, code: str, ground: Ground) -> tuple[str, str]:
    """Return what a name is written as, and its colour; with a code, in its style."""
    if not code:
        return name, ground.ink
    look = style_of(code)
    return f"{look.sign} {name}", look.colour_on(ground)


def name_groups(axes: "Axes", names: Sequence[str]) -> None:
    """Write the names of groups below their positions 0, 1, … without overlap.

    Words wider than a group are hyphenated at their stem; then the font gets smaller,
    down to the small size.
    """
    lines = ["\n".join(map(wrapped, _parted(name).split("\n"))) for name in names]
    room = _AXES_SHARE * PAGE_MM / _INCH * _POINTS / max(1, len(lines))
    longest = max((len(line) for text in lines for line in text.split("\n")), default=1)
    size = min(TEXT_PT, max(SMALL_PT, room / (_LETTER * max(1, longest))))
    axes.set_xticks(range(len(lines)), lines, fontsize=size)


def _parted(name: str) -> str:
    """Break the long words of findings' names with a hyphen."""
    for word, parts in _PARTED.items():
        name = name.replace(word, parts)
    return name
