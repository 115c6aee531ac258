import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import SmallChexlocalize, coded, square
from tests.helpers.tiny_study import a_spec
from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.answer import PointAnswer, Status
from viewer.domain.case import View
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import figure_table
from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.domain.result import Score, TrialResult
from viewer.metrics.proportions import patient_interval
from viewer.results.evaluate import evaluate
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.figures_rates import READERS, both_rules
from viewer.studies.grid_localization.pack_tables import rates_of
from viewer.studies.grid_localization.published import CNN, GPT_5, HUMAN
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


def test_that_readers_and_models_stand_under_both_rules_on_the_items_of_the_run() -> (
    None
):
    """p1: a point in a hit cell off the mask; p2: on the mask; p3: none; p4: neither.

    The mask of the first covers three quarters of cell A1, of the others all of B2.
    """
    part = block(0, 8, 0, 8)
    part[:4, :4] = False
    whole = Mask.of_array(block(8, 16, 8, 16))
    masks = {"p1_a": Mask.of_array(part), **dict.fromkeys(("p2_a", "p3_a"), whole)}
    masks |= {"p4_a": whole, "p5_a": whole}
    data = dataset(*(image(key, {"Edema": mask}) for key, mask in masks.items()))
    of = spec(("m", "pointer"), findings=["Edema"], side=64)
    points: dict[str, dict[str, tuple[PointPx, ...]]] = {
        "p1_a": {"Edema": (PointPx(2.0, 2.0),)},
        "p2_a": {"Edema": (PointPx(60.0, 60.0), PointPx(9.0, 9.0))},
        "p4_a": {"Edema": (PointPx(40.0, 40.0),)},
    }
    trials = [
        TrialResult(
            f"{key}|Edema",
            key[:2],
            key,
            "frontal",
            "Edema",
            "grid=8",
            0,
            model,
            Score(Status.SCORED_CORRECT, answer="B2"),
            said=PointAnswer(PointPx(9.0, 9.0)) if model == "pointer" else None,
        )
        for key in ("p1_a", "p2_a", "p3_a", "p4_a")
        for model in ("m", "pointer")
    ]
    context = ReportContext(data, beside=PlacesContext(human_points=points))
    tables = {t.name: t.records() for t in STUDY.report(trials, of, context).tables}
    people = {(r["finding"], r["rule"]): r for r in tables["human_by_rule"]}
    assert {(r["k"], r["n"]) for r in people.values()} == {(2, 4), (1, 4)}
    assert (people["Edema", "cell"]["k"], people["Edema", "pointing"]["k"]) == (2, 1)
    ends = patient_interval([1, 1, 0, 0], [1] * 4, 4).interval
    shown = people["(macro)", "cell"]
    assert (shown["hit_rate"], shown["ci_low"], shown["ci_high"]) == (
        pytest.approx((0.5, ends.low, ends.high))
    )
    models = {
        (r["model"], r["finding"], r["rule"]): r for r in tables["hit_rates_by_rule"]
    }
    # B2 and the point (9, 9) lie on the mask of all but the first
    for name in ("m", "pointer"):
        assert (models[name, "Edema", "pointing"]["k"]) == 3
        assert (models[name, "Edema", "cell"]["k"]) == 4  # as the trials say
    rates = rates_of(STUDY.report(trials, of, context)).records()
    both = tables["hit_rates_by_rule"], tables["human_by_rule"]
    figure = both_rules(rates, *both, "8", unlike_paper="")
    assert figure is not None
    assert figure.head.number == "Figure 2"
    drawn = {
        (r["panel"], r["group"], r["series"]): r
        for r in figure_table(figure).records()
        if r["kind"] == "bar"
    }
    bar = drawn["Rule of points", "Edema", READERS]
    assert (bar["rate"], bar["n"]) == (0.25, 4)
    bar = drawn["Rule of cells", "Edema", READERS]
    assert (bar["rate"], bar["low"], bar["high"]) == pytest.approx(
        (0.5, ends.low, ends.high)
    )
    printed = {
        panel.title: {mark.who for mark in panel.published} for panel in figure.panels
    }
    assert printed["Rule of points"] == {HUMAN, CNN}
    assert not printed["Rule of cells"] & {HUMAN, CNN}
    assert GPT_5 in printed["Rule of cells"]
    unlike = both_rules(rates, *both, "8", unlike_paper="other images")
    assert unlike is not None
    assert not any(panel.published for panel in unlike.panels)
    assert both_rules(rates, (), (), "8", unlike_paper="") is None
