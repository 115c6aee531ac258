"""The study from plan to report through the interface that services use."""

from dataclasses import replace

from tests.unit.studies.grid_localization.asking import RAMP, FakeSources, turn_of
from tests.unit.studies.grid_localization.cases import (
    block,
    condition,
    dataset,
    image,
    spec,
)
from viewer.domain.answer import CellAnswer, PointAnswer, Status, Unparsed
from viewer.domain.case import View
from viewer.domain.conditions import with_boxes, with_window
from viewer.domain.exchange import ImagePart, ModelReply, TextPart
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell
from viewer.domain.image import Window
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.domain.run import Step, Trial
from viewer.imaging.png import encode_png
from viewer.studies.grid_localization.placed import Placed, PlacedTrial
from viewer.studies.grid_localization.study import STUDY

DATA = dataset(
    *(
        image(
            f"p{i}_{view}",
            {"Edema": Mask.of_array(block(8 * i, 8 * i + 16, 8, 32))},
            view=view,
        )
        for i in range(4)
        for view in (View.FRONTAL, View.LATERAL)
    )
)
SPEC = spec(("constant",), grids=[8, 16], findings=["Edema"], replicates=100)
PARAMS = STUDY.read_params(SPEC.preset, dict(SPEC.params))


PLACES = STUDY.places(PARAMS)


def answered(trial: Trial) -> PlacedTrial:
    """Ask a model that always says D3, and score what it says."""
    sources = FakeSources(DATA, needs_counts=True)
    turn = turn_of(trial, DATA)
    step = STUDY.next_step(turn, PARAMS)
    assert step is not None
    counts = STUDY.question(turn, step, sources, PARAMS).facts
    assert counts is not None
    assert counts.reference_counts is not None
    assert sum(map(sum, counts.reference_counts)) > 0
    turn = turn_of(trial, DATA, ModelReply("D3"))
    assert STUDY.next_step(turn, PARAMS) is None
    score = STUDY.score(turn, STUDY.parse(turn, PARAMS), PARAMS)
    shown = turn.images[trial.image]
    reference = PLACES.reference(
        shown.masks[trial.finding], shown.geometry, trial.condition
    )
    assert STUDY.gold(turn, PARAMS) == {"cells": list(reference.names)}
    grid, cells = reference.grid, reference.grid.cells()
    cell = grid.cell(score.answer)
    assert cell is not None
    return PlacedTrial(
        trial.item,
        trial.patient,
        trial.image,
        trial.view,
        trial.finding,
        trial.condition.name,
        trial.repeat,
        trial.model,
        score,
        "0" * 64,
        placed=Placed(
            len(cells),
            cells.index(cell),
            reference.hits,
            reference.fallback,
            reference.fraction_outside,
            reference.alternate_hits,
        ),
    )


def test_that_a_constant_model_goes_from_plan_to_report_with_no_gain() -> None:
    trials = STUDY.plan(DATA, SPEC)
    assert {t.condition for t in trials} == set(STUDY.conditions(PARAMS))
    data = STUDY.report([answered(trial) for trial in trials], SPEC)
    results = data.tables[0]
    rows = [dict(zip(results.header, row, strict=True)) for row in results.rows]
    assert {row["gain"] for row in rows} == {0.0}
    eight = next(r for r in rows if (r["view"], r["condition"]) == ("all", "grid=8"))
    assert (eight["n_planned"], eight["k"], eight["hit_rate"]) == (8, 4, 0.5)


def test_that_params_survive_the_study_file() -> None:
    assert plain(PARAMS) == dict(SPEC.params)


def test_that_a_point_counts_for_its_cell_and_beyond_what_was_sent_for_none() -> None:
    condition, size = STUDY.conditions(PARAMS)[0], SizePx(64, 96)
    inside = PointAnswer(PointPx(17, 1))
    in_cell = PLACES.in_cell(inside, condition, ImageGeometry(size))
    assert in_cell == CellAnswer(Cell(0, 0), "point")
    beyond = PointAnswer(PointPx(15.9, 1))
    out = PLACES.in_cell(beyond, condition, ImageGeometry(size))
    assert out == Unparsed(Status.OUT_OF_RANGE, "not_on_what_was_sent")


def test_that_a_refusal_and_a_cut_reply_count_before_any_place() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    place = PointAnswer(PointPx(3, 4))
    assert (
        STUDY.parse(turn_of(trial, DATA, ModelReply(""), placed=place), PARAMS) == place
    )
    cut = turn_of(trial, DATA, ModelReply("", finish_reason="length"), placed=place)
    assert STUDY.parse(cut, PARAMS) == Unparsed(Status.TRUNCATED, "length")
    refused = turn_of(trial, DATA, ModelReply("", refusal="No."), placed=place)
    assert STUDY.parse(refused, PARAMS) == Unparsed(Status.REFUSED, "refusal_field")


def test_that_a_model_of_places_is_asked_in_its_own_words() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    sources = FakeSources(DATA, asking="Point to {condition}.")
    asked = STUDY.question(turn_of(trial, DATA), Step("answer"), sources, PARAMS)
    (message,) = asked.messages
    picture = ImagePart(encode_png(PLACES.plain(RAMP)))
    assert message.parts == (picture, TextPart("Point to Edema."))
    assert (asked.prompt, asked.template) == ("places", "user:\nPoint to {condition}.")
    assert PLACES.sent_size(condition(8)) == PLACES.plain(RAMP).size


def test_that_a_model_of_places_sees_the_grid_only_where_that_is_asked_for() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    sources = FakeSources(DATA, asking="Point to {condition}.")
    params = replace(PARAMS, grid_for_coordinates=True)
    asked = STUDY.question(turn_of(trial, DATA), Step("answer"), sources, params)
    (picture, _) = asked.messages[0].parts
    assert picture == ImagePart(encode_png(PLACES.gridded(RAMP, trial.condition)))


def test_that_boxes_and_a_window_of_the_condition_reach_a_segmenter() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    window, boxes = Window(40, 400), (BoxPx(1, 2, 3, 4),)
    asked = replace(
        trial, condition=with_boxes(with_window(trial.condition, window), boxes)
    )
    for takes, given in ((True, boxes), (False, None)):
        sources = FakeSources(DATA, takes_boxes=takes)
        turn = turn_of(asked, DATA)
        question = STUDY.question(turn, Step("answer"), sources, PARAMS)
        assert (question.boxes and question.boxes.boxes) == given
        assert sources.windows[0] == window
    assert STUDY.longest(DATA, PARAMS)[0].images == (PLACES.sent_size(condition(8)),)


def test_that_an_answer_without_a_reference_is_kept_and_counts_nowhere() -> None:
    condition = STUDY.conditions(PARAMS)[0]
    named = PLACES.score(CellAnswer(Cell(0, 0)), None, condition)
    assert (named.status, named.reason, named.answer) == (
        *(Status.EXCLUDED, "no_gt", "A1"),
    )
    unread = PLACES.score(Unparsed(Status.UNPARSED, "no_cell"), None, condition)
    assert (unread.status, unread.answer) == (Status.EXCLUDED, "")
    nothing = replace(STUDY.plan(DATA, SPEC)[0], finding="Fracture")
    assert STUDY.gold(turn_of(nothing, DATA), PARAMS) == {}
