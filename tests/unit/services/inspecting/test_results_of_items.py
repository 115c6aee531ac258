"""Results of a study without a grid: its tables, its trials and what was said."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered, says
from tests.helpers.tiny_study import finish
from viewer.domain.errors import WrongUseError
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.inspecting.answers import answers_about
from viewer.services.inspecting.predictions.cases import cases_of
from viewer.services.inspecting.predictions.groups import grouped, offered
from viewer.services.inspecting.predictions.view import By
from viewer.services.inspecting.runs import run_table, trial_rows, trial_rows_at
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.reporting.figures import run_figures, write_report
from viewer.services.running.plan_run import plan_run
from viewer.store import cases
from viewer.store.database import open_store
from viewer.writers.verify.main import verify

RIGHT = {"two": "C", "one": "B", "none": "B"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("items")
    path = folder / "s.sqlite"
    with quiz_in_catalog():
        with open_store(path) as opened:
            registered(opened, folder / "pictures")
            model = says("knows", RIGHT, folder)
            judge = says("judges", {"two": "x", "two|judge again": "3"}, folder)
            judge = replace(judge, settings={**judge.settings, "answer": "5"})
            finish(opened, plan_run(opened, quiz_spec([model], judge)))
        yield path


def test_that_the_table_of_results_has_rates_and_means(store: Path) -> None:
    table = run_table(store, 1)
    first = dict(zip(table.header, table.rows[0], strict=True))
    assert (first["k"], first["n"], first["n_excluded"]) == (2, 3, 1)
    assert first["mean_judge"] == pytest.approx(13 / 3)
    assert {row[0] for row in table.rows} == {"(micro)", "views", "text"}


def test_that_a_row_leads_to_its_trials_with_and_without_an_image(store: Path) -> None:
    rows = trial_rows(
        store, 1, finding="(micro)", view="all", condition="shown", model="knows"
    )
    assert [row.item for row in rows] == ["one", "two", "none", "bare"]
    assert [row.ref is None for row in rows] == [False, False, True, False]
    assert not any(row.places for row in rows)
    again = trial_rows_at(store, [row.trial for row in rows])
    assert again == rows


def test_that_predictions_are_grouped_as_those_of_every_study(store: Path) -> None:
    view = grouped(store, [By.FINDING, By.MODEL])
    assert view.keys == [("text", "knows"), ("views", "knows")]
    assert view.column("k").tolist() == [1.0, 1.0]
    assert len(cases_of(store, view, 0)) == 2
    assert offered(store).findings == ("text", "views")


def test_that_a_trial_tells_every_step_of_it(store: Path) -> None:
    rows = trial_rows(
        store, 1, finding="views", view="all", condition="shown", model="knows"
    )
    two = next(row for row in rows if row.item == "two")
    told = trial_detail(store, two.trial)
    assert [(step.name, step.model, step.reply) for step in told.steps] == [
        ("answer", "knows", "C"),
        ("judge", "judges", "x"),
        ("judge", "judges", "3"),
    ]
    assert len(told.looked_at) == 2
    asked = ("user", "Choose: round, oval, a film, nothing else")
    images = [(f"image {n}", "sent here") for n in (1, 2)]
    assert sorted(told.words[:3]) == [*images, asked]
    assert told.words[3] == ("knows, answer", "C")
    assert told.words[-1] == ("judges, judge", "3")
    assert told.score == two.score


def test_that_a_trial_that_was_not_asked_tells_nothing(store: Path) -> None:
    rows = trial_rows(
        store, 1, finding="text", view="all", condition="shown", model="knows"
    )
    bare = next(row for row in rows if row.item == "bare")
    told = trial_detail(store, bare.trial)
    assert (told.steps, told.looked_at, told.words) == ((), (), ())
    assert told.request_sha256 == ""
    with pytest.raises(WrongUseError, match="no trial 99"):
        trial_detail(store, 99)


def test_that_words_are_not_drawn_on_an_image(store: Path) -> None:
    with open_store(store) as opened:
        image = cases.dataset_of_run(opened, 1).images[0]
    assert answers_about(store, image.ref) == ()


def test_that_a_report_is_written_without_any_grid(store: Path, tmp_path: Path) -> None:
    with open_store(store) as opened:
        files = {path.name for path in write_report(opened, 1, tmp_path)}
        assert files == {"items.csv", "results.csv", "report.html", "manifest.json"}
        first = [(tmp_path / name).read_bytes() for name in sorted(files)]
        write_report(opened, 1, tmp_path)
        assert [(tmp_path / name).read_bytes() for name in sorted(files)] == first
    lines = (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("request_sha256,judge")
    assert len(lines) == 5


def test_that_a_study_without_a_pack_has_no_figures_and_a_bundle_that_holds(
    store: Path,
) -> None:
    assert run_figures(store, 1).figures == ()
    with open_store(store) as opened:
        assert verify(run_bundle(opened, 1), lambda _: None).wrong == []
