"""The medsyn2026 pack on synthetic cases: every table cell is its closed form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.evidence_pack import Made, make_pack
from tests.helpers.evidence_run_cells import check_every_cell
from tests.helpers.scripted_server import Script, ScriptedServer
from viewer.domain.geometry import SizePx
from viewer.services.exporting.export_bundle import export_bundle
from viewer.services.inspecting.runs import run_doubt
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store
from viewer.writers.verify.main import verify_file

SMALL = SizePx(128, 128)


@pytest.fixture(scope="module")
def made(undrawn: None, tmp_path_factory: pytest.TempPathFactory) -> Made:  # noqa: ARG001 - for its effect
    return make_pack(tmp_path_factory.mktemp("medsyn"), 6, 2, SMALL)


@pytest.mark.statement(
    *("E004-06", "E004-07", "E004-08", "E004-09", "E004-10", "E004-11", "E004-12"),
    *("E004-13", "E004-14", "E004-15", "E004-17", "E004-18", "E004-19"),
)
def test_that_every_cell_of_the_pack_is_its_closed_form(made: Made) -> None:
    cells = check_every_cell(made)
    assert len(cells) == 61
    assert all(cells.values())


@pytest.mark.statement("E004-09")
def test_that_a_judge_who_said_seven_was_asked_again_and_none_is_lost(
    made: Made,
) -> None:
    items = made.table("items", "run")
    reasons = [line["reason"] for line in items]
    assert {"judge_unparsed", "off_rubric"} < set(reasons)
    ddx = [line for line in items if line["finding"] == "ddx"]
    for line in made.table("table_08"):
        own = [one for one in ddx if one["model"] == line["model"]]
        judged = [one for one in own if one["judge"]]
        assert int(line["n_judged_all"]) == len(judged) > 0
        assert int(line["n_planned_all"]) == len(own) == 6
        assert {one["judge"] for one in judged} <= {
            "0.0",
            "1.0",
            "2.0",
            "3.0",
            "4.0",
            "5.0",
        }


@pytest.mark.statement("E004-14")
def test_that_words_in_place_of_tokens_badge_the_run(made: Made) -> None:
    manifest = json.loads((made.folder / "run" / "manifest.json").read_text())
    words = "random words replaced random tokens of its own"
    assert sorted(manifest["run"]["notes"]) == sorted(
        [model, "stood_in", words] for model in made.models
    )
    page = (made.folder / "run" / "report.html").read_text(encoding="utf-8")
    assert f"{made.models[0]}: {words}." in page


@pytest.mark.statement("E004-25")
def test_that_the_papers_figures_are_there(made: Made) -> None:
    names = {path.name for path in (made.folder / "figures").iterdir()}
    for name in (
        "02",
        "03a",
        "03b",
        "04",
        "09a",
        "09b",
        "10",
        "11",
        "13_1",
        "14",
        "15",
    ):
        assert any(f"fig_{name}" in found for found in names), name
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    assert "Multimodal models integrate the evidence" in page


STUDY = """
study = "evidence_diagnosis"
dataset = "cases"
models = ["knows"]
[params]
tasks = ["ddx", "fdx"]
judge = "judge"
estimator = "monte_carlo"
sensitivity = true
draws = 3
[[model]]
name = "knows"
adapter = "scripted"
answers_file = "knows.json"
[[model]]
name = "judge"
adapter = "scripted"
answer = "Score: 5\\nRationale: It is named first."
"""


@pytest.mark.statement("E004-06", "E004-17", "E004-26")
def test_that_cases_are_made_imported_asked_and_packed_on_the_command_line(
    overread: Callable[..., Any], tmp_path: Path
) -> None:
    store = ["--store", tmp_path / "s.sqlite"]
    made = ["--out", tmp_path / "cases", "--n", 3, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    told = overread("import", "medsyn", tmp_path / "cases", "--name", "cases", *store)
    assert told["items"] == 6  # a report beside each case
    items = overread("cases", "cases", *store)["items"]
    answers = {
        f"{one['item']}|{task}": one["reference"]["diagnosis"]
        for one in items
        if one["item"].startswith("case")
        for task in ("ddx", "fdx")
    }
    (tmp_path / "knows.json").write_text(json.dumps(answers), encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    run = overread("run", tmp_path / "study.toml", *store)
    assert set(run["counts"]) == {"scored_correct"}
    packed = ["--run", run["run"], "--out", tmp_path / "pack"]
    overread("pack", "medsyn2026", *packed, *store)
    made_pack = Made(tmp_path / "pack", (), ("knows",))
    (line,) = made_pack.table("table_02")
    assert (line["ddx_all"], line["fdx_all"]) == ("1.0", "1.0")
    for point in made_pack.table("sensitivity"):
        assert float(point["image_s"]) == 0.0
        assert float(point["image_corrected"]) == 0.0
        assert float(point["image_low"]) == 0.0 < float(point["image_high"])


SILENT = """
study = "evidence_diagnosis"
dataset = "cases"
models = ["silent"]
[params]
tasks = ["fdx"]
estimator = "top_logprobs"
sensitivity = true
[[model]]
name = "silent"
adapter = "openai_api"
base_url = "{base_url}"
model = "scripted-1"
"""


@pytest.mark.statement("E004-17")
def test_that_a_run_says_which_endpoint_gave_no_log_probabilities(
    overread: Callable[..., Any], tmp_path: Path
) -> None:
    store = ["--store", tmp_path / "s.sqlite"]
    made = ["--out", tmp_path / "cases", "--n", 2, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    overread("import", "medsyn", tmp_path / "cases", "--name", "cases", *store)
    with ScriptedServer(Script(answer="(A)")) as server:
        study = SILENT.format(base_url=server.base_url)
        (tmp_path / "silent.toml").write_text(study, encoding="utf-8")
        run = overread("run", tmp_path / "silent.toml", *store)
    (sentence,) = run["warnings"]
    assert sentence.startswith("silent gave no log-probabilities of the options, so ")
    report = ["--out", tmp_path / "report", *store]
    overread("report", run["run"], *report)
    assert not (tmp_path / "report" / "sensitivity.csv").exists()
    assert (tmp_path / "report" / "table_02.csv").exists()
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count(f'role="note">{sentence}') == 1
    assert run_doubt(tmp_path / "s.sqlite", run["run"]) == sentence


JUDGES = """
study = "evidence_diagnosis"
dataset = "cases"
models = ["lists"]
[params]
tasks = ["ddx", "open_fdx"]
judge = "kind"
second_judge = "strict"
third_judge = "odd"
decided_by = "{decided_by}"
[[model]]
name = "lists"
adapter = "scripted"
answer = "Sarcoidosis"
[[model]]
name = "kind"
adapter = "scripted"
answer = "Score: 5\\nRationale: It is named."
[[model]]
name = "strict"
adapter = "scripted"
answer = "Score: 2\\nRationale: It is not close."
[[model]]
name = "odd"
adapter = "scripted"
answer = "Five of five."
"""


@pytest.mark.statement("E004-09")
@pytest.mark.parametrize(
    ("decided_by", "right"), [("first", True), ("majority", False)]
)
def test_that_several_judges_are_verified_with_whoever_decides(
    overread: Callable[..., Any], tmp_path: Path, decided_by: str, right: bool
) -> None:
    store = ["--store", tmp_path / "s.sqlite"]
    made = ["--out", tmp_path / "cases", "--n", 4, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    overread("import", "medsyn", tmp_path / "cases", "--name", "cases", *store)
    path = tmp_path / "judges.toml"
    path.write_text(JUDGES.format(decided_by=decided_by), encoding="utf-8")
    run = overread("run", path, *store)
    assert set(run["counts"]) == {"scored_correct" if right else "scored_wrong"}
    with open_store(tmp_path / "s.sqlite") as opened:
        bundle = export_bundle(opened, run["run"], tmp_path / "b.zip")
        tables = {one.name: one for one in report_data(opened, run["run"]).data.tables}
    every = tables["judge_agreement"].records()
    # the third judge cannot be read, so it is in no pair
    assert {(one["first"], one["second"]) for one in every} == {("kind", "strict")}
    assert {one["same_verdict"] for one in every} == {0.0}
    by = {(x["judge"], x["n_judged"], x["k"]) for x in tables["by_judge"].records()}
    assert by == {("kind", 4, 4), ("strict", 4, 0), ("odd", 0, 0)}
    said: list[str] = []
    assert verify_file(bundle, said.append) == 0, said
    assert said[-1].startswith("VERIFIED")
