"""Results of studies in words are shown in the words of their study."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.study_samples import STUDIES, item_run
from viewer.cli import run_command_line
from viewer.domain.answer import Status
from viewer.domain.figure import StackFigure
from viewer.domain.result import Score
from viewer.domain.study_words import StudyWords
from viewer.domain.styles import style_of
from viewer.services.inspecting.predictions.groups import grouped, offered
from viewer.services.inspecting.predictions.view import By
from viewer.services.inspecting.runs import TrialRow, run_results, trial_rows
from viewer.settings import Settings
from viewer.store import trials
from viewer.store.database import open_store
from viewer.store.trials import Verdict
from viewer.studies.catalog import study_named
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.measure.results_groups_panel import row_words, summary_words
from viewer.ui.tables.chart_bars import BarChart
from viewer.ui.tables.columns import header_of, tip_of
from viewer.ui.tables.endings import ANSWERED, ending, endings_figure
from viewer.ui.workspaces.measure import MeasureWorkspace

_PATIENCE_MS = 30_000
_DISPLAY = Qt.ItemDataRole.DisplayRole
_HEADER = (
    "reader,model,item,image,process,execution,synthesis,language,image_content,"
    "image_style,codes,concerns,abstained"
)


def _open(
    qtbot: QtBot, settings: Settings, study: str, folder: Path, silent: bool = False
) -> MeasureWorkspace:
    with open_store(settings.store) as store:
        if silent:
            item_run(store, folder, study, silent="")
        else:
            item_run(store, folder, study)
    workspace = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(workspace)
    workspace.resize(1300, 850)
    workspace.show()
    film = workspace.film
    qtbot.waitUntil(lambda: bool(film.model.trials), timeout=_PATIENCE_MS)
    return workspace


def _headers(view: QWidget) -> list[str]:
    model = view.model()  # type: ignore[attr-defined]
    across = Qt.Orientation.Horizontal
    return [model.headerData(i, across, _DISPLAY) for i in range(model.columnCount())]


def _texts(view: QWidget, columns: int) -> set[str]:
    model = view.model()  # type: ignore[attr-defined]
    return {
        str(model.index(row, column).data())
        for row in range(model.rowCount())
        for column in range(columns)
    }


@pytest.mark.parametrize("study", STUDIES)
def test_that_tables_and_titles_speak_as_the_study_does(
    study: str, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    workspace = _open(qtbot, settings, study, tmp_path / "sample")
    words = study_named(study).words
    results = workspace.results
    headers = _headers(results.table)
    assert headers[:2] == [header_of("finding", words), header_of("view", words)]
    assert header_of("hit_rate", words) in headers
    assert not {"Hit rate", "Hits"} & {*headers}
    assert not any("_" in text for text in _texts(results.table, 3))
    condition = results.filters["condition"]
    assert condition.currentText() == words.condition(condition.currentData())
    assert results.filters["finding"].itemText(0) == f"Every {words.finding}"
    assert "hit" not in workspace.film.title
    workspace.pages.setCurrentIndex(1)
    groups = workspace.groups
    qtbot.waitUntil(lambda: bool(groups.table.model_.rowCount()), timeout=_PATIENCE_MS)
    assert _headers(groups.table)[0] == header_of("finding", words)
    assert "Partial" not in _headers(groups.table)
    assert not any("_" in text for text in _texts(groups.table, 1))
    filters = groups.filters
    assert filters.choices["finding"].text() == f"Every {words.finding}"
    assert not filters.coverage.isVisible()
    assert not filters.choices["outcome"].isVisible()
    assert filters.choices["status"].isVisible()
    assert filters.wanted.coverage is None
    assert "hit" not in groups.summary.text()
    qtbot.waitUntil(lambda: " trial" in workspace.film.title, timeout=_PATIENCE_MS)
    assert workspace.film.title.endswith((" trials, wrong first", " 1 trial"))


def test_that_answers_that_wait_for_grades_are_counted_and_say_how_grades_come_in(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "sample"
    workspace = _open(qtbot, settings, "rubric_reading", folder, silent=True)
    chart = workspace.results.chart
    figure = chart.chart
    assert isinstance(figure, StackFigure)
    assert figure.segments == (ANSWERED, "unparsed")
    studied, silent = figure.stacks
    n = sum(studied.counts)
    assert (studied.counts, silent.counts) == ((n, 0.0), (0.0, n))
    assert studied.group.startswith("studied, ")
    assert studied.group.endswith(" boxes per answer")
    assert silent.group == "silent"
    assert "grades.csv" in chart.told
    qtbot.waitUntil(
        lambda: style_of(ANSWERED).words in chart.caption, timeout=_PATIENCE_MS
    )
    groups = grouped(settings.store, ())
    assert not groups.has_rate(0)
    assert " · 2 models: no rate over all of them" in summary_words(groups)
    assert row_words(groups, 0) == (
        "This row has no rate: it mixes 2 models. Group by them, or choose one of each."
    )


@pytest.mark.statement("E003-15")
def test_that_a_run_that_makes_questions_says_so_in_place_of_a_chart(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    tiles, store = str(tmp_path / "tiles"), ["--store", str(settings.store)]
    named = ["--name", "tiles-captions"]
    for words in (
        ["phantom", "--study", "pathology_mcq", "--out", tiles, "--n", "2"],
        ["import", "captioned-tiles", tiles, *named, *store],
        ["run", f"{tiles}/building.toml", *store],
    ):
        assert run_command_line(words) == 0
    workspace = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(workspace)
    workspace.resize(1300, 850)
    workspace.show()
    chart = workspace.results.chart
    qtbot.waitUntil(lambda: "made questions" in chart.told, timeout=_PATIENCE_MS)
    assert "overread export questions 1 --out built.json" in chart.told
    assert chart.chart is None
    assert chart.caption == ""


def test_that_grades_put_beside_the_studies_are_found_when_a_run_is_chosen_again(
    settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "sample"
    with open_store(settings.store) as store:
        run = item_run(store, folder, "rubric_reading")
    before = run_results(settings.store, run)
    assert before.unjudged
    row = before.unjudged[0]
    assert row.score.status is Status.EXCLUDED
    lines = [f"Reader A,{row.model},{row.item},,5,5,5,5,,,,,no"]
    boxes = int(row.score.number("boxes") or 0)
    lines += [
        f"Reader A,{row.model},{row.item},{image},,,,,5,5,,,"
        for image in range(1, boxes + 1)
    ]
    (folder / "grades.csv").write_text("\n".join([_HEADER, *lines, ""]))
    after = run_results(settings.store, run)
    assert not after.unjudged
    assert after.table.rows[0][after.table.header.index("k")] == 1
    rows = trial_rows(settings.store, run, finding="", view="", condition="", model="")
    assert [one.score.status for one in rows].count(Status.SCORED_CORRECT) == 1
    assert rows[0].score.status is Status.SCORED_CORRECT


def test_that_a_chart_of_a_study_in_words_is_named_in_its_words(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    workspace = _open(qtbot, settings, "pathology_mcq", tmp_path / "sample")
    chart = workspace.results.chart.chart
    assert isinstance(chart, BarChart)
    assert chart.title.startswith("Accuracy by subset, with its image, ")
    assert "bars: accuracy" in workspace.results.chart.caption


def test_that_the_choices_are_those_of_the_run_that_is_looked_at(
    settings: Settings, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        tiles = item_run(store, tmp_path / "tiles", "pathology_mcq")
        cases = item_run(
            store, tmp_path / "cases", "evidence_diagnosis", dataset="cases"
        )
    one, other, every = (offered(settings.store, run) for run in (tiles, cases, None))
    assert not {*one.findings} & {*other.findings}
    assert {*every.findings} == {*one.findings, *other.findings}
    assert every.runs == one.runs == (cases, tiles)
    assert one.words.finding == "subset"
    assert every.words.finding == "finding or kind"


def test_that_runs_of_several_studies_have_no_rate_of_all_together(
    settings: Settings, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        graded = item_run(store, tmp_path / "studies", "rubric_reading")
        item_run(store, tmp_path / "tiles", "pathology_mcq", dataset="tiles")
    groups = grouped(settings.store, (By.RUN,))
    rows = {key[0]: row for row, key in enumerate(groups.keys)}
    row = rows.pop(str(graded))
    assert not groups.has_rate()
    assert groups.estimate(row) is None
    assert "no rate over all of them" in summary_words(groups)
    ungraded = grouped(settings.store, (By.RUN, By.CONDITION, By.MODEL))
    assert all(map(ungraded.has_rate, range(len(ungraded.keys))))
    assert row_words(groups, 1 - row).startswith("This row has no rate")
    assert " · 2 runs, 4 conditions: no rate" in summary_words(groups)


def test_that_a_row_without_any_counted_trial_says_why(
    settings: Settings, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        item_run(store, tmp_path, "pathology_mcq", asked=False)
        groups = grouped(settings.store, (By.MODEL, By.CONDITION))
        assert row_words(groups, 0) == "No trial of this row is settled yet."
        excluded = Verdict(Score(Status.EXCLUDED), "1")
        ids = [int(row["id"]) for row in store.rows("SELECT id FROM trial")]
        with store.transaction():
            trials.settle(store, [(trial, excluded) for trial in ids])
    groups = grouped(settings.store, (By.MODEL, By.CONDITION))
    assert row_words(groups, 0) == "Every trial of this row is excluded."


def test_that_a_header_names_what_there_are_several_of(
    settings: Settings, tmp_path: Path
) -> None:
    tiles = tmp_path / "tiles"
    with open_store(settings.store) as store:
        item_run(store, tiles, "pathology_mcq", second="(B)", third="(C)")
    groups = grouped(settings.store, (By.MODEL,))
    assert " · 3 models, 4 conditions: no rate over all" in summary_words(groups)
    assert "it mixes 4 conditions. Group by" in row_words(groups, 0)


def test_that_numbers_and_tips_have_words_too() -> None:
    words = StudyWords(numbers={"mean_tp": "findings named, mean"})
    assert header_of("mean_tp", words) == "Findings named, mean"
    assert header_of("mean_gold_place", words) == "Gold place, mean"
    assert header_of("ci_high", words) == "to"
    assert tip_of("hit_rate") == (
        "Hits of all trials that are neither excluded nor pending"
    )
    assert tip_of("answered_rate", study_named("pathology_mcq").words) == (
        "Answers that are right of the trials with a readable answer: the secondary "
        "rate"
    )
    assert tip_of("model") is None


def test_that_endings_are_told_apart_and_follow_the_filters() -> None:
    scores = (
        Score(Status.EXCLUDED, "ungraded", "12 words", numbers=(("boxes", 2.0),)),
        Score(Status.TRUNCATED, "token_limit"),
        Score(Status.EXCLUDED, "no_frontal"),
        Score(Status.SCORED_WRONG),
    )
    told = [ending(score) for score in scores]
    assert told == [ANSWERED, "truncated", "excluded", "scored_wrong"]
    rows = [
        TrialRow(i, "a", None, "one", "now", "plain", "m", 0, score)
        for i, score in enumerate(scores[:3])
    ]
    words = StudyWords()
    figure = endings_figure(rows, {"finding": "one", "view": "all"}, words)
    assert [stack.counts for stack in figure.stacks] == [(1, 1, 1)]
    assert figure.stacks[0].group == "m, 2.0 boxes per answer"
    assert endings_figure(rows, {"model": "other"}, words).stacks == ()
