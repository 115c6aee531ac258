"""A table and a figure of another distribution: right answers by the side answered."""

from collections.abc import Sequence
from dataclasses import replace

from viewer.domain.figure import FigureHead, RateFigure, RatePanel
from viewer.domain.pack import PackData
from viewer.domain.report import BarSeries, ReportData
from viewer.domain.result import TrialResult
from viewer.results.evaluate import evaluate
from viewer.results.page import sections
from viewer.results.records import records
from viewer.results.spec import OF_WHOM, TRIALS, Cell, Key, Shown, TableSpec
from viewer.studies.packs import PackInput

BY_SIDE = TableSpec(
    "by_side",
    (Key("model"), Key("answer", "side")),
    (
        Cell(
            "rate",
            ("k", "n", "accuracy", "ci_low", "ci_high", "ci_method"),
            ("correct", *OF_WHOM),
            {"answered": (True,)},
        ),
    ),
    title="Right answers by side",
    text="Of the answers that name a side, how many are right.",
    shown=(
        *("model", "side"),
        Shown("accuracy", "Right %", "z.1f", 100, counts=("k", "n")),
    ),
)


def with_sides(data: ReportData, results: Sequence[TrialResult]) -> ReportData:
    """Return a report with the table, on its page and in its folder."""
    table = evaluate(BY_SIDE, {TRIALS: records(results)})
    return replace(
        data,
        tables=(*data.tables, table),
        sections=(*data.sections, *sections([BY_SIDE], [table])),
        specs=(*data.specs, BY_SIDE),
    )


class Sides:
    """What ``overread pack sides`` writes."""

    name, study = "sides", "laterality"
    title, source = "Left or right", "An example"

    def data(self, given: PackInput) -> PackData:
        """Return the table and the figure of a run."""
        report = given.report
        (table,) = (one for one in report.tables if one.name == BY_SIDE.name)
        rows = table.records()
        sides = tuple(dict.fromkeys(str(row["side"]) for row in rows))
        of_model: dict[str, dict[str, tuple[float, int]]] = {}
        for row in rows:
            told = float(row["accuracy"]), int(row["n"])
            of_model.setdefault(str(row["model"]), {})[str(row["side"])] = told
        series = tuple(
            BarSeries(
                model,
                tuple(of[s][0] if s in of else None for s in sides),
                (None,) * len(sides),
                tuple(of[s][1] if s in of else 0 for s in sides),
            )
            for model, of in of_model.items()
        )
        panel = RatePanel("", sides, series, ((0.5,) * len(sides),) * len(series))
        head = FigureHead("by_side", "Figure 1", BY_SIDE.title, BY_SIDE.text)
        figure = RateFigure(head, (panel,), "", "Chance", in_order=True)
        return PackData(
            self.title,
            self.source,
            (table,),
            report.sections,
            (figure,),
            report.incomplete,
        )


PACK = Sides()
