"""A trial's replies are told even where what its model needs to be is gone."""

from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered
from tests.helpers.tiny_study import finish
from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.services.inspecting import predicted_boxes, trial_detail
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store

GONE = WrongUseError("Its file is gone.", "Bring it back.")
BROKEN = ProviderError(
    "It cannot be read.", "Ask again.", retry_class=RetryClass.FAIL, reason="x"
)


def test_that_replies_are_told_in_words_where_their_model_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as store:
        registered(store, tmp_path / "pictures")
        says = ModelProfile("says", "scripted", {"answer": "B"})
        finish(store, plan_run(store, quiz_spec([says])))
        told = trial_detail.trial_detail(store.path, 1).steps[0].reply

        def gone(_: object) -> object:
            raise GONE

        monkeypatch.setattr(predicted_boxes, "reader_for", gone)
        in_words = trial_detail.trial_detail(store.path, 1).steps[0].reply

        def broken(_: object) -> object:
            raise BROKEN

        monkeypatch.setattr(predicted_boxes, "read_reply", broken)
        as_it_came = trial_detail.trial_detail(store.path, 1).steps[0].reply
        monkeypatch.setattr(predicted_boxes, "reader_for", broken)
        unread = trial_detail.trial_detail(store.path, 1).steps[0].reply
    assert told == in_words == "B"
    assert as_it_came == unread
    assert '"text": "B"' in unread
