"""Answers measured as the program measures them, and their boxes and references."""

import json
from collections.abc import Iterator

import numpy as np
import pytest

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.reference import Mask
from viewer.metrics.harmonised import measures, target
from viewer.writers.verify.measuring import MEASURES, SHARES, Ground, measures_of

SIZE, GRID = SizePx(60, 70), Grid(4, 5)


def box(rng: np.random.Generator) -> BoxPx:
    x, y = rng.uniform(-10, 60, 2).round(1)
    return BoxPx(x, y, *(v + rng.integers(1, 30) for v in (x, y)))


def answers(rng: np.random.Generator) -> Iterator[Answer]:
    mask = rng.random((SIZE.rows, SIZE.columns)) < 0.3
    yield CellAnswer(Cell(int(rng.integers(4)), int(rng.integers(5))))
    yield PointAnswer(PointPx(*rng.uniform(-5, 75, 2)))
    yield BoxesAnswer(tuple(box(rng) for _ in range(3)))
    yield MaskAnswer(Mask.of_array(mask))
    heat = SentHeatMap.of(rng.random(rng.integers(2, 9, 2)))
    yield HeatMapAnswer(heat, BoxPx(-5, 0, 75, 60))


def parsed_of(answer: Answer) -> dict[str, object]:
    if isinstance(answer, CellAnswer):
        return {"cell": answer.cell.row * GRID.columns + answer.cell.column}
    parsed: dict[str, object] = json.loads(answer_as_json(answer))
    return parsed


@pytest.mark.statement("X-03")
def test_that_the_verifier_measures_what_the_program_does() -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(40):
        spacing = Spacing(0.2, 0.3, SpacingMeaning.DETECTOR)
        geometry = ImageGeometry(SIZE, spacing if rng.random() < 0.5 else None)
        field = BoxPx(*rng.uniform(-10, 10, 2), *rng.uniform(40, 80, 2))
        reference = np.zeros((SIZE.rows, SIZE.columns), bool)
        y, x = rng.integers(0, 50, 2)
        reference[y : y + rng.integers(1, 30), x : x + rng.integers(1, 30)] = True
        mask, hits = Mask.of_array(reference), tuple(rng.integers(0, 20, 6).tolist())
        goal = target(mask, GRID, field, hits, geometry)
        told_of = (0.2, 0.3, "detector") if geometry.spacing else None
        size, aspect = (SIZE.rows, SIZE.columns), geometry.pixel_aspect
        ground = Ground(size, corners(field), (4, 5), aspect, told_of)
        for answer in answers(rng):
            wanted = measures(answer, goal)
            found = measures_of(parsed_of(answer), mask.counts, ground, hits)
            assert (wanted is None) == (found is None)
            if wanted and found:
                told = {n: getattr(wanted, n, None) for n in MEASURES[3:]}
                told |= {"kind": wanted.kind}
                told |= {"point_x": wanted.point.x, "point_y": wanted.point.y}
                for name, value in told.items():
                    exact = name in SHARES or not isinstance(value, float)
                    assert found[name] == (value if exact else pytest.approx(value)), (
                        name
                    )
                compared += 1
    assert compared > 150


def corners(of: BoxPx) -> tuple[float, float, float, float]:
    return of.x0, of.y0, of.x1, of.y1
