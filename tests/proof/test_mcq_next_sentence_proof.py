"""A next-sentence model in a whole run of the pathology questions (E003-10)."""

from pathlib import Path

import pytest

from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.helpers.tiny_transformers import write_tiny_bert
from viewer.domain.answer import ChoiceAnswer, Status, Unparsed
from viewer.domain.exchange import ModelProfile
from viewer.services.reporting.report_run import report_data
from viewer.store import cases
from viewer.store.database import open_store

pytestmark = pytest.mark.proof


@pytest.mark.statement("E003-10")
def test_that_it_is_asked_read_and_scored_like_any_model(tmp_path: Path) -> None:
    bert = write_tiny_bert(tmp_path / "bert")
    profile = ModelProfile("bert", "next_sentence", {"model": str(bert)})
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, tiles_dataset(tmp_path / "tiles", 10))
        spec = a_spec(
            [profile],
            study="pathology_mcq",
            dataset="tiles",
            params={"arms": ["text_only", "mismatch"]},
        )
        run = plan_and_finish(store, spec)
        results = report_data(store, run).results
    assert {one.condition for one in results} == {"text_only", "mismatch"}
    tie = Unparsed(Status.AMBIGUOUS, "equally_likely")
    for one in results:
        read = one.said
        assert read == tie or isinstance(read, ChoiceAnswer)
        assert not isinstance(read, ChoiceAnswer) or read.tier == "next_sentence"
    chosen = [one for one in results if isinstance(one.said, ChoiceAnswer)]
    assert chosen
    assert {one.score.status for one in chosen} <= {
        Status.SCORED_CORRECT,
        Status.SCORED_WRONG,
    }
