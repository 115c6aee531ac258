import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import SmallChexlocalize, coded, square
from tests.helpers.tiny_study import a_spec
from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.case import View
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.results.evaluate import evaluate
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.report import (
    HUMAN_PAIRS,
    HUMAN_TABLE,
    human_frame,
    is_on,
)
from viewer.studies.places import PlacesContext
from viewer.studies.protocol import ReportContext

STUDY = study_named("grid_localization")
MASK = Mask.of_array(block(8, 16, 8, 16))


@pytest.mark.statement("E000-23")
def test_that_a_point_is_on_the_mask_at_the_pixel_that_holds_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        array = rng.random((13, 9)) < 0.4
        mask = Mask.of_array(array)
        for x, y in rng.uniform(-1, 14, (200, 2)):
            inside = x >= 0 and y >= 0 and int(y) < 13 and int(x) < 9
            expected = bool(inside and array[int(y), int(x)])
            assert is_on(mask, PointPx(x, y)) is expected


@pytest.mark.statement("E000-23")
def test_that_any_point_counts_and_a_missing_one_is_a_miss() -> None:
    data = dataset(
        image("p1_a", {"Edema": MASK}),
        image("p2_a", {"Edema": MASK, "Airspace Opacity": MASK}),
        image("p3_a", {"Edema": MASK}, view=View.LATERAL),
        image("p4_a", {"Edema": MASK}),
        image("p5_a", {"Edema": MASK}, view=View.UNKNOWN),
    )
    on, off = PointPx(8.9, 15.9), PointPx(16.0, 9.0)
    points: dict[str, dict[str, tuple[PointPx, ...]]] = {
        "p1_a": {"Edema": (off, on)},
        "p2_a": {"Edema": (off,), "Lung Opacity": (on,)},
        "p3_a": {"Edema": (on,)},
    }
    pairs = human_frame(points, data, STUDY.read_params("gosai2025", {}))
    table = evaluate(HUMAN_TABLE, {HUMAN_PAIRS: pairs})
    rows = {row["finding"]: row for row in table.records()}
    edema, opacity = rows["Edema"], rows["Airspace Opacity"]
    assert (edema["k"], edema["n"], edema["without_points"]) == (2, 4, 1)
    assert (opacity["k"], opacity["n"]) == (1, 1)
    assert rows["(macro)"]["hit_rate"] == (2 / 4 + 1) / 2
    assert list(rows) == ["Airspace Opacity", "Edema", "(macro)"]


def test_that_a_report_without_points_or_with_a_damaged_file_says_so() -> None:
    one = [result("p1_a", "Edema", 0, (0,))]
    context = ReportContext(dataset(image("p1_a", {"Edema": MASK})))
    assert "human" not in [t.name for t in STUDY.report(one, spec(), context).tables]
    broken = replace(
        context, beside=PlacesContext(human_problem="'x.json' is no complete JSON.")
    )
    data = STUDY.report(one, spec(), broken)
    (section,) = (s for s in data.appendix if s.title == "Radiologists, recomputed")
    assert section.text == "'x.json' is no complete JSON."
    points = {"q": {"Edema": (PointPx(1, 1),)}}
    elsewhere = replace(context, beside=PlacesContext(human_points=points))
    (table,) = (
        t for t in STUDY.report(one, spec(), elsewhere).tables if t.name == "human"
    )
    assert table.rows == (("Edema", 1, 1, 0, 0.0), ("(macro)", 1, 1, 0, 0.0))


@pytest.mark.statement("E000-23")
def test_that_the_human_row_is_recomputed_where_the_points_are_there(
    tmp_path: Path,
) -> None:
    keys = [f"patient6474{i}_study1_view1_frontal" for i in range(3)]
    data = SmallChexlocalize(tmp_path / "d", "test")
    for key in keys:
        data.picture(key)
    masks = {key: {"Edema": coded(square())} for key in keys}
    data.segment(masks)
    row, column = (int(v) for v in np.argwhere(square())[0])
    on, off = [column + 0.5, row + 0.5], [7, 5]
    points = {keys[0]: {"Edema": [off, on]}, keys[1]: {"Edema": [off]}}
    data.masks.with_name("hb_salient_pt_test.json").write_text(json.dumps(points))
    model = ModelProfile("m", "scripted", {"answer": "D4"})
    with open_store(tmp_path / "s.sqlite") as store:
        import_dataset(store, "chexlocalize", data.root, "d")
        run = plan_run(
            store,
            a_spec([model], dataset="d", params={"findings": ["Edema"]}),
        )
        tables = {t.name: t for t in report_data(store, run).data.tables}
    assert tables["human"].rows[0] == ("Edema", 3, 1, 1, 1 / 3)
