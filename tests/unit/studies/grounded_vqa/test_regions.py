"""Regions: named by a first pass, outlined, pointed out, and compared."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.heal_run import answers, heal_dataset, heal_spec
from tests.helpers.tiny_study import plan_and_finish
from tests.helpers.tiny_transformers import write_tiny_sam
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.result import TrialResult
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.services.configuring.study_file import make_spec
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.services.synthetic.scripted_answers import grounded
from viewer.store import trials
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.localizing import located_box, overlaps
from viewer.studies.grounded_vqa.study import STUDY
from viewer.writers.verify.main import verify

MISSING = missing_dependency(ADAPTERS["transformers_local"])
SIZE = SizePx(200, 100)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("[100, 200, 500, 400]", BoxPx(10, 40, 50, 80)),
        ("It is at [100,200,500,400].", BoxPx(10, 40, 50, 80)),
        ("[1, 2] then [0, 0, 2000, 1000]", BoxPx(0, 0, 100, 200)),
        ("<think>[0,0,9,9]</think>[100, 200, 500, 400]", BoxPx(10, 40, 50, 80)),
        ("[0, 0, 10, 10] [not, a, box, here]", BoxPx(0, 0, 1, 2)),
        ("[500, 0, 100, 10]", None),
        ("[1, 2, 3, NaN]", None),
        ('["a", 1, 2, 3]', None),
        ("nowhere", None),
    ],
)
def test_that_a_box_in_thousandths_is_read(text: str, box: BoxPx | None) -> None:
    found = located_box(text, SIZE)
    if box is None:
        assert found is None
    else:
        assert found is not None
        expected = (box.x0, box.y0, box.x1, box.y1)
        assert (found.x0, found.y0, found.x1, found.y1) == pytest.approx(expected)


@pytest.mark.statement("E002-16")
def test_that_overlaps_equal_their_definitions() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        one, other = rng.random((2, 9, 7)) < 0.4
        found = overlaps(one, other)
        both = sum(bool(a and b) for a, b in zip(one.flat, other.flat, strict=True))
        either = sum(bool(a or b) for a, b in zip(one.flat, other.flat, strict=True))
        assert found.dice == 2 * both / (both + either)
        assert found.iou == both / either


def _run(store: Store, folder: Path, answer: str, **params: object) -> RunReport:
    heal_dataset(store, folder, 3)
    model = ModelProfile("says", "scripted", {"answer": answer})
    run = plan_and_finish(store, heal_spec([model], params))
    return report_data(store, run)


def _of(report: RunReport, condition: str) -> list[TrialResult]:
    return [r for r in report.results if r.condition == condition]


@pytest.mark.statement("E002-15", "E002-16")
def test_that_a_region_is_located_then_pointed_out_and_labelled_so(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        answer = "Yes [100, 150, 480, 800]"
        report = _run(store, tmp_path, answer, arms=["plain", "contour", "crop"])
        tables = {table.name: table for table in report.data.tables}
        sent = {
            condition: trials.sent_request(
                store, _of(report, condition)[0].request_sha256
            ).document
            for condition in ("plain", "contour", "crop")
        }
    accuracy = tables["table_2_accuracy"]
    at = accuracy.header.index("note")
    notes = {row[accuracy.header.index("condition")]: row[at] for row in accuracy.rows}
    assert notes == {
        "plain": "",
        "contour": "LobA-approximation",
        "crop": "LobA-approximation",
    }
    shown = {name: str(document).count("sha256") for name, document in sent.items()}
    assert shown["crop"] > shown["plain"] == shown["contour"]
    assert str(sent["contour"]) != str(sent["plain"])
    dice = [r.score.number("dice") for r in _of(report, "contour")]
    assert all(d is not None and 0 <= d <= 1 for d in dice)
    assert len(set(dice)) > 1
    passes = tables["passes"]
    assert passes.header == (
        *("item", "model", "repeat"),
        *("answer_plain", "answer_contour", "answer_crop", "dice"),
    )
    assert {row[3] for row in passes.rows} <= {"Yes", ""}
    bins = tables["figure_7_dice"]
    share = bins.header.index("share")
    assert sum(
        float(str(row[share])) for row in bins.rows if row[1] == "crop"
    ) == pytest.approx(1)


def test_that_a_region_that_is_not_located_ends_the_trial(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        report = _run(store, tmp_path, "Yes", arms=["contour"])
    assert {r.score.status for r in report.results} == {Status.UNPARSED}
    assert {r.score.reason for r in report.results} == {"not_located"}


def test_that_the_data_set_s_mask_can_be_the_region(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        report = _run(
            store, tmp_path, "Yes", arms=["contour"], region_source="reference"
        )
    statuses = {r.score.status for r in report.results if r.view == "positive"}
    assert statuses == {Status.SCORED_CORRECT}


@pytest.mark.statement("E002-06")
def test_that_an_extracting_model_reads_what_the_parser_cannot(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 3)
        vague = ModelProfile("vague", "scripted", {"answer": "It would appear so"})
        reads = ModelProfile("reads", "scripted", {"answer": "Yes"})
        spec = make_spec(
            study="grounded_vqa",
            dataset="q",
            preset="heal2025",
            seed=0,
            repeats=1,
            models=[vague],
            overrides={
                "arms": ["plain", "tpt"],
                "extraction": "model",
                "extractor": "reads",
            },
            known={"vague": vague, "reads": reads},
        )
        run = plan_and_finish(store, spec)
        report = report_data(store, run)
        assert rescore_run(store, run).changed == 0
    plain = [r for r in report.results if r.condition == "plain"]
    closed = [r for r in plain if r.view in {"positive", "hallucinated"}]
    opened = [r for r in plain if r not in closed]
    shams = [r for r in report.results if r.condition == "tpt-sham"]
    assert {r.score.answer for r in closed} == {"Yes"}
    assert shams
    assert {(r.score.answer, r.score.status) for r in shams} == {
        ("Yes", Status.SCORED_CORRECT)
    }
    assert {r.score.reason for r in opened} == {"unknown_label"}


@pytest.mark.statement("E002-06")
@pytest.mark.parametrize(
    ("extracted", "answer", "told"),
    [
        ("Pneumonia", "Pneumonia", "Pneumonia"),
        ("Cardiomegaly", "Cardiomegaly", ""),
        ("No finding", "No finding", "No finding"),
        ("I see nothing of use.", "Cardiomegaly", "not read"),
    ],
)
def test_that_an_extracting_model_reads_every_open_answer(
    tmp_path: Path, extracted: str, answer: str, told: str
) -> None:
    """Where it reads other than the dictionary a table says both."""
    asked = ModelProfile("asked", "scripted", {"answer": "The heart is enlarged."})
    reads = ModelProfile("reads", "scripted", {"answer": extracted})
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 3)
        spec = make_spec(
            study="grounded_vqa",
            dataset="q",
            preset="heal2025",
            seed=0,
            repeats=1,
            models=[asked],
            overrides={"extraction": "model", "extractor": "reads"},
            known={"reads": reads},
        )
        run = plan_and_finish(store, spec)
        report = report_data(store, run)
        assert rescore_run(store, run).changed == 0
        data = run_bundle(store, run)
    opened = [r for r in report.results if r.view in {"abnormality", "normal"}]
    assert {r.score.answer for r in opened} == {answer}
    tables = {table.name: table for table in report.data.tables}
    rows = tables["extraction_disagreements"].rows if told else ()
    assert len(rows) == (len(opened) if told else 0)
    assert {row[-2:] for row in rows} == ({(told, "Cardiomegaly")} if told else set())
    assert not verify(data, list[str]().append).wrong


@pytest.mark.proof
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.statement("E002-13", "E002-14", "E002-16")
def test_that_a_local_model_locates_a_segmenter_outlines_and_attention_is_raised(
    tmp_path: Path,
) -> None:
    folder = str(tiny_vlm.build("llava", tmp_path / "llava"))
    values = {
        "model": folder,
        "device": "cpu",
        "attention": "eager",
        "max_new_tokens": 3,
    }
    local = ModelProfile("looks", "transformers_local", values)
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 2)
        overrides = {
            "arms": ["plain", "loba"],
            "weights": ["1", "3"],
            "region_source": "reference",
            "longest_side": 64,
        }
        run = plan_and_finish(store, heal_spec([local], overrides))
        report = report_data(store, run)
        lit = [
            json.dumps(trials.sent_request(store, r.request_sha256).document)
            for r in report.results
            if r.condition.startswith("loba")
        ]
    assert lit
    assert all('"highlight"' in document for document in lit)
    tables = {table.name: table for table in report.data.tables}
    weights = [row[1] for row in tables["table_8_weights"].rows]
    assert weights == [1.0, 3.0]
    costs = {row[1]: row for row in tables["table_6_cost"].rows}
    assert set(costs) == {"plain", "loba-1", "loba-3"}
    assert all(float(str(row[3])) > 0 for row in costs.values())


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.statement("E002-14")
def test_that_a_segmenter_s_mask_is_the_region(tmp_path: Path) -> None:
    weights = str(write_tiny_sam(tmp_path / "sam"))
    says = ModelProfile("says", "scripted", {"answer": "Yes [100, 150, 480, 800]"})
    sam = ModelProfile("sam", "segmenter", {"model": weights, "device": "cpu"})
    with open_store(tmp_path / "s.sqlite") as store:
        heal_dataset(store, tmp_path, 2)
        spec = make_spec(
            study="grounded_vqa",
            dataset="q",
            preset="heal2025",
            seed=0,
            repeats=1,
            models=[says],
            overrides={"arms": ["contour"], "segmenter": "sam"},
            known={"says": says, "sam": sam},
        )
        run = plan_and_finish(store, spec)
        report = report_data(store, run)
    closed = [r for r in report.results if r.view == "positive"]
    assert {r.score.status for r in closed} == {Status.SCORED_CORRECT}
    assert all(r.score.number("dice") is not None for r in closed)


@pytest.mark.statement("E002-09", "E002-13", "E002-15")
def test_that_perturbation_tests_are_asked_with_regions_as_well(
    tmp_path: Path,
) -> None:
    overrides = {
        "arms": ["plain", "tpt", "vpt", "contour"],
        "perturb_regions": True,
    }
    with open_store(tmp_path / "s.sqlite") as store:
        dataset = heal_dataset(store, tmp_path, 6)
        stand_in = ModelProfile("any", "scripted", {"answer": ""})
        planned = STUDY.plan(dataset, heal_spec([stand_in], overrides))
        table = answers(planned, dataset, grounded)
        for trial in planned:
            place = f"{trial.item}|{trial.condition.name}|{trial.repeat}"
            table[f"{place}|locate"] = "[100, 100, 500, 500]"
            table[f"{place}|locate edited"] = "[500, 100, 900, 500]"
        (tmp_path / "a.json").write_text(json.dumps(table))
        path = {"answers_file": str(tmp_path / "a.json")}
        run = plan_and_finish(
            store, heal_spec([ModelProfile("g", "scripted", path)], overrides)
        )
        report = report_data(store, run)
        assert rescore_run(store, run).changed == 0
    tables = {table.name: table for table in report.data.tables}
    visual = tables["table_4_visual"]
    rows = [dict(zip(visual.header, row, strict=True)) for row in visual.rows]
    assert [(r["way"], r["note"], r["score"]) for r in rows] == [
        ("plain", "", 1.0),
        ("contour", "LobA-approximation", 1.0),
    ]
    ablation = tables["table_5_ablation"]
    both = [dict(zip(ablation.header, row, strict=True)) for row in ablation.rows]
    assert [(r["condition"], r["localization"], r["vpt"]) for r in both] == [
        ("plain", False, 1.0),
        ("contour", True, 1.0),
    ]
    nets = tables["sham_control"]
    at = nets.header.index("net")
    assert {row[at] for row in nets.rows if row[at] is not None} == {1.0}
    edited = [r for r in report.results if r.condition == "vpt/contour"]
    assert len({r.request_sha256 for r in edited if r.request_sha256}) > 1
