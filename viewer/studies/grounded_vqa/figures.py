"""The pack's figures: the perturbation tests, and composites for inspection."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.domain.figure import (
    Figure,
    FigureHead,
    GalleryFigure,
    RateFigure,
    RatePanel,
    Tile,
)
from viewer.domain.image import Raster
from viewer.domain.item import TASK_MARK
from viewer.domain.report import BarSeries, ReportData, Table
from viewer.domain.result import TrialResult
from viewer.imaging.resample import shrunk
from viewer.studies.grounded_vqa.arms import IMAGE_ARMS, NONE, PLAIN
from viewer.studies.grounded_vqa.attention_figure import attention
from viewer.studies.grounded_vqa.items import question_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.request import edited_raster
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.grounded_vqa.words import EDITS
from viewer.studies.packs import PackInput
from viewer.studies.steps import Sources
from viewer.studies.tables import CI_CAPTION

_SHOWN: Final = 4
"""True positives whose composites are shown."""
_SIDE: Final = 480
Record = Mapping[str, object]


def figures(
    given: PackInput, params: Params
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """Return a run's figures, and a sentence for each that cannot be drawn."""
    drawn: list[Figure] = [*_tests(given.report), *_by_dice(given.report)]
    missing: list[str] = []
    if given.sources is None:
        missing.append("Composites need the images of the data set.")
    else:
        drawn += attention(given, given.sources, params)
        drawn += _composites(given.results, given.sources, params)
    return tuple(drawn), tuple(missing)


def _tests(report: ReportData) -> Iterator[Figure]:
    """Yield the tests' scores by model."""
    tables = {table.name: table for table in report.tables}
    parts = [
        tables[name]
        for name in ("table_3_textual", "table_4_visual")
        if name in tables and tables[name].rows
    ]
    if not parts:
        return
    head = FigureHead(
        "perturbation_tests",
        "Tables 3 and 4",
        "Answers that became No",
        "Among each model's true positives, the share whose answer became No. LobA's "
        "printed values are not shown: they are of other data.",
    )
    records = [row for table in parts for row in _records(table)]
    groups = tuple(dict.fromkeys(str(r["test"]) for r in records))
    panels = _panels(records, "way", _EDITS, groups)
    yield RateFigure(head, panels, CI_CAPTION, "", rate_name="Became No")


def _by_dice(report: ReportData) -> Iterator[Figure]:
    """Yield the share of right answers by the region's Dice, a panel for each way."""
    found = [t for t in report.tables if t.name == "figure_7_dice"]
    records = [record for table in found for record in _records(table)]
    if not records:
        return
    head = FigureHead(
        "figure_7",
        "Figure 7",
        "Correct answers by Dice of the located region",
        "Answers given with a region pointed out, by its overlap with the anatomy's "
        "mask; a group begins at the Dice below it.",
    )
    groups = tuple(sorted({str(record["dice_from"]) for record in records}))
    panels = _panels(records, "condition", _TENTHS, groups)
    yield RateFigure(head, panels, CI_CAPTION, "", rate_name="Right")


@dataclass(frozen=True, slots=True)
class _Bars:
    """Which columns of a table a panel's groups, bars, counts and whiskers are."""

    group: str
    rate: str
    n: str


_EDITS: Final = _Bars("test", "score", "n_edits")
_TENTHS: Final = _Bars("dice_from", "accuracy", "n")


def _panels(
    records: Sequence[Record], way: str, bars: _Bars, groups: tuple[str, ...]
) -> tuple[RatePanel, ...]:
    """Return a panel for each way of asking, named after it where there are several."""
    models = tuple(dict.fromkeys(str(r["model"]) for r in records))
    ways = tuple(dict.fromkeys(str(r[way]) for r in records))
    return tuple(
        _panel(
            name if len(ways) > 1 else "",
            [r for r in records if r[way] == name],
            bars,
            groups,
            models,
        )
        for name in ways
    )


def _panel(
    title: str,
    records: Sequence[Record],
    bars: _Bars,
    groups: tuple[str, ...],
    names: tuple[str, ...],
) -> RatePanel:
    by_key = {(r["model"], str(r[bars.group])): r for r in records}
    nothing = tuple(None for _ in groups)
    series = tuple(
        _series(name, [by_key.get((name, group)) for group in groups], bars)
        for name in names
    )
    chance = tuple(nothing for _ in series)
    return RatePanel(title, groups, series, chance)


def _series(name: str, records: Sequence[Record | None], bars: _Bars) -> BarSeries:
    return BarSeries(
        name,
        tuple(_value(r, bars.rate) for r in records),
        tuple(None for _ in records),
        tuple(int(_value(r, bars.n) or 0) for r in records),
        tuple(_ends(r) if r else None for r in records),
    )


def _ends(record: Record) -> tuple[float, float] | None:
    low, high = _value(record, "ci_low"), _value(record, "ci_high")
    return None if low is None or high is None else (low, high)


def _records(table: Table) -> Iterator[Record]:
    return (dict(zip(table.header, row, strict=True)) for row in table.rows)


def _value(record: Record | None, name: str) -> float | None:
    value = record[name] if record else None
    return float(str(value)) if value is not None else None


def _composites(
    results: Sequence[TrialResult], sources: Sources, params: Params
) -> Iterator[Figure]:
    """Yield the images of the first visual tests beside the original."""
    items = {item.key: item for item in sources.dataset.items}
    plain = {
        (r.item, r.model): r for r in results if r.condition == PLAIN and not r.repeat
    }
    tiles: list[Tile] = []
    for result in _edited(results):
        key, _, donor = result.item.rpartition(TASK_MARK)
        asked = question_of(items[key], params.findings)
        if isinstance(asked, Question):
            arm = IMAGE_ARMS[result.condition]
            if arm is Arm.DONOR:
                raster_as_is = sources.raster(asked.image)
                answer = _answer_or_status(plain.get((key, result.model)))
                tiles.append(_tile(raster_as_is, "as it is", result, asked, answer))
            raster = edited_raster(asked, donor, arm, sources, params)
            answer = f"{_answer_or_status(result)}, of {donor}"
            tiles.append(_tile(raster, EDITS[arm], result, asked, answer))
    if tiles:
        head = FigureHead(
            "composites",
            "Figure 2",
            "Images of the visual perturbation test",
            "The image, and the same with another image's anatomy, with its own, and "
            "with one that has the same finding.",
        )
        yield GalleryFigure(head, tuple(tiles))


def _answer_or_status(result: TrialResult | None) -> str:
    """Return a trial's answer, else why there is none; "" of a question not asked."""
    return (result.score.answer or result.score.status) if result else ""


def _edited(results: Sequence[TrialResult]) -> Sequence[TrialResult]:
    """Return the visual trials of the first questions of one model."""
    model = results[0].model if results else ""
    made = [
        r
        for r in results
        if r.condition in IMAGE_ARMS
        and r.model == model
        and not r.repeat
        and r.item.rpartition(TASK_MARK)[2] != NONE
    ]
    keys = list(dict.fromkeys(r.item.rpartition(TASK_MARK)[0] for r in made))[:_SHOWN]
    return [r for r in made if r.item.rpartition(TASK_MARK)[0] in keys]


def _tile(
    raster: Raster,
    kind: str,
    result: TrialResult,
    asked: Question,
    answer: str,
) -> Tile:
    small = shrunk(raster, _SIDE).pixels
    grey = small if small.ndim == 3 else np.repeat(small[..., None], 3, axis=2)
    about = f"{asked.finding}, {asked.anatomy}"
    return Tile(grey, kind, asked.key, about, result.model, answer, "")
