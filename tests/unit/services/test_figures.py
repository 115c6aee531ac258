from pathlib import Path

import pytest

from tests.helpers.measure_store import finished_run
from tests.helpers.reviewed_run import FINDINGS, MODELS, reviewed_run
from viewer.domain.form_catalog import ANATOMY, VERDICT
from viewer.services.figures import pack_input, reviewed_of, run_figures
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.reviewing import ErrorCounts
from viewer.services.report_run import report_data
from viewer.store.database import open_store
from viewer.studies.grid_localization.errors_by_class import error_classes
from viewer.studies.grid_localization.params import Params


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
    assert numbers == ["Figure 2", "Figure 3", "Figure 10"]
    assert found.missing
    assert all("is not there" in sentence for sentence in found.missing)
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
    for row in error_classes(given.results, given.reviews, Params()).records():
        assert (row["n"], row["anatomy"], row["not_reviewed"]) == (3, 3, 0)
