"""A run whose endpoint left a parameter out or changed its model is badged."""

import json
import zlib
from datetime import datetime
from pathlib import Path

import pytest

from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import Received, Script, ScriptedServer, completion
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    finish,
    plan_and_finish,
    planned,
    server_profile,
)
from viewer.cli import run_command_line
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunNote
from viewer.services.reporting.figures import write_report
from viewer.store import runs
from viewer.store.database import Store, open_store

SEED = RunNote(
    "my-server", "parameter_dropped", "seed was rejected by the endpoint and left out"
)


class Renamed(Script):
    """A server whose model is another one after some answers."""

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Answer as the model of the moment."""
        document = completion(self.answer_to(request.body))
        document["model"] = f"m-{1 + self.received.index(request) // 2}"
        document["system_fingerprint"] = "fp_7"
        return 200, document


def a_run(store: Store, folder: Path, script: Script) -> int:
    with ScriptedServer(script) as server:
        profile = server_profile(server.base_url, seed=1)
        run = planned(store, folder / "d", a_spec([profile]))
        finish(store, run)
    return run


def test_that_a_parameter_left_out_is_noted_once_and_told_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "s.sqlite", tmp_path / "report"
    with open_store(path) as store:
        run = a_run(store, tmp_path, EndpointScript(rejects={"seed": "openai"}))
        assert runs.run_notes(store, run) == (SEED,)
        assert runs.run_summary(store, run).notes == (SEED,)
        (summary,) = runs.run_summaries(store, include_adhoc=False)
        assert summary.notes == (SEED,)
        write_report(store, run, out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["run"]["notes"] == [[SEED.model, SEED.kind, SEED.text]]
    assert str(SEED) in (out / "report.html").read_text()
    assert run_command_line(["runs", "--store", str(path)]) == 0
    assert SEED.text in capsys.readouterr().out


def test_that_a_run_that_uses_such_replies_again_is_badged_too(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "s.sqlite") as store,
        ScriptedServer(EndpointScript(rejects={"seed": "vllm"})) as server,
    ):
        spec = a_spec([server_profile(server.base_url, seed=1)])
        run = planned(store, tmp_path / "d", spec)
        finish(store, run)
        asked = len(server.script.received)
        again = plan_and_finish(store, spec, new=True)
        assert len(server.script.received) == asked
        assert runs.run_notes(store, again) == (SEED,)


@pytest.mark.statement("E000-15")
def test_that_a_model_that_changes_mid_run_is_noted(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = a_run(store, tmp_path, Renamed())
        (note,) = runs.run_notes(store, run)
        (first,) = runs.models_returned(store, run).values()
    assert note.kind == "model_changed"
    later = ({"m-1", "m-2"} - {first}).pop()
    assert note.text == f"the endpoint answered as {first} and later as {later}"


@pytest.mark.statement("E000-15")
def test_that_a_reply_keeps_its_model_fingerprint_and_date(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = a_run(store, tmp_path, Renamed())
        rows = store.rows(
            "SELECT r.model_returned, r.body, r.received_at FROM reply r"
            " JOIN attempt a ON a.id = r.attempt_id"
            " JOIN trial t ON t.id = a.trial_id WHERE t.run_id = ?",
            (run,),
        )
    assert {row["model_returned"] for row in rows} == {"m-1", "m-2"}
    for row in rows:
        assert b'"system_fingerprint": "fp_7"' in zlib.decompress(row["body"])
        assert datetime.fromisoformat(row["received_at"]).tzinfo is not None


@pytest.mark.statement("E000-15")
def test_that_a_run_without_surprises_has_no_badge(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = a_run(store, tmp_path, Script())
        assert runs.run_summary(store, run).notes == ()


def test_that_prepared_answers_for_unknown_images_are_noted(tmp_path: Path) -> None:
    answers = tmp_path / "points.json"
    answers.write_text(
        json.dumps(
            {
                "patient00000_frontal|Edema": "D4",
                "patient00001_frontal": "D4",
                "patient00077_frontal|Edema": "D4",
                "patient00077_frontal|Mass": "D4",
            }
        )
    )
    settings = {"answers_file": str(answers), "answer": ""}
    models = [ModelProfile("points", "scripted", settings), D4]
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(store, tmp_path / "d", a_spec(models))
        text = (
            "its file has answers for 1 image that the data set does not have, "
            "such as patient00077_frontal"
        )
        assert runs.run_notes(store, run) == (
            RunNote("points", "unknown_images", text),
        )
