from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, misjudge, planned
from viewer.cli import run_command_line
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.result import Outcome, Score
from viewer.services.reporting.report_run import checked_report, report_data
from viewer.services.reporting.rescore import departure_sentence, rescore_run
from viewer.store import trials
from viewer.store.database import Store
from viewer.studies.grid_localization import score as scorer


def test_that_only_verdicts_that_changed_are_appended(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(store, tmp_path / "d", a_spec([UNIFORM], repeats=10))
    finish(store, run)
    before = trials.scored_trials(store, run)
    verdicts = store.rows("SELECT count(*) FROM score")[0][0]
    honest = scorer.score

    def generous(answer: Any, reference: Any) -> Score:  # noqa: ANN401 - a stand-in
        score = honest(answer, reference)
        if score.status is Status.SCORED_CORRECT:
            return score
        return Score(Status.SCORED_CORRECT, "", score.answer, 1.0, Outcome.FULL)

    monkeypatch.setattr(scorer, "score", generous)
    wrong = sum(t.score.status is Status.SCORED_WRONG for t in before)
    assert 0 < wrong < 40
    assert rescore_run(store, run).changed == wrong
    after = trials.scored_trials(store, run)
    assert {t.score.status for t in after} == {Status.SCORED_CORRECT}
    assert store.rows("SELECT count(*) FROM score")[0][0] == verdicts + wrong
    monkeypatch.undo()
    assert rescore_run(store, run).changed == wrong
    assert trials.scored_trials(store, run) == before


def test_that_a_report_tells_of_verdicts_that_do_not_match_their_replies(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = planned(store, tmp_path / "d", a_spec([UNIFORM], repeats=3))
    finish(store, run)
    out = tmp_path / "report"
    assert departure_sentence(store, run) == checked_report(store, run).doubt == ""
    one = misjudge(store, run)
    told = (
        "Verdicts that do not match their replies: 1 of 12 (first: "
        f"{one.trial.item}, grid=8, uniform). "
        f"'overread rescore {run}' scores them again."
    )
    assert departure_sentence(store, run) == told
    store.close()
    at = ("--store", str(tmp_path / "s.sqlite"))
    assert run_command_line(["report", str(run), "--out", str(out), *at]) == 0
    assert told in capsys.readouterr().err
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f'role="note">{escape(told)}<' in page
    assert run_command_line(["rescore", str(run), *at]) == 0
    assert "12 replies read again, 1 changed" in capsys.readouterr().out
    assert run_command_line(["report", str(run), "--out", str(out), *at]) == 0
    assert capsys.readouterr().err == ""


def test_that_trials_without_a_reply_keep_their_verdict(
    store: Store, tmp_path: Path
) -> None:
    run = planned(store, tmp_path / "d", a_spec())
    (tmp_path / "d" / "patient00001_frontal.png").write_bytes(b"gone")
    finish(store, run)
    assert rescore_run(store, run).replies == 3
    reasons = [t.score.reason for t in trials.scored_trials(store, run)]
    assert reasons.count("unreadable_image") == 1


def test_that_an_unknown_run_is_refused(store: Store) -> None:
    with pytest.raises(WrongUseError, match="no run 5"):
        rescore_run(store, 5)


@pytest.mark.statement("X-01")
def test_that_an_unfinished_run_reports_itself_incomplete(
    store: Store, tmp_path: Path
) -> None:
    spec = a_spec([D4, ModelProfile("uniform", "uniform")])
    run = planned(store, tmp_path / "d", spec)
    assert report_data(store, run).data.incomplete
    finish(store, run)
    assert not report_data(store, run).data.incomplete
