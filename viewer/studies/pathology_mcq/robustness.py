"""Figure 4: accuracy by level of corruption."""

from collections.abc import Mapping, Sequence
from math import fsum

from viewer.domain.figure import FigureHead, PlotFigure, PlotPanel, PlotSeries
from viewer.studies.pathology_mcq.arms import PLAIN, corruption_name
from viewer.studies.pathology_mcq.params import COLOUR_KINDS, LEVELS, QUALITY_KINDS
from viewer.studies.pathology_mcq.scopes import OVERALL, TINY

Rows = Mapping[str, Sequence[Mapping[str, object]]]
"""The rows of tables, by their names."""


def level_figure(rows: Rows) -> PlotFigure | None:
    """Return Figure 4: accuracy in per cent by level, colour and quality apart.

    Corruptions are of the tiny test (Sun 2024, 4.2). Level 0 is the image itself; a
    level of which any kind was not asked is left out.
    """
    models = dict.fromkeys(str(r["model"]) for r in rows.get("corruption", ()))
    if not models:
        return None
    rates = {
        (str(r["model"]), str(r["condition"])): r["accuracy"]
        for r in rows["accuracy_paper"]
        if (r["part"], r["subset"]) == (TINY, OVERALL)
    }
    panels = tuple(
        PlotPanel(title, tuple(_curve(rates, model, kinds) for model in models))
        for title, kinds in (
            (f"Colour: {', '.join(COLOUR_KINDS)}", COLOUR_KINDS),
            (f"Quality: {', '.join(QUALITY_KINDS)}", QUALITY_KINDS),
        )
    )
    head = FigureHead(
        "levels",
        "Figure 4",
        "Accuracy by level of corruption",
        "Each level is the mean over the kinds of its panel, on the tiny test; level 0 "
        "is the image itself.",
    )
    labels = ("Level of corruption", "Accuracy (%)")
    return PlotFigure(head, panels, *labels, joined=True, one_scale=True)


def _curve(
    rates: Mapping[tuple[str, str], object],
    model: str,
    kinds: Sequence[str],
) -> PlotSeries:
    conditions = {
        0: (PLAIN,),
        **{int(n): tuple(corruption_name(kind, n) for kind in kinds) for n in LEVELS},
    }
    points = []
    for level, names in conditions.items():
        values = [rates.get((model, name)) for name in names]
        known = [value for value in values if isinstance(value, float)]
        if len(known) == len(values):
            points.append((float(level), 100 * fsum(known) / len(known)))
    x, y = zip(*points, strict=True) if points else ((), ())
    return PlotSeries(model, tuple(x), tuple(y))
