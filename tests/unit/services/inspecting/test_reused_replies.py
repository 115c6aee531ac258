"""A stored reply that several models or runs show is told, and counts once."""

from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.tiny_study import (
    D4,
    UNIFORM,
    a_spec,
    finish,
    plan_and_finish,
    planned,
)
from viewer.domain.case import ImageRef
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.inspecting.answers import answers_about
from viewer.services.inspecting.predictions.groups import grouped
from viewer.services.inspecting.predictions.view import By, Wanted
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.reporting.report_run import report_data
from viewer.store import cases, reuse
from viewer.store.database import open_store
from viewer.store.reuse import Reused

TWIN = replace(D4, name="twin")
"""The same model under another name."""
N = 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Run 1 asks a model, its twin and another; run 2 asks the first one again."""
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        spec = a_spec([D4, TWIN, UNIFORM])
        finish(store, planned(store, tmp_path / "images", spec, n=N))
        plan_and_finish(store, a_spec([D4]), new=True)
    return path


def _image(path: Path) -> ImageRef:
    with open_store(path) as store:
        return cases.dataset_of_run(store, 1).images[0].ref


def test_that_a_run_tells_whose_replies_its_models_show(path: Path) -> None:
    with open_store(path) as store:
        assert reuse.reused_in(store, 1) == (Reused("twin", 1, "says-d4", N),)
        assert reuse.reused_in(store, 2) == (Reused("says-d4", 1, "says-d4", N),)
        sections = report_data(store, 1).data.sections
        page = run_bundle(store, 1)
    told = sections[-1]
    assert told.title == "Reused replies"
    assert told.table.rows == (("twin", N, "says-d4", 1),)
    assert page


def test_that_answers_and_trials_say_that_their_reply_is_anothers(path: Path) -> None:
    answers = answers_about(path, _image(path))
    told = {(one.run, one.model): (one.reply, one.reused) for one in answers}
    reply, reused = told[1, "says-d4"]
    assert reused == ""
    assert told[1, "uniform"][1] == ""
    sentence = "the stored reply of says-d4, run 1: not asked again"
    assert told[1, "twin"] == told[2, "says-d4"] == (reply, sentence)
    for one in answers:
        assert trial_detail(path, one.trial).reused == one.reused


def test_that_predictions_count_replies_shown_again(path: Path) -> None:
    assert grouped(path, [By.RUN, By.MODEL]).reused == 2 * N
    assert grouped(path, [By.MODEL], Wanted(runs=(1,))).reused == N
    assert grouped(path, [By.MODEL], Wanted(runs=(2,))).reused == 0
    assert grouped(path, [], Wanted(patient="patient00001")).reused == 2


def test_that_many_predictions_by_patient_come_before_their_reused_replies(
    path: Path,
) -> None:
    first, whole = (grouped(path, [By.PATIENT], most=most) for most in (1, inf))
    assert (first.reused, first.is_preliminary) == (None, True)
    assert (whole.reused, whole.is_preliminary) == (2 * N, False)
    assert list(first.keys) == list(whole.keys)
    np.testing.assert_array_equal(first.ends, whole.ends)
