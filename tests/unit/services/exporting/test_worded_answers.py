"""Answers in words are exported as a table, one row for each trial."""

import csv
from pathlib import Path

import pytest

from tests.helpers.study_samples import STUDIES, item_run
from viewer.domain.answer import (
    AnyAnswer,
    ChoiceAnswer,
    LabelsAnswer,
    PointAnswer,
    RankedAnswer,
    ReportAnswer,
    YesNoAnswer,
)
from viewer.domain.answer_json import any_answer_of_json
from viewer.domain.geometry import PointPx
from viewer.services.exporting.export_answers import export_answers
from viewer.services.exporting.worded_answers import in_words
from viewer.store import trials
from viewer.store.database import open_store


@pytest.mark.parametrize("study", STUDIES)
def test_that_the_answers_of_every_study_are_told_whole(
    study: str, tmp_path: Path
) -> None:
    out = tmp_path / "answers.csv"
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "data", study, odd="???")
        told = export_answers(store, run, out, "studied")
        kept = trials.scored_trials(store, run)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [one for one in kept if one.reply_id and one.trial.model == "studied"]
    assert told.trials == len(rows) == len(asked) > 0
    assert told.pending == 0
    for row, one in zip(rows, asked, strict=True):
        assert row["item"] == one.trial.item
        assert (row["status"], row["reason"]) == (one.score.status, one.score.reason)
        said = any_answer_of_json(row["parsed"])
        assert bool(row["answer"]) == bool(row["kind"])
        if row["kind"]:
            assert said is not None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ChoiceAnswer(2, "letter"), "C"),
        (YesNoAnswer(yes=True), "Yes"),
        (YesNoAnswer(yes=False), "No"),
        (LabelsAnswer(("Edema", "Mass")), "Edema; Mass"),
        (RankedAnswer(("gout", "flu")), "gout; flu"),
        (ReportAnswer("A small effusion.", ()), "A small effusion."),
        (PointAnswer(PointPx(1, 2)), ""),
    ],
)
def test_that_an_answer_is_written_as_a_person_would(
    answer: AnyAnswer, words: str
) -> None:
    assert in_words(answer) == words
