"""Stacked bars: shares horizontal, counts vertical."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from viewer.domain.figure import Stack, StackFigure
from viewer.domain.styles import Ground, ink_on, style_of
from viewer.writers.figures_style import (
    PAGE_MM,
    SMALL_PT,
    name_groups,
    page,
    titled,
)
from viewer.writers.recorded import made

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_ROW_MM: Final = 4.0
_GAP: Final = 0.95
"""Of a bar, before a group: its name stands there."""
_AROUND_MM: Final = 16.0
_STANDING_MM: Final = 70.0
_NONE_AT: Final = 1.0
"""Where a bar without a part says so, in per cent."""
_NARROW: Final = 0.06
"""Shares of a bar below which no number is written in it."""


def draw_stacks(figure: StackFigure, ground: Ground) -> "Page":
    """Draw stacked bars."""
    rows = list(_rows(figure.stacks))
    high = _AROUND_MM + _ROW_MM * (rows[-1][0] + 1 if rows else 1)
    sheet = page(PAGE_MM, high if figure.share else _STANDING_MM)
    axes = sheet.add_subplot()
    if figure.share:
        _draw_shares(axes, figure, rows, ground)
    else:
        _draw_counts(axes, figure, ground)
    _key(sheet, figure.segments, ground)
    return sheet


def _rows(stacks: Sequence[Stack]) -> Iterator[tuple[float, Stack]]:
    """Yield each bar with its position, bars of a group together."""
    at, group = 0.0, ""
    for stack in stacks:
        if stack.group != group:
            at, group = at + _GAP, stack.group
        yield at, stack
        at += 1


def _draw_shares(
    axes: "Axes",
    figure: StackFigure,
    rows: Sequence[tuple[float, Stack]],
    ground: Ground,
) -> None:
    for at, stack in rows:
        whole = sum(stack.counts)
        shares = [c / whole for c in stack.counts] if whole else []
        _draw_parts(axes, at, shares, figure, ground)
        if not whole:
            _number(axes, (_NONE_AT, at), "none in this run", ground.soft, "", "left")
        n = "" if stack.n is None else str(stack.n)
        _aside(axes, at, ": ".join(filter(None, (n, stack.note))), ground.soft)
    axes.set_yticks([at for at, _ in rows], [stack.name for _, stack in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim((rows[-1][0] if rows else 0) + 0.6, -0.6 + _GAP / 4)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"Share of {figure.unit} (%)")
    axes.spines["left"].set_visible(False)
    for group in dict.fromkeys(stack.group for _, stack in rows):
        first, code = next((at, s.code) for at, s in rows if s.group == group)
        title, colour = titled(group, code, ground)
        axes.text(0, first - 0.55, title, va="bottom", fontweight="bold", color=colour)


def _draw_parts(
    axes: "Axes",
    at: float,
    shares: Sequence[float],
    figure: StackFigure,
    ground: Ground,
) -> None:
    left = 0.0
    for code, share in zip(figure.segments, shares, strict=bool(shares)):
        look = style_of(code)
        colour = look.colour_on(ground)
        axes.barh(
            at,
            100 * share,
            0.82,
            left,
            color=colour,
            hatch=look.hatch,
            edgecolor=ground.soft,
            linewidth=0.3,
        )
        if share >= _NARROW:
            plate = colour if look.hatch else ""
            place = left + 50 * share, at
            _number(axes, place, f"{100 * share:.0f}", ink_on(colour), plate)
        left += 100 * share


def _number(
    axes: "Axes",
    place: tuple[float, float],
    text: str,
    colour: str,
    plate: str,
    side: str = "center",
) -> None:
    """Write a share in its part of a bar, on a label box if that is hatched."""
    from matplotlib.patheffects import withStroke

    around = [made(withStroke, linewidth=2.0, foreground=plate)] if plate else []
    axes.text(
        *place,
        text,
        ha=side,
        va="center_baseline",
        fontsize=SMALL_PT,
        color=colour,
        path_effects=around,
    )


def _aside(axes: "Axes", at: float, text: str, colour: str) -> None:
    axes.text(
        101,
        at,
        text,
        va="center_baseline",
        fontsize=SMALL_PT,
        color=colour,
        clip_on=False,
    )


def _draw_counts(axes: "Axes", figure: StackFigure, ground: Ground) -> None:
    from matplotlib.ticker import MaxNLocator

    tallest = max((sum(stack.counts) for stack in figure.stacks), default=0.0)
    for at, stack in enumerate(figure.stacks):
        bottom = 0.0
        for code, count in zip(figure.segments, stack.counts, strict=True):
            look = style_of(code)
            axes.bar(
                at,
                count,
                0.72,
                bottom,
                color=look.colour_on(ground),
                hatch=look.hatch,
                edgecolor=ground.soft if look.hatch else ground.paper,
                linewidth=0.3,
                zorder=2,
            )
            bottom += count
        axes.annotate(
            " + ".join(f"{count:g}" for count in stack.counts),
            (at, bottom),
            (0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL_PT,
        )
    named = [titled(stack.group, stack.code, ground) for stack in figure.stacks]
    name_groups(axes, [title for title, _ in named])
    for at, stack in enumerate(figure.stacks):
        if stack.code:
            axes.get_xticklabels()[at].set_color(named[at][1])
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, max(1.0, 1.1 * tallest))
    axes.set_ylabel(f"Number of {figure.unit}")
    axes.yaxis.set_major_locator(made(MaxNLocator, "auto", integer=True))
    axes.grid(axis="y", zorder=0)


def _key(sheet: "Page", segments: Sequence[str], ground: Ground) -> None:
    from matplotlib.patches import Patch

    patches = []
    for look in map(style_of, segments):
        sign = "" if look.sign == "◼" else f"{look.sign} "
        patches.append(
            made(
                Patch,
                facecolor=look.colour_on(ground),
                hatch=look.hatch,
                edgecolor=ground.soft,
                lw=0.3,
                label=sign + look.words,
            )
        )
    sheet.legend(
        handles=patches,
        loc="outside upper left",
        ncols=9,
        frameon=False,
        fontsize=SMALL_PT + 0.5,
        borderaxespad=0.3,
        columnspacing=1.0,
        handlelength=1.4,
    )
