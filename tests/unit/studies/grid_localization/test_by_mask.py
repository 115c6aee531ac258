"""Rates by the area of masks and by the threshold of coverage, against plain loops."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.unit.studies.grid_localization.cases import (
    Bools,
    block,
    dataset,
    image,
    spec,
)
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.figure import PlotFigure, RateFigure, figure_table
from viewer.domain.grid import Grid
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.metrics.proportions import patient_interval
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.figures_masks import mask_figures
from viewer.studies.protocol import ReportContext

STUDY = study_named("grid_localization")
SIDE, CELLS = 64, 8
FINDINGS = ("Edema", "Cardiomegaly")
EDGES = (0.0, 0.01, 0.025, 0.05, 0.1, 1.01)
NAMES = ("under 1 %", "1 to 2.5 %", "2.5 to 5 %", "5 to 10 %", "10 % and over")
Key = tuple[str, str]


@cache
def masks() -> dict[Key, Bools]:
    """Return a rectangle for each image and finding, some of them tiny."""
    rng = np.random.default_rng(5)
    found = {}
    for patient in range(24):
        for finding in FINDINGS:
            largest = (4, 12, 20, 40)[patient % 4]
            height, width = rng.integers(2, largest, 2)
            y, x = rng.integers(0, SIDE - height), rng.integers(0, SIDE - width)
            found[f"p{patient:02d}_a", finding] = block(y, y + height, x, x + width)
    # shares of exactly 10 % cannot be had from 64 × 64 pixels, of 1/16 and 1/64 can
    found["p00_a", "Edema"] = block(0, 16, 0, 16)
    return found


def a_dataset() -> Dataset:
    keys = dict.fromkeys(key for key, _ in masks())
    return dataset(
        *(
            image(key, {f: Mask.of_array(masks()[key, f]) for f in FINDINGS})
            for key in keys
        )
    )


@cache
def results() -> tuple[TrialResult, ...]:
    """Return answers: near the mask, anywhere, or none at all."""
    rng = np.random.default_rng(6)
    made = []
    for (key, finding), mask in masks().items():
        ys, xs = np.nonzero(mask)
        near = int(ys[0]) // 8 * CELLS + int(xs[-1]) // 8
        for model in ("near", "any"):
            cell = near if model == "near" else int(rng.integers(CELLS * CELLS))
            answer = None if rng.random() < 0.1 else cell
            hits = tuple(np.flatnonzero(hits_at(mask, 0.5)).tolist())
            made.append(result(key, finding, answer, hits, model=model))
    made[-1] = replace(made[-1], score=Score(Status.PENDING))
    return tuple(
        TrialResult(**{n: getattr(r, n) for n in TrialResult.__dataclass_fields__})
        for r in made
    )


@cache
def report() -> ReportData:
    of = spec(("near", "any"), findings=list(FINDINGS), side=SIDE, replicates=50)
    return STUDY.report(results(), of, ReportContext(dataset=a_dataset()))


def rows(name: str) -> list[dict[str, object]]:
    return next(t for t in report().tables if t.name == name).records()


def hits_at(mask: Bools, threshold: float) -> Bools:
    """Return the qualifying cells, by means over blocks of pixels."""
    size = SIDE // CELLS
    covered = mask.reshape(CELLS, size, CELLS, size).mean(axis=(1, 3))
    full: Bools = covered >= threshold
    return full if full.any() else covered > 0


def settled(model: str) -> Iterator[TrialResult]:
    for one in results():
        if one.model == model and one.score.status is not Status.PENDING:
            yield one


def is_hit(one: TrialResult, threshold: float) -> bool:
    if not one.score.answer:
        return False
    cell = Grid(CELLS, CELLS).cell(one.score.answer)
    assert cell is not None
    mask = masks()[one.image, one.finding]
    return bool(hits_at(mask, threshold)[cell.row, cell.column])


@pytest.mark.parametrize("model", ["near", "any"])
@pytest.mark.parametrize("finding", ["(micro)", *FINDINGS])
def test_that_rates_by_area_equal_a_loop_over_masks(model: str, finding: str) -> None:
    shown = [
        r for r in rows("mask_areas") if (r["finding"], r["model"]) == (finding, model)
    ]
    counted = 0
    for low, high, name in zip(EDGES, EDGES[1:], NAMES, strict=False):
        mine = [
            one
            for one in settled(model)
            if finding in ("(micro)", one.finding)
            and low <= masks()[one.image, one.finding].mean() < high
        ]
        found = [r for r in shown if r["area"] == name]
        assert len(found) == bool(mine)
        for row in found:
            k = sum(is_hit(one, 0.5) for one in mine)
            areas = [masks()[one.image, one.finding] for one in mine]
            patients = {one.patient for one in mine}
            assert (row["k"], row["n"], row["patients"]) == (
                k,
                len(mine),
                len(patients),
            )
            assert row["hit_rate"] == k / len(mine)
            by_chance = np.mean([hits_at(mask, 0.5).mean() for mask in areas])
            assert row["random_baseline"] == pytest.approx(by_chance, abs=1e-12)
            share = np.mean([mask.mean() for mask in areas])
            assert row["mean_area"] == pytest.approx(share, abs=1e-12)
            of_patient = [[o for o in mine if o.patient == p] for p in patients]
            hits = [sum(is_hit(o, 0.5) for o in own) for own in of_patient]
            ends = patient_interval(hits, [*map(len, of_patient)], len(mine)).interval
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(
                (ends.low, ends.high)
            )
            counted += len(mine)
    assert counted == sum(finding in ("(micro)", o.finding) for o in settled(model))
    assert [r["area"] for r in shown] == [
        n for n in NAMES if n in {r["area"] for r in shown}
    ]


@pytest.mark.parametrize("model", ["near", "any"])
def test_that_the_curve_of_thresholds_equals_scoring_again(model: str) -> None:
    shown = {
        (r["finding"], r["threshold"]): r
        for r in rows("coverage_thresholds")
        if r["model"] == model
    }
    assert len(shown) == 9 * (1 + len(FINDINGS))
    for percent in range(10, 100, 10):
        own = []
        for finding in FINDINGS:
            mine = [one for one in settled(model) if one.finding == finding]
            row, k = (
                shown[finding, percent],
                sum(is_hit(o, percent / 100) for o in mine),
            )
            assert (row["k"], row["n"], row["hit_rate"]) == (
                k,
                len(mine),
                k / len(mine),
            )
            areas = [masks()[o.image, finding] for o in mine]
            full = [hits_at(m, percent / 100).mean() for m in areas]
            assert row["random_baseline"] == pytest.approx(np.mean(full), abs=1e-12)
            blocks = [m.reshape(8, 8, 8, 8).mean(axis=(1, 3)).max() for m in areas]
            fallback = np.mean([most < percent / 100 for most in blocks])
            assert row["fallback_rate"] == pytest.approx(fallback, abs=1e-12)
            own.append(k / len(mine))
        mean = shown["(macro)", percent]
        assert mean["hit_rate"] == pytest.approx(np.mean(own), abs=1e-12)
        assert float(str(mean["ci_low"])) < np.mean(own) < float(str(mean["ci_high"]))


def test_that_the_run_s_own_threshold_has_the_rates_of_the_results() -> None:
    at_half = [r for r in rows("coverage_thresholds") if r["threshold"] == 50]
    results_ = {
        (r["finding"], r["model"]): r for r in rows("results") if r["view"] == "all"
    }
    assert at_half
    for row in at_half:
        assert row["hit_rate"] == results_[row["finding"], row["model"]]["hit_rate"]


def test_that_a_run_without_masks_has_neither_table_nor_figure() -> None:
    one = result("p1_a", "Edema", 3, (3,))
    data = STUDY.report([one], spec(findings=["Edema"]))
    assert not {"mask_areas", "coverage_thresholds"} & {t.name for t in data.tables}
    assert not [*mask_figures((), ())]
    assert [f.file_name for f in data.figures] == ["hit_rate_grid_8.svg"]


def test_that_the_figures_show_the_numbers_of_their_tables() -> None:
    areas, curve = rows("mask_areas"), rows("coverage_thresholds")
    figure, plot = mask_figures(areas, curve)
    assert isinstance(figure, RateFigure)
    assert isinstance(plot, PlotFigure)
    assert figure.head.number == ""
    drawn = {
        (r["group"], r["series"]): (r["rate"], r["n"], r["low"], r["high"])
        for r in figure_table(figure).records()
        if r["kind"] == "bar"
    }
    assert drawn == {
        (r["area"], r["model"]): (r["hit_rate"], r["n"], r["ci_low"], r["ci_high"])
        for r in areas
        if r["finding"] == "(micro)"
    }
    points = figure_table(plot).records()
    means = [r for r in curve if r["finding"] == "(macro)"]
    for row in means:
        mine = [
            p
            for p in points
            if (p["series"], p["x"]) == (row["model"], row["threshold"])
        ]
        assert [p["y"] for p in mine] == [
            pytest.approx(100 * float(str(row["hit_rate"])))
        ]
    chance = [p["y"] for p in points if p["series"] == "random cell"]
    assert len(chance) == 9
    assert all(0 < share < 100 for share in chance)


def test_that_bars_of_the_report_have_the_limits_of_the_table() -> None:
    (bars,) = (f for f in report().figures if f.file_name == "mask_areas_grid_8.svg")
    pooled = [r for r in rows("mask_areas") if r["finding"] == "(micro)"]
    for series in bars.series:
        mine = [r for r in pooled if r["model"] == series.name]
        assert bars.groups == tuple(r["area"] for r in mine)
        assert series.limits == tuple((r["ci_low"], r["ci_high"]) for r in mine)


def titles(data: ReportData) -> Sequence[str]:
    return [section.title for section in (*data.sections, *data.appendix)]


def test_that_the_page_shows_pooled_areas_and_means_of_findings() -> None:
    shown = {s.title: s for s in (*report().sections, *report().appendix)}
    areas = shown["Hit rates by area of the mask"]
    assert all(name in areas.text for name in NAMES)
    assert {row[0] for row in areas.table.rows} <= {*NAMES}
    thresholds = shown["Hit rates by threshold of coverage"]
    assert len(thresholds.table.rows) == 9 * 2
