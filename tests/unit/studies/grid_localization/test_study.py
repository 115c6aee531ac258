"""The study from plan to report through the interface that services use."""

import hashlib

import numpy as np

from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from viewer.domain.answer import CellAnswer, PointAnswer, Status, Unparsed
from viewer.domain.case import View
from viewer.domain.exchange import ImagePart, ModelReply, TextPart
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.grid import Cell
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.domain.result import TrialResult
from viewer.domain.run import Trial
from viewer.studies.catalog import placing_study

STUDY = placing_study()
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


def answered(trial: Trial) -> TrialResult:
    """Ask a model that always says D3, and score what it says."""
    shown = next(image for image in DATA.images if image.key == trial.image)
    pixels = PixelImage(np.zeros((64, 64), np.float32), Photometric.MONOCHROME2)
    counts = STUDY.reference_counts(shown, trial.finding, DATA, trial.condition, PARAMS)
    stimulus = STUDY.stimulus(pixels, trial.condition, PARAMS)
    request = STUDY.request(trial, stimulus, PARAMS, SPEC.seed, counts)
    assert request.facts.reference_counts == counts
    answer = STUDY.parse(ModelReply("D3"), trial, PARAMS)
    reference = STUDY.reference(shown.masks[trial.finding], trial.condition, PARAMS)
    in_cell = STUDY.in_cell(answer, trial.condition, SizePx(64, 64), PARAMS)
    score = STUDY.score(in_cell, reference)
    grid, cells = reference.grid, reference.grid.cells()
    cell = grid.cell(score.answer)
    assert cell is not None
    return TrialResult(
        trial.item,
        trial.patient,
        trial.image,
        trial.view,
        trial.finding,
        trial.condition.name,
        trial.repeat,
        trial.model,
        score,
        len(cells),
        cells.index(cell),
        reference.hits,
        tuple(grid.label(cells[i]) for i in reference.hits),
        "0" * 64,
        reference.fallback,
        reference.fraction_outside,
        reference.alternate_hits,
    )


def test_that_a_constant_model_goes_from_plan_to_report_with_no_skill() -> None:
    trials = STUDY.plan(DATA, SPEC)
    assert {t.condition for t in trials} == set(STUDY.conditions(PARAMS))
    data = STUDY.report([answered(trial) for trial in trials], SPEC)
    results = data.tables[1]
    rows = [dict(zip(results.header, row, strict=True)) for row in results.rows]
    assert {row["skill"] for row in rows} == {0.0}
    eight = next(r for r in rows if (r["view"], r["condition"]) == ("all", "grid=8"))
    assert (eight["n_planned"], eight["k"], eight["hit_rate"]) == (8, 4, 0.5)


def test_that_params_survive_the_study_file() -> None:
    assert plain(PARAMS) == dict(SPEC.params)


def test_that_a_point_counts_for_its_cell_and_beyond_what_was_sent_for_none() -> None:
    condition, size = STUDY.conditions(PARAMS)[0], SizePx(64, 96)
    inside = PointAnswer(PointPx(17, 1))
    in_cell = STUDY.in_cell(inside, condition, size, PARAMS)
    assert in_cell == CellAnswer(Cell(0, 0), "point")
    beyond = PointAnswer(PointPx(15.9, 1))
    out = STUDY.in_cell(beyond, condition, size, PARAMS)
    assert out == Unparsed(Status.OUT_OF_RANGE, "not_on_what_was_sent")


def test_that_a_refusal_and_a_cut_reply_count_before_any_place() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    place = PointAnswer(PointPx(3, 4))
    assert STUDY.parse(ModelReply(""), trial, PARAMS, place) == place
    cut = ModelReply("", finish_reason="length")
    expected = Unparsed(Status.TRUNCATED, "length")
    assert STUDY.parse(cut, trial, PARAMS, place) == expected
    refused = STUDY.parse(ModelReply("", refusal="No."), trial, PARAMS, place)
    assert refused == Unparsed(Status.REFUSED, "refusal_field")


def test_that_a_model_of_places_is_asked_in_its_own_words() -> None:
    trial = STUDY.plan(DATA, SPEC)[0]
    pixels = PixelImage(np.zeros((64, 64), np.float32), Photometric.MONOCHROME2)
    stimulus = STUDY.stimulus(pixels, trial.condition, PARAMS)
    asked = STUDY.request(trial, stimulus, PARAMS, 0, None, "Point to {condition}.")
    (message,) = asked.messages
    assert message.parts == (ImagePart(stimulus.png), TextPart("Point to Edema."))
    name, text = STUDY.prompt(trial.view, "Point to {condition}.")
    assert name == "places"
    assert hashlib.sha256(text.encode()).hexdigest() == asked.prompt_sha256
    assert STUDY.sent_size(PARAMS) == stimulus.plain.size
