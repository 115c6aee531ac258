"""Questions whose preparing was stopped by somebody else."""

from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered, says
from tests.helpers.tiny_study import finish
from viewer.domain.exchange import ModelProfile, ModelRequest
from viewer.domain.run import Step, TrialDone
from viewer.models.loaded import LoadCancelledError
from viewer.services.running.plan_run import plan_run
from viewer.services.trials import run_trial
from viewer.store.database import open_store


def test_that_every_question_is_prepared_again_where_loading_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, document = set(), run_trial.document_of

    def stopped_once(
        profile: ModelProfile, request: ModelRequest, repeat: int, step: Step
    ) -> dict[str, object]:
        if (request.facts.item, step) not in stopped:
            stopped.add((request.facts.item, step))
            raise LoadCancelledError("Loading was stopped.", "Ask again.")
        return document(profile, request, repeat, step)

    monkeypatch.setattr(run_trial, "document_of", stopped_once)
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as store:
        registered(store, tmp_path / "pictures")
        model = says("knows", {"two": "C", "one": "A", "none": "B"}, tmp_path)
        judge = says("judges", dict.fromkeys(("two", "one", "none"), "5"), tmp_path)
        events = finish(store, plan_run(store, quiz_spec([model], judge)))
        done = [event for event in events if isinstance(event, TrialDone)]
        asked = store.rows("SELECT count(*) FROM attempt")[0][0]
    assert [event.score.status.value for event in done] == ["scored_correct"] * 3
    assert [event.score.number("judge") for event in done] == [5.0] * 3
    assert (len(stopped), asked) == (6, 6)
