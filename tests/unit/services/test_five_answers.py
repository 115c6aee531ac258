"""A cell, a point, boxes, a mask and a heat map about one phantom, under any rule."""

import csv
import io
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import distance_transform_edt
from sklearn.metrics import f1_score, jaccard_score

from tests.helpers.five_answers import five_models
from tests.helpers.tiny_study import D4, a_spec, finish, planned
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
)
from viewer.domain.case import DatasetImage
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Spacing
from viewer.domain.run import OrphanPolicy
from viewer.metrics.pointing import centre, deepest_point
from viewer.readers.pixels import load_pixels
from viewer.services.answers import StoredAnswer, answers_about
from viewer.services.import_dataset import import_dataset
from viewer.services.make_phantom import make_phantom
from viewer.services.plan_run import plan_run
from viewer.services.report_run import write_report
from viewer.services.rescore import rescore_run
from viewer.services.run_batch import BatchOptions
from viewer.services.study_file import make_spec
from viewer.store import cases
from viewer.store.database import Store, open_store

Bools = npt.NDArray[np.bool_]
SIZE = SizePx(250, 200)
FIELD = BoxPx(0, 25, 200, 225)
KINDS = ("cell", "point", "boxes", "mask", "heat_map")


class Asked:
    """A store in which five models answered about a finding of one phantom."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "s.sqlite"
        make_phantom(folder / "p", 1, 1, SIZE, lambda *_: None)
        with open_store(self.store) as opened:
            import_dataset(opened, "chexlocalize", folder / "p", "one")
            self.image, self.finding = _largest(opened)
            self.mask = self.image.masks[self.finding].array()
            middle = deepest_point(self.mask & _within(FIELD))
            models = five_models(folder, FIELD, middle, SizePx(20, 16))
            spec = make_spec(
                study="grid_localization",
                dataset="one",
                preset="gosai2025",
                seed=0,
                repeats=1,
                models=models,
                overrides={"findings": [self.finding], "views": ["frontal"]},
            )
            self.run = plan_run(opened, spec)
            finish(opened, self.run, BatchOptions(orphans=OrphanPolicy.RETRY))
            paths = write_report(opened, self.run, folder / "out")
        self.files = {path.name: path.read_text() for path in paths}
        self.answers = {
            a.measures.kind: a
            for a in answers_about(self.store, self.image.ref)
            if a.measures
        }

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a CSV file of the report."""
        return list(csv.DictReader(io.StringIO(self.files[name])))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(tmp_path_factory.mktemp("five"))


def _largest(store: Store) -> tuple[DatasetImage, str]:
    dataset = cases.dataset_named(store, "one")
    pairs = [
        (int((mask.array() & _within(FIELD)).sum()), image.key, finding)
        for image in dataset.images
        if image.view == "frontal"
        for finding, mask in image.masks.items()
    ]
    _, key, finding = max(pairs)
    return next(i for i in dataset.images if i.key == key), finding


def _within(box: BoxPx) -> Bools:
    y, x = np.mgrid[: SIZE.rows, : SIZE.columns] + 0.5
    return np.asarray((box.x0 <= x) & (x < box.x1) & (box.y0 <= y) & (y < box.y1))


def _covered(answer: Answer) -> Bools | None:
    """Return the pixels of an answer, by a path of its own."""
    if isinstance(answer, CellAnswer):
        row, column = answer.cell.row, answer.cell.column
        x0, y0 = FIELD.x0 + 25 * column, FIELD.y0 + 25 * row
        return _within(BoxPx(x0, y0, x0 + 25, y0 + 25))
    if isinstance(answer, BoxesAnswer):
        return np.asarray(sum(_within(box) for box in answer.boxes)) > 0
    if isinstance(answer, MaskAnswer):
        return answer.mask.array()
    if isinstance(answer, HeatMapAnswer):
        return _hot(answer)
    return None


def _hot(answer: HeatMapAnswer) -> Bools:
    values = answer.heat_map.values.astype(float)
    grey = ((values - values.min()) / np.ptp(values) * 255).astype(int)
    variances = [
        (grey <= t).mean()
        * (grey > t).mean()
        * (grey[grey <= t].mean() - grey[grey > t].mean()) ** 2
        for t in range(255)
    ]
    whole = np.zeros((SIZE.rows, SIZE.columns), bool)
    for y in range(SIZE.rows):
        for x in range(SIZE.columns):
            u = math.floor((x + 0.5 - FIELD.x0) / 200 * answer.heat_map.columns)
            v = math.floor((y + 0.5 - FIELD.y0) / 200 * answer.heat_map.rows)
            if 0 <= u < answer.heat_map.columns and 0 <= v < answer.heat_map.rows:
                whole[y, x] = grey[v, u] > int(np.argmax(variances))
    return whole


def _point(answer: Answer) -> tuple[float, float]:
    """Return an answer's point as (x, y), by a path of its own."""
    covered = _covered(answer)
    if isinstance(answer, PointAnswer):
        return answer.point.x, answer.point.y
    if isinstance(answer, BoxesAnswer):
        largest = max(answer.boxes, key=lambda b: (b.x1 - b.x0) * (b.y1 - b.y0))
        return centre(largest).x, centre(largest).y
    if isinstance(answer, HeatMapAnswer):
        heat = answer.heat_map
        v, u = np.argwhere(heat.values == heat.values.max())[0]
        return (
            FIELD.x0 + (u + 0.5) * 200 / heat.columns,
            FIELD.y0 + (v + 0.5) * 200 / heat.rows,
        )
    assert covered is not None
    if isinstance(answer, MaskAnswer):
        depth = distance_transform_edt(np.pad(covered, 1))[1:-1, 1:-1]
        y, x = np.argwhere(depth == depth.max())[0]
        return x + 0.5, y + 0.5
    ys, xs = np.nonzero(covered)
    return (xs.min() + xs.max() + 1) / 2, (ys.min() + ys.max() + 1) / 2


def _far(mask: Bools, x: float, y: float, spacing: Spacing | None = None) -> float:
    row, column = (spacing.row_mm, spacing.column_mm) if spacing else (1.0, 1.0)
    return min(
        math.hypot(
            max(u - x, 0, x - u - 1) * column,
            max(v - y, 0, y - v - 1) * row,
        )
        for v, u in np.argwhere(mask)
    )


def test_that_every_kind_of_answer_is_settled_with_one_status(asked: Asked) -> None:
    statuses = [row["status"] for row in asked.rows("items.csv")]
    assert len(statuses) == 5
    assert set(statuses) <= {Status.SCORED_CORRECT.value, Status.SCORED_WRONG.value}
    assert sorted(asked.answers) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_that_the_screen_the_scorer_and_other_libraries_agree(
    asked: Asked, kind: str
) -> None:
    answer = asked.answers[kind]
    (row,) = [r for r in asked.rows("geometry.csv") if r["kind"] == kind]
    shown = answer.measures
    assert shown is not None
    assert answer.answer is not None
    reference = asked.mask & _within(FIELD)
    x, y = _point(answer.answer)
    spacing = load_pixels(answer.ref).spacing
    assert spacing is not None
    expected: dict[str, float] = {
        "point_x": x,
        "point_y": y,
        "distance_px": _far(reference, x, y),
        "distance_mm": _far(reference, x, y, spacing),
    }
    covered = _covered(answer.answer)
    if covered is not None:
        pair = (reference.ravel(), covered.ravel())
        expected |= {"iou": jaccard_score(*pair), "dice": f1_score(*pair)}
    on_screen = {
        "point_x": shown.point.x,
        "point_y": shown.point.y,
        "iou": shown.iou,
        "dice": shown.dice,
        "distance_px": shown.distance_px,
        "distance_mm": shown.distance_mm,
    }
    for name, value in expected.items():
        assert float(row[name]) == pytest.approx(value, abs=1e-9), name
        assert on_screen[name] == pytest.approx(float(row[name]), abs=1e-9), name
    assert row["pointing_hit"] == str(bool(reference[int(y), int(x)]))
    assert row["pointing_hit"] == str(shown.pointing_hit)
    hit = answer.score.answer in answer.reference_cells
    assert (row["cell_hit"], shown.cell_hit) == (str(hit), hit)
    assert hit == (answer.score.status is Status.SCORED_CORRECT)
    assert row["iou_hit"] == ("" if shown.iou is None else str(shown.iou >= 0.5))


def test_that_every_model_stands_under_every_rule(asked: Asked) -> None:
    rows = {r["kinds"]: r for r in asked.rows("rules.csv") if r["finding"] != "(micro)"}
    geometry = {row["kind"]: row for row in asked.rows("geometry.csv")}
    assert sorted(rows) == sorted(KINDS)
    for kind, row in rows.items():
        assert row["n"] == "1"
        assert row["k_cell"] == str(int(geometry[kind]["cell_hit"] == "True"))
        assert row["k_pointing"] == str(int(geometry[kind]["pointing_hit"] == "True"))
        assert row["n_iou"] == ("0" if kind == "point" else "1")
    assert "The same rules for all" in asked.files["report.html"]


def test_that_reading_the_replies_again_changes_nothing(asked: Asked) -> None:
    with open_store(asked.store) as opened:
        rescored = rescore_run(opened, asked.run)
    assert (rescored.replies, rescored.changed) == (5, 0)


def test_that_a_gone_image_leaves_the_millimetres_out_only(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    asked.image.ref.path.rename(tmp_path / "elsewhere")
    found: tuple[StoredAnswer, ...] = answers_about(asked.store, asked.image.ref)
    assert all(a.measures and a.measures.distance_mm is None for a in found)
    assert {a.measures.distance_px for a in found if a.measures} == {
        a.measures.distance_px for a in asked.answers.values() if a.measures
    }


def test_that_a_run_of_cells_has_the_files_it_always_had(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as opened:
        run = planned(opened, tmp_path / "d", a_spec([D4]))
        finish(opened, run)
        files = {path.name for path in write_report(opened, run, tmp_path / "out")}
    assert not files & {"geometry.csv", "rules.csv"}
    found = answers_about(
        tmp_path / "s.sqlite", _first_image(tmp_path / "s.sqlite").ref
    )
    assert [answer.measures for answer in found] == [None]
    assert isinstance(found[0].answer, CellAnswer)


def _first_image(store: Path) -> DatasetImage:
    with open_store(store) as opened:
        return cases.dataset_named(opened, "tiny").images[0]
