from pathlib import Path

import pytest

from tests.helpers.reviewed_run import FINDINGS, MODELS, reviewed_run
from tests.helpers.tiny_study import finished_run
from viewer.domain.form_catalog import ANATOMY, VERDICT
from viewer.metrics.capped_review import capped_review
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.reviewing import ErrorCounts
from viewer.services.reporting.figures import pack_input, reviewed_of, run_figures
from viewer.services.reporting.report_run import context_of, report_data
from viewer.store.database import open_store
from viewer.studies.grid_localization.errors_by_class import error_classes
from viewer.studies.grid_localization.figures_stacks import class_figure


@pytest.mark.statement("E000-25", "E000-27")
def test_that_the_figure_has_the_estimate_of_a_capped_review() -> None:
    found = {"partial": 0, "position": 41, "anatomy": 9, "unsure": 0}
    counts = ErrorCounts("m", "Edema", "grid=8", ("frontal",), 120, 50, found)
    reviewed = reviewed_of(counts)
    assert reviewed.anatomy == pytest.approx(21.6)
    assert reviewed.position + reviewed.anatomy == pytest.approx(120)
    assert (reviewed.unsure, reviewed.partial) == (0, 0)


def test_that_bars_remain_where_a_runs_images_are_gone(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    run = finished_run(store, tmp_path / "images")
    (tmp_path / "images").rename(tmp_path / "elsewhere")
    found = run_figures(store, run)
    numbers = [figure.head.number for figure in found.figures]
    assert numbers == ["Figure 2", "Figure 3", "Figure 10", "", ""]
    assert found.missing
    assert all("does not exist" in sentence for sentence in found.missing)
    assert run_figures(store, run) is found


@pytest.mark.statement("E000-24", "E000-27")
def test_that_what_readers_said_is_in_the_figures_of_errors(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 3)
    session = opening.open_error_review(path, run, "R")
    for position in range(len(cases.queue(path, session))):
        recording.lock(path, session, position, {VERDICT: ANATOMY})
    with open_store(path) as store:
        given = pack_input(store, report_data(store, run))
    assert set(given.verdicts.values()) == {"anatomy"}
    assert len(given.verdicts) == 3 * len(FINDINGS) * len(MODELS)
    for row in error_classes(given.results, given.reviews).records():
        assert (row["n"], row["anatomy"], row["not_reviewed"]) == (3, 3, 0)


def test_that_a_review_that_is_not_finished_estimates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 8)
    session = opening.open_error_review(path, run, "R")
    recording.lock(path, session, 0, {VERDICT: ANATOMY})
    with open_store(path) as store:
        report = report_data(store, run)
        given = pack_input(store, report)
        assert context_of(store, run, report.context).beside.anatomy_errors == {}
    rows = list(error_classes(given.results, given.reviews).records())
    (read,) = (row for row in rows if row["n_reviewed"])
    assert (read["anatomy"], read["not_reviewed"]) == (1, 7)
    assert (read["n_misses"], read["n_reviewed"]) == (8, 1)
    assert (read["anatomy_low"], read["anatomy_high"]) == (1, 8)
    assert (read["position_low"], read["position_high"]) == (0, 7)
    assert read["review"] == "not finished"
    assert {row["review"] for row in rows if row is not read} == {""}
    figure = class_figure(rows, FINDINGS)
    assert figure is not None
    notes = {stack.note for stack in figure.stacks}
    told = "1 of 8 misses reviewed, anatomy 1 to 8, review not finished"
    assert notes == {"", told, "review not finished"}


def test_that_a_finished_sample_is_estimated_with_its_interval(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 8)
    session = opening.open_error_review(path, run, "R", cap=4)
    for position in range(len(cases.queue(path, session))):
        recording.lock(path, session, position, {VERDICT: ANATOMY})
    with open_store(path) as store:
        given = pack_input(store, report_data(store, run))
    for row in error_classes(given.results, given.reviews).records():
        assert (row["anatomy"], row["not_reviewed"], row["n_reviewed"]) == (8, 0, 4)
        expected = capped_review(8, 4, 4)
        assert (row["anatomy_low"], row["anatomy_high"]) == (expected.low, 8)
        assert row["review"] == "finished"
