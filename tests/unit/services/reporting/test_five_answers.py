"""A cell, a point, boxes, a mask and a heat map about one phantom, under any rule."""

import csv
import hashlib
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import distance_transform_edt
from sklearn.metrics import f1_score, jaccard_score

from tests.helpers.five_answers import KINDS, Asked, ask_five
from tests.helpers.tiny_study import D4, a_spec, finish, planned
from tests.unit.services.exporting.test_export_item_bundle import members_of
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
)
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import Spacing
from viewer.metrics.pointing import centre
from viewer.readers.pixels import load_pixels
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.inspecting.answers import (
    StoredAnswer,
    answers_about,
    sent_images,
    sent_text,
)
from viewer.services.reporting.figures import write_report
from viewer.services.reporting.rescore import rescore_run
from viewer.store import cases
from viewer.store.database import open_store

Bools = npt.NDArray[np.bool_]
SIZE = SizePx(250, 200)
FIELD = BoxPx(0, 25, 200, 225)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "s.sqlite"


@pytest.fixture(scope="module")
def asked(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return ask_five(store, tmp_path_factory.mktemp("five"), SIZE)


@pytest.fixture(scope="module")
def shown(store: Path, asked: Asked) -> Mapping[str, StoredAnswer]:
    """Return the answers as the window shows them, by kind."""
    found = answers_about(store, asked.image.ref)
    return {a.measures.kind: a for a in found if a.measures}


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


@pytest.mark.statement("X-01")
def test_that_every_kind_of_answer_is_settled_with_one_status(
    asked: Asked, shown: Mapping[str, StoredAnswer]
) -> None:
    statuses = [row["status"] for row in asked.rows("items.csv")]
    assert len(statuses) == 5
    assert set(statuses) <= {Status.SCORED_CORRECT.value, Status.SCORED_WRONG.value}
    assert sorted(shown) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_that_the_screen_the_scorer_and_other_libraries_agree(
    asked: Asked, shown: Mapping[str, StoredAnswer], kind: str
) -> None:
    answer = shown[kind]
    (row,) = [r for r in asked.rows("geometry.csv") if r["kind"] == kind]
    found = answer.measures
    assert found is not None
    assert answer.answer is not None
    reference = asked.reference
    x, y = _point(answer.answer)
    spacing = load_pixels(answer.ref).geometry.spacing
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
        "point_x": found.point.x,
        "point_y": found.point.y,
        "iou": found.iou,
        "dice": found.dice,
        "distance_px": found.distance_px,
        "distance_mm": found.distance_mm,
    }
    for name, value in expected.items():
        assert float(row[name]) == pytest.approx(value, abs=1e-9), name
        assert on_screen[name] == pytest.approx(float(row[name]), abs=1e-9), name
    assert row["pointing_hit"] == str(bool(reference[int(y), int(x)]))
    assert row["pointing_hit"] == str(found.pointing_hit)
    hit = answer.score.answer in answer.reference_cells
    assert (row["cell_hit"], found.cell_hit) == (str(hit), hit)
    assert hit == (answer.score.status is Status.SCORED_CORRECT)
    assert row["iou_hit"] == ("" if found.iou is None else str(found.iou >= 0.5))


@pytest.mark.statement("X-03")
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


def test_that_each_model_is_asked_in_its_own_words_about_a_grid_only_for_cells(
    store: Path, asked: Asked, shown: Mapping[str, StoredAnswer]
) -> None:
    images = {kind: sent_images(store, a.request_sha256) for kind, a in shown.items()}
    assert images["cell"] == images["heat_map"] != images["point"]
    assert images["point"] == images["boxes"] == images["mask"]
    texts = {k: sent_text(store, a.request_sha256) for k, a in shown.items()}
    for kind in ("cell", "heat_map"):
        (system, user) = texts[kind]
        assert (system[0], user[0]) == ("system", "user")
        assert "grid cell" in user[1]
    assert texts["point"] == (("user", f"Point to the {asked.finding}."),)
    assert "bbox_2d" in texts["boxes"][0][1]
    assert "ymin" in texts["mask"][0][1]
    assert len({a.prompt_sha256 for a in shown.values()}) == 4
    with open_store(store) as opened:
        kept = opened.rows("SELECT sha256, body FROM prompt")
    bodies = {row["sha256"]: row["body"] for row in kept}
    for answer in shown.values():
        body = bodies[answer.prompt_sha256]
        assert hashlib.sha256(body.encode()).hexdigest() == answer.prompt_sha256
    manifest = json.loads(asked.files["manifest.json"])
    named = {prompt["sha256"] for prompt in manifest["study"]["prompts"]}
    assert named == {a.prompt_sha256 for a in shown.values()}


def test_that_reading_the_replies_again_changes_nothing(
    store: Path, asked: Asked
) -> None:
    with open_store(store) as opened:
        rescored = rescore_run(opened, asked.run)
    assert (rescored.replies, rescored.changed) == (5, 0)


def test_that_answers_are_measured_alike_when_the_image_is_gone(
    tmp_path: Path,
) -> None:
    store = tmp_path / "s.sqlite"
    asked = ask_five(store, tmp_path, SIZE)
    before = [a.measures for a in answers_about(store, asked.image.ref)]
    asked.image.ref.path.rename(tmp_path / "elsewhere")
    after = [a.measures for a in answers_about(store, asked.image.ref)]
    assert after == before
    assert all(one and one.distance_mm is not None for one in before)


def test_that_a_bundle_measures_in_millimetres_under_pseudonyms_as_well(
    store: Path, asked: Asked
) -> None:
    with open_store(store) as opened:
        bundle = run_bundle(opened, asked.run)
    told = members_of(bundle)["tables/geometry.csv"].decode()
    measured = ("model", "distance_px", "distance_mm", "mm_meaning", "iou", "dice")
    mine, theirs = (
        [[row[name] for name in measured] for row in rows]
        for rows in (asked.rows("geometry.csv"), csv.DictReader(io.StringIO(told)))
    )
    assert mine == theirs
    assert all(row[2] for row in mine)


def test_that_a_run_of_cells_has_the_files_it_always_had(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as opened:
        run = planned(opened, tmp_path / "d", a_spec([D4]))
        finish(opened, run)
        files = {path.name for path in write_report(opened, run, tmp_path / "out")}
        image = cases.dataset_named(opened, "tiny").images[0]
    assert not files & {"geometry.csv", "rules.csv"}
    (found,) = answers_about(tmp_path / "s.sqlite", image.ref)
    assert found.measures is None
    assert isinstance(found.answer, CellAnswer)
