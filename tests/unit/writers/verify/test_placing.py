import json

import numpy as np
import pytest

from viewer.domain.answer import Answer, BoxesAnswer, HeatMapAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.metrics.pointing import pointing_point
from viewer.writers.verify.measuring import Ground, point_of

FIELD = BoxPx(150, 0, 550, 400)


@pytest.mark.statement("X-03")
def test_that_the_verifier_points_where_the_program_does_also_beside_the_crop() -> None:
    rng = np.random.default_rng(6)
    moved = 0
    for _ in range(60):
        x, y = np.sort(rng.integers(0, 701, (2, 3, 2)), axis=2)
        boxes = [
            BoxPx(int(x0), int(y0), int(x1) + 1, int(y1) + 1)
            for (x0, x1), (y0, y1) in zip(x, y, strict=True)
        ]
        heat_map = SentHeatMap.of(rng.random(rng.integers(2, 9, 2)))
        answers: list[Answer] = [
            BoxesAnswer(tuple(boxes)),
            HeatMapAnswer(heat_map, BoxPx(0, 0, 700, 400)),
        ]
        for answer in answers:
            parsed = json.loads(answer_as_json(answer))
            ends = FIELD.x0, FIELD.y0, FIELD.x1, FIELD.y1
            found = point_of(parsed, Ground((400, 700), ends, (8, 8), 1.0, None))
            point = pointing_point(answer, Grid(8, 8), FIELD, 1.0)
            assert found == pytest.approx((point.x, point.y))
            beside = BoxPx(0, 0, 700, 999)
            moved += point != pointing_point(answer, Grid(8, 8), beside, 1.0)
    assert moved > 30
