"""How accuracy holds under corruption and noise (Tables 2 and 3, Figure 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from viewer.domain.figure import FigureHead, PlotFigure, PlotPanel, PlotSeries
from viewer.domain.report import Table
from viewer.studies.pathology_mcq.accuracy import Key, Rate
from viewer.studies.pathology_mcq.arms import PLAIN, corruption_name
from viewer.studies.pathology_mcq.params import (
    COLOUR_KINDS,
    KINDS,
    LEVELS,
    QUALITY_KINDS,
    Arm,
)
from viewer.studies.pathology_mcq.scopes import OVERALL, TINY, Scope

HERE = Scope(TINY, OVERALL)
"""Corruptions are of the tiny test (Sun 2024, 4.2)."""


@dataclass(frozen=True, slots=True)
class Robust:
    """One model's accuracy, 0-1, under each kind, and the difference from clean.

    ``kinds`` are means over the levels asked, ``overall`` is the mean over the kinds
    asked; None where nothing was asked.
    """

    model: str
    clean: float | None
    kinds: tuple[float | None, ...]

    @property
    def overall(self) -> float | None:
        """The mean over kinds."""
        return _mean(self.kinds)

    def change(self, value: float | None) -> float | None:
        """Return a value less the clean one, None without either."""
        return None if value is None or self.clean is None else value - self.clean


def robustness(rates: Mapping[Key, Rate], scope: Scope = HERE) -> tuple[Robust, ...]:
    """Return a row for each model that was asked about any corrupted image."""
    models = dict.fromkeys(model for model, _, _ in rates)
    rows = (
        Robust(
            model,
            _value(rates, model, PLAIN, scope),
            tuple(_mean(_levels(rates, model, kind, scope)) for kind in KINDS),
        )
        for model in models
    )
    return tuple(row for row in rows if any(v is not None for v in row.kinds))


def robustness_table(rates: Mapping[Key, Rate]) -> Table:
    """Return corruption.csv: the mean over levels by kind, and what it changes."""
    header = ("model", "clean", "corruption", "accuracy", "change", "direction")
    rows = [
        (row.model, row.clean, name, value, row.change(value), arrow(row.change(value)))
        for row in robustness(rates)
        for name, value in (
            *zip(KINDS, row.kinds, strict=True),
            ("overall", row.overall),
        )
    ]
    return Table("corruption", header, tuple(rows))


def noise_table(rates: Mapping[Key, Rate]) -> Table:
    """Return noise.csv: accuracy with noise for images, beside that with images."""
    header = ("model", "part", "subset", "clean", "noise", "change", "direction")
    rows = []
    for (model, condition, scope), rate in rates.items():
        if condition == Arm.NOISE:
            clean = _value(rates, model, PLAIN, scope)
            change = None
            if rate.value is not None and clean is not None:
                change = rate.value - clean
            named = (model, scope.part, scope.subset)
            rows.append((*named, clean, rate.value, change, arrow(change)))
    return Table("noise", header, tuple(rows))


def arrow(change: float | None) -> str:
    """Return the sign of a change: up, down, none, or "" where it is not known."""
    if change is None:
        return ""
    return "↑" if change > 0 else "↓" if change < 0 else "="


def level_figure(rates: Mapping[Key, Rate]) -> PlotFigure | None:
    """Return Figure 4: accuracy in per cent by level, colour and quality apart.

    Level 0 is the image itself; a level of which any kind was not asked is left out.
    """
    models = [row.model for row in robustness(rates)]
    if not models:
        return None
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


def _curve(rates: Mapping[Key, Rate], model: str, kinds: Sequence[str]) -> PlotSeries:
    conditions = {
        0: (PLAIN,),
        **{int(n): tuple(corruption_name(kind, n) for kind in kinds) for n in LEVELS},
    }
    points = []
    for level, names in conditions.items():
        values = [_value(rates, model, name, HERE) for name in names]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            points.append((float(level), 100 * fsum(known) / len(known)))
    x, y = zip(*points, strict=True) if points else ((), ())
    return PlotSeries(model, tuple(x), tuple(y))


def _levels(
    rates: Mapping[Key, Rate], model: str, kind: str, scope: Scope
) -> tuple[float | None, ...]:
    names = (corruption_name(kind, level) for level in LEVELS)
    return tuple(_value(rates, model, name, scope) for name in names)


def _value(
    rates: Mapping[Key, Rate], model: str, condition: str, scope: Scope
) -> float | None:
    rate = rates.get((model, condition, scope))
    return rate.value if rate else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
